//! `magnetar completions`.

use std::process::ExitCode;

use clap_complete::Shell;

/// Flags of `magnetar completions`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  magnetar completions bash > ~/.local/share/bash-completion/completions/magnetar
  magnetar completions zsh > ~/.zfunc/_magnetar
  magnetar completions fish > ~/.config/fish/completions/magnetar.fish")]
pub struct Args {
    /// The shell.
    shell: Shell,
}

/// Prints the completions of a shell.
pub fn run(args: &Args, mut command: clap::Command) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "magnetar", &mut script);
    print!("{}", String::from_utf8_lossy(&script));
    Ok(ExitCode::SUCCESS)
}
