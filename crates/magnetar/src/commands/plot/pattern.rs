//! `magnetar plot pattern`.

use std::process::ExitCode;

use magnetar_report::figure::pattern_figure;
use magnetar_scene::AntennaPattern;

use super::Output;

/// Flags of `magnetar plot pattern`.
#[derive(clap::Args)]
pub struct Args {
    /// A shipped pattern's name or a pattern file (CSV, MSI Planet).
    pattern: String,
    #[command(flatten)]
    output: Output,
}

/// Draws the azimuth and elevation cuts.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    args.output.check()?;
    let pattern = AntennaPattern::load(&args.pattern)?;
    args.output.write(&pattern_figure(&pattern, args.output.theme()))
}
