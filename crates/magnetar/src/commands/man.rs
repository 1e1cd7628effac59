//! `magnetar man`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Command;
use clap_mangen::Man;
use magnetar_files::AtomicFile;

use super::command_reference::command_reference;

/// Flags of `magnetar man`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  magnetar man | man -l -
  magnetar man --out ~/.local/share/man/man1
  magnetar man --markdown > commands.md")]
pub struct Args {
    /// Write a page for every command into this folder, instead of printing the first.
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print all commands as one page of Markdown.
    #[arg(long, conflicts_with = "out")]
    markdown: bool,
}

/// Prints or writes the manual pages.
pub fn run(args: &Args, mut command: Command) -> anyhow::Result<ExitCode> {
    if args.markdown {
        print!("{}", command_reference(command));
        return Ok(ExitCode::SUCCESS);
    }
    command.build();
    let Some(out) = &args.out else {
        print!("{}", String::from_utf8_lossy(&page(&command)?));
        return Ok(ExitCode::SUCCESS);
    };
    magnetar_files::create_folder(out).with_context(|| out.display().to_string())?;
    let written = write(&command, "magnetar", out)?;
    println!("{written} pages in {}", out.display());
    Ok(ExitCode::SUCCESS)
}

fn page(command: &Command) -> anyhow::Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    Ok(page)
}

/// Writes the page of a command and those of all below it; how many.
fn write(command: &Command, name: &str, out: &Path) -> anyhow::Result<usize> {
    let path = out.join(format!("{name}.1"));
    AtomicFile::write(&path, &page(command)?).with_context(|| path.display().to_string())?;
    let mut written = 1;
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        written += write(sub, &format!("{name}-{}", sub.get_name()), out)?;
    }
    Ok(written)
}
