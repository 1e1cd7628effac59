//! Finished shards on their way into a store while the next ones are made.

use std::sync::mpsc::sync_channel;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Shards on their way at the same time.
const UPLOADS: usize = 4;

/// Shards that wait for their way; who makes more of them waits, too, so that memory stays flat.
const WAITING: usize = 2;

/// Calls `make` with something that takes what it makes; `deliver` is called with each of them on other threads. All have been
/// delivered in the end.
pub(crate) fn while_delivering<T: Send, R>(
    deliver: &(dyn Fn(T) + Sync),
    make: impl FnOnce(&(dyn Fn(T) + Sync)) -> R,
) -> R {
    let (sender, receiver) = sync_channel::<T>(WAITING);
    let receiver = Mutex::new(receiver);
    thread::scope(|scope| {
        for _ in 0..UPLOADS {
            scope.spawn(|| {
                loop {
                    let next = receiver.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok(next) = next else { return };
                    deliver(next);
                }
            });
        }
        let result = make(&|item| {
            // Nobody stops listening before the sender is gone.
            let _ = sender.send(item);
        });
        drop(sender);
        result
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[test]
    fn everything_arrives_and_little_waits() {
        let (made, arrived, most) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        let deliver = |_: u64| {
            thread::yield_now();
            arrived.fetch_add(1, Ordering::SeqCst);
        };
        let result = while_delivering(&deliver, |send| {
            for item in 0..1000 {
                let on_their_way = made.fetch_add(1, Ordering::SeqCst) - arrived.load(Ordering::SeqCst);
                most.fetch_max(on_their_way, Ordering::SeqCst);
                send(item);
            }
            "done"
        });
        assert_eq!((result, arrived.into_inner()), ("done", 1000));
        assert!(most.into_inner() <= (UPLOADS + WAITING) as u64);
    }
}
