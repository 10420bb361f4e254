//! The kinds of events that scripts can listen to.

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum EventKind {
    /// A line of the page's console.
    Console,
    /// An uncaught exception.
    PageError,
    /// A dialog opened.
    Dialog,
    /// The page's process crashed.
    Crash,
    /// The page has loaded.
    Load,
    /// The page's document is parsed.
    DomContentLoaded,
    /// A frame was added.
    FrameAttached,
    /// A frame shows another document.
    FrameNavigated,
    /// A frame was removed.
    FrameDetached,
    /// A request starts.
    Request,
    /// A response starts.
    Response,
    /// A response is complete.
    RequestFinished,
    /// A request failed.
    RequestFailed,
    /// A download began.
    Download,
    /// A file chooser opened.
    FileChooser,
    /// A WebSocket opened, carried a message or closed.
    WebSocket,
    /// A worker started or ended.
    Worker,
    /// A request is paused and waits for the script.
    Route,
    /// The page called a function of the script.
    Binding,
}

use EventKind as K;

/// Every kind with its name.
const NAMES: [(EventKind, &str); 19] = [
    (K::Console, "console"),
    (K::PageError, "pageerror"),
    (K::Dialog, "dialog"),
    (K::Crash, "crash"),
    (K::Load, "load"),
    (K::DomContentLoaded, "domcontentloaded"),
    (K::FrameAttached, "frameattached"),
    (K::FrameNavigated, "framenavigated"),
    (K::FrameDetached, "framedetached"),
    (K::Request, "request"),
    (K::Response, "response"),
    (K::RequestFinished, "requestfinished"),
    (K::RequestFailed, "requestfailed"),
    (K::Download, "download"),
    (K::FileChooser, "filechooser"),
    (K::WebSocket, "websocket"),
    (K::Worker, "worker"),
    (K::Route, "route"),
    (K::Binding, "binding"),
];

impl EventKind {
    /// Its name in scripts.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        NAMES.iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }

    /// The kind with this name.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        NAMES.iter().find(|(_, known)| *known == name).map(|(kind, _)| *kind)
    }
}

/// A set of kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventKinds(u32);

impl EventKinds {
    pub(super) const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    pub(super) const fn bits(self) -> u32 {
        self.0
    }

    /// The set with one kind more.
    #[must_use]
    pub const fn with(self, kind: EventKind) -> Self {
        Self(self.0 | 1 << kind as u8)
    }

    /// Whether the set has a kind.
    #[must_use]
    pub const fn has(self, kind: EventKind) -> bool {
        self.0 & (1 << kind as u8) != 0
    }

    /// Whether the set has no kind.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_found_by_its_name() {
        for (kind, name) in NAMES {
            assert_eq!((EventKind::find(name), kind.as_str()), (Some(kind), name));
            assert!(EventKinds::default().with(kind).has(kind));
        }
        assert_eq!(EventKind::find("Load"), None);
    }
}
