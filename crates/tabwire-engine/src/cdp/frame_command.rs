//! Commands to the process of one frame; scripts run in the frame's main world.

use serde_json::{Value, json};
use tabwire_api::FrameId;
use tabwire_cdp::{CdpError, Deadline};

use super::session::{PageSession, ResponseFuture};

/// The command that takes an execution context.
const EVALUATE: &str = "Runtime.evaluate";

impl PageSession {
    pub(super) fn command_in(
        &self,
        frame: &FrameId,
        method: &'static str,
        params: &Value,
        deadline: Deadline,
    ) -> ResponseFuture<Value, CdpError> {
        let found = self.tree().find_main_context(frame);
        if method == EVALUATE && !matches!(found, Some((_, Some(_)))) {
            let (page, frame, params) = (self.clone(), frame.clone(), params.clone());
            return Box::pin(async move { page.evaluate_when_known(&frame, &params, deadline).await });
        }
        let Some((session, context)) = found else {
            return Box::pin(async move { Err(refused(method, "Cannot find context: the frame is gone")) });
        };
        let mut params = params.clone();
        // Without a context, Chromium runs the code in the top frame of the process.
        if let Some(context) = context.filter(|_| method == EVALUATE) {
            params["contextId"] = json!(context.number());
        }
        let pending = session.begin(method, &params, deadline);
        Box::pin(async move { pending?.response().await.and_then(|response| response.to()) })
    }

    /// Runs a script in a frame whose main context is not known yet: its process may have joined just now.
    async fn evaluate_when_known(
        &self,
        frame: &FrameId,
        params: &Value,
        deadline: Deadline,
    ) -> Result<Value, CdpError> {
        // The process reports its contexts before it creates the agent's. A failure here shows below.
        let _ = self.agent_context(frame, deadline).await;
        self.sync_events(deadline).await;
        let found = self.tree().find_main_context(frame);
        let Some((session, Some(context))) = found else {
            return Err(refused(EVALUATE, "the frame runs no scripts"));
        };
        let mut params = params.clone();
        params["contextId"] = json!(context.number());
        session.send(EVALUATE, &params, deadline).await.and_then(|response| response.to())
    }
}

fn refused(method: &'static str, message: &str) -> CdpError {
    CdpError::Protocol { method: method.into(), code: 0, message: message.to_owned(), data: None }
}
