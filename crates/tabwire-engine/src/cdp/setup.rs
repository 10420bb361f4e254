//! The commands that set up a session of a page or of a frame's process, sent in one batch.

use serde_json::{Value, json};
use tabwire_cdp::{CdpError, CdpSession, PendingResponse};

use super::process_settings::{PendingSetting, accept_refusal};
use super::session::PageSession;
use crate::agent::page_agent;
use crate::frames::tree::{FrameBranch, TreeMark};
use crate::limits::SETUP_DEADLINE;

/// The pending setup of one session.
pub(super) struct PendingSetup {
    /// Commands that must succeed.
    required: Vec<Result<PendingResponse, CdpError>>,
    /// Settings that were applied to the page before this process joined.
    settings: Vec<PendingSetting>,
    /// `Runtime.runIfWaitingForDebugger`, for a frame's process.
    release: Option<Result<PendingResponse, CdpError>>,
    frame_tree: Result<PendingResponse, CdpError>,
    /// Taken before the frames were requested.
    mark: TreeMark,
    is_page: bool,
}

/// The response to `Page.getFrameTree`.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FrameTreeResponse {
    pub(super) frame_tree: FrameBranch,
}

impl PageSession {
    /// Sends all setup commands without waiting.
    pub(super) fn begin_setup(&self, session: &CdpSession, is_page: bool) -> PendingSetup {
        let begin = |method: &'static str, params: Value| session.begin(method, &params, SETUP_DEADLINE);
        let script = json!({
            "source": page_agent(), "worldName": self.world_name(), "runImmediately": true,
        });
        let children = json!({
            "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true,
            "filter": [{"type": "iframe"}, {"type": "worker"}, {"type": "worklet"}, {"exclude": true}],
        });
        let mut required = vec![
            // Chrome handles the commands of one CDP session in order, so a document that starts now has the agent
            // and the settings before its first script.
            begin("Page.enable", json!({})),
            begin("Page.setLifecycleEventsEnabled", json!({"enabled": true})),
            begin("Runtime.enable", json!({})),
            begin("Page.addScriptToEvaluateOnNewDocument", script),
            begin("Network.enable", json!({})),
            begin("Log.enable", json!({})),
            // Out-of-process frames and workers are announced on the session of their parent only, so every process
            // needs this (docs/cdp/auto-attach-against-discover.md).
            begin("Target.setAutoAttach", children),
        ];
        if is_page {
            required.push(begin("Page.setInterceptFileChooserDialog", json!({"enabled": true})));
        }
        let settings = self.settings().begin(session);
        let mark = self.tree().mark(session);
        let frame_tree = begin("Page.getFrameTree", json!({}));
        // Kept with the others: a command whose `PendingResponse` is dropped may never be sent.
        let release = (!is_page).then(|| begin("Runtime.runIfWaitingForDebugger", json!({})));
        PendingSetup { required, settings, release, frame_tree, mark, is_page }
    }

    pub(super) async fn finish_setup(
        &self,
        session: &CdpSession,
        setup: PendingSetup,
    ) -> Result<(), CdpError> {
        for pending in setup.required {
            pending?.response().await?;
        }
        let response: FrameTreeResponse = setup.frame_tree?.response().await?.to()?;
        let is_merged = self.tree().merge_listed(response.frame_tree, session, setup.mark);
        if !is_merged {
            self.list_frames_again(session).await;
        }
        for setting in setup.settings {
            self.finish_setting(setting).await?;
        }
        if let Some(release) = setup.release {
            accept_refusal(release).await?;
        }
        if setup.is_page {
            // A background tab otherwise draws no frames and has no focus. Sent only now: Chromium 156 crashes the
            // renderer of a page that gets this command before its first response.
            let focus = json!({"enabled": true});
            session.send("Emulation.setFocusEmulationEnabled", &focus, SETUP_DEADLINE).await?;
        }
        Ok(())
    }
}
