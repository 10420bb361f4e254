//! One connection to one browser. It never reconnects and never resends a command.

pub(crate) mod close_reason;
pub(crate) mod outbox;
pub(crate) mod pending;
pub(crate) mod router;

use std::sync::{Arc, Weak};

use serde::Serialize;
use tabwire_api::CdpSessionId;
use tokio::sync::{oneshot, watch};

use crate::connection::close_reason::CloseReason;
use crate::connection::outbox::{Outbox, PushError};
use crate::connection::pending::{CommandId, Outcome};
use crate::connection::router::{ResourceCounts, Router};
use crate::deadline::Deadline;
use crate::error::{CdpError, Method};
use crate::limits::BROWSER_MESSAGE_CEILING;
use crate::protocol::message::encode_command;
use crate::protocol::response::Response;
use crate::session::cdp_session::CdpSession;
use crate::session::state::SessionState;
use crate::task_group::TaskGroup;
use crate::transport::{FrameSink, FrameSource};

/// A handle to one connection. Clones share it; dropping the last one closes it.
#[derive(Clone, Debug)]
pub struct Connection {
    handle: Arc<Handle>,
}

#[derive(Debug)]
struct Handle {
    core: Arc<Core>,
    browser: Arc<SessionState>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.core.close(CloseReason::ClosedHere);
    }
}

/// Shared by the handles and the tasks of a connection.
#[derive(Debug)]
pub(crate) struct Core {
    router: Router,
    outbox: Outbox,
    closed: watch::Sender<Option<CloseReason>>,
}

impl Connection {
    /// Starts the reader and the writer of an open transport.
    #[must_use]
    pub fn start(source: impl Into<FrameSource>, sink: impl Into<FrameSink>, tasks: &TaskGroup) -> Self {
        let core = Arc::new(Core {
            router: Router::default(),
            outbox: Outbox::new(sink.into()),
            closed: watch::Sender::new(None),
        });
        tasks.start("cdp reader", read(Arc::clone(&core), source.into(), tasks.clone()));
        tasks.start("cdp writer", write(Arc::clone(&core)));
        let browser = Arc::new(SessionState::new(None, Arc::downgrade(&core)));
        Self { handle: Arc::new(Handle { core, browser }) }
    }

    /// The browser itself: commands without a CDP session.
    #[must_use]
    pub fn browser(&self) -> CdpSession {
        CdpSession::new(self.clone(), Arc::clone(&self.handle.browser))
    }

    /// A handle to an attached CDP session.
    ///
    /// Earlier events are held; every listener added before the first command gets them (F21).
    #[must_use]
    pub fn session(&self, id: &CdpSessionId) -> CdpSession {
        let core = &self.handle.core;
        let make = || Arc::new(SessionState::new(Some(id.clone()), Arc::downgrade(core)));
        let state = core.router.claim(id, make);
        CdpSession::new(self.clone(), state)
    }

    /// Closes the connection; pending commands fail at once.
    pub fn close(&self) {
        self.core().close(CloseReason::ClosedHere);
    }

    /// Waits until the connection has ended and returns the reason.
    pub async fn closed(&self) -> CloseReason {
        self.core().wait_closed().await
    }

    /// Pending commands, sessions and listeners.
    #[must_use]
    pub fn resource_counts(&self) -> ResourceCounts {
        self.core().router.resource_counts()
    }

    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.handle.core
    }
}

/// A command that has been sent; its response can be awaited later.
///
/// Dropping it cancels the command if it is still queued, and the wait: a late response is ignored (F20).
#[derive(Debug)]
pub struct PendingResponse {
    guard: PendingGuard,
    outcome: oneshot::Receiver<Outcome>,
    is_taken: bool,
    method: Method,
    deadline: Deadline,
}

impl PendingResponse {
    /// Waits for the response until the command's deadline.
    pub async fn response(mut self) -> Result<Response, CdpError> {
        self.wait().await
    }

    /// Waits like [`Self::response`] and keeps `self` for [`Self::is_open`]. The response is returned once.
    pub async fn wait(&mut self) -> Result<Response, CdpError> {
        let outcome = tokio::time::timeout_at(self.deadline.instant(), &mut self.outcome).await;
        self.is_taken = outcome.is_ok();
        let method = self.method.clone();
        match outcome {
            Ok(Ok(outcome)) => outcome,
            // The router sends an outcome before it drops a command, so the runtime is shutting down.
            Ok(Err(_)) => Err(CdpError::OutcomeUnknown { method, reason: CloseReason::ClosedHere }),
            Err(_) => Err(CdpError::Timeout { method, after: self.deadline.length() }),
        }
    }

    /// Sends the command even if it is still queued, and ignores its response.
    pub fn ignore(mut self) {
        self.guard.is_sent_anyway = true;
    }

    /// Whether the response is still outstanding.
    #[must_use]
    pub fn is_open(&self) -> bool {
        !self.is_taken && self.outcome.is_empty()
    }
}

/// Removes the command from the router when its caller drops it, and from the outbox unless it is to be sent anyway.
#[derive(Debug)]
struct PendingGuard {
    core: Weak<Core>,
    id: CommandId,
    is_sent_anyway: bool,
}

impl Drop for PendingGuard {
    fn drop(&mut self) {
        if let Some(core) = self.core.upgrade()
            && core.router.forget(self.id)
            && !self.is_sent_anyway
        {
            core.outbox.withdraw(self.id);
        }
    }
}

impl Core {
    pub(crate) fn router(&self) -> &Router {
        &self.router
    }

    /// Sends a command from the caller's task, without waiting.
    pub(crate) fn begin(
        self: &Arc<Self>,
        session: &SessionState,
        method: Method,
        params: &impl Serialize,
        deadline: Deadline,
    ) -> Result<PendingResponse, CdpError> {
        session.check_alive()?;
        let id = self.router.next_id();
        let frame = encode_command(id, session.id(), &method, params)?;
        if frame.len() > BROWSER_MESSAGE_CEILING {
            return Err(CdpError::TooLarge { method, size: frame.len(), limit: BROWSER_MESSAGE_CEILING });
        }
        let outcome = self.router.register(id, session, method.clone())?;
        let guard = PendingGuard { core: Arc::downgrade(self), id, is_sent_anyway: false };
        match self.outbox.push(id, frame) {
            Ok(()) => {}
            Err(PushError::Closed) => {
                let reason = self.closed.borrow().clone().unwrap_or(CloseReason::PeerClosed);
                return Err(CdpError::Closed { reason });
            }
            Err(PushError::Backlogged { waiting }) => return Err(CdpError::Backlogged { method, waiting }),
            // Part of the command may have been written: closing fails it with `OutcomeUnknown`.
            Err(PushError::Broken(error)) => self.close(CloseReason::Transport(error)),
        }
        Ok(PendingResponse { guard, outcome, is_taken: false, method, deadline })
    }

    /// Ends the connection; the first reason wins.
    pub(crate) fn close(&self, reason: CloseReason) {
        let unsent = self.outbox.close();
        if self.router.close(&reason, &unsent) {
            tracing::debug!(%reason, "CDP connection closed");
            self.closed.send_replace(Some(reason));
        }
    }

    pub(crate) async fn wait_closed(&self) -> CloseReason {
        let mut closed = self.closed.subscribe();
        let reason = closed.wait_for(Option::is_some).await;
        reason.ok().and_then(|reason| reason.clone()).unwrap_or(CloseReason::ClosedHere)
    }
}

async fn read(core: Arc<Core>, mut source: FrameSource, tasks: TaskGroup) {
    let _closer = CloseAtEnd(Arc::clone(&core));
    let reading = async {
        loop {
            match source.next().await {
                Ok(Some(frame)) => core.router.receive(frame),
                Ok(None) => return CloseReason::PeerClosed,
                Err(error) => return CloseReason::Transport(error),
            }
        }
    };
    let reason = tokio::select! {
        reason = reading => reason,
        reason = core.wait_closed() => reason,
        () = tasks.stopping() => CloseReason::ClosedHere,
    };
    core.close(reason);
}

async fn write(core: Arc<Core>) {
    let _closer = CloseAtEnd(Arc::clone(&core));
    tokio::select! {
        written = core.outbox.write_stalled() => {
            if let Err(error) = written {
                core.close(CloseReason::Transport(error));
            }
        }
        _ = core.wait_closed() => {}
    }
}

/// Closes the connection even if its task is aborted or panics, so that no caller waits forever.
struct CloseAtEnd(Arc<Core>);

impl Drop for CloseAtEnd {
    fn drop(&mut self) {
        self.0.close(CloseReason::ClosedHere);
    }
}
