//! `magnetar version`.

use std::process::ExitCode;

/// Flags of `magnetar version`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  magnetar version")]
pub struct Args {}

/// Prints the version for scripts.
pub fn run(_args: &Args) -> anyhow::Result<ExitCode> {
    println!("{}", serde_json::json!({ "version": env!("CARGO_PKG_VERSION") }));
    Ok(ExitCode::SUCCESS)
}
