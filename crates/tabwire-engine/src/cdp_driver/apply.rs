//! Running a function of the caller's on an element, in the page's own world.
//!
//! The agent knows the element in its own world; the browser knows it by a number of its own, and hands it over.

use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_cdp::{CdpError, CdpSession, Deadline};
use tabwire_wire::{ErrorCode, Failure, FrameId};

use super::CdpDriver;
use super::held_object::{Evaluated, Resolved};
use crate::limits::SETUP_DEADLINE;
use crate::snapshot::ElementKey;

#[derive(Deserialize)]
struct Described {
    node: Node,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Node {
    backend_node_id: i64,
}

impl CdpDriver {
    /// Hands an element of a frame to a function in the page's own world; the answer is the protocol's.
    pub(super) async fn apply_in_page(
        &self,
        frame: &FrameId,
        key: ElementKey,
        function: &str,
        deadline: Deadline,
    ) -> Result<Value, Failure> {
        let (session, world) = self.world_of(frame, deadline).await?;
        let failed = |error: CdpError| self.meaning_in(frame, error);
        let expression = format!("tabwire.element({})", json!({"key": key}));
        let params = json!({"expression": expression, "contextId": world.number()});
        let held = session.send("Runtime.evaluate", &params, deadline).await.map_err(failed)?;
        let held: Evaluated = held.to().map_err(failed)?;
        let held = held.result.object_id.ok_or_else(element_gone)?;
        let params = json!({"objectId": held});
        let node = session.send("DOM.describeNode", &params, deadline).await;
        release(&session, &held);
        let node: Described = node.map_err(failed)?.to().map_err(failed)?;
        let params = json!({"backendNodeId": node.node.backend_node_id});
        let resolved = session.send("DOM.resolveNode", &params, deadline).await.map_err(failed)?;
        let resolved: Resolved = resolved.to().map_err(failed)?;
        let element = resolved.object.object_id.ok_or_else(element_gone)?;
        let params = json!({
            "objectId": element, "functionDeclaration": function, "arguments": [{"objectId": element}],
            "awaitPromise": true, "returnByValue": true, "userGesture": true,
        });
        let answer = session.send("Runtime.callFunctionOn", &params, deadline).await;
        release(&session, &element);
        if matches!(answer, Err(CdpError::Timeout { .. })) {
            // What still runs would keep the page from everything else.
            let _ = session.begin("Runtime.terminateExecution", &json!({}), SETUP_DEADLINE);
        }
        answer.and_then(|answer| answer.to()).map_err(failed)
    }
}

/// The answer is of no interest.
fn release(session: &CdpSession, object: &str) {
    let _ = session.begin("Runtime.releaseObject", &json!({"objectId": object}), SETUP_DEADLINE);
}

fn element_gone() -> Failure {
    Failure::new(ErrorCode::RefExpired, "The element is not on the page any more.")
        .with_hint("Take a new `tabwire snapshot` and try again.")
}
