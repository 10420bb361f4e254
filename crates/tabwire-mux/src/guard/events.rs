//! Events and responses for guarded clients: records their ids, then withholds or filters them.

use bytes::BytesMut;
use serde_json::Value;
use tabwire_api::{CdpSessionId, ClientId};
use tabwire_cdp::lenient_json;

use crate::guard::Guard;
use crate::guard::frame_filter::{FILTERED_EVENTS, FILTERED_RESULTS, filter_event, filter_result};
use crate::guard::frame_moves::FrameMoves;
use crate::guard::page_frames::is_blank;
use crate::guard::parts::{GuardedParts, NamedFrame};
use crate::guard::session_watch::{EarlyEvent, SessionWatch};
use crate::mux::Mux;
use crate::routing::from_browser::read_params;
use crate::routing::from_client::Command;
use crate::routing::pending::GuardedPending;
use crate::state::BrowserState;

/// An event that the client may receive.
pub(crate) enum EventVerdict {
    /// Unchanged.
    Unchanged(BytesMut),
    /// With filtered parameters.
    Filtered(Value),
}

/// Events that the browser may send before the event with their request's URL.
const EARLY: &[&str] = &[
    "Network.requestWillBeSentExtraInfo",
    "Network.responseReceivedEarlyHints",
    "Network.responseReceivedExtraInfo",
];

/// Marks recorded content that may come from any site.
const EVERY_SITE: &str = "*";

impl Mux {
    /// Records the ids of an event and returns it as its client may receive it; none when it is withheld.
    pub(crate) fn check_event(
        &mut self,
        client: ClientId,
        session: &CdpSessionId,
        method: &str,
        frame: BytesMut,
    ) -> Option<EventVerdict> {
        let Some(guard) = self.state.clients.guard(client) else {
            return Some(EventVerdict::Unchanged(frame));
        };
        if guard.wants_frames() {
            self.state.learn_from_event(session, method, &frame);
            if EARLY.contains(&method) && self.state.is_early(session, method, &frame) {
                return None;
            }
        }
        if self.blocks_event(client, session, method, &frame) {
            return None;
        }
        if guard.wants_frames() && FILTERED_EVENTS.contains(&method) {
            let mut params = read_params(&frame);
            let url_allowed =
                |frame: Option<&str>, url: &str| self.state.url_allowed(&*guard, session, frame, url);
            if filter_event(method, &mut params, &url_allowed) {
                self.counters.withheld_by_guard += 1;
                return Some(EventVerdict::Filtered(params));
            }
        }
        Some(EventVerdict::Unchanged(frame))
    }

    /// Records how an allowed command uses the page: whether the client handles its dialogs, and which frame
    /// it navigates.
    pub(crate) fn record_page_use(&mut self, command: &Command<'_>, now: std::time::Instant) {
        let method = command.envelope.method;
        if matches!(method, "Page.enable" | "Page.disable")
            && let Some(session) = self.state.sessions.find_mut(command.session.as_str())
        {
            // Only a session with `Page` enabled before a dialog opened can close it
            // (docs/cdp/dialogs-block.md).
            session.has_page_on = method == "Page.enable";
        }
        let is_judged = || self.state.clients.guard(command.client).is_some_and(|guard| guard.wants_frames());
        if method == "Page.navigate" && is_judged() {
            let params = command.envelope.params.map(|raw| lenient_json::read(raw.get().as_bytes()));
            let named = params.as_ref().and_then(|params| params.get("frameId")).and_then(Value::as_str);
            self.record_navigated_frame(command, named, now);
        }
    }
}

impl BrowserState {
    fn learn_from_event(&mut self, session: &CdpSessionId, method: &str, frame: &[u8]) {
        if !SessionWatch::learns_from(method) && method != "Tracing.tracingComplete" {
            return;
        }
        let params = read_params(frame);
        let Some(entry) = self.sessions.find_mut(session.as_str()) else { return };
        match (method, params.get("stream").and_then(Value::as_str)) {
            ("Tracing.tracingComplete", Some(stream)) => {
                entry.watch.learn_stream(stream, vec![EVERY_SITE.into()]);
            }
            _ => entry.watch.learn(method, &params),
        }
    }

    /// Keeps an event whose request is not known yet; returns whether it was kept.
    fn is_early(&mut self, session: &CdpSessionId, method: &str, frame: &[u8]) -> bool {
        let params = read_params(frame);
        let Some(request) = params.get("requestId").and_then(Value::as_str) else { return false };
        let Some(entry) = self.sessions.find_mut(session.as_str()) else { return false };
        if entry.watch.request(request).is_some() {
            return false;
        }
        let (request, frame) = (request.to_owned(), BytesMut::from(frame));
        entry.watch.keep_early(EarlyEvent { request, method: method.into(), frame });
        true
    }

    /// Takes the kept events whose requests are known now.
    pub(crate) fn take_early_events(&mut self, session: &CdpSessionId) -> Vec<EarlyEvent> {
        self.sessions.find_mut(session.as_str()).map(|entry| entry.watch.take_early()).unwrap_or_default()
    }

    /// Whether a client may receive a URL. `frame` is the frame that shows it, if the event names one.
    fn url_allowed(&self, guard: &dyn Guard, session: &CdpSessionId, frame: Option<&str>, url: &str) -> bool {
        let target = self.sessions.find(session.as_str()).and_then(|session| session.target());
        let Some(entry) = target.and_then(|target| self.targets.find(target.as_str())) else {
            return guard.may_know(url, &[]);
        };
        let is_main = frame.is_none_or(|frame| frame.is_empty() || frame == entry.id.as_str());
        let sources = if is_main && frame.is_some() { entry.addresses.addresses() } else { &[] };
        let shown = match frame.filter(|frame| !frame.is_empty()) {
            _ if !is_blank(url) => Some(url),
            None if frame.is_none() => Some(url),
            None => Some(self.targets.root_url(entry)),
            Some(frame) => self.targets.frame_url(entry, frame),
        };
        // A frame that was not announced may show any site.
        shown.is_some_and(|url| guard.may_know(url, sources))
    }

    /// Records the ids of a response; returns its result if a part had to be removed.
    pub(crate) fn filtered_response(
        &mut self,
        client: ClientId,
        session: &CdpSessionId,
        asked: &GuardedPending,
        frame: &[u8],
        moves: &FrameMoves,
    ) -> Option<Value> {
        let guard = self.clients.guard(client).filter(|guard| guard.wants_frames())?;
        let method = &*asked.method;
        let streams =
            // Their results are only handles. `IO.read` names the handle and no frame, so its URLs are
            // recorded now.
            matches!(method, "Page.printToPDF" | "Fetch.takeResponseBodyAsStream" | "IO.resolveBlob");
        if !streams && method != "Page.createIsolatedWorld" && !FILTERED_RESULTS.contains(&method) {
            return None;
        }
        let mut response = lenient_json::read(frame);
        let mut result = response.get_mut("result").map(Value::take)?;
        if streams {
            self.learn_stream(session, asked, &result, moves);
            return None;
        }
        self.learn_from_result(session, asked, &result);
        if method == "Target.getTargetInfo" {
            let info = result.get_mut("targetInfo")?;
            self.redact_target_info(client, info);
            return Some(result);
        }
        let url_allowed = |frame: Option<&str>, url: &str| self.url_allowed(&*guard, session, frame, url);
        filter_result(method, &mut result, &url_allowed).then_some(result)
    }

    fn learn_from_result(&mut self, session: &CdpSessionId, asked: &GuardedPending, result: &Value) {
        let Some(entry) = self.sessions.find_mut(session.as_str()) else { return };
        let context = result.get("executionContextId").and_then(Value::as_i64);
        let frame = asked.names.as_ref().and_then(|names| names.frame_id.as_deref());
        if let (Some(context), Some(frame)) = (context, frame) {
            entry.watch.learn_context(context, frame);
        }
        if let Some(entries) = result.get("entries").and_then(Value::as_array) {
            entry.watch.learn_history(entries);
        }
    }

    /// A stream was opened: records the URLs that its content comes from.
    fn learn_stream(
        &mut self,
        session: &CdpSessionId,
        asked: &GuardedPending,
        result: &Value,
        moves: &FrameMoves,
    ) {
        let text = |field: &str| result.get(field).and_then(Value::as_str);
        let handle =
            text("stream").map(str::to_owned).or_else(|| text("uuid").map(|id| format!("blob:{id}")));
        let Some(handle) = handle else { return };
        let parts = GuardedParts::new(self, moves, session, asked.names.as_ref(), None);
        let urls: Vec<Box<str>> = match (&*asked.method, parts.request(), parts.named_frame()) {
            ("Fetch.takeResponseBodyAsStream", Some(request), _) => request.hops.clone(),
            ("IO.resolveBlob", _, NamedFrame::Known { urls, .. }) => {
                urls.into_iter().map(Box::from).collect()
            }
            // A printed page contains the frames of every process.
            ("Page.printToPDF", ..) => {
                let seen = parts.all_frames().unwrap_or_default();
                seen.urls.into_iter().map(Box::from).collect()
            }
            _ => vec![EVERY_SITE.into()],
        };
        if let Some(entry) = self.sessions.find_mut(session.as_str()) {
            entry.watch.learn_stream(&handle, urls);
        }
    }
}
