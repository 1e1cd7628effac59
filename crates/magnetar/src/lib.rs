//! The command line of magnetar: parse, call, print. The binary and the Python package both run it.

#![allow(clippy::disallowed_methods, reason = "what is printed has few digits")]

#[macro_use]
mod output;

mod advice;
mod args;
mod commands;
mod console;
mod progress;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

pub use advice::message_of;
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

    /// Commands without a result that a script would read: scripts of a shell, manual pages, a server, JSON as it is.
    const WITHOUT_JSON: [&str; 4] = ["completions", "man", "view", "version"];

    fn check_json(command: &Command, name: &str) {
        let inner: Vec<&Command> = command.get_subcommands().filter(|inner| inner.get_name() != "help").collect();
        // Those of `sweep` stand beside its own flags.
        let prints_files = name.ends_with("sweep show");
        if (inner.is_empty() || name.ends_with("sweep")) && !prints_files && !WITHOUT_JSON.contains(&command.get_name())
        {
            assert!(command.get_arguments().any(|arg| arg.get_long() == Some("json")), "{name} has no --json");
        }
        inner.into_iter().for_each(|inner| check_json(inner, &format!("{name} {}", inner.get_name())));
    }

    #[test]
    fn every_command_with_a_result_has_json() {
        let mut command = Cli::command();
        command.build();
        check_json(&command, "magnetar");
    }

    #[test]
    fn help_fits_a_terminal() {
        let mut command = Cli::command();
        command.build();
        check(&command);
        command.debug_assert();
    }
}
