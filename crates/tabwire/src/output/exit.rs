//! Exit codes: 0 done, 1 failed, 2 usage, 3 refused by policy, 4 timed out. SIGINT ends the process by the signal (see
//! `tabwire_client::report_interrupts`), which shells report as 130.

use std::process::ExitCode;

use tabwire_api::Failure;

use crate::output::printer::Printer;

/// Prints an error, the help or the version of clap.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    // Fails only when the reader has closed the pipe.
    let _ = error.print();
    ExitCode::from(if error.use_stderr() { 2 } else { 0 })
}

pub(crate) fn failed(failure: &Failure, printer: &Printer) -> ExitCode {
    printer.failure(failure);
    ExitCode::from(failure.code.exit_code())
}
