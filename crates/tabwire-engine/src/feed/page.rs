//! Events of one page as scripts get them: console, exceptions, dialogs, frames, loading.

use std::sync::OnceLock;

use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_api::{CdpSessionId, FrameId, TargetId};
use tabwire_cdp::{CdpSession, Event};

use super::{EventFeed, EventKind};
use crate::cdp::{FrameUrls, Worker};
use crate::frames::tree::ContextId;
use crate::page::console::{read_browser_line, read_console_line};
use crate::page::dialog::{Dialog, FileChooser};

/// The way of one page's events into the feed.
#[derive(Debug)]
pub(crate) struct PageFeed {
    feed: EventFeed,
    target: TargetId,
    /// The page's own CDP session.
    session: OnceLock<Option<CdpSessionId>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrameEvent {
    frame_id: FrameId,
    parent_frame_id: Option<FrameId>,
    #[serde(default)]
    reason: String,
    url: Option<String>,
}

#[derive(Deserialize)]
struct FrameNavigatedParams {
    frame: NavigatedFrame,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NavigatedFrame {
    id: FrameId,
    parent_id: Option<FrameId>,
    #[serde(default)]
    name: String,
    #[serde(default)]
    url: String,
    #[serde(default)]
    url_fragment: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BindingCalled {
    name: String,
    payload: String,
    execution_context_id: ContextId,
}

impl PageFeed {
    pub(crate) fn new(feed: EventFeed, target: &TargetId) -> Self {
        Self { feed, target: target.clone(), session: OnceLock::new() }
    }

    /// Whether a script closes the page's dialogs.
    pub(crate) fn closes_dialogs(&self) -> bool {
        self.feed.closes_dialogs(&self.target)
    }

    /// The first process that joins is the page's own.
    pub(crate) fn joined(&self, session: &CdpSession) {
        let _ = self.session.set(session.id().cloned());
    }

    fn is_own(&self, session: &CdpSession) -> bool {
        self.session.get().is_some_and(|own| own.as_ref() == session.id())
    }

    /// Whether a `Page.frameNavigated` is about the page itself.
    pub(crate) fn is_of_main_frame(&self, session: &CdpSession, event: &Event) -> bool {
        let navigated = event.to::<FrameNavigatedParams>();
        self.is_own(session) && navigated.is_ok_and(|navigated| navigated.frame.parent_id.is_none())
    }

    /// Reports a CDP event.
    pub(crate) fn observe(&self, session: &CdpSession, event: &Event, urls: Option<&FrameUrls>) {
        match event.method() {
            "Runtime.consoleAPICalled" => {
                self.console(event, None, |context| judged(urls, session, context));
            }
            "Runtime.exceptionThrown" => self.exception(event, |context| judged(urls, session, context)),
            "Log.entryAdded" => self.browser_line(session, event, urls),
            "Page.loadEventFired" if self.is_own(session) => self.plain(EventKind::Load),
            "Page.domContentEventFired" if self.is_own(session) => self.plain(EventKind::DomContentLoaded),
            "Page.frameAttached" | "Page.frameDetached" => self.frame_changed(event),
            "Page.frameNavigated" => self.frame_navigated(event, urls),
            "Page.navigatedWithinDocument" => self.navigated_within(event, urls),
            "Runtime.bindingCalled" => self.binding(session, event, urls),
            _ => {}
        }
    }

    fn plain(&self, kind: EventKind) {
        self.feed.emit(kind, &self.target, || (Vec::new(), Value::Null));
    }

    /// Reports a console line or an exception of a worker.
    pub(crate) fn observe_worker(&self, worker: &Worker, event: &Event) {
        let judged = |_| worker.judged.iter().cloned().collect();
        match event.method() {
            "Runtime.consoleAPICalled" => self.console(event, worker.session.id(), judged),
            "Runtime.exceptionThrown" => self.exception(event, judged),
            _ => {}
        }
    }

    /// Reports a line of the browser: a failed request, a refused frame, a violation.
    fn browser_line(&self, session: &CdpSession, event: &Event, urls: Option<&FrameUrls>) {
        if !self.feed.wants(EventKind::Console) {
            return;
        }
        let Some(line) = read_browser_line(event) else { return };
        self.feed.emit(EventKind::Console, &self.target, || {
            let judged = judged(urls, session, None).into_iter().chain(line.about).collect();
            let data = json!({
                "type": line.level, "text": line.text, "location": line.location, "args": [],
                "timestamp": line.timestamp,
            });
            (judged, data)
        });
    }

    fn console(
        &self,
        event: &Event,
        worker: Option<&CdpSessionId>,
        judged: impl FnOnce(Option<ContextId>) -> Vec<String>,
    ) {
        if !self.feed.wants(EventKind::Console) {
            return;
        }
        let Some(line) = read_console_line(event) else { return };
        let mut raw = event.to::<Value>().unwrap_or_default();
        let timestamp = raw.get_mut("timestamp").map(Value::take);
        let args = raw.get_mut("args").map(Value::take);
        let args: Vec<Value> = args
            .as_ref()
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .map(|argument| {
                json!({
                    "type": argument["type"], "subtype": argument["subtype"], "value": argument.get("value"),
                    "unserializable": argument.get("unserializableValue"), "text": argument.get("description"),
                    "preview": argument.get("preview"),
                })
            })
            .collect();
        let judged = judged(line.context);
        let data = json!({
            "type": line.level, "text": line.text, "location": line.location, "args": args,
            "timestamp": timestamp, "worker": worker,
        });
        self.feed.emit(EventKind::Console, &self.target, || (judged, data));
    }

    fn exception(&self, event: &Event, judged: impl FnOnce(Option<ContextId>) -> Vec<String>) {
        if !self.feed.wants(EventKind::PageError) {
            return;
        }
        let Ok(raw) = event.to::<Value>() else { return };
        let details = &raw["exceptionDetails"];
        let context: Option<ContextId> =
            serde_json::from_value(details["executionContextId"].clone()).ok().flatten();
        let exception = &details["exception"];
        let text = exception["description"].as_str().map(str::to_owned);
        let value = exception.get("value").map(|value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        });
        let judged = judged(context);
        self.feed.emit(EventKind::PageError, &self.target, || {
            let is_error = exception["subtype"] == "error";
            let data = json!({
                "name": exception["className"].as_str().filter(|_| is_error),
                "stack": text.as_deref().filter(|_| is_error),
                "message": value.or(text.clone()),
                // Chromium leaves the exception out of some events.
                "text": details["text"], "frames": details["stackTrace"]["callFrames"],
            });
            (judged, data)
        });
    }

    fn frame_changed(&self, event: &Event) {
        let Ok(changed) = event.to::<FrameEvent>() else { return };
        let kind = if event.method() == "Page.frameAttached" {
            EventKind::FrameAttached
        } else if changed.reason == "swap" {
            // The frame only moves to another process.
            return;
        } else {
            EventKind::FrameDetached
        };
        self.feed.emit(kind, &self.target, || {
            (Vec::new(), json!({"frame": changed.frame_id, "parent": changed.parent_frame_id}))
        });
    }

    fn frame_navigated(&self, event: &Event, urls: Option<&FrameUrls>) {
        let Ok(FrameNavigatedParams { frame }) = event.to::<FrameNavigatedParams>() else { return };
        let judged = urls.and_then(|urls| urls.find(&frame.id));
        self.feed.emit(EventKind::FrameNavigated, &self.target, || {
            let url = format!("{}{}", frame.url, frame.url_fragment);
            let data = json!({"frame": frame.id, "parent": frame.parent_id, "name": frame.name, "url": url});
            (judged.into_iter().collect(), data)
        });
    }

    fn navigated_within(&self, event: &Event, urls: Option<&FrameUrls>) {
        let Ok(changed) = event.to::<FrameEvent>() else { return };
        let judged = urls.and_then(|urls| urls.find(&changed.frame_id));
        self.feed.emit(EventKind::FrameNavigated, &self.target, || {
            (judged.into_iter().collect(), json!({"frame": changed.frame_id, "url": changed.url}))
        });
    }

    fn binding(&self, session: &CdpSession, event: &Event, urls: Option<&FrameUrls>) {
        if !self.feed.wants(EventKind::Binding) {
            return;
        }
        let Ok(called) = event.to::<BindingCalled>() else { return };
        let judged = judged(urls, session, Some(called.execution_context_id));
        let frame = urls.and_then(|urls| urls.frame_of(session, called.execution_context_id));
        self.feed.emit(EventKind::Binding, &self.target, || {
            (judged, json!({"name": called.name, "payload": called.payload, "frame": frame}))
        });
    }

    /// Reports a dialog, without its text where the policy withholds it.
    pub(crate) fn dialog(&self, dialog: &Dialog) {
        self.feed.emit(EventKind::Dialog, &self.target, || {
            let urls = Some(dialog.url.clone()).filter(|url| url.starts_with("http"));
            let data = json!({
                "type": dialog.kind, "message": dialog.message, "default_value": dialog.default_prompt,
            });
            (urls.into_iter().collect(), data)
        });
    }

    pub(crate) fn chooser(&self, chooser: &FileChooser) {
        self.feed.emit(EventKind::FileChooser, &self.target, || {
            (Vec::new(), json!({"multiple": chooser.is_multiple(), "frame": chooser.frame_id}))
        });
    }

    /// Reports that a worker started or ended.
    pub(crate) fn worker(&self, worker: &Worker, is_start: bool) {
        self.feed.emit(EventKind::Worker, &self.target, || {
            let data = json!({"worker": worker.session.id(), "url": worker.url, "start": is_start});
            (worker.judged.iter().cloned().collect(), data)
        });
    }
}

/// The URL that an event of an execution context is judged by.
fn judged(urls: Option<&FrameUrls>, session: &CdpSession, context: Option<ContextId>) -> Vec<String> {
    let Some(urls) = urls else { return Vec::new() };
    let known = context.and_then(|context| urls.find_by_context(session, context));
    known.or_else(|| urls.find_by_session(session)).into_iter().collect()
}
