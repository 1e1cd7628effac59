//! Runs the real binary.

use std::path::Path;
use std::process::{Command, Output};

/// A call of the binary built for this test run.
pub fn magnetar(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_magnetar"));
    command.args(args);
    command
}

/// Runs it and asserts success; returns standard output.
pub fn succeed(args: &[&str]) -> String {
    let output = run(args);
    assert!(output.status.success(), "magnetar {args:?} failed: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("standard output is UTF-8")
}

/// Runs it and asserts a clean failure (an exit code, no panic); returns standard error.
pub fn fail(args: &[&str]) -> String {
    let output = run(args);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(matches!(output.status.code(), Some(1 | 2)), "magnetar {args:?}: {:?} {stderr}", output.status);
    assert!(!stderr.contains("panicked"), "{stderr}");
    stderr
}

/// Runs it.
pub fn run(args: &[&str]) -> Output {
    magnetar(args).output().expect("the binary starts")
}

/// A path as an argument.
pub fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
