//! Follows one process of a page: its frames come, go and move, its worlds too, and new processes join.

use std::sync::{Arc, Weak};

use serde::Deserialize;
use tabwire_cdp::{CdpError, CdpSession, Event, EventFilter, TaskGroup};
use tabwire_wire::{CdpSessionId, FrameId};

use super::{CdpDriver, Inner, Observer, Setup};
use crate::frame_table::{FrameDescription, WorldId};
use crate::limits::{PAGE_EVENTS, SETUP_DEADLINE};

/// What is listened to on every process of a page. A table.
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
    "Runtime.consoleAPICalled",
    "Runtime.exceptionThrown",
    "Log.entryAdded",
];

/// The kind of navigation that shows a kept document again.
const RESTORED: &str = "BackForwardCacheRestore";

/// What tells of requests, on pages, frames and workers alike. A table.
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
struct MovedWithin {
    frame_id: FrameId,
    url: String,
}

#[derive(Deserialize)]
struct WorldMade {
    context: World,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct World {
    id: WorldId,
    #[serde(default)]
    name: String,
    #[serde(default)]
    origin: String,
    aux_data: Option<WorldFrame>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WorldFrame {
    frame_id: FrameId,
    #[serde(default)]
    is_default: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WorldGone {
    execution_context_id: WorldId,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Attached {
    pub(super) session_id: CdpSessionId,
    target_info: AttachedTarget,
}

impl Attached {
    /// Where what is attached is.
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
struct Detached {
    session_id: CdpSessionId,
}

impl CdpDriver {
    /// Prepares a process and follows it for as long as it and the page are there.
    pub(super) fn watch(
        &self,
        session: CdpSession,
        frame: Option<FrameId>,
        tasks: &TaskGroup,
        observer: &Arc<dyn Observer>,
    ) {
        let mut events = session
            .events_bounded(EventFilter::methods(METHODS.iter().chain(REQUESTS).copied()), PAGE_EVENTS);
        observer.joined(&session);
        let preparation = self.prepare(&session, frame.is_none());
        let (weak, group, observer) = (Arc::downgrade(&self.inner), tasks.clone(), Arc::clone(observer));
        let is_page = frame.is_none();
        let driver = self.clone();
        let prepared = session.clone();
        tasks.start("page-setup", async move {
            let done = driver.finish(&prepared, preparation).await;
            if is_page {
                driver.inner.ready.send_replace(match done {
                    Ok(()) => Setup::Done,
                    Err(error) => Setup::Failed(error),
                });
            }
        });
        let mut waiting = self.add_watcher();
        tasks.start("page-watch", async move {
            loop {
                let next = tokio::select! {
                    // In this order: whoever waits is told when no event is left to be looked at.
                    biased;
                    next = events.next() => next,
                    Some(waiter) = waiting.recv() => {
                        // One that does not wait any more needs no answer.
                        let _: Result<(), ()> = waiter.send(());
                        continue;
                    }
                };
                let event = match next {
                    Ok(event) => event,
                    Err(CdpError::Missed { count }) => {
                        tracing::warn!(count, "a page's events were missed");
                        continue;
                    }
                    Err(_) => break,
                };
                let Some(driver) = upgrade(&weak) else { return };
                driver.follow(&session, &event, &group, &observer);
                observer.observe(&session, &event);
            }
            if let (Some(driver), Some(id)) = (upgrade(&weak), session.id()) {
                driver.frames().session_ended(id);
            }
        });
    }

    fn follow(&self, session: &CdpSession, event: &Event, tasks: &TaskGroup, observer: &Arc<dyn Observer>) {
        // An event that cannot be read is one this version does not know; the rest goes on.
        let _ = self.try_follow(session, event, tasks, observer);
        self.inner.stirred.notify_waiters();
    }

    fn try_follow(
        &self,
        session: &CdpSession,
        event: &Event,
        tasks: &TaskGroup,
        observer: &Arc<dyn Observer>,
    ) -> Result<(), CdpError> {
        match event.method() {
            "Page.frameAttached" => {
                let attached: FrameAttached = event.to()?;
                self.frames().attached(&attached.frame_id, Some(&attached.parent_frame_id), session);
            }
            "Page.frameDetached" => {
                let detached: FrameDetached = event.to()?;
                // A frame that is swapped only moves to another process.
                if detached.reason != "swap" {
                    self.frames().detached(&detached.frame_id, session);
                }
            }
            "Page.frameStartedNavigating" => {
                let started: StartedNavigating = event.to()?;
                if !started.navigation_type.to_ascii_lowercase().contains("samedocument") {
                    self.frames().leaves(&started.frame_id, Some(started.url));
                }
            }
            "Page.frameStoppedLoading" => {
                self.frames().leaves(&event.to::<StoppedLoading>()?.frame_id, None);
            }
            "Page.frameNavigated" => self.frame_navigated(event.to()?, session, tasks),
            "Page.navigatedWithinDocument" => {
                let moved: MovedWithin = event.to()?;
                self.frames().moved_within(&moved.frame_id, moved.url);
            }
            "Runtime.executionContextCreated" => {
                let context = event.to::<WorldMade>()?.context;
                match context.aux_data {
                    Some(place) if context.name == self.inner.world => {
                        self.frames().world_made(&place.frame_id, context.id, session);
                    }
                    Some(place) if place.is_default => {
                        let mut frames = self.frames();
                        frames.own_world_made(&place.frame_id, context.id, &context.origin, session);
                    }
                    _ => {}
                }
            }
            "Runtime.executionContextDestroyed" => {
                self.frames().world_gone(event.to::<WorldGone>()?.execution_context_id, session);
            }
            "Runtime.executionContextsCleared" => self.frames().worlds_cleared(session),
            "Target.attachedToTarget" => self.take_child(session, event.to()?, tasks, observer),
            "Target.detachedFromTarget" => self.frames().session_ended(&event.to::<Detached>()?.session_id),
            _ => {}
        }
        Ok(())
    }

    /// A frame shows another document.
    fn frame_navigated(&self, navigated: FrameNavigated, session: &CdpSession, tasks: &TaskGroup) {
        self.frames().committed(navigated.frame, session);
        if navigated.kind == RESTORED {
            // Chromium does not report the frames of a document that it restores; they have to be asked for.
            let (weak, session) = (Arc::downgrade(&self.inner), session.clone());
            tasks.start("page-restored", async move {
                let listed = session.send("Page.getFrameTree", &(), SETUP_DEADLINE).await;
                if let (Some(driver), Ok(listed)) = (upgrade(&weak), listed.and_then(|listed| listed.to())) {
                    driver.list(listed, &session);
                }
            });
        }
    }

    /// A frame got a process of its own, or the page started a worker.
    fn take_child(
        &self,
        session: &CdpSession,
        attached: Attached,
        tasks: &TaskGroup,
        observer: &Arc<dyn Observer>,
    ) {
        let child = session.connection().session(&attached.session_id);
        if attached.target_info.kind != "iframe" {
            return self.take_worker(child, &attached.target_info.url, tasks, observer);
        }
        let target = attached.target_info;
        {
            let mut frames = self.frames();
            frames.attached(&target.target_id, target.parent_frame_id.as_ref(), &child);
            frames.moved_within(&target.target_id, target.url);
        }
        self.watch(child, Some(target.target_id), tasks, observer);
    }
}

fn upgrade(weak: &Weak<Inner>) -> Option<CdpDriver> {
    weak.upgrade().map(|inner| CdpDriver { inner })
}
