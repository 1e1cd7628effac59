//! Standard output and standard error that may be full or broken: the standard macros would panic there.

use std::fmt::{Arguments, Display};
use std::io::{self, Write};
use std::process;

/// As the standard macro, but ends the program with an error where standard output cannot be written.
macro_rules! println {
    () => { $crate::output::print(format_args!("\n")) };
    ($($arg:tt)*) => { $crate::output::print(format_args!("{}\n", format_args!($($arg)*))) };
}

/// As the standard macro, but ends the program with an error where standard output cannot be written.
macro_rules! print {
    ($($arg:tt)*) => { $crate::output::print(format_args!($($arg)*)) };
}

/// As the standard macro, but silent where standard error cannot be written: there is nowhere left to report it.
macro_rules! eprintln {
    ($($arg:tt)*) => { $crate::output::eprint(format_args!("{}\n", format_args!($($arg)*))) };
}

/// A note on standard error, left out with `--quiet`.
macro_rules! note {
    ($($arg:tt)*) => { if !$crate::console::is_quiet() { eprintln!($($arg)*) } };
}

/// Writes to standard output, or ends the program with exit code 1.
pub fn print(text: Arguments<'_>) {
    let mut out = io::stdout().lock();
    if let Err(error) = out.write_fmt(text).and_then(|()| out.flush()) {
        eprint(format_args!("error: standard output: {error}\n"));
        process::exit(1);
    }
}

/// Writes to standard error, if that is possible.
pub fn eprint(text: Arguments<'_>) {
    let _ = io::stderr().lock().write_fmt(text);
}

/// A number of things by the word for one of them: `1 shard`, `3 shards`.
pub fn counted<N: Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    let ending = match (count == N::from(1), noun.ends_with(['s', 'x'])) {
        (true, _) => "",
        (false, true) => "es",
        (false, false) => "s",
    };
    format!("{count} {noun}{ending}")
}

/// A mean and its standard error, if there is one.
pub fn with_error(mean: f64, stderr: f64, decimals: usize) -> String {
    if stderr.is_finite() {
        format!("{mean:.decimals$} +- {stderr:.decimals$}")
    } else {
        format!("{mean:.decimals$} +- n/a")
    }
}
