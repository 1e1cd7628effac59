//! Every command that the documentation and the help show is one that the command line takes, and every link leads somewhere.

use std::path::{Path, PathBuf};

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
