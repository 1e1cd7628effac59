//! What all commands share about the console: how much is said, and how progress is shown.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex, Once, OnceLock};
use std::time::Instant;

use signal_hook::consts::SIGINT;
use signal_hook::iterator::Signals;

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ProgressMode {
    /// A bar, if standard error is a terminal.
    Auto,
    /// Nothing.
    None,
    /// One JSON object per second and line on standard error.
    Json,
}

/// Flags that every command takes.
#[derive(clap::Args)]
pub struct ConsoleArgs {
    /// No notes and no progress; warnings and errors stay.
    #[arg(short, long, global = true, help_heading = "Console", conflicts_with = "verbose")]
    quiet: bool,
    /// Say at the end how long it took, with how much memory.
    #[arg(short, long, global = true, help_heading = "Console")]
    verbose: bool,
    /// How progress is shown.
    #[arg(
        long,
        global = true,
        help_heading = "Console",
        value_name = "HOW",
        default_value = "auto",
        hide_possible_values = true
    )]
    progress: ProgressMode,
}

/// Exit code of a program that was interrupted, as shells have it.
const INTERRUPTED: i32 = 130;

static QUIET: AtomicBool = AtomicBool::new(false);
static PROGRESS: OnceLock<ProgressMode> = OnceLock::new();
static STARTED: LazyLock<Instant> = LazyLock::new(Instant::now);

impl ConsoleArgs {
    /// Makes the flags those of the whole program.
    pub fn install(&self) {
        LazyLock::force(&STARTED);
        QUIET.store(self.quiet, Ordering::Relaxed);
        let progress =
            if self.quiet && self.progress == ProgressMode::Auto { ProgressMode::None } else { self.progress };
        let _ = PROGRESS.set(progress);
    }

    /// What `--verbose` says at the end.
    pub fn finish(&self) {
        if self.verbose {
            let memory = peak_memory_bytes()
                .map_or_else(String::new, |bytes| format!(", at most {} of memory", crate::progress::bytes(bytes)));
            eprintln!("took {}{memory}", crate::progress::duration(STARTED.elapsed()));
        }
    }
}

/// Whether notes are left out.
pub fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// How progress is shown.
pub fn progress() -> ProgressMode {
    PROGRESS.get().copied().unwrap_or(ProgressMode::Auto)
}

/// The most memory the process held, where the system says so.
fn peak_memory_bytes() -> Option<u64> {
    proc_bytes(&std::fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

/// A size in bytes in a text such as Linux writes: lines of a name and a number of kB.
pub fn proc_bytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

static RESUMES: AtomicBool = AtomicBool::new(false);
static TEMPORARY: Mutex<Option<PathBuf>> = Mutex::new(None);

/// From now on Ctrl-C removes this folder: the process then ends without the care that values take of their folders.
pub fn remove_when_interrupted(folder: &Path) {
    if let Ok(mut temporary) = TEMPORARY.lock() {
        *temporary = Some(folder.to_owned());
    }
    listen_for_interruptions();
}

/// From now on Ctrl-C says that the same command goes on where it was stopped. What is finished is whole at any time.
pub fn say_that_it_resumes() {
    RESUMES.store(true, Ordering::Relaxed);
    listen_for_interruptions();
}

/// From now on Ctrl-C says what the same command will do. Every command that shows progress calls this.
pub fn listen_for_interruptions() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // Where signals cannot be listened to, Ctrl-C ends the program as ever.
        let Ok(mut signals) = Signals::new([SIGINT]) else { return };
        std::thread::spawn(move || {
            if signals.forever().next().is_some() {
                let what = if RESUMES.load(Ordering::Relaxed) {
                    "what is finished is kept, and the same command goes on from there"
                } else {
                    "nothing is half written, and the same command starts from the beginning"
                };
                if let Some(folder) = TEMPORARY.lock().ok().and_then(|temporary| temporary.clone()) {
                    let _ = std::fs::remove_dir_all(folder);
                }
                eprintln!("\ninterrupted; {what}");
                std::process::exit(INTERRUPTED);
            }
        });
    });
}
