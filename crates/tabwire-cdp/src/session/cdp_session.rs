//! A handle to one attached CDP session, or to the browser itself.

use std::sync::Arc;

use serde::Serialize;
use tabwire_api::CdpSessionId;

use crate::connection::{Connection, PendingResponse};
use crate::deadline::Deadline;
use crate::error::{CdpError, Method};
use crate::feed::feed;
use crate::limits::EVENT_STREAM_BOUND;
use crate::protocol::event::{EventFilter, EventStream, Subscriber};
use crate::protocol::response::Response;
use crate::session::state::SessionState;

/// Sends commands to one CDP session and listens to its events; clones share it.
#[derive(Clone, Debug)]
pub struct CdpSession {
    // Declared before the connection, so that it is dropped while the connection is open.
    state: Arc<SessionState>,
    connection: Connection,
}

impl CdpSession {
    pub(crate) fn new(connection: Connection, state: Arc<SessionState>) -> Self {
        Self { state, connection }
    }

    /// The session's id; `None` is the browser itself.
    #[must_use]
    pub fn id(&self) -> Option<&CdpSessionId> {
        self.state.id()
    }

    /// Its connection.
    #[must_use]
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Whether it has been detached.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.state.life().is_over()
    }

    /// Sends a command and waits for its response. Never resends it.
    pub async fn send(
        &self,
        method: impl Into<Method>,
        params: &impl Serialize,
        deadline: impl Into<Deadline>,
    ) -> Result<Response, CdpError> {
        self.begin(method, params, deadline)?.response().await
    }

    /// Sends a command now; its response can be awaited later.
    ///
    /// Commands that are begun in sequence reach the browser in that order.
    pub fn begin(
        &self,
        method: impl Into<Method>,
        params: &impl Serialize,
        deadline: impl Into<Deadline>,
    ) -> Result<PendingResponse, CdpError> {
        self.connection.core().begin(&self.state, method.into(), params, deadline.into())
    }

    /// Sends a command whose response does not matter. Unlike one whose [`PendingResponse`] is dropped, it is sent
    /// even if the browser reads slowly.
    pub fn post(&self, method: impl Into<Method>, params: &impl Serialize, deadline: impl Into<Deadline>) {
        if let Ok(pending) = self.begin(method, params, deadline) {
            pending.ignore();
        }
    }

    /// Listens from now on; a slow reader gets the number of events it missed.
    #[must_use]
    pub fn events(&self, filter: EventFilter) -> EventStream {
        self.events_bounded(filter, EVENT_STREAM_BOUND)
    }

    /// Listens from now on, holding at most `bound` events for a slow reader.
    #[must_use]
    pub fn events_bounded(&self, filter: EventFilter, bound: usize) -> EventStream {
        let (sender, stream) = feed(filter.name(), bound);
        self.connection.core().router().subscribe(self.id(), Subscriber { filter, sender });
        stream
    }

    /// Enables a domain once; concurrent callers share one command.
    pub async fn enable(&self, domain: &str) -> Result<(), CdpError> {
        self.state.check_alive()?;
        let enable = || async {
            let method = Method::Owned(format!("{domain}.enable"));
            self.send(method, &(), Deadline::default()).await.map(drop)
        };
        self.state.life().domains().ensure(domain, enable).await
    }

    /// Detaches from the target. Does nothing on the browser itself, which cannot be detached.
    pub async fn detach(&self, deadline: impl Into<Deadline>) -> Result<(), CdpError> {
        let Some(session) = self.id().cloned() else { return Ok(()) };
        let params = serde_json::json!({ "sessionId": session });
        let detached =
            self.connection.browser().send("Target.detachFromTarget", &params, deadline).await.map(drop);
        if detached.is_ok() {
            self.connection.core().router().detach(&session);
        }
        detached
    }
}
