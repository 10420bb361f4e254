//! Measures processes from start to end.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Runs a command and returns its duration.
///
/// # Panics
/// When it cannot be run or fails.
#[must_use]
pub fn timed(mut command: Command) -> Duration {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let before = Instant::now();
    let status = command.status().expect("the program runs");
    let taken = before.elapsed();
    assert!(status.success(), "{command:?}");
    taken
}

/// A Rust program that does nothing, built with the same options as Tabwire.
///
/// # Panics
/// When it cannot be built.
#[must_use]
pub fn empty_program(directory: &Path) -> PathBuf {
    let source = directory.join("empty.rs");
    std::fs::write(&source, "fn main() {}").expect("written");
    let program = directory.join("empty");
    let built =
        Command::new("rustc").args(["-O", "-C", "strip=symbols", "-o"]).arg(&program).arg(&source).status();
    assert!(built.expect("rustc runs").success());
    program
}
