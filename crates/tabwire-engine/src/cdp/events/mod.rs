//! Reads the events of one process of a page and keeps the frame tree current: frames, contexts, child processes.

pub(super) mod merged;
pub(super) mod readers;

use std::sync::Arc;

use serde::Deserialize;
use tabwire_api::{CdpSessionId, FrameId};
use tabwire_cdp::{CdpError, CdpSession, Event, EventFilter};

use crate::cdp::session::{EventObserver, PageSession, WeakPageSession};
use crate::cdp::setup::FrameTreeResponse;
use crate::frames::tree::{ContextId, FrameDescription};
use crate::limits::SETUP_DEADLINE;

/// Events that one reader holds. Beyond this the oldest are lost, and a warning is logged.
pub(super) const PAGE_EVENTS: usize = 8_192;

/// The events that are read from every page and frame process.
const METHODS: &[&str] = &[
    "Page.frameAttached",
    "Page.frameDetached",
    "Page.frameStartedNavigating",
    "Page.frameNavigated",
    "Page.frameStoppedLoading",
    "Page.navigatedWithinDocument",
    "Runtime.executionContextCreated",
    "Runtime.executionContextDestroyed",
    "Runtime.executionContextsCleared",
    "Target.attachedToTarget",
    "Target.detachedFromTarget",
    "Page.javascriptDialogOpening",
    "Page.javascriptDialogClosed",
    "Page.fileChooserOpened",
    "Page.loadEventFired",
    "Page.domContentEventFired",
    "Runtime.bindingCalled",
    "Runtime.consoleAPICalled",
    "Runtime.exceptionThrown",
    "Log.entryAdded",
];

/// How often the frames of a page that keep changing are requested.
const LISTINGS: usize = 5;

/// `Page.frameNavigated.type` of a document from the back/forward cache.
const RESTORED: &str = "BackForwardCacheRestore";

/// Request events, the same for pages, frames and workers.
pub(super) const REQUESTS: &[&str] = &[
    "Network.requestWillBeSent",
    "Network.requestWillBeSentExtraInfo",
    "Network.responseReceived",
    "Network.responseReceivedExtraInfo",
    "Network.requestServedFromCache",
    "Network.loadingFinished",
    "Network.loadingFailed",
    "Network.webSocketCreated",
    "Network.webSocketWillSendHandshakeRequest",
    "Network.webSocketHandshakeResponseReceived",
    "Network.webSocketFrameError",
    "Network.webSocketFrameSent",
    "Network.webSocketFrameReceived",
    "Network.webSocketClosed",
    "Network.eventSourceMessageReceived",
];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrameAttached {
    frame_id: FrameId,
    parent_frame_id: FrameId,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrameDetached {
    frame_id: FrameId,
    #[serde(default)]
    reason: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StartedNavigating {
    frame_id: FrameId,
    #[serde(default)]
    url: String,
    #[serde(default)]
    navigation_type: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoppedLoading {
    frame_id: FrameId,
}

#[derive(Deserialize)]
struct FrameNavigated {
    frame: FrameDescription,
    #[serde(rename = "type", default)]
    kind: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NavigatedWithinDocument {
    frame_id: FrameId,
    url: String,
}

#[derive(Deserialize)]
struct ContextCreated {
    context: Context,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Context {
    id: ContextId,
    #[serde(default)]
    name: String,
    #[serde(default)]
    origin: String,
    aux_data: Option<ContextFrame>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ContextFrame {
    frame_id: FrameId,
    #[serde(default)]
    is_default: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ContextDestroyed {
    execution_context_id: ContextId,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AttachedToTarget {
    pub(super) session_id: CdpSessionId,
    target_info: AttachedTarget,
}

impl AttachedToTarget {
    pub(super) fn url(&self) -> &str {
        &self.target_info.url
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AttachedTarget {
    target_id: FrameId,
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    url: String,
    parent_frame_id: Option<FrameId>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DetachedFromTarget {
    session_id: CdpSessionId,
}

impl PageSession {
    /// Sets up a process and reads its events until it or the page is gone. `frame` is `None` for the page itself.
    pub(super) fn start_process(
        &self,
        session: CdpSession,
        frame: Option<FrameId>,
        observer: &Arc<dyn EventObserver>,
    ) {
        let filter = EventFilter::methods(METHODS.iter().chain(REQUESTS).copied());
        // Before the setup is sent: Chrome reports existing contexts only once, in response to
        // `Runtime.enable`.
        let mut events = session.events_bounded(filter, PAGE_EVENTS);
        observer.joined(&session);
        let is_page = frame.is_none();
        let setup = self.begin_setup(&session, is_page);
        let (page, setup_session) = (self.clone(), session.clone());
        self.tasks().start("page-setup", async move {
            let result = page.finish_setup(&setup_session, setup).await;
            if is_page {
                page.set_ready(result);
            }
        });
        let mut sync_requests = self.readers().add();
        let (weak, observer) = (self.downgrade(), Arc::clone(observer));
        self.tasks().start("page-watch", async move {
            loop {
                let next = tokio::select! {
                    // Events first: a sync request is resolved only when no event is left.
                    biased;
                    next = events.next() => next,
                    Some(request) = sync_requests.recv() => {
                        // The requester may have stopped waiting.
                        let _: Result<(), ()> = request.send(());
                        continue;
                    }
                };
                let event = match next {
                    Ok(event) => event,
                    Err(CdpError::Missed { count }) => {
                        tracing::warn!(count, "events of a page were lost");
                        continue;
                    }
                    Err(_) => break,
                };
                let Some(page) = weak.upgrade() else { return };
                // An event that does not parse is one this version does not know.
                let _ = page.handle_event(&session, &event, &observer);
                page.notify_frames_changed();
                observer.observe(&session, &event);
            }
            if let (Some(page), Some(id)) = (weak.upgrade(), session.id()) {
                page.tree().session_ended(id);
            }
        });
    }

    fn handle_event(
        &self,
        session: &CdpSession,
        event: &Event,
        observer: &Arc<dyn EventObserver>,
    ) -> Result<(), CdpError> {
        match event.method() {
            "Page.frameAttached" => {
                let attached: FrameAttached = event.to()?;
                self.tree().attached(&attached.frame_id, Some(&attached.parent_frame_id), session);
            }
            "Page.frameDetached" => {
                let detached: FrameDetached = event.to()?;
                // `swap`: the frame only moves to another process.
                if detached.reason != "swap" {
                    self.tree().detached(&detached.frame_id, session);
                }
            }
            "Page.frameStartedNavigating" => {
                let started: StartedNavigating = event.to()?;
                if !started.navigation_type.to_ascii_lowercase().contains("samedocument") {
                    self.tree().set_pending_url(&started.frame_id, Some(started.url));
                }
            }
            "Page.frameStoppedLoading" => {
                self.tree().set_pending_url(&event.to::<StoppedLoading>()?.frame_id, None);
            }
            "Page.frameNavigated" => self.frame_navigated(event.to()?, session),
            "Page.navigatedWithinDocument" => {
                let navigated: NavigatedWithinDocument = event.to()?;
                self.tree().set_url(&navigated.frame_id, navigated.url);
            }
            "Runtime.executionContextCreated" => {
                self.context_created(event.to::<ContextCreated>()?.context, session);
            }
            "Runtime.executionContextDestroyed" => {
                self.tree().remove_context(event.to::<ContextDestroyed>()?.execution_context_id, session);
            }
            "Runtime.executionContextsCleared" => self.tree().clear_contexts(session),
            "Target.attachedToTarget" => self.child_attached(session, event.to()?, observer),
            "Target.detachedFromTarget" => {
                self.tree().session_ended(&event.to::<DetachedFromTarget>()?.session_id);
            }
            _ => {}
        }
        Ok(())
    }

    /// Requests the frames of a session again: they changed while the last list was under way.
    pub(super) async fn list_frames_again(&self, session: &CdpSession) {
        list_frames(&self.downgrade(), session).await;
    }

    fn context_created(&self, context: Context, session: &CdpSession) {
        let Some(frame) = context.aux_data else { return };
        if context.name == self.world_name() {
            self.tree().set_agent_context(&frame.frame_id, context.id, session);
        } else if frame.is_default {
            self.tree().set_main_context(&frame.frame_id, context.id, &context.origin, session);
        }
    }

    fn frame_navigated(&self, navigated: FrameNavigated, session: &CdpSession) {
        let is_restored = navigated.kind == RESTORED;
        self.tree().committed(navigated.frame, session, is_restored);
        if is_restored {
            // Chromium reports no frames of a document that it restores from the back/forward cache.
            let (weak, session) = (self.downgrade(), session.clone());
            self.tasks().start("page-restored", async move { list_frames(&weak, &session).await });
        }
    }

    /// A frame got a process of its own, or the page started a worker.
    fn child_attached(
        &self,
        session: &CdpSession,
        attached: AttachedToTarget,
        observer: &Arc<dyn EventObserver>,
    ) {
        // Chrome reports workers and frames of other processes only to their parent's CDP session
        // (docs/cdp/auto-attach-against-discover.md).
        let child = session.connection().session(&attached.session_id);
        if attached.target_info.kind != "iframe" {
            return self.worker_of_document(session, child, &attached.target_info.url, observer);
        }
        let target = attached.target_info;
        let place = (target.parent_frame_id.as_ref(), target.url);
        self.tree().child_attached(&target.target_id, place, &child, session);
        self.start_process(child, Some(target.target_id), observer);
    }
}

/// Requests the frames of a session and merges them. Frames that change meanwhile are requested again.
async fn list_frames(page: &WeakPageSession, session: &CdpSession) {
    for _ in 0..LISTINGS {
        // Events between the request and the response are newer than the list.
        let Some(mark) = page.upgrade().map(|page| page.tree().mark(session)) else { return };
        let response = session.send("Page.getFrameTree", &(), SETUP_DEADLINE).await;
        let response = response.and_then(|response| response.to::<FrameTreeResponse>());
        let (Some(page), Ok(response)) = (page.upgrade(), response) else { return };
        if page.tree().merge_listed(response.frame_tree, session, mark) {
            return page.notify_frames_changed();
        }
    }
    // Events have reported every frame of a document that was committed meanwhile.
    tracing::debug!("the frames of a page changed during each of several requests");
}
