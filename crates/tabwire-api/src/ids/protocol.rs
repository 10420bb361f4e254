//! Id types. Each kind of id has its own type, so that code cannot confuse them.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

macro_rules! text_id {
    ($(#[doc = $doc:literal])+ $name:ident) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Wraps the id text.
            #[must_use]
            pub fn new(text: &str) -> Self {
                Self(Arc::from(text))
            }

            /// The id as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.pad(&self.0)
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    };
}

text_id! {
    /// Tabwire's id of a running browser, used in file names and descriptors.
    BrowserId
}
text_id! {
    /// One run of a Tabwire process. Random, generated at its start.
    InstanceId
}
text_id! {
    /// A CDP session (`sessionId` in frames).
    CdpSessionId
}
text_id! {
    /// The browser's id of a page, frame, worker or tab.
    TargetId
}
text_id! {
    /// The browser's id of a frame. The id of a main frame equals the target id of its page.
    FrameId
}
text_id! {
    /// The browser's id of a browser context.
    BrowserContextId
}
text_id! {
    /// A partition of a shared browser. Begins with the key of its session.
    PartitionId
}

/// Identifies one MCP call while it runs, to assign approval questions to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallNumber(pub u64);

/// One party that sends CDP to a browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ClientId(pub u64);

impl fmt::Display for ClientId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "client-{}", self.0)
    }
}
