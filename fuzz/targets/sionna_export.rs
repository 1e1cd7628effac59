//! Sionna RT exports, plain JSON or gzip: what parses is compared with our own trace.
#![no_main]

use std::path::Path;

use magnetar_trace::sionna::{parse_export, validate};

magnetar_fuzz::target!(|data| {
    match parse_export(Path::new("fuzz.json"), data) {
        Ok(export) => drop(validate(&export)),
        Err(error) => drop(error.to_string()),
    }
});
