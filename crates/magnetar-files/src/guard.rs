//! The edge to foreign readers that panic on some damaged files.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// A foreign reader panicked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("damaged: the reader cannot make sense of it")]
pub struct ReaderPanicked;

/// Calls a foreign reader; a panic in it is an error, and is not printed. What the call worked on is not to be used
/// again after that.
///
/// # Errors
/// If it panicked.
pub fn guard<T>(read: impl FnOnce() -> T) -> Result<T, ReaderPanicked> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let loud = take_hook();
        set_hook(Box::new(move |info| {
            if !GUARDED.get() {
                loud(info);
            }
        }));
    });
    let outer = GUARDED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(read));
    GUARDED.set(outer);
    result.map_err(|_| ReaderPanicked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error_and_the_thread_goes_on() {
        assert_eq!(guard(|| 1 + 1), Ok(2));
        assert_eq!(guard(|| [1, 2][std::hint::black_box(2)]), Err(ReaderPanicked));
        assert_eq!(guard(|| guard(|| panic!("inner")).is_err()), Ok(true));
    }
}
