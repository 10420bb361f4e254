//! What a request is for, in the words of the command line. A table.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a request is for.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, clap::ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ResourceKind {
    /// A page or a frame.
    Document,
    /// A style sheet.
    Stylesheet,
    /// A picture.
    Image,
    /// Sound or a film.
    Media,
    /// A font.
    Font,
    /// A script.
    Script,
    /// An XMLHttpRequest.
    Xhr,
    /// A fetch call.
    Fetch,
    /// A stream of server-sent events.
    EventSource,
    /// A WebSocket.
    Websocket,
    /// A web app's manifest.
    Manifest,
    /// A beacon or a link's ping.
    Ping,
    /// A question whether a request to another origin is allowed.
    Preflight,
    /// Anything else.
    #[default]
    Other,
}

impl ResourceKind {
    /// Reads the browser's word.
    pub(crate) fn from_browser(word: &str) -> Self {
        match word {
            "Document" => Self::Document,
            "Stylesheet" => Self::Stylesheet,
            "Image" => Self::Image,
            "Media" | "TextTrack" => Self::Media,
            "Font" => Self::Font,
            "Script" => Self::Script,
            "XHR" => Self::Xhr,
            "Fetch" => Self::Fetch,
            "EventSource" => Self::EventSource,
            "WebSocket" => Self::Websocket,
            "Manifest" => Self::Manifest,
            "Ping" => Self::Ping,
            "Preflight" => Self::Preflight,
            _ => Self::Other,
        }
    }

    /// The browser's words for what can be intercepted under this name.
    pub(crate) const fn browser_words(self) -> &'static [&'static str] {
        match self {
            Self::Document => &["Document"],
            Self::Stylesheet => &["Stylesheet"],
            Self::Image => &["Image"],
            Self::Media => &["Media", "TextTrack"],
            Self::Font => &["Font"],
            Self::Script => &["Script"],
            Self::Xhr => &["XHR"],
            Self::Fetch => &["Fetch"],
            Self::EventSource => &["EventSource"],
            Self::Websocket => &["WebSocket"],
            Self::Manifest => &["Manifest"],
            Self::Ping => &["Ping"],
            Self::Preflight => &["Preflight"],
            Self::Other => &["Other", "Prefetch", "SignedExchange", "CSPViolationReport", "FedCM"],
        }
    }

    /// Whether it is a part of how a page looks and works rather than something it says.
    pub(crate) const fn is_static(self) -> bool {
        matches!(
            self,
            Self::Stylesheet | Self::Image | Self::Media | Self::Font | Self::Script | Self::Manifest
        )
    }

    /// The word of the command line.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Document => "document",
            Self::Stylesheet => "stylesheet",
            Self::Image => "image",
            Self::Media => "media",
            Self::Font => "font",
            Self::Script => "script",
            Self::Xhr => "xhr",
            Self::Fetch => "fetch",
            Self::EventSource => "event-source",
            Self::Websocket => "websocket",
            Self::Manifest => "manifest",
            Self::Ping => "ping",
            Self::Preflight => "preflight",
            Self::Other => "other",
        }
    }
}
