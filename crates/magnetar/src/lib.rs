//! The command line of magnetar: parse, call, print. The binary and the Python package both run it.

#![allow(clippy::disallowed_methods, reason = "what is printed has few digits")]

#[macro_use]
mod output;

mod args;
mod commands;
mod console;
mod progress;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

pub use commands::{open_dataset, validation_json};

/// A native digital twin of indoor radio: exact paths, two-channel observations, corpora and pose posteriors.
#[derive(Parser)]
#[command(name = "magnetar", version, long_version = commands::LONG_VERSION, propagate_version = true)]
struct Cli {
    #[command(flatten)]
    console: console::ConsoleArgs,
    #[command(subcommand)]
    command: commands::Command,
}

/// Runs the command line on these arguments, the program's name first. Where they are wrong, or ask for help, it prints
/// what there is to say and ends the process.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    // `magnetar trace ... | head` ends quietly when the reader has seen enough.
    sigpipe::reset();
    let Cli { console, command } = Cli::parse_from(arguments);
    console.install();
    let result = commands::run(command, Cli::command);
    console.finish();
    result.unwrap_or_else(|error| {
        eprintln!("error: {}", message_of(&error));
        ExitCode::FAILURE
    })
}

/// An error and its causes, without those that the text before them names already.
#[must_use]
pub fn message_of(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |text, cause| match text.as_str() {
        "" => cause,
        said if said.contains(&cause) => text,
        said => format!("{said}: {cause}"),
    })
}

#[cfg(test)]
mod docs_tests;
#[cfg(test)]
mod reference_tests;

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory};

    use super::Cli;

    fn check(command: &Command) {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        for line in help.lines() {
            // Longer lines are broken in the middle by an ordinary terminal.
            let most = if line.starts_with(' ') { 100 } else { 80 };
            assert!(line.chars().count() <= most, "help of {}: {line}", command.get_name());
        }
        command.get_subcommands().for_each(check);
    }

    #[test]
    fn help_fits_a_terminal() {
        let mut command = Cli::command();
        command.build();
        check(&command);
        command.debug_assert();
    }
}
