//! The end of a run as a result or a failure.

use tabwire_api::api::ExecuteResult;
use tabwire_api::{ErrorCode, Failure};
use tabwire_script::message::{Done, ScriptError};

use crate::script::run::RunEnd;

/// The result of a run, or its failure with a remedy.
pub(crate) fn result_of(end: RunEnd, has_state: bool) -> Result<ExecuteResult, Failure> {
    match end {
        RunEnd::Done(done) => result_of_done(*done),
        RunEnd::Cancelled { reason, is_timeout, is_killed, ends } => {
            let code = if is_timeout { ErrorCode::Timeout } else { ErrorCode::OutcomeUnknown };
            let message = format!("The script was ended: {reason}");
            let lost = if is_killed || ends { lost_text(has_state) } else { "" };
            let text = format!("{lost}Allow a longer timeout, or split the script.");
            Err(Failure::new(code, message).with_remedy(text))
        }
        RunEnd::Lost => {
            let message = "The process of the script ended unexpectedly.";
            let text = format!("{}Run the script again.", lost_text(has_state));
            Err(Failure::new(ErrorCode::Internal, message).with_remedy(text))
        }
    }
}

const fn lost_text(has_state: bool) -> &'static str {
    if has_state {
        "Its process was ended: variables are lost, the part of `state` that is JSON is kept as of the run before. "
    } else {
        "Its process was ended: variables are lost. "
    }
}

fn result_of_done(done: Done) -> Result<ExecuteResult, Failure> {
    if let Some(error) = done.error {
        return Err(failure_of(&error));
    }
    let dropped = (done.dropped_console_bytes > 0)
        .then(|| format!("{} bytes of console output were dropped.", done.dropped_console_bytes));
    Ok(ExecuteResult { text: done.text, value: done.value, notices: dropped.into_iter().collect() })
}

/// The failure of a script that threw. The error of an action keeps its code and remedy.
fn failure_of(error: &ScriptError) -> Failure {
    let of_action = error.failure.clone().and_then(|failure| serde_json::from_value::<Failure>(failure).ok());
    let code = of_action.as_ref().map_or(ErrorCode::EvalFailed, |failure| failure.code);
    let failure = Failure::new(code, error.render());
    match of_action.and_then(|failure| failure.remedy) {
        // The hint is part of the message already.
        Some(remedy) if !remedy.steps.is_empty() => failure.with_remedy(remedy),
        _ => failure,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_error_of_an_action_keeps_its_code() {
        let error = ScriptError {
            message: "page.goto: Refused.".to_owned(),
            place: Some("execute:2:1".to_owned()),
            excerpt: Some("  2 | x\n    | ^".to_owned()),
            failure: Some(json!({"code": "POLICY_DENIED", "message": "Refused."})),
            ..ScriptError::default()
        };
        let failure = failure_of(&error);
        assert_eq!(failure.code, ErrorCode::PolicyDenied);
        assert_eq!(failure.message, "page.goto: Refused.\n    at execute:2:1\n  2 | x\n    | ^");
        let forged = ScriptError { failure: Some(json!({"code": "NONSENSE"})), ..error };
        assert_eq!(failure_of(&forged).code, ErrorCode::EvalFailed);
    }
}
