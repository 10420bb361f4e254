//! Exit codes: 0 done, 1 failed, 2 usage, 3 refused by policy, 4 timed out. SIGINT ends the process by the signal (see
//! `tabwire_client::report_interrupts`), which shells report as 130.

use std::process::ExitCode;

use tabwire_api::{ErrorCode, Failure};

use crate::output::printer::{OutputForm, Printer};

/// Prints an error, the help or the version of clap. With `json`, an error is a failure as JSON.
pub(crate) fn usage(error: &clap::Error, json: bool) -> ExitCode {
    if json && error.use_stderr() {
        Printer::new(OutputForm::Json, true).failure(&usage_failure(error));
    } else {
        // Fails only when the reader has closed the pipe.
        let _ = error.print();
    }
    ExitCode::from(if error.use_stderr() { 2 } else { 0 })
}

/// An error of clap as a failure: its first paragraph is the message, the rest are tips and the usage.
fn usage_failure(error: &clap::Error) -> Failure {
    let text = error.render().to_string();
    let mut parts = text.trim().splitn(2, "\n\n");
    let words = |part: &str| part.split_whitespace().collect::<Vec<_>>().join(" ");
    let message = words(parts.next().unwrap_or_default());
    let failure = Failure::new(ErrorCode::BadArgs, message.trim_start_matches("error: ").to_owned());
    match parts.next().map(words).filter(|rest| !rest.is_empty()) {
        Some(rest) => failure.with_remedy(rest),
        None => failure,
    }
}

pub(crate) fn failed(failure: &Failure, printer: &Printer) -> ExitCode {
    printer.failure(failure);
    ExitCode::from(failure.code.exit_code())
}

#[cfg(test)]
mod tests {
    use super::usage_failure;

    #[test]
    fn b9_a_usage_error_is_a_failure_with_a_remedy() {
        let line = ["tabwire", "press", "Escape", "--snapshott"].map(Into::into);
        let error = crate::cli::invocation::parse(&line).expect_err("an unknown option");
        let failure = usage_failure(&error);
        assert_eq!(failure.message, "unexpected argument '--snapshott' found");
        let remedy = failure.remedy.expect("a remedy").for_terminal();
        assert!(remedy.contains("--snapshot"), "{remedy}");
    }
}
