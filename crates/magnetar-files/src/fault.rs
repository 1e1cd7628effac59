//! Faults on request, in test builds only (feature `fault-injection`).
//!
//! `MAGNETAR_FAULT=kind:n` strikes at the n-th operation, counted from 1; `kind:n+` at that and all later ones. The
//! kinds are `eio` and `enospc`, which make the operation fail, and `kill`, which ends the process without any
//! clean-up. A write that is struck puts half of its bytes into the file first, as a real one may.
//! `MAGNETAR_FAULT_LOG=file` appends one line per operation, from which a test learns how many there are.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::operation::Operation;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Fail(io::ErrorKind),
    Kill,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fault {
    kind: Kind,
    first: u64,
    lasting: bool,
}

static FAULT: OnceLock<Option<Fault>> = OnceLock::new();
static COUNT: AtomicU64 = AtomicU64::new(0);

fn parse(text: &str) -> Option<Fault> {
    let (kind, number) = text.split_once(':')?;
    let kind = match kind {
        "eio" => Kind::Fail(io::ErrorKind::Other),
        "enospc" => Kind::Fail(io::ErrorKind::StorageFull),
        "kill" => Kind::Kill,
        _ => return None,
    };
    let (number, lasting) = number.strip_suffix('+').map_or((number, false), |number| (number, true));
    Some(Fault { kind, first: number.parse().ok()?, lasting })
}

/// The fault that strikes the operation about to happen, which is counted.
fn next(operation: Operation, path: &Path) -> Option<Kind> {
    let number = COUNT.fetch_add(1, Ordering::SeqCst) + 1;
    if let Some(log) = std::env::var_os("MAGNETAR_FAULT_LOG") {
        let line = format!("{number} {operation:?} {}\n", path.display());
        let _ =
            OpenOptions::new().create(true).append(true).open(log).and_then(|mut log| log.write_all(line.as_bytes()));
    }
    let fault = (*FAULT.get_or_init(|| parse(&std::env::var("MAGNETAR_FAULT").ok()?)))?;
    let struck = if fault.lasting { number >= fault.first } else { number == fault.first };
    struck.then_some(fault.kind)
}

fn strike(kind: Kind, operation: Operation) -> io::Error {
    match kind {
        Kind::Kill => std::process::abort(),
        Kind::Fail(kind) => io::Error::new(kind, format!("injected fault ({operation:?})")),
    }
}

pub(crate) fn about_to(operation: Operation, path: &Path) -> io::Result<()> {
    next(operation, path).map_or(Ok(()), |kind| Err(strike(kind, operation)))
}

pub(crate) fn before_write(file: &mut File, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let Some(kind) = next(Operation::Write, path) else { return Ok(()) };
    let _ = file.write_all(&bytes[..bytes.len() / 2]);
    Err(strike(kind, Operation::Write))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_as_written() {
        let fault = |kind, first, lasting| Some(Fault { kind, first, lasting });
        assert_eq!(parse("kill:3"), fault(Kind::Kill, 3, false));
        assert_eq!(parse("enospc:12+"), fault(Kind::Fail(io::ErrorKind::StorageFull), 12, true));
        assert_eq!(parse("flood:1"), None);
        assert_eq!(parse("eio:"), None);
    }
}
