//! Resource types, with their command line names.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The type of a requested resource.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, clap::ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ResourceKind {
    /// A page or a frame.
    Document,
    /// A style sheet.
    Stylesheet,
    /// An image.
    Image,
    /// Audio or video.
    Media,
    /// A font.
    Font,
    /// A script.
    Script,
    /// An XMLHttpRequest.
    Xhr,
    /// A fetch call.
    Fetch,
    /// Server-sent events.
    EventSource,
    /// A WebSocket.
    Websocket,
    /// A web app manifest.
    Manifest,
    /// A beacon or ping.
    Ping,
    /// A CORS preflight.
    Preflight,
    /// Anything else.
    #[default]
    Other,
}

impl ResourceKind {
    /// Parses the CDP type.
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

    /// The CDP types that can be intercepted under this name.
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

    /// Whether it is a static resource: a style sheet, image, video, font, script or manifest.
    pub(crate) const fn is_static(self) -> bool {
        matches!(
            self,
            Self::Stylesheet | Self::Image | Self::Media | Self::Font | Self::Script | Self::Manifest
        )
    }

    /// The name on the command line.
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
