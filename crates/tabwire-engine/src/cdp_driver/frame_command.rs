//! Commands to one frame of a page: scripts in its own world, and which frame an element holds.

use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_cdp::{CdpError, Deadline};
use tabwire_wire::{Failure, FrameId};

use super::CdpDriver;
use super::held_object::Evaluated;
use crate::driver::Reply;
use crate::limits::SETUP_DEADLINE;
use crate::snapshot::ElementKey;

/// The command that needs to be told in which world to work.
const EVALUATE: &str = "Runtime.evaluate";

#[derive(Deserialize)]
struct Described {
    node: Node,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Node {
    frame_id: Option<FrameId>,
}

impl CdpDriver {
    /// Sends a command to the process of a frame; a script runs in the frame's own world.
    pub(super) fn command_in(
        &self,
        frame: &FrameId,
        method: &'static str,
        params: &Value,
        deadline: Deadline,
    ) -> Reply<Value, CdpError> {
        let found = self.frames().find_own_world(frame);
        let missing = |message: &str| {
            let message = message.to_owned();
            let error = CdpError::Protocol { method: method.into(), code: 0, message, data: None };
            Box::pin(async move { Err(error) }) as Reply<Value, CdpError>
        };
        let Some((session, world)) = found else { return missing("Cannot find context: the frame is gone") };
        let mut params = params.clone();
        if method == EVALUATE {
            let Some(world) = world else { return missing("the frame runs no scripts") };
            params["contextId"] = json!(world.number());
        }
        let begun = session.begin(method, &params, deadline);
        Box::pin(async move { begun?.answer().await.and_then(|answer| answer.to()) })
    }

    /// The frame that an element holds, as the browser says.
    pub(super) async fn find_held_frame(
        &self,
        frame: &FrameId,
        key: ElementKey,
        deadline: Deadline,
    ) -> Result<Option<FrameId>, Failure> {
        let (session, world) = self.world_of(frame, deadline).await?;
        let failed = |error: CdpError| self.meaning_in(frame, error);
        let expression = format!("tabwire.element({})", json!({"key": key}));
        let params = json!({"expression": expression, "contextId": world.number()});
        let held = session.send(EVALUATE, &params, deadline).await.map_err(failed)?;
        let held: Evaluated = held.to().map_err(failed)?;
        let Some(held) = held.result.object_id else { return Ok(None) };
        let params = json!({"objectId": held});
        let node = session.send("DOM.describeNode", &params, deadline).await;
        // The answer is of no interest.
        let _ = session.begin("Runtime.releaseObject", &params, SETUP_DEADLINE);
        let described: Described = node.map_err(failed)?.to().map_err(failed)?;
        Ok(described.node.frame_id)
    }
}
