//! Shards are closed, hashed and made durable on threads of their own, while the next ones are made: a disk is waited for
//! without anybody being idle.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SendError, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, Scope};

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

/// A thread that does the last part of a worker's pieces of work, one at a time.
pub(crate) struct Finisher<T>(Option<SyncSender<T>>);

impl<T> Finisher<T> {
    /// Starts the thread, which ends with the finisher. Without one, if the system has none to give, the worker does it all.
    pub(crate) fn start<'scope>(scope: &'scope Scope<'scope, '_>, finish: impl Fn(T) + Send + 'scope) -> Self
    where
        T: Send + 'scope,
    {
        // No waiting line: one piece is finished while the next is made, and memory stays that of two.
        let (send, receive) = sync_channel(0);
        let thread = Builder::new().name("finish".into());
        let started = thread.spawn_scoped(scope, move || receive.into_iter().for_each(finish));
        Self(started.ok().map(|_| send))
    }

    /// Hands a piece over, once the one before is done; gives it back if nobody takes it.
    pub(crate) fn give(&self, piece: T) -> Option<T> {
        match &self.0 {
            Some(send) => send.send(piece).err().map(|SendError(piece)| piece),
            None => Some(piece),
        }
    }
}
