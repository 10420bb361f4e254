//! One connection to one browser: starts the reader and the writer, and ends everything once.
//!
//! Knows nothing of how the link was opened. Never reconnects, never resends.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use serde::Serialize;
use tabwire_wire::CdpSessionId;
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;

use crate::answer::Answer;
use crate::cdp_session::CdpSession;
use crate::close_reason::CloseReason;
use crate::counters::Astray;
use crate::deadline::Deadline;
use crate::error::{CdpError, Method};
use crate::limits::BROWSER_MESSAGE_CEILING;
use crate::message::encode_command;
use crate::outbox::{Outbox, PushError};
use crate::pending::{CommandId, Outcome};
use crate::router::{Holdings, Router};
use crate::session_state::SessionState;
use crate::task_group::TaskGroup;
use crate::transport::{FrameSink, FrameSource};

/// A handle to one connection; clones share it, and the last one dropped closes it.
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

/// What the tasks of a connection share with its handles.
#[derive(Debug)]
pub(crate) struct Core {
    router: Router,
    outbox: Outbox,
    closed: watch::Sender<Option<CloseReason>>,
    started: Instant,
    /// Milliseconds from the start to the last frame received.
    heard: AtomicU64,
}

impl Connection {
    /// Starts talking over an open link.
    #[must_use]
    pub fn start(source: impl Into<FrameSource>, sink: impl Into<FrameSink>, tasks: &TaskGroup) -> Self {
        let core = Arc::new(Core {
            router: Router::default(),
            outbox: Outbox::new(sink.into()),
            closed: watch::Sender::new(None),
            started: Instant::now(),
            heard: AtomicU64::new(0),
        });
        tasks.start("cdp reader", read(Arc::clone(&core), source.into(), tasks.clone()));
        tasks.start("cdp writer", write(Arc::clone(&core)));
        let browser = Arc::new(SessionState::new(None, Arc::downgrade(&core)));
        Self { handle: Arc::new(Handle { core, browser }) }
    }

    /// The browser itself: commands without a cdp session.
    #[must_use]
    pub fn browser(&self) -> CdpSession {
        CdpSession::new(self.clone(), Arc::clone(&self.handle.browser))
    }

    /// A handle to an attached cdp session.
    ///
    /// Events that came before are held and given to every listener added before the first command (F21).
    #[must_use]
    pub fn session(&self, id: &CdpSessionId) -> CdpSession {
        let core = &self.handle.core;
        let make = || Arc::new(SessionState::new(Some(id.clone()), Arc::downgrade(core)));
        let state = core.router.claim(id, make);
        CdpSession::new(self.clone(), state)
    }

    /// Closes the link; everything that waits is answered at once.
    pub fn close(&self) {
        self.core().close(CloseReason::ClosedHere);
    }

    /// Why the connection ended, if it has.
    #[must_use]
    pub fn closed_reason(&self) -> Option<CloseReason> {
        self.core().closed.borrow().clone()
    }

    /// Completes when the connection has ended, with the reason.
    pub async fn closed(&self) -> CloseReason {
        self.core().wait_closed().await
    }

    /// What went astray so far.
    #[must_use]
    pub fn astray(&self) -> Astray {
        self.core().router.counters.read()
    }

    /// What is still held: commands, sessions, listeners.
    #[must_use]
    pub fn holdings(&self) -> Holdings {
        self.core().router.holdings()
    }

    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.handle.core
    }
}

/// A command that has been sent; its answer can be awaited later.
///
/// Dropping it forgets the command: a late answer is counted and ignored (F20).
#[derive(Debug)]
pub struct PendingAnswer {
    _guard: PendingGuard,
    outcome: oneshot::Receiver<Outcome>,
    is_taken: bool,
    method: Method,
    deadline: Deadline,
}

impl PendingAnswer {
    /// Waits for the answer until the command's deadline.
    pub async fn answer(mut self) -> Result<Answer, CdpError> {
        self.taken().await
    }

    /// The same for who wants to know afterwards whether there was an answer; it is given once.
    pub async fn taken(&mut self) -> Result<Answer, CdpError> {
        let outcome = tokio::time::timeout_at(self.deadline.instant(), &mut self.outcome).await;
        self.is_taken = outcome.is_ok();
        let method = self.method.clone();
        match outcome {
            Ok(Ok(outcome)) => outcome,
            // The router answers before it lets go of a command, so this is the end of the program.
            Ok(Err(_)) => Err(CdpError::OutcomeUnknown { method, reason: CloseReason::ClosedHere }),
            Err(_) => Err(CdpError::Timeout { method, after: self.deadline.length() }),
        }
    }

    /// Whether the peer has not answered yet.
    #[must_use]
    pub fn is_open(&self) -> bool {
        !self.is_taken && self.outcome.is_empty()
    }
}

/// Removes a command from the books however its caller leaves.
#[derive(Debug)]
struct PendingGuard {
    core: Weak<Core>,
    id: CommandId,
}

impl Drop for PendingGuard {
    fn drop(&mut self) {
        if let Some(core) = self.core.upgrade()
            && core.router.forget(self.id)
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
    ) -> Result<PendingAnswer, CdpError> {
        session.check_alive()?;
        let id = self.router.draw_id();
        let frame = encode_command(id, session.id(), &method, params)?;
        if frame.len() > BROWSER_MESSAGE_CEILING {
            return Err(CdpError::TooLarge { method, size: frame.len(), limit: BROWSER_MESSAGE_CEILING });
        }
        let outcome = self.router.expect_answer(id, session, method.clone())?;
        let guard = PendingGuard { core: Arc::downgrade(self), id };
        match self.outbox.push(id, frame) {
            Ok(()) => {}
            Err(PushError::Closed) => {
                let reason = self.closed.borrow().clone().unwrap_or(CloseReason::PeerClosed);
                return Err(CdpError::Closed { reason });
            }
            Err(PushError::Backlogged { waiting }) => return Err(CdpError::Backlogged { method, waiting }),
            // The command may have left in part: closing answers it with `OutcomeUnknown`.
            Err(PushError::Broken(error)) => self.close(CloseReason::Transport(error)),
        }
        Ok(PendingAnswer { _guard: guard, outcome, is_taken: false, method, deadline })
    }

    /// Ends the connection; only the first reason counts.
    pub(crate) fn close(&self, reason: CloseReason) {
        let unsent = self.outbox.close();
        if self.router.close(&reason, &unsent) {
            tracing::debug!(%reason, "cdp connection closed");
            self.closed.send_replace(Some(reason));
        }
    }

    pub(crate) async fn wait_closed(&self) -> CloseReason {
        let mut closed = self.closed.subscribe();
        let reason = closed.wait_for(Option::is_some).await;
        reason.ok().and_then(|reason| reason.clone()).unwrap_or(CloseReason::ClosedHere)
    }

    /// How long the browser has been silent.
    pub(crate) fn silence(&self) -> Duration {
        let heard = Duration::from_millis(self.heard.load(Ordering::Relaxed));
        self.started.elapsed().saturating_sub(heard)
    }

    fn note_heard(&self) {
        let elapsed = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.heard.store(elapsed, Ordering::Relaxed);
    }
}

async fn read(core: Arc<Core>, mut source: FrameSource, tasks: TaskGroup) {
    let _closer = CloseAtEnd(Arc::clone(&core));
    let reading = async {
        loop {
            match source.next().await {
                Ok(Some(framed)) => {
                    core.note_heard();
                    core.router.receive(framed);
                }
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

/// Closes the connection even if its task is aborted or panics, so that nobody waits in vain.
struct CloseAtEnd(Arc<Core>);

impl Drop for CloseAtEnd {
    fn drop(&mut self) {
        self.0.close(CloseReason::ClosedHere);
    }
}
