//! The command line as one page of Markdown, for the book.

use std::fmt::Write;

use clap::{Arg, Command};

/// A text that cannot end a cell of a table.
pub fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// A flag or a value: how it is written, and what it means.
fn row(arg: &Arg) -> String {
    let values: Vec<&str> = arg.get_value_names().into_iter().flatten().map(clap::builder::Str::as_str).collect();
    let value = if arg.get_action().takes_values() { format!(" <{}>", values.join("> <")) } else { String::new() };
    let name = match (arg.get_short(), arg.get_long()) {
        (Some(short), Some(long)) => format!("-{short}, --{long}{value}"),
        (None, Some(long)) => format!("--{long}{value}"),
        _ => values.iter().map(|name| format!("<{name}>")).collect::<Vec<_>>().join(" "),
    };
    let choices: Vec<String> = if arg.is_hide_possible_values_set() || !arg.get_action().takes_values() {
        Vec::new()
    } else {
        arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect()
    };
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let choices = if choices.is_empty() { String::new() } else { format!("; one of {}", choices.join(", ")) };
    let defaults: Vec<String> =
        arg.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
    let default = match (arg.get_action().takes_values(), arg.is_required_set()) {
        (true, true) => "needed".to_owned(),
        (true, false) if !defaults.is_empty() => format!("`{}`", defaults.join(" ")),
        _ => String::new(),
    };
    format!("| `{}` | {} | {} |", cell(&name), cell(&default), cell(&format!("{help}{choices}")))
}

fn write_command(page: &mut String, command: &Command, name: &str) {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let _ = writeln!(page, "\n## {name}\n\n{about}");
    let shown = |arg: &&Arg| {
        !arg.is_hide_set() && !arg.is_global_set() && !["help", "version"].contains(&arg.get_id().as_str())
    };
    let args: Vec<&Arg> = command.get_arguments().filter(shown).collect();
    if !args.is_empty() {
        let _ = writeln!(page, "\n| | if left out | |\n|---|---|---|");
        args.iter().for_each(|arg| page.extend([row(arg).as_str(), "\n"]));
    }
    if let Some(help) = command.get_after_help() {
        let _ = writeln!(page, "\n```text\n{}\n```", help.to_string().trim_end());
    }
    for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
        write_command(page, inner, &format!("{name} {}", inner.get_name()));
    }
}

/// Every command with its flags and examples.
pub fn command_reference(mut command: Command) -> String {
    command.build();
    let mut page = "# Commands\n\nEvery command, its flags and what they are if left out: what `--help` says, on one page. Made from the code \
                    (`magnetar man --markdown`).\n\nEvery command takes these:\n\n| | if left out | |\n|---|---|---|\n"
        .to_owned();
    let shared = command.get_arguments().filter(|arg| arg.is_global_set());
    shared.for_each(|arg| page.extend([row(arg).as_str(), "\n"]));
    for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
        write_command(&mut page, inner, &format!("magnetar {}", inner.get_name()));
    }
    page
}
