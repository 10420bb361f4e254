//! The response to `Runtime.evaluate`: the value, an exception, or the result of an agent function.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use tabwire_api::{ErrorCode, Failure, Remedy};

use crate::limits::QUOTED_CHARACTERS;
use crate::snapshot::{PageText, line_address};

/// Characters of what a script's function threw.
const THROWN_CHARACTERS: usize = 20_000;

/// The result of an evaluation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct EvalValue {
    /// The value; `null` for what JSON cannot carry.
    pub value: Value,
    /// What JSON cannot carry, as text: `undefined`, `NaN`, a function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub described: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EvaluateResponse {
    result: RemoteObject,
    exception_details: Option<ExceptionDetails>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RemoteObject {
    /// `undefined` is absent; `null` is present.
    #[serde(default, deserialize_with = "present")]
    value: Option<Value>,
    unserializable_value: Option<String>,
    description: Option<String>,
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    subtype: String,
    class_name: Option<String>,
    object_id: Option<String>,
}

pub(crate) fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExceptionDetails {
    #[serde(default)]
    text: String,
    #[serde(default)]
    line_number: u64,
    #[serde(default)]
    column_number: u64,
    exception: Option<RemoteObject>,
    /// More reliable than `lineNumber` for a rejected promise, which counts lines from 1.
    stack_trace: Option<Stack>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stack {
    #[serde(default)]
    call_frames: Vec<Call>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Call {
    #[serde(default)]
    url: String,
    line_number: u64,
    column_number: u64,
}

/// A value that a script's function returned: JSON, or what describes an object.
#[derive(Debug)]
pub(crate) struct ScriptValue {
    pub(crate) value: Option<Value>,
    /// `NaN`, `-0`, `Infinity`, `12n`.
    pub(crate) unserializable: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) kind: String,
    pub(crate) class_name: Option<String>,
}

/// The result of an agent function.
#[derive(Deserialize)]
struct AgentResult {
    ok: Option<Value>,
    failure: Option<AgentFailure>,
}

#[derive(Deserialize)]
struct AgentFailure {
    code: String,
    message: String,
    remedy: Option<Remedy>,
    #[serde(default)]
    details: Value,
}

impl EvaluateResponse {
    /// Whether the value is a function.
    pub(crate) fn is_function(&self) -> bool {
        self.exception_details.is_none() && self.result.kind == "function"
    }

    /// Whether the script did not compile, so that none of it ran.
    pub(crate) fn is_not_a_script(&self) -> bool {
        self.exception_details.as_ref().is_some_and(|details| {
            let thrown = details.exception.as_ref().and_then(|thrown| thrown.class_name.as_deref());
            // A SyntaxError that a script throws has a stack.
            let is_thrown = details.stack_trace.as_ref().is_some_and(|stack| !stack.call_frames.is_empty());
            thrown == Some("SyntaxError") && !is_thrown
        })
    }

    /// The `objectId` of the value, unless it is an exception.
    pub(crate) fn object_id(&self) -> Option<&str> {
        self.result.object_id.as_deref().filter(|_| self.exception_details.is_none())
    }

    /// Whether the value is a node of a document.
    pub(crate) fn is_element(&self) -> bool {
        self.result.subtype == "node"
    }

    /// The value for a script, or what the script's function threw, as the page describes it.
    pub(crate) fn into_script_result(self) -> Result<ScriptValue, Failure> {
        if let Some(details) = self.exception_details {
            return Err(details.into_script_failure());
        }
        let RemoteObject { value, unserializable_value, description, kind, class_name, .. } = self.result;
        Ok(ScriptValue { value, unserializable: unserializable_value, description, kind, class_name })
    }

    /// Subtracts the lines that were put before the caller's script.
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

    pub(crate) fn into_result(self) -> Result<EvalValue, Failure> {
        if let Some(details) = self.exception_details {
            return Err(details.into_failure());
        }
        let described = match &self.result.value {
            Some(_) => None,
            None => {
                Some(self.result.unserializable_value.or(self.result.description).unwrap_or(self.result.kind))
            }
        };
        Ok(EvalValue { value: self.result.value.unwrap_or(Value::Null), described })
    }

    /// Whether the result is this number.
    pub(crate) fn is_number(&self, number: i64) -> bool {
        self.result.value.as_ref().and_then(Value::as_i64) == Some(number)
    }

    /// The result of an agent function, or its failure.
    pub(crate) fn into_agent_result(self) -> Result<Value, Failure> {
        let internal = |why: String| {
            Failure::new(ErrorCode::Internal, format!("Unexpected result of the page agent: {why}."))
        };
        if let Some(details) = self.exception_details {
            return Err(internal(details.into_failure().message));
        }
        let response: AgentResult = serde_json::from_value(self.result.value.unwrap_or(Value::Null))
            .map_err(|error| internal(error.to_string()))?;
        match response.failure {
            None => Ok(response.ok.unwrap_or(Value::Null)),
            Some(failure) => Err(failure.into_failure()),
        }
    }
}

impl AgentFailure {
    fn into_failure(self) -> Failure {
        let code = ErrorCode::ALL.iter().copied().find(|code| code.as_str() == self.code);
        // The agent has its own code for several matches.
        let code = code.or((self.code == "AMBIGUOUS").then_some(ErrorCode::BadArgs));
        let failure = Failure::new(code.unwrap_or(ErrorCode::Internal), self.message);
        let failure = match self.remedy {
            Some(remedy) => failure.with_remedy(remedy),
            None => failure,
        };
        failure.with_details(self.details)
    }
}

impl ExceptionDetails {
    /// The failure of a script's function. The details have the page's own text, for the error that the script catches.
    fn into_script_failure(self) -> Failure {
        let value = self.exception.as_ref().map(|thrown| {
            let text = thrown.description.clone().or_else(|| match &thrown.value {
                Some(Value::String(text)) => Some(text.clone()),
                Some(other) => Some(other.to_string()),
                None => thrown.unserializable_value.clone(),
            });
            text.unwrap_or_else(|| thrown.kind.clone())
        });
        let thrown: String =
            value.unwrap_or_else(|| self.text.clone()).chars().take(THROWN_CHARACTERS).collect();
        self.into_failure().with_details(serde_json::json!({"thrown": thrown}))
    }

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
