//! What came of an evaluation, as the protocol writes it, and how it is told.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use tabwire_wire::{ErrorCode, Failure};

use crate::limits::QUOTED_CHARACTERS;
use crate::snapshot::{PageText, line_address};

/// The result of an evaluation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Evaluated {
    /// The value; `null` for what JSON cannot carry.
    pub value: Value,
    /// What JSON cannot carry, as text: `undefined`, `NaN`, a function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub described: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Evaluation {
    result: RemoteObject,
    exception_details: Option<ExceptionDetails>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RemoteObject {
    /// Absent and `null` are two things here.
    #[serde(default, deserialize_with = "present")]
    value: Option<Value>,
    unserializable_value: Option<String>,
    description: Option<String>,
    #[serde(rename = "type", default)]
    kind: String,
    class_name: Option<String>,
    object_id: Option<String>,
}

pub(crate) fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExceptionDetails {
    #[serde(default)]
    text: String,
    #[serde(default)]
    line_number: u64,
    #[serde(default)]
    column_number: u64,
    exception: Option<RemoteObject>,
    /// Says more truly than the details where a promise was rejected: they count lines from one then.
    stack_trace: Option<Stack>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stack {
    #[serde(default)]
    call_frames: Vec<Call>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Call {
    #[serde(default)]
    url: String,
    line_number: u64,
    column_number: u64,
}

/// What a function of the page agent answers.
#[derive(Deserialize)]
struct AgentAnswer {
    ok: Option<Value>,
    failure: Option<AgentFailure>,
}

#[derive(Deserialize)]
struct AgentFailure {
    code: String,
    message: String,
    hint: Option<String>,
    #[serde(default)]
    details: Value,
}

impl Evaluation {
    /// Whether a function came out, which may be meant to be called.
    pub(crate) fn is_function(&self) -> bool {
        self.exception_details.is_none() && self.result.kind == "function"
    }

    /// Whether the text could not be read as a script, so that none of it was run.
    pub(crate) fn is_not_a_script(&self) -> bool {
        self.exception_details.as_ref().is_some_and(|details| {
            let thrown = details.exception.as_ref().and_then(|thrown| thrown.class_name.as_deref());
            // What a script throws comes from somewhere.
            let is_thrown = details.stack_trace.as_ref().is_some_and(|stack| !stack.call_frames.is_empty());
            thrown == Some("SyntaxError") && !is_thrown
        })
    }

    /// The browser's name for an object that came out, unless it was an error.
    pub(crate) fn held_object(&self) -> Option<&str> {
        self.result.object_id.as_deref().filter(|_| self.exception_details.is_none())
    }

    /// Counts lines from a later one: what stands before is not the caller's.
    pub(crate) fn after_lines(mut self, lines: u64) -> Self {
        if let Some(details) = &mut self.exception_details {
            details.line_number = details.line_number.saturating_sub(lines);
            let calls = details.stack_trace.iter_mut().flat_map(|stack| &mut stack.call_frames);
            for call in calls.filter(|call| call.url.is_empty()) {
                call.line_number = call.line_number.saturating_sub(lines);
            }
        }
        self
    }

    pub(crate) fn into_result(self) -> Result<Evaluated, Failure> {
        if let Some(details) = self.exception_details {
            return Err(details.into_failure());
        }
        let described = match &self.result.value {
            Some(_) => None,
            None => {
                Some(self.result.unserializable_value.or(self.result.description).unwrap_or(self.result.kind))
            }
        };
        Ok(Evaluated { value: self.result.value.unwrap_or(Value::Null), described })
    }

    /// Whether the result is this number.
    pub(crate) fn is_number(&self, number: i64) -> bool {
        self.result.value.as_ref().and_then(Value::as_i64) == Some(number)
    }

    /// Reads what a function of the page agent answered.
    pub(crate) fn into_agent_answer(self) -> Result<Value, Failure> {
        let internal = |why: String| {
            Failure::new(ErrorCode::Internal, format!("The page agent's answer is not understood: {why}."))
        };
        if let Some(details) = self.exception_details {
            return Err(internal(details.into_failure().message));
        }
        let answer: AgentAnswer = serde_json::from_value(self.result.value.unwrap_or(Value::Null))
            .map_err(|error| internal(error.to_string()))?;
        match answer.failure {
            None => Ok(answer.ok.unwrap_or(Value::Null)),
            Some(failure) => Err(failure.into_failure()),
        }
    }
}

impl AgentFailure {
    fn into_failure(self) -> Failure {
        let code = ErrorCode::ALL.iter().copied().find(|code| code.as_str() == self.code);
        // The agent's own word for several matches.
        let code = code.or((self.code == "AMBIGUOUS").then_some(ErrorCode::BadArgs));
        let failure = Failure::new(code.unwrap_or(ErrorCode::Internal), self.message);
        let failure = match self.hint {
            Some(hint) => failure.with_hint(hint),
            None => failure,
        };
        failure.with_details(self.details)
    }
}

impl ExceptionDetails {
    fn into_failure(self) -> Failure {
        let thrown = self.exception.and_then(|thrown| {
            thrown.description.or_else(|| thrown.value.map(|value| format!("{} {value}", self.text)))
        });
        let what = thrown.unwrap_or(self.text);
        let first = PageText::cut(what.lines().next().unwrap_or_default(), QUOTED_CHARACTERS);
        let call = self.stack_trace.and_then(|stack| stack.call_frames.into_iter().next());
        let (url, line, column) = call
            .map_or((String::new(), self.line_number, self.column_number), |call| {
                (call.url, call.line_number, call.column_number)
            });
        let place = if url.is_empty() { String::new() } else { format!(" of {}", line_address(&url)) };
        let message = format!(
            "The expression threw at line {}, column {}{place}: {}",
            line + 1,
            column + 1,
            first.quoted()
        );
        Failure::new(ErrorCode::EvalFailed, message)
    }
}
