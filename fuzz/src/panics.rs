//! Panics: what a parser catches itself, such as those of the Parquet reader, is no crash; libFuzzer's own hook would
//! end the process before anybody can catch.

use std::panic::{self, AssertUnwindSafe};
use std::sync::{Mutex, PoisonError};

/// The last panic's message and place.
static LAST: Mutex<String> = Mutex::new(String::new());

/// Keeps every panic's message instead of printing it.
pub fn report_uncaught() {
    panic::set_hook(Box::new(|info| {
        *LAST.lock().unwrap_or_else(PoisonError::into_inner) = info.to_string();
    }));
}

/// Runs a target; a panic that leaves it is printed and ends the process.
pub fn guard(run: impl FnOnce()) {
    if panic::catch_unwind(AssertUnwindSafe(run)).is_err() {
        eprintln!("panic: {}", LAST.lock().unwrap_or_else(PoisonError::into_inner));
        std::process::abort();
    }
}
