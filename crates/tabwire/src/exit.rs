//! How the program ends: 0 done, 1 failed, 2 usage, 3 refused by policy, 4 timed out. Interrupted, it ends by the
//! signal (see `interruption.rs`), which shells tell as 130.

use std::process::ExitCode;

use tabwire_wire::Failure;

use crate::printer::Printer;

/// Prints what clap has to say; help and version are successes.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    // A closed pipe while printing help is nobody's problem.
    let _ = error.print();
    ExitCode::from(if error.use_stderr() { 2 } else { 0 })
}

pub(crate) fn failed(failure: &Failure, printer: &Printer) -> ExitCode {
    printer.failure(failure);
    ExitCode::from(failure.code.exit_code())
}
