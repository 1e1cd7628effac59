//! Every command that the documentation and the help show is one that the command line takes, and every link leads somewhere.

use std::path::{Path, PathBuf};

use clap::{Command, CommandFactory, Parser};

use super::Cli;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The Markdown files at the top and in docs/.
fn pages() -> Vec<(PathBuf, String)> {
    let listed = [root(), root().join("docs")].map(|folder| std::fs::read_dir(folder).unwrap());
    let mut paths: Vec<PathBuf> = listed.into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), std::fs::read_to_string(path).unwrap())).collect()
}

/// Lines that call the program, continuation lines joined: those that are indented (code in Markdown, examples in a help), and
/// those in fences.
fn shown_commands(text: &str) -> Vec<String> {
    let (mut fenced, mut found) = (false, Vec::new());
    for line in text.replace("\\\n", " ").lines() {
        fenced ^= line.starts_with("```");
        let code = line.trim_start();
        if code.starts_with("magnetar ") && !code.starts_with("magnetar  ") && (fenced || line.starts_with("  ")) {
            found.push(code.to_owned());
        }
    }
    found
}

/// The words of a line before any pipe, redirection or comment.
fn words(line: &str) -> Vec<String> {
    let words = shlex::split(line).unwrap_or_else(|| panic!("quotes do not match: {line}"));
    words.into_iter().take_while(|word| !matches!(word.as_str(), "|" | ">" | "&&" | "&")).collect()
}

fn accepted(line: &str, place: &str) {
    if let Err(error) = Cli::try_parse_from(words(line)) {
        panic!("{place}: {line}\n{error}");
    }
}

#[test]
fn every_command_of_the_documentation_is_taken() {
    let mut count = 0;
    for (path, text) in pages().into_iter().filter(|(path, _)| !path.ends_with("CHANGELOG.md")) {
        for line in shown_commands(&text) {
            accepted(&line, &path.display().to_string());
            count += 1;
        }
    }
    assert!(count > 40, "only {count} commands were found");
}

fn check_examples(command: &Command) {
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    for line in shown_commands(&help) {
        accepted(&line, &format!("help of {}", command.get_name()));
    }
    command.get_subcommands().for_each(check_examples);
}

#[test]
fn every_example_of_the_help_is_taken() {
    let mut command = Cli::command();
    command.build();
    check_examples(&command);
}

#[test]
fn every_relative_link_leads_to_a_file() {
    for (path, text) in pages() {
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = target.split('#').next().unwrap_or_default();
            if file.is_empty() || target.contains("://") || target.contains(' ') {
                continue;
            }
            let there = path.parent().unwrap().join(file).exists();
            assert!(there, "{}: the link to {target} leads nowhere", path.display());
        }
    }
}
