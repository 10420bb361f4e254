//! File inputs: what they take, and giving them files. The browser wants them by handles, which never leave here.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_cdp::{CdpError, CdpSession, Deadline};
use tabwire_wire::{ErrorCode, Failure, FrameId};

use super::CdpDriver;
use crate::driver::FileInput;
use crate::evaluation::Evaluation;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Object {
    object_id: Option<String>,
}

#[derive(Deserialize)]
struct Evaluated {
    result: Object,
}

#[derive(Deserialize)]
struct Resolved {
    object: Object,
}

/// An element that the browser holds for us until it is let go.
struct Held {
    session: CdpSession,
    object: String,
    deadline: Deadline,
}

impl Drop for Held {
    fn drop(&mut self) {
        // The answer is of no interest.
        let _ = self.session.begin("Runtime.releaseObject", &json!({"objectId": self.object}), self.deadline);
    }
}

impl CdpDriver {
    async fn hold(&self, frame: &FrameId, input: FileInput, deadline: Deadline) -> Result<Held, Failure> {
        let failed = |error: CdpError| self.meaning_in(frame, error);
        let (session, world) = self.world_of(frame, deadline).await?;
        let object = match input {
            FileInput::Element(key) => {
                let expression = format!("tabwire.elementWith({})", json!(key));
                let params = json!({"expression": expression, "contextId": world.number()});
                let answer = session.send("Runtime.evaluate", &params, deadline).await.map_err(failed)?;
                answer.to::<Evaluated>().map_err(failed)?.result
            }
            FileInput::Node(node) => {
                let params = json!({"backendNodeId": node, "executionContextId": world.number()});
                let answer = session.send("DOM.resolveNode", &params, deadline).await.map_err(failed)?;
                answer.to::<Resolved>().map_err(failed)?.object
            }
        };
        match object.object_id {
            Some(object) => Ok(Held { session, object, deadline }),
            None => Err(Failure::new(ErrorCode::RefExpired, "The file input is not on the page any more.")
                .with_hint("Take a new `tabwire snapshot` and try again.")),
        }
    }

    pub(super) async fn ask_file_input(
        &self,
        frame: &FrameId,
        input: FileInput,
        deadline: Deadline,
    ) -> Result<Value, Failure> {
        let held = self.hold(frame, input, deadline).await?;
        let params = json!({
            "objectId": held.object, "returnByValue": true,
            "functionDeclaration": "function () { return tabwire.run('fileInput', { element: this }); }",
        });
        let answer = held.session.send("Runtime.callFunctionOn", &params, deadline).await;
        let evaluation: Evaluation =
            answer.and_then(|answer| answer.to()).map_err(|error| self.meaning_in(frame, error))?;
        evaluation.into_agent_answer()
    }

    pub(super) async fn set_file_input(
        &self,
        frame: &FrameId,
        input: FileInput,
        files: &[PathBuf],
        deadline: Deadline,
    ) -> Result<(), Failure> {
        let held = self.hold(frame, input, deadline).await?;
        let params = json!({"objectId": held.object, "files": files});
        let set = held.session.send("DOM.setFileInputFiles", &params, deadline).await;
        set.map(drop).map_err(|error| self.meaning_in(frame, error))
    }
}
