//! What a page or a frame's process is asked for when it is taken up, all at once.

use serde_json::{Value, json};
use tabwire_cdp::{CdpError, CdpSession, PendingAnswer};

use super::CdpDriver;
use super::process_settings::{Asked, finish_in_frame};
use crate::frame_table::FrameBranch;
use crate::limits::SETUP_DEADLINE;
use crate::page_agent::page_agent;

/// The preparations of one process: those that must succeed, and the list of its frames.
pub(super) struct Preparation {
    needed: Vec<Result<PendingAnswer, CdpError>>,
    /// What was set on the page before this process joined.
    settings: Vec<Asked>,
    /// That it may begin.
    release: Option<Result<PendingAnswer, CdpError>>,
    frames: Result<PendingAnswer, CdpError>,
    is_page: bool,
}

/// A process's own list of its frames.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListedFrames {
    frame_tree: FrameBranch,
}

impl CdpDriver {
    /// Takes a process's own list of its frames.
    pub(super) fn list(&self, listed: ListedFrames, session: &CdpSession) {
        self.frames().list(listed.frame_tree, session);
    }

    /// Sends everything a process has to be asked for, without waiting.
    pub(super) fn prepare(&self, session: &CdpSession, is_page: bool) -> Preparation {
        let begin = |method: &'static str, params: Value| session.begin(method, &params, SETUP_DEADLINE);
        let script = json!({
            "source": page_agent(), "worldName": self.inner.world, "runImmediately": true,
        });
        let children = json!({
            "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true,
            "filter": [{"type": "iframe"}, {"type": "worker"}, {"type": "worklet"}, {"exclude": true}],
        });
        let mut needed = vec![
            begin("Page.enable", json!({})),
            begin("Page.setLifecycleEventsEnabled", json!({"enabled": true})),
            begin("Runtime.enable", json!({})),
            begin("Page.addScriptToEvaluateOnNewDocument", script),
            begin("Network.enable", json!({})),
            begin("Log.enable", json!({})),
            begin("Target.setAutoAttach", children),
        ];
        if is_page {
            needed.push(begin("Page.setInterceptFileChooserDialog", json!({"enabled": true})));
        }
        let settings = self.settings().begin(session);
        let frames = begin("Page.getFrameTree", json!({}));
        // Held at its start until now. Waited for with the rest: a command that nobody waits for may never be sent.
        let release = (!is_page).then(|| begin("Runtime.runIfWaitingForDebugger", json!({})));
        Preparation { needed, settings, release, frames, is_page }
    }

    /// Waits for the preparations of a process.
    pub(super) async fn finish(
        &self,
        session: &CdpSession,
        preparation: Preparation,
    ) -> Result<(), CdpError> {
        for needed in preparation.needed {
            needed?.answer().await?;
        }
        self.list(preparation.frames?.answer().await?.to()?, session);
        for setting in preparation.settings {
            self.finish_setting(setting).await?;
        }
        if let Some(release) = preparation.release {
            finish_in_frame(release).await?;
        }
        if preparation.is_page {
            // A tab that is not in front still has frames and focus, as if it were. Sent only now: Chromium 156
            // crashes a page's process that is asked for this before it has answered anything.
            let focus = json!({"enabled": true});
            session.send("Emulation.setFocusEmulationEnabled", &focus, SETUP_DEADLINE).await?;
        }
        Ok(())
    }
}
