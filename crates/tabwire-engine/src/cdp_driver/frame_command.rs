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
        if method == EVALUATE && !matches!(found, Some((_, Some(_)))) {
            let (driver, frame, params) = (self.clone(), frame.clone(), params.clone());
            return Box::pin(async move { driver.evaluate_when_told(&frame, &params, deadline).await });
        }
        let Some((session, world)) = found else {
            return Box::pin(async move { Err(refused(method, "Cannot find context: the frame is gone")) });
        };
        let mut params = params.clone();
        if let Some(world) = world.filter(|_| method == EVALUATE) {
            params["contextId"] = json!(world.number());
        }
        let begun = session.begin(method, &params, deadline);
        Box::pin(async move { begun?.answer().await.and_then(|answer| answer.to()) })
    }

    /// Runs a script in a frame whose own world has not been told of yet: its process may just have joined.
    async fn evaluate_when_told(
        &self,
        frame: &FrameId,
        params: &Value,
        deadline: Deadline,
    ) -> Result<Value, CdpError> {
        // Answered after what the process says of its worlds; what fails here shows below.
        let _ = self.world_of(frame, deadline).await;
        let _ = self.catch_up(deadline).await;
        let found = self.frames().find_own_world(frame);
        let Some((session, Some(world))) = found else {
            return Err(refused(EVALUATE, "the frame runs no scripts"));
        };
        let mut params = params.clone();
        params["contextId"] = json!(world.number());
        session.send(EVALUATE, &params, deadline).await.and_then(|answer| answer.to())
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

fn refused(method: &'static str, message: &str) -> CdpError {
    CdpError::Protocol { method: method.into(), code: 0, message: message.to_owned(), data: None }
}
