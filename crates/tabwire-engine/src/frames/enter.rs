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
struct Found {
    elements: Vec<FoundElement>,
}

#[derive(Deserialize)]
struct FoundElement {
    key: ElementKey,
}

impl Page {
    /// The frame in which a chain is resolved, and its steps there. A step `{"frame": true}` enters the frame of the
    /// element that the steps before it match; a step `{"ref": "e12"}` starts at an element of a snapshot.
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

    /// The frame of the element that the steps match. Waits for the element.
    async fn enter_frame(
        &self,
        frame: &FrameId,
        steps: &[Value],
        deadline: Deadline,
    ) -> Result<FrameId, Failure> {
        let argument = json!({
            "spec": {"chain": steps}, "keys": true, "timeout": milliseconds_left(deadline),
        });
        let found: Found = self.call_in(frame, "query", &argument, with_grace(deadline)).await?;
        let key = found.elements.first().map(|element| element.key);
        let key =
            key.ok_or_else(|| Failure::new(ErrorCode::SelectorNotFound, "No frame matches the locator."))?;
        let entered = self.session().content_frame(frame, key, deadline).await?;
        entered.ok_or_else(|| {
            Failure::new(ErrorCode::BadArgs, "The locator before the frame matches no <iframe>.")
                .with_remedy("Use frameLocator() with a selector of an <iframe>.")
        })
    }
}

fn not_a_ref(given: &str) -> Failure {
    let given: String = given.chars().take(40).collect();
    Failure::new(ErrorCode::BadArgs, format!("`{given}` is not a ref."))
        .with_remedy("A ref is e and a number, from a snapshot: e12.")
}
