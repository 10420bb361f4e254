//! Enters the frames that a script's locator names, step by step.

use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure, FrameId};
use tabwire_cdp::Deadline;

use crate::input::element::{milliseconds_left, with_grace};
use crate::page::Page;
use crate::snapshot::{ElementKey, ElementRef};

/// The result of the agent function `query`.
#[derive(Deserialize)]
struct QueryMatches {
    elements: Vec<FoundElement>,
}

#[derive(Deserialize)]
struct FoundElement {
    key: ElementKey,
    /// A short form of its HTML.
    html: String,
}

impl Page {
    /// The frame in which a chain is resolved, and its steps there. A step `{"frame": true}` enters the frame of the
    /// element that the steps before it match; a step `{"ref": "e12"}` starts at an element of a snapshot, and a step
    /// `{"frameId": "..."}` in a frame.
    pub(crate) async fn enter_frames(
        &self,
        steps: Vec<Value>,
        deadline: Deadline,
    ) -> Result<(FrameId, Vec<Value>), Failure> {
        let mut frame = self.main_frame().clone();
        let mut rest = Vec::new();
        for step in steps {
            if let Some(given) = step.get("ref").and_then(Value::as_str) {
                let given: ElementRef = given.parse().map_err(|_| not_a_ref(given))?;
                let handle = self.find_ref(given)?;
                frame = handle.frame;
                rest = vec![json!({"key": handle.key, "document": handle.document})];
            } else if let Some(given) = step.get("frameId").and_then(Value::as_str) {
                frame = self.known_frame(given)?;
                rest.clear();
            } else if step.get("frame").is_some() {
                frame = self.enter_frame(&frame, &rest, deadline).await?;
                rest.clear();
            } else {
                rest.push(step);
            }
        }
        if rest.is_empty() {
            rest.push(json!({"css": ":root"}));
        }
        Ok((frame, rest))
    }

    /// A frame of the page by its id.
    pub(crate) fn known_frame(&self, given: &str) -> Result<FrameId, Failure> {
        let given = FrameId::new(given);
        if self.session().all_frames().iter().any(|frame| frame.id == given) {
            return Ok(given);
        }
        Err(Failure::new(ErrorCode::TargetGone, "Frame was detached").with_remedy("Use another frame."))
    }

    /// The frame of the element that the steps match. Waits for the element.
    async fn enter_frame(
        &self,
        frame: &FrameId,
        steps: &[Value],
        deadline: Deadline,
    ) -> Result<FrameId, Failure> {
        let argument = json!({
            "spec": {"chain": steps}, "keys": true, "facts": ["html"], "timeout": milliseconds_left(deadline),
        });
        let found: Result<QueryMatches, Failure> =
            self.call_in(frame, "query", &argument, with_grace(deadline)).await;
        let found = found.map_err(of_frame)?;
        let element = found.elements.first().ok_or_else(|| {
            of_frame(Failure::new(ErrorCode::SelectorNotFound, "No frame matches the locator."))
        })?;
        let entered = self.session().content_frame(frame, element.key, deadline).await?;
        entered.ok_or_else(|| {
            let message =
                format!("The locator of the frame resolved to {}, <iframe> was expected.", element.html);
            Failure::new(ErrorCode::BadArgs, message)
                .with_remedy("Use frameLocator() with a selector of an <iframe>.")
        })
    }
}

/// Marks a failure to find a frame, so that scripts can tell it from one to find the element inside.
fn of_frame(mut failure: Failure) -> Failure {
    if failure.details.is_null() {
        failure.details = json!({});
    }
    if let Some(details) = failure.details.as_object_mut() {
        details.insert("frame".to_owned(), json!(true));
    }
    failure
}

fn not_a_ref(given: &str) -> Failure {
    let given: String = given.chars().take(40).collect();
    Failure::new(ErrorCode::BadArgs, format!("`{given}` is not a ref."))
        .with_remedy("A ref is e and a number, from a snapshot: e12.")
}
