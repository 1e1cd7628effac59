//! Shards are closed, hashed and made durable on threads of their own, while the next ones are made: a disk or a store is
//! waited for without anybody being idle.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SendError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Builder};

use crate::error::DatasetError;

/// Whether anything went wrong, and what did first.
#[derive(Default)]
pub(crate) struct Outcome {
    failed: AtomicBool,
    error: Mutex<Option<DatasetError>>,
}

impl Outcome {
    /// Whether to stop.
    pub(crate) fn is_failure(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Takes note of a part's result.
    pub(crate) fn note(&self, result: Result<(), DatasetError>) {
        if let Err(error) = result {
            self.failed.store(true, Ordering::Relaxed);
            self.error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
    }

    /// The first error, if there was one.
    pub(crate) fn into_result(self) -> Result<(), DatasetError> {
        self.error.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }
}

/// Who does the last part of pieces of work.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Finishers {
    /// Pieces finished at the same time.
    pub(crate) threads: usize,
    /// Pieces that wait for it; who makes more of them waits, too, so that memory stays flat.
    pub(crate) waiting: usize,
}

impl Finishers {
    /// Calls `make` with something that takes what it makes; `finish` is called with each of them on other threads, or, if the
    /// system has none to give, by who made it. All are finished in the end.
    pub(crate) fn run<T: Send>(self, finish: &(dyn Fn(T) + Sync), make: impl FnOnce(&(dyn Fn(T) + Sync))) {
        let (sender, receiver) = sync_channel::<T>(self.waiting);
        let receiver = Mutex::new(receiver);
        let listen = || {
            loop {
                let next = receiver.lock().unwrap_or_else(PoisonError::into_inner).recv();
                let Ok(next) = next else { return };
                finish(next);
            }
        };
        thread::scope(|scope| {
            let start = |_| Builder::new().name("finish".into()).spawn_scoped(scope, listen).is_ok();
            let listening = (0..self.threads).filter(|n| start(*n)).count() > 0;
            make(&|piece| {
                // Nobody stops listening before the sender is gone.
                let left = if listening { sender.send(piece).err().map(|SendError(left)| left) } else { Some(piece) };
                if let Some(left) = left {
                    finish(left);
                }
            });
            drop(sender);
        });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;

    #[test]
    fn everything_is_finished_and_little_waits() {
        for (threads, waiting) in [(4, 2), (2, 0), (1, 0), (0, 0)] {
            let (made, finished, most) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
            let finish = |_: u64| {
                thread::yield_now();
                finished.fetch_add(1, Ordering::SeqCst);
            };
            Finishers { threads, waiting }.run(&finish, |send| {
                for piece in 0..1000 {
                    let under_way = made.fetch_add(1, Ordering::SeqCst) - finished.load(Ordering::SeqCst);
                    most.fetch_max(under_way, Ordering::SeqCst);
                    send(piece);
                }
            });
            assert_eq!(finished.into_inner(), 1000);
            assert!(most.into_inner() <= (threads + waiting) as u64);
        }
    }
}
