//! The frames, requests and streams that a command or event names, as a guard sees them.

use std::fmt;

use serde::Deserialize;
use serde_json::Value;
use tabwire_api::CdpSessionId;

use crate::guard::frame_moves::FrameMoves;
use crate::guard::page_frames::{FramesState, is_blank};
use crate::guard::session_watch::{SeenRequest, SessionWatch};
use crate::state::BrowserState;
use crate::target::entry::TargetEntry;
use crate::target::table::TargetTable;

/// The context id of a message whose document is gone.
const GONE_CONTEXT: &str = "0";

/// The ids by which a command or event names parts of pages.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NamedParts {
    /// A frame.
    pub frame_id: Option<String>,
    /// An execution context, by its number.
    #[serde(alias = "executionContextId")]
    pub context_id: Option<Value>,
    /// An execution context, by its unique id.
    pub unique_context_id: Option<String>,
    /// A JavaScript object.
    #[serde(alias = "promiseObjectId", alias = "prototypeObjectId", alias = "errorObjectId")]
    pub object_id: Option<String>,
    /// A request.
    pub request_id: Option<String>,
    /// A stream.
    pub handle: Option<String>,
    /// A script.
    pub script_id: Option<String>,
    /// A style sheet.
    pub style_sheet_id: Option<String>,
    /// An entry of the page's history.
    pub entry_id: Option<i64>,
    /// An element of any document in the process.
    #[serde(alias = "backendNodeIds")]
    pub backend_node_id: Option<Value>,
}

impl NamedParts {
    /// Reads the ids in parameters; none when an id has the wrong type or a key occurs twice.
    #[must_use]
    pub fn read(params: &str) -> Option<Self> {
        serde_json::from_str(params).ok()
    }

    /// The keys of the named execution contexts. If there are several, all must be allowed.
    fn contexts(&self) -> Vec<Option<String>> {
        let number = self.context_id.as_ref().map(|id| id.as_i64().map(|id| id.to_string()));
        let unique = self.unique_context_id.as_ref().map(|id| Some(id.clone()));
        // Object ids have the form `isolate.context.number`.
        let of_object = |id: &String| {
            let mut parts = id.split('.');
            let (_, context, _, end) = (parts.next()?, parts.next()?, parts.next()?, parts.next());
            end.is_none().then(|| context.to_owned())
        };
        let object = self.object_id.as_ref().map(of_object);
        [number, unique, object].into_iter().flatten().collect()
    }
}

/// A set of frames, as far as they are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeenFrames<'a> {
    /// The URLs that they are checked by.
    pub urls: Vec<&'a str>,
    /// Whether there are frames whose URL is unknown.
    pub has_unknown: bool,
}

/// The frame that a command or event names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamedFrame<'a> {
    /// It names none.
    Main,
    /// A known frame.
    Known {
        /// The URLs that it is checked by.
        urls: Vec<&'a str>,
        /// Whether it is the target's main frame.
        is_main: bool,
    },
    /// It names an execution context that was not announced.
    Unknown,
    /// It names a frame that does not exist, or a context that is gone.
    Missing,
}

/// The frames, requests and streams that concern one command or event.
#[derive(Clone, Copy, Default)]
pub struct GuardedParts<'a> {
    view: Option<View<'a>>,
    /// The ids that it names.
    pub names: Option<&'a NamedParts>,
}

#[derive(Clone, Copy)]
struct View<'a> {
    targets: &'a TargetTable,
    moves: &'a FrameMoves,
    watch: Option<&'a SessionWatch>,
    entry: Option<&'a TargetEntry>,
    /// The state of frames when the command was sent, if this is its response.
    since: Option<u64>,
}

impl fmt::Debug for GuardedParts<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("GuardedParts").field("names", &self.names).finish_non_exhaustive()
    }
}

impl<'a> GuardedParts<'a> {
    pub(crate) fn new(
        state: &'a BrowserState,
        moves: &'a FrameMoves,
        session: &CdpSessionId,
        names: Option<&'a NamedParts>,
        since: Option<u64>,
    ) -> Self {
        let found = state.sessions.find(session.as_str());
        let target = found.and_then(|session| session.target());
        let entry = target.and_then(|target| state.targets.find(target.as_str()));
        let watch = found.map(|session| &*session.watch);
        let view = View { targets: &state.targets, moves, watch, entry, since };
        Self { view: Some(view), names }
    }

    /// The target.
    #[must_use]
    pub fn target(&self) -> Option<&'a str> {
        self.view?.entry.map(|entry| entry.id.as_str())
    }

    /// A number that changes with every change of a frame. None when a response is checked.
    #[must_use]
    pub fn version(&self) -> Option<u64> {
        self.view.filter(|view| view.since.is_none()).map(|view| view.moves.clock())
    }

    /// The frames in the target's own process; none when they are not known.
    #[must_use]
    pub fn own_frames(&self) -> Option<SeenFrames<'a>> {
        let View { targets, moves, entry, since, .. } = self.view?;
        let entry = entry?;
        let mut urls = targets.own_urls(entry)?;
        urls.extend(moves.of_target(entry.id.as_str(), since)?);
        Some(SeenFrames { urls, has_unknown: false })
    }

    /// All frames of the page; none when they are not known.
    #[must_use]
    pub fn all_frames(&self) -> Option<SeenFrames<'a>> {
        let View { targets, moves, entry, since, .. } = self.view?;
        let page = targets.page_of(entry?);
        let mut seen = SeenFrames { urls: targets.own_urls(page)?, has_unknown: false };
        for part in targets.frame_targets_of(page) {
            seen.urls.extend(targets.own_urls(part)?);
            seen.urls.push(targets.root_url(part));
            seen.has_unknown |= part.frames.remote().any(|frame| targets.find(frame).is_none());
        }
        seen.has_unknown |= page.frames.remote().any(|frame| targets.find(frame).is_none());
        seen.urls.extend(moves.of_page(page.id.as_str(), since)?);
        Some(seen)
    }

    /// All frames that may share the target's process: those of the same site, in every tab.
    #[must_use]
    pub fn process_frames(&self) -> Option<SeenFrames<'a>> {
        let View { targets, entry, .. } = self.view?;
        let mut seen = self.own_frames()?;
        let root = targets.root_url(entry?);
        let own = seen.urls.iter().chain([&root]).filter(|url| !is_blank(url));
        let sites: Vec<&str> = own.map(|url| site_of(url)).collect();
        for other in targets.iter().filter(|other| matches!(other.target_type(), "page" | "iframe")) {
            let known = other.frames.addresses().chain([targets.root_url(other)]);
            let known: Vec<&str> = known.filter(|url| !is_blank(url)).collect();
            let is_near = known.iter().any(|url| sites.contains(&site_of(url)));
            // The frames of a page are known only while the mux records them.
            seen.has_unknown |= is_near && other.frames.state != FramesState::Known;
            seen.urls.extend(known.into_iter().filter(|url| is_near && sites.contains(&site_of(url))));
        }
        Some(seen)
    }

    /// The frame that is named directly, by a context or by an object.
    #[must_use]
    pub fn named_frame(&self) -> NamedFrame<'a> {
        let (Some(names), Some(View { watch, .. })) = (self.names, self.view) else {
            return NamedFrame::Main;
        };
        let mut urls = Vec::new();
        let (mut is_named, mut is_main) = (false, false);
        let contexts = names.contexts();
        let of_context = |id: &Option<String>| watch?.context(id.as_deref()?);
        let frames = contexts.iter().map(of_context).chain(names.frame_id.as_deref().map(Some));
        for frame in frames {
            is_named = true;
            let Some(frame) = frame else {
                let is_gone = contexts.iter().any(|id| id.as_deref() == Some(GONE_CONTEXT));
                return if is_gone { NamedFrame::Missing } else { NamedFrame::Unknown };
            };
            is_main |= self.is_main(frame);
            match self.frame(frame) {
                Some(url) => urls.extend(url),
                None => return NamedFrame::Missing,
            }
        }
        if is_named { NamedFrame::Known { urls, is_main } } else { NamedFrame::Main }
    }

    /// The URLs that a frame is checked by.
    #[must_use]
    pub fn frame(&self, frame: &str) -> Option<Vec<&'a str>> {
        let View { targets, moves, entry, since, .. } = self.view?;
        let mut urls = vec![targets.frame_url(entry?, frame)?];
        urls.extend(moves.of_frame(frame, since)?);
        Some(urls)
    }

    /// The URL of the parent of the named frame, or of the target. The outer `None` means a page, which has
    /// no parent; the inner `None` means that the parent's URL is unknown.
    #[must_use]
    pub fn embedder(&self) -> Option<Option<&'a str>> {
        let View { targets, entry, .. } = self.view?;
        let entry = entry?;
        let named = self.names.and_then(|names| names.frame_id.as_deref()).unwrap_or(entry.id.as_str());
        if let Some(parent) = entry.frames.parent(named) {
            return Some(targets.frame_url(entry, parent));
        }
        if named == entry.id.as_str() && entry.target_type() == "page" {
            return None;
        }
        let around = || {
            let part = targets.find(named).filter(|part| part.target_type() == "iframe")?;
            let parent = targets.find(part.text("parentId")?)?;
            targets.frame_url(parent, part.text("parentFrameId")?)
        };
        Some(around())
    }

    /// Whether a frame is the target's main frame.
    #[must_use]
    pub fn is_main(&self, frame: &str) -> bool {
        self.view.and_then(|view| view.entry).is_some_and(|entry| entry.id.as_str() == frame)
    }

    /// The named request.
    #[must_use]
    pub fn request(&self) -> Option<&'a SeenRequest> {
        self.view?.watch?.request(self.names?.request_id.as_deref()?)
    }

    /// The URL of the named script or style sheet. The outer `None` means that none is named; the inner
    /// `None` means that it was not announced.
    #[must_use]
    pub fn source(&self) -> Option<Option<&'a str>> {
        let names = self.names?;
        let id = names.script_id.as_deref().or(names.style_sheet_id.as_deref())?;
        Some(self.view.and_then(|view| view.watch).and_then(|watch| watch.source(id)))
    }

    /// The URLs that the content of the named stream comes from.
    #[must_use]
    pub fn stream(&self) -> Option<&'a [Box<str>]> {
        self.view?.watch?.stream(self.names?.handle.as_deref()?)
    }

    /// The URL of the named history entry.
    #[must_use]
    pub fn history_entry(&self) -> Option<&'a str> {
        self.view?.watch?.history(self.names?.entry_id?)
    }
}

/// Scheme and the last two labels of a URL's host. Chromium never shares a process between URLs that differ
/// in these.
fn site_of(url: &str) -> &str {
    let url = url.strip_prefix("blob:").unwrap_or(url);
    let start = url.find("://").map_or(0, |at| at + 3);
    let host = url.get(start..).unwrap_or_default().split(['/', ':']).next().unwrap_or_default();
    if host.starts_with('[') || host.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return host;
    }
    let mut dots = host.rmatch_indices('.').map(|(at, _)| at + 1).skip(1);
    dots.next().and_then(|at| host.get(at..)).unwrap_or(host)
}

impl TargetTable {
    /// The URL that a target's main frame is checked by.
    pub(crate) fn root_url<'a>(&'a self, entry: &'a TargetEntry) -> &'a str {
        let mut entry = entry;
        // The bound ends a cycle, which a broken browser could announce.
        for _ in 0..64 {
            let own = entry.page_url.as_deref().or_else(|| entry.text("url")).unwrap_or_default();
            if !is_blank(own) || entry.target_type() != "iframe" {
                return own;
            }
            let Some(parent) = entry.text("parentId").and_then(|parent| self.find(parent)) else {
                return own;
            };
            let above = entry.text("parentFrameId").and_then(|frame| parent.frames.address(frame));
            match above {
                Some(url) if !url.is_empty() => return url,
                _ => entry = parent,
            }
        }
        ""
    }

    /// The URLs of the frames in a target's own process; none when they are not known.
    fn own_urls<'a>(&'a self, entry: &'a TargetEntry) -> Option<Vec<&'a str>> {
        if !matches!(entry.target_type(), "page" | "iframe") {
            return entry.is_frameless().then(Vec::new);
        }
        (entry.frames.state == FramesState::Known).then(|| entry.frames.addresses().collect())
    }

    /// The URL that a frame of a target's page is checked by.
    pub(crate) fn frame_url<'a>(&'a self, entry: &'a TargetEntry, frame: &str) -> Option<&'a str> {
        if frame == entry.id.as_str() {
            return Some(self.root_url(entry));
        }
        if let Some(url) = entry.frames.address(frame) {
            return Some(if url.is_empty() { self.root_url(entry) } else { url });
        }
        let part = self.find(frame).filter(|part| part.target_type() == "iframe")?;
        Some(self.root_url(part))
    }

    /// The page that a target is part of; a page is its own.
    pub(crate) fn page_of<'a>(&'a self, entry: &'a TargetEntry) -> &'a TargetEntry {
        let mut entry = entry;
        for _ in 0..64 {
            let parent = entry.text("parentId").filter(|_| entry.target_type() == "iframe");
            match parent.and_then(|parent| self.find(parent)) {
                Some(parent) => entry = parent,
                None => break,
            }
        }
        entry
    }

    /// The targets of a page's out-of-process frames.
    pub(crate) fn frame_targets_of<'a>(
        &'a self,
        page: &'a TargetEntry,
    ) -> impl Iterator<Item = &'a TargetEntry> {
        let is_nested =
            move |part: &&TargetEntry| part.target_type() == "iframe" && self.page_of(part).id == page.id;
        self.iter().filter(is_nested)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn object_ids_name_their_context_and_wrong_types_are_unknown() {
        let contexts = |params: &str| NamedParts::read(params).map(|names| names.contexts());
        assert_eq!(contexts(r#"{"objectId":"-45.3.1"}"#), Some(vec![Some("3".to_owned())]));
        assert_eq!(contexts(r#"{"executionContextId":7}"#), Some(vec![Some("7".to_owned())]));
        for odd in [r#"{"contextId":7.5}"#, r#"{"contextId":"7"}"#, r#"{"objectId":"x"}"#] {
            assert_eq!(contexts(odd), Some(vec![None]), "{odd}");
        }
        assert_eq!(contexts(r#"{"frameId":"a","frameId":"b"}"#), None, "named twice");
        assert_eq!(contexts(r#"{"contextId":1,"executionContextId":2}"#), None, "named twice");
        assert_eq!(contexts("{}"), Some(vec![]));
    }

    #[test]
    fn sites_are_compared_by_last_two_labels_or_whole_ip() {
        for (url, site) in [
            ("http://x.a.localhost:80/p", "a.localhost"),
            ("https://a.localhost", "a.localhost"),
            ("blob:https://deep.down.example.org/1", "example.org"),
            ("http://127.0.0.1:9/", "127.0.0.1"),
            ("localhost", "localhost"),
            ("", ""),
        ] {
            assert_eq!(site_of(url), site, "{url}");
        }
    }
}
