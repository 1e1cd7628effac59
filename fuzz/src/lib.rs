//! What the fuzz targets share: a bound on memory, a scratch folder in memory, and panics that are reported only where
//! nobody catches them.

pub mod damage;
pub mod memory;
pub mod panics;
pub mod pattern;
pub mod scratch;

use std::path::PathBuf;

/// Defines a libFuzzer target: `target!(|data| { ... })`. The closure gets the input's bytes; a panic that leaves it, or
/// more than [`memory::LIMIT_BYTES`] of live memory at any time, is a crash.
#[macro_export]
macro_rules! target {
    (|$data:ident| $body:expr) => {
        #[global_allocator]
        static MEMORY: $crate::memory::Bounded = $crate::memory::Bounded;

        libfuzzer_sys::fuzz_target!(init: $crate::panics::report_uncaught(), |$data: &[u8]| {
            $crate::panics::guard(|| {
                let _ = $body;
            });
        });
    };
}

/// A small valid dataset, made by `run.sh` with the command line.
///
/// # Panics
/// If the environment does not name it.
#[must_use]
pub fn valid_dataset() -> PathBuf {
    PathBuf::from(std::env::var_os("MAGNETAR_FUZZ_DATASET").expect("MAGNETAR_FUZZ_DATASET names a valid dataset"))
}

/// The first shard of [`valid_dataset`].
#[must_use]
pub fn valid_shard() -> PathBuf {
    valid_dataset().join("test/part-00000.parquet")
}

/// As [`valid_dataset`], its pages not compressed: damage reaches what decodes them.
///
/// # Panics
/// If the environment does not name it.
#[must_use]
pub fn plain_dataset() -> PathBuf {
    PathBuf::from(std::env::var_os("MAGNETAR_FUZZ_PLAIN").expect("MAGNETAR_FUZZ_PLAIN names a valid dataset"))
}

/// A small valid sweep's folder, made as the dataset.
///
/// # Panics
/// If the environment does not name it.
#[must_use]
pub fn valid_sweep() -> PathBuf {
    PathBuf::from(std::env::var_os("MAGNETAR_FUZZ_SWEEP").expect("MAGNETAR_FUZZ_SWEEP names a valid sweep"))
}

/// A small valid table of volumes, made as the dataset.
///
/// # Panics
/// If the environment does not name it.
#[must_use]
pub fn valid_volumes() -> PathBuf {
    PathBuf::from(std::env::var_os("MAGNETAR_FUZZ_VOLUMES").expect("MAGNETAR_FUZZ_VOLUMES names valid volumes"))
}
