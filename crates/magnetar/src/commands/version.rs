//! `magnetar version`.

use std::process::ExitCode;

use serde_json::json;

/// The commit that was built, or `unknown`.
const COMMIT: &str = env!("MAGNETAR_COMMIT");

/// Version, commit and features, for `--version`.
pub const LONG: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    " (commit ",
    env!("MAGNETAR_COMMIT"),
    "; features: ",
    env!("MAGNETAR_FEATURES"),
    ")"
);

/// Flags of `magnetar version`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  magnetar version")]
pub struct Args {}

/// The cargo features that were built in.
pub fn features() -> Vec<&'static str> {
    env!("MAGNETAR_FEATURES").split(", ").filter(|name| *name != "none").collect()
}

/// Prints the version for scripts.
pub fn run(_args: &Args) -> anyhow::Result<ExitCode> {
    println!("{}", json!({ "version": env!("CARGO_PKG_VERSION"), "commit": COMMIT, "features": features() }));
    Ok(ExitCode::SUCCESS)
}
