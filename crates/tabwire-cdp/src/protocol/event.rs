//! Events of a browser, and their listeners.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use serde::de::DeserializeOwned;
use tabwire_api::CdpSessionId;

use crate::error::{CdpError, Method};
use crate::feed::{Feed, FeedSender};
use crate::protocol::lenient_json;

/// One event, unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    session: Option<CdpSessionId>,
    method: Arc<str>,
    params: Bytes,
}

impl Event {
    pub(crate) fn new(session: Option<CdpSessionId>, method: &str, params: Bytes) -> Self {
        Self { session, method: Arc::from(method), params }
    }

    /// Its CDP session; `None` is the browser itself.
    #[must_use]
    pub fn session(&self) -> Option<&CdpSessionId> {
        self.session.as_ref()
    }

    /// Its name, such as `Page.loadEventFired`.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }

    /// Its parameters as JSON text.
    #[must_use]
    pub fn params(&self) -> &Bytes {
        &self.params
    }

    /// Parses the parameters; unknown fields are skipped.
    pub fn to<T: DeserializeOwned>(&self) -> Result<T, CdpError> {
        lenient_json::read_as(&self.params).map_err(|error| CdpError::Malformed {
            method: Cow::Owned(self.method.to_string()),
            detail: error.to_string(),
        })
    }
}

/// The events that a listener receives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventFilter {
    /// All of them.
    Everything,
    /// Those with these names.
    Methods(Vec<Method>),
}

impl EventFilter {
    /// The events with these names.
    pub fn methods<M: Into<Method>>(methods: impl IntoIterator<Item = M>) -> Self {
        Self::Methods(methods.into_iter().map(Into::into).collect())
    }

    pub(crate) fn accepts(&self, method: &str) -> bool {
        match self {
            Self::Everything => true,
            Self::Methods(methods) => methods.iter().any(|wanted| wanted == method),
        }
    }

    pub(crate) fn name(&self) -> Method {
        match self {
            Self::Everything => "any event".into(),
            Self::Methods(methods) => methods.join(" or ").into(),
        }
    }
}

/// A listener in the router's table.
#[derive(Debug)]
pub(crate) struct Subscriber {
    pub(crate) filter: EventFilter,
    pub(crate) sender: FeedSender<Event>,
}

/// A bounded stream of one CDP session's events.
pub type EventStream = Feed<Event>;
