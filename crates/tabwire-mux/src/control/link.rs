//! The link to the browser: its state, the control session and signals of its loss.

use std::time::Instant;

use tabwire_api::CdpSessionId;

use crate::control::loss::{LossSignals, WeakSignal};
use crate::limits::START_DEADLINE;

/// The state of the link to the browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkState {
    /// The control session is being opened; clients' frames are queued.
    Starting,
    /// Clients are served.
    Connected,
    /// The browser is gone. The state is final: the next browser gets a new mux.
    Lost,
}

/// The control session and the state of the link.
#[derive(Debug)]
pub(crate) struct Control {
    state: LinkState,
    session: Option<CdpSessionId>,
    /// Commands that initialize the control session and are pending.
    initializing: usize,
    starting_since: Option<Instant>,
    loss_signals: LossSignals,
}

impl Default for Control {
    fn default() -> Self {
        Self {
            state: LinkState::Starting,
            session: None,
            initializing: 0,
            starting_since: None,
            loss_signals: LossSignals::default(),
        }
    }
}

impl Control {
    pub(crate) const fn state(&self) -> LinkState {
        self.state
    }

    /// The control session, once it is open.
    pub(crate) fn session(&self) -> Option<CdpSessionId> {
        self.session.clone()
    }

    pub(crate) fn is_session(&self, session: &str) -> bool {
        self.session.as_ref().is_some_and(|own| own.as_str() == session)
    }

    pub(crate) fn start(&mut self, now: Instant) {
        self.state = LinkState::Starting;
        self.starting_since = Some(now);
    }

    /// The control session is open; `commands` more commands initialize it.
    pub(crate) fn opened(&mut self, session: CdpSessionId, commands: usize) {
        self.session = Some(session);
        self.initializing = commands;
    }

    /// An initializing command is done. Returns whether this one connected the link.
    pub(crate) fn initialized_one(&mut self) -> bool {
        self.initializing = self.initializing.saturating_sub(1);
        if self.initializing > 0 || self.state != LinkState::Starting {
            return false;
        }
        self.state = LinkState::Connected;
        self.starting_since = None;
        true
    }

    /// Whether the start took too long.
    pub(crate) fn is_start_overdue(&self, now: Instant) -> bool {
        let overdue = |since: Instant| now.duration_since(since) > START_DEADLINE;
        self.state == LinkState::Starting && self.starting_since.is_some_and(overdue)
    }

    pub(crate) fn lost(&mut self) {
        *self = Self { state: LinkState::Lost, ..Self::default() };
    }

    pub(crate) const fn loss_signals(&self) -> &LossSignals {
        &self.loss_signals
    }

    pub(crate) fn note_signal(&mut self, signal: WeakSignal, now: Instant) {
        self.loss_signals.note(signal, now);
    }
}
