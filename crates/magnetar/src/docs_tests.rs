//! Every command that the documentation and the help show is one that the command line takes, and every link leads somewhere.

use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{Command, CommandFactory, Parser};

use super::Cli;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The Markdown files in a folder.
fn pages_in(folder: &str) -> Vec<PathBuf> {
    let listed = std::fs::read_dir(root().join(folder)).unwrap();
    let mut paths: Vec<PathBuf> = listed.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    paths.sort();
    paths
}

/// The folders of the book's pages.
const BOOK: [&str; 3] = ["docs", "docs/tutorials", "docs/reference"];

/// The pages at the top and of the book, with their texts.
fn pages() -> Vec<(PathBuf, String)> {
    let folders = [""].into_iter().chain(BOOK).chain(["reproduce"]);
    let paths = folders.flat_map(pages_in);
    paths.map(|path| (path.clone(), std::fs::read_to_string(path).unwrap())).collect()
}

/// Where links go to in a text, without those to other sites.
fn links(text: &str) -> Vec<&str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets.filter(|target| !target.contains("://") && !target.contains(' ')).collect()
}

/// The anchors of a page's headings, as mdBook and GitHub make them.
fn anchors(text: &str) -> Vec<String> {
    let headings = text.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    headings.map(|heading| heading.to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-")).collect()
}

/// Lines that call the program, continuation lines joined: those that are indented (code in Markdown, examples in a help), and
/// those in fences.
fn shown_commands(text: &str) -> Vec<String> {
    let (mut fenced, mut found) = (false, Vec::new());
    for line in text.replace("\\\n", " ").lines() {
        fenced ^= line.starts_with("```");
        let code = line.trim_start();
        // What the shell fills in is seen when the page is run (tests/book.rs).
        let whole = !code.starts_with("magnetar  ") && !code.contains('$');
        if code.starts_with("magnetar ") && whole && (fenced || line.starts_with("  ")) {
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

/// Commands in the middle of a text: they may leave out what the reader has to add, and may not say what is not taken.
#[test]
fn every_command_in_the_text_has_flags_that_there_are() {
    let lacking = [
        ErrorKind::MissingRequiredArgument,
        ErrorKind::MissingSubcommand,
        ErrorKind::DisplayHelp,
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand,
        ErrorKind::DisplayVersion,
    ];
    let mut count = 0;
    for (path, text) in pages().into_iter().filter(|(path, _)| !path.ends_with("CHANGELOG.md")) {
        // Every second piece between backticks is code; fences have three of them and change nothing about that.
        let spans =
            text.split('`').skip(1).step_by(2).filter(|span| span.starts_with("magnetar ") && !span.contains("..."));
        for span in spans {
            count += 1;
            let mut kept: Vec<String> = Vec::new();
            for word in words(&span.replace('\n', " ")) {
                // A word in capitals stands for the reader's own, and takes its flag with it.
                if !word.chars().any(char::is_uppercase) || word.contains(['.', '=']) {
                    kept.push(word);
                } else {
                    kept.pop_if(|flag| flag.starts_with("--"));
                }
            }
            let names_a_flag = kept.last().is_some_and(|word| word.starts_with("--"));
            if let Err(error) = Cli::try_parse_from(kept) {
                let without_value = names_a_flag && error.kind() == ErrorKind::InvalidValue;
                assert!(without_value || lacking.contains(&error.kind()), "{}: {span}\n{error}", path.display());
            }
        }
    }
    assert!(count > 60, "only {count} commands were found");
}

/// A stand-in for the program writes down what the script calls it with.
#[test]
#[cfg(unix)]
fn every_command_of_the_script_for_figures_is_taken() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let calls = folder.path().join("calls");
    let stand_in = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    stand_in("magnetar", &format!("{{ printf '\\t%s' \"$@\"; echo; }} >> '{}'", calls.display()));
    ["cargo", "python3", "chromium"].iter().for_each(|tool| stand_in(tool, "exit 1"));
    let script = std::fs::read_to_string(root().join("reproduce/run.sh")).unwrap();
    let items = script.split("\nlisted() {").next().unwrap().split("\nmake_").skip(1);
    let calling = items.filter(|body| body.contains("\"$magnetar\"")).filter_map(|body| body.split('(').next());
    // Items that need more than the program fail here, after they have called it.
    std::process::Command::new("bash")
        .arg(root().join("reproduce/run.sh"))
        .args(calling)
        .env("OUT", folder.path().join("out"))
        .env("MAGNETAR", folder.path().join("magnetar"))
        .env("PATH", format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap_or_default()))
        .output()
        .unwrap();
    let calls = std::fs::read_to_string(calls).unwrap();
    for call in calls.lines() {
        if let Err(error) =
            Cli::try_parse_from(call.split('\t').enumerate().map(|(n, word)| if n == 0 { "magnetar" } else { word }))
        {
            assert_eq!(error.kind(), ErrorKind::DisplayVersion, "{call}\n{error}");
        }
    }
    assert!(calls.lines().count() > 25, "{calls}");
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
        for target in links(&text) {
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let page = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            assert!(page.exists(), "{}: the link to {target} leads nowhere", path.display());
            let there = anchor.is_empty()
                || anchors(&std::fs::read_to_string(&page).unwrap()).iter().any(|heading| heading == anchor);
            assert!(there, "{}: no heading for the link to {target}", path.display());
        }
    }
}

#[test]
fn the_book_has_every_page_once() {
    let docs = root().join("docs");
    let summary = std::fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let mut listed: Vec<PathBuf> = links(&summary).into_iter().map(|target| docs.join(target)).collect();
    listed.sort();
    let mut there: Vec<PathBuf> = BOOK.into_iter().flat_map(pages_in).collect();
    there.retain(|path| !path.ends_with("SUMMARY.md"));
    there.sort();
    assert_eq!(listed, there);
}

#[test]
fn the_book_links_to_its_own_pages_only() {
    for path in BOOK.into_iter().flat_map(pages_in) {
        let text = std::fs::read_to_string(&path).unwrap();
        let depth = path.strip_prefix(root().join("docs")).unwrap().components().count() - 1;
        for target in links(&text) {
            let up = target.matches("../").count();
            assert!(up <= depth, "{}: the page of {target} is not in the book", path.display());
        }
    }
}
