//! One tab's page: navigating it, evaluating in it, saying what is on it.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};
use tabwire_cdp::{CdpError, CdpSession, Deadline};
use tabwire_wire::{ErrorCode, Failure, TargetId};
use tokio::sync::watch;

use crate::limits::{OUTLINE_CHARACTERS, RESULT_BYTES, SETUP_DEADLINE};
use crate::navigation;

/// A handle on one tab's page; clones share it.
#[derive(Clone, Debug)]
pub struct Page {
    target: TargetId,
    session: CdpSession,
    crashed: watch::Receiver<bool>,
}

/// What is on a page, in short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outline {
    /// Where it is.
    pub url: String,
    /// Its title.
    pub title: String,
    /// Its visible text, cut at a limit.
    pub text: String,
    /// Whether text was cut.
    pub truncated: bool,
}

/// The result of an evaluation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evaluated {
    /// The value; `null` for what JSON cannot carry.
    pub value: Value,
    /// What JSON cannot carry, as text: `undefined`, `NaN`, a function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub described: Option<String>,
}

/// Reads a page's outline; runs in a world of its own, out of the page's reach.
const READ_OUTLINE: &str = include_str!("../../../page/outline.js");

/// The isolated world's name, as DevTools shows it.
const WORLD: &str = "tabwire";

impl Page {
    pub(crate) fn new(target: TargetId, session: CdpSession, crashed: watch::Receiver<bool>) -> Self {
        Self { target, session, crashed }
    }

    /// The target the page lives in.
    #[must_use]
    pub fn target(&self) -> &TargetId {
        &self.target
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.session.is_gone()
    }

    /// Goes to an address and waits until it has loaded.
    ///
    /// # Errors
    /// When the address cannot be reached, or not within the deadline.
    pub async fn navigate(&self, url: &str, deadline: Deadline) -> Result<(), Failure> {
        navigation::navigate(&self.session, &self.target, url, deadline).await
    }

    /// Waits until a tab that was opened with an address has loaded it, and says what is on it.
    ///
    /// # Errors
    /// When the address cannot be reached, or not within the deadline.
    pub async fn first_outline(&self, url: &str, deadline: Deadline) -> Result<Outline, Failure> {
        if url.starts_with("about:") {
            return self.outline(deadline).await;
        }
        let mut loads = navigation::watch_loads(&self.session, deadline).await?;
        loop {
            navigation::next_load(&mut loads, &self.target, url, deadline).await?;
            let outline = self.outline(deadline).await?;
            if outline.url.starts_with("chrome-error:") {
                // Asked for once more, because only then does the browser say what is wrong.
                self.navigate(url, deadline).await?;
                return self.outline(deadline).await;
            }
            if outline.url != "about:blank" {
                return Ok(outline);
            }
        }
    }

    /// Does something that a crash of the page's process must not leave waiting.
    async fn unless_crashed<T>(&self, work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
        let mut crashed = self.crashed.clone();
        tokio::select! {
            biased;
            Ok(_) = crashed.wait_for(|crashed| *crashed) => Err(crashed_page()),
            done = work => done,
        }
    }

    /// Evaluates an expression in the page's own world and awaits it.
    ///
    /// # Errors
    /// With `EVAL_FAILED` when it throws.
    pub async fn evaluate(&self, expression: &str, deadline: Deadline) -> Result<Evaluated, Failure> {
        // Only the console's mode takes `await` outside a function, and only the other awaits a promise that
        // the expression yields.
        let awaits = expression.contains("await");
        let params = json!({
            "expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": true,
            "replMode": awaits,
        });
        self.unless_crashed(async {
            let answer = self.session.send("Runtime.evaluate", &params, deadline).await;
            if matches!(answer, Err(CdpError::Timeout { .. })) {
                // What still runs would keep the page from everything else.
                let _ = self.session.begin("Runtime.terminateExecution", &(), SETUP_DEADLINE);
            }
            let evaluation: Evaluation =
                answer.and_then(|answer| answer.to()).map_err(CdpError::into_failure)?;
            evaluation.into_result()
        })
        .await
    }

    /// Says what is on the page.
    ///
    /// # Errors
    /// When the page cannot be read.
    pub async fn outline(&self, deadline: Deadline) -> Result<Outline, Failure> {
        self.unless_crashed(self.read_outline(deadline)).await
    }

    async fn read_outline(&self, deadline: Deadline) -> Result<Outline, Failure> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct World {
            execution_context_id: u64,
        }
        let world = json!({"frameId": self.target, "worldName": WORLD});
        let answer = self.session.send("Page.createIsolatedWorld", &world, deadline).await;
        let world: World = answer.and_then(|answer| answer.to()).map_err(CdpError::into_failure)?;
        let expression = format!("({READ_OUTLINE})({OUTLINE_CHARACTERS})");
        let params = json!({
            "expression": expression, "contextId": world.execution_context_id, "returnByValue": true,
        });
        let answer = self.session.send("Runtime.evaluate", &params, deadline).await;
        let evaluation: Evaluation = answer.and_then(|answer| answer.to()).map_err(CdpError::into_failure)?;
        let value = evaluation.into_result()?.value;
        serde_json::from_value(value).map_err(|error| {
            Failure::new(ErrorCode::Internal, format!("The page's outline is not readable: {error}."))
        })
    }
}

fn crashed_page() -> Failure {
    Failure::new(ErrorCode::TargetGone, "The page's process has crashed.")
        .with_hint("Open an address in the tab to bring it back: `tabwire open URL`.")
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Evaluation {
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
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
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
}

impl Evaluation {
    fn into_result(self) -> Result<Evaluated, Failure> {
        if let Some(details) = self.exception_details {
            return Err(details.into_failure());
        }
        let size = self.result.value.as_ref().map_or(0, |value| value.to_string().len());
        if size > RESULT_BYTES {
            let message =
                format!("The result has {size} bytes, more than the {RESULT_BYTES} that are returned.");
            return Err(Failure::new(ErrorCode::EvalFailed, message)
                .with_hint("Return less: a part, a count, a summary."));
        }
        let described = match &self.result.value {
            Some(_) => None,
            None => {
                Some(self.result.unserializable_value.or(self.result.description).unwrap_or(self.result.kind))
            }
        };
        Ok(Evaluated { value: self.result.value.unwrap_or(Value::Null), described })
    }
}

impl ExceptionDetails {
    fn into_failure(self) -> Failure {
        let thrown = self.exception.and_then(|thrown| {
            thrown.description.or_else(|| thrown.value.map(|value| format!("{} {value}", self.text)))
        });
        let what = thrown.unwrap_or(self.text);
        let first = what.lines().next().unwrap_or_default();
        let message = format!(
            "The expression threw at line {}, column {}: {first}",
            self.line_number + 1,
            self.column_number + 1
        );
        Failure::new(ErrorCode::EvalFailed, message)
    }
}
