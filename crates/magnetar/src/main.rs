//! The binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    magnetar::run(std::env::args_os())
}
