//! Ids are types, so that mapping code cannot swap them.

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
            /// Takes the id as its issuer wrote it.
            #[must_use]
            pub fn new(text: &str) -> Self {
                Self(Arc::from(text))
            }

            /// The id as its issuer wrote it.
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
    /// A running browser as Tabwire names it, in file names and descriptors.
    BrowserId
}
text_id! {
    /// One run of one of our processes; drawn at random at its start.
    InstanceId
}
text_id! {
    /// A protocol-level attached session (`sessionId` on the wire).
    CdpSessionId
}
text_id! {
    /// A page, frame, worker or tab as the browser names it.
    TargetId
}
text_id! {
    /// A frame of a page as the browser names it; the main frame's equals its page's target id.
    FrameId
}
text_id! {
    /// An isolated cookie jar as the browser names it.
    BrowserContextId
}
text_id! {
    /// An isolated partition of a shared browser; equals the key of the session it serves.
    PartitionId
}

/// One call of a client, for as long as it lasts; drawn where questions are kept.
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
