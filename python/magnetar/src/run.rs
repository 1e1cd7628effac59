//! Long work: on the process's own threads, without Python's lock, and stopped by Ctrl-C.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::{Class, Failure, Outcome};

/// How often a waiting call asks Python for signals.
const SIGNALS_EVERY: Duration = Duration::from_millis(20);

/// The most threads that may be asked for, as on the command line.
const MOST_THREADS: usize = 1024;

/// The threads of one process. A forked child has none of its parent's, and makes its own.
struct Pool {
    process: u32,
    threads: usize,
    pool: Arc<ThreadPool>,
}

static POOL: Mutex<Option<Pool>> = Mutex::new(None);

/// Threads asked for; 0 for one per core.
static THREADS: Mutex<usize> = Mutex::new(0);

fn pool() -> Outcome<Arc<ThreadPool>> {
    let threads = *THREADS.lock().unwrap_or_else(PoisonError::into_inner);
    let mut held = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pool) = held.take() {
        if pool.process == std::process::id() && pool.threads == threads {
            return Ok(Arc::clone(&held.insert(pool).pool));
        }
        if pool.process != std::process::id() {
            // Its threads are the parent's: nothing here may wait for them.
            std::mem::forget(pool);
        }
    }
    let built = ThreadPoolBuilder::new().num_threads(threads).thread_name(|n| format!("magnetar-{n}")).build();
    let pool = Arc::new(built.map_err(|error| Failure::of(Class::Other, error))?);
    *held = Some(Pool { process: std::process::id(), threads, pool: Arc::clone(&pool) });
    Ok(pool)
}

/// Whether work shall stop.
#[derive(Default)]
pub struct Stop(AtomicBool);

impl Stop {
    /// Fails once the caller has asked to stop.
    pub fn check(&self) -> Outcome<()> {
        if self.asked() { Err(Failure::Stopped) } else { Ok(()) }
    }

    /// Whether the caller has asked to stop.
    pub fn asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Work of a library that reports progress and knows no stop: leaving from there ends it.
    pub fn around<T>(&self, work: impl FnOnce(&(dyn Fn(u64) + Sync)) -> Outcome<T>) -> Outcome<T> {
        let progress = |_: u64| {
            if self.asked() {
                resume_unwind(Box::new(Asked));
            }
        };
        match catch_unwind(AssertUnwindSafe(|| work(&progress))) {
            Ok(result) => result,
            Err(panic) if panic.is::<Asked>() => Err(Failure::Stopped),
            Err(panic) => resume_unwind(panic),
        }
    }
}

/// What ends work that is asked to stop.
struct Asked;

/// Runs work on the threads of this process. Python's lock is released; signals are looked at while it runs, and one that
/// raises (Ctrl-C) asks the work to stop and is handed on when it has.
pub fn run<T: Send>(py: Python<'_>, work: impl FnOnce(&Stop) -> Outcome<T> + Send) -> Outcome<T> {
    let pool = pool()?;
    let stop = &Stop::default();
    py.detach(|| {
        std::thread::scope(|scope| {
            let (sender, receiver) = channel();
            scope.spawn(move || {
                let result = catch_unwind(AssertUnwindSafe(|| pool.install(|| work(stop))));
                // The receiver waits for this alone.
                let _ = sender.send(result);
            });
            let mut raised = None;
            loop {
                match receiver.recv_timeout(SIGNALS_EVERY) {
                    Ok(result) => {
                        return match raised {
                            Some(error) => Err(Failure::Python(error)),
                            None => result.unwrap_or_else(|panic| resume_unwind(panic)),
                        };
                    }
                    Err(RecvTimeoutError::Disconnected) => return Err(Failure::Stopped),
                    Err(RecvTimeoutError::Timeout) if raised.is_none() => {
                        if let Err(error) = Python::attach(|py| py.check_signals()) {
                            stop.0.store(true, Ordering::Relaxed);
                            raised = Some(error);
                        }
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                }
            }
        })
    })
}

/// How many threads calls use from now on: 0 for one per core, 1024 at most.
#[pyfunction]
#[pyo3(signature = (threads, /))]
pub fn set_threads(threads: usize) -> PyResult<()> {
    if threads > MOST_THREADS {
        let message =
            format!("{threads} threads: expected a number of threads from 0 (one per core) to {MOST_THREADS}");
        return Err(Failure::input(message).into());
    }
    *THREADS.lock().unwrap_or_else(PoisonError::into_inner) = threads;
    Ok(())
}

/// How many threads calls use.
#[pyfunction]
pub fn threads(py: Python<'_>) -> PyResult<usize> {
    Ok(run(py, |_| Ok(rayon::current_num_threads()))?)
}
