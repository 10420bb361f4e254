//! Small tasks on pages of our own, solved by a scripted agent with Tabwire and with other tools: success, calls, bytes.
//!
//! The runner is `run.mjs`, because one of the tools is a Node program anyway. Arguments go to it.
#![expect(clippy::print_stderr, reason = "a bench says what is missing")]

use std::path::Path;
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let runner = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/tasks/run.mjs");
    // Cargo adds `--bench` to the arguments of every benchmark.
    let arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let status = Command::new("node")
        .arg(runner)
        .args(["--tabwire", env!("CARGO_BIN_EXE_tabwire")])
        .args(arguments)
        .status();
    match status {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("node: {error}");
            ExitCode::FAILURE
        }
    }
}
