//! Where a stand-in stands between its launcher and its browser, as a plain state machine: what happened goes in, what
//! is to be done comes out. No I/O, no clock of its own.

use std::time::Instant;

use tabwire_mux::{LossSignals, LossVerdict, WeakSignal};
use tabwire_wire::api::ChromeOpened;

/// How the launcher is spoken to, as far as a loss of the browser is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Front {
    /// On descriptors: a lost browser ends the stand-in, whose launcher starts it again.
    Pipe,
    /// On a port: the listener stays, and the next request brings a browser back.
    Port,
}

/// The four states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RuntimeState {
    /// There is no browser yet.
    Starting,
    /// Frames flow.
    Connected,
    /// The browser is gone and the stand-in is not.
    Degraded(Recovery),
    /// It is over.
    Closing,
}

/// How far a recovery has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Recovery {
    /// Nobody has asked for the browser; that may last for ever.
    Idle,
    /// A browser is looked for or started.
    Obtaining,
    /// The browser is there, and what the client wished for is put in force again.
    Bootstrapping,
}

/// Whether a browser was there before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// It ran already.
    Attached,
    /// It was started.
    Launched,
}

impl Found {
    /// What the daemon says of a browser.
    pub(super) fn of(opened: &ChromeOpened) -> Self {
        if opened.ownership == "launched" { Self::Launched } else { Self::Attached }
    }

    /// Its name in logs.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Attached => "attached",
            Self::Launched => "launched",
        }
    }

    /// Its name as the result of a recovery.
    pub(super) const fn recovery(self) -> &'static str {
        match self {
            Self::Attached => "attached",
            Self::Launched => "relaunched",
        }
    }
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestFate {
    /// It goes to the browser.
    Forward,
    /// It waits for the browser.
    Queue,
    /// It waits for the browser, which is to be brought back now.
    QueueAndRecover,
    /// It is answered here with an empty result, and nothing is brought back.
    AnswerHere,
    /// Nobody will answer it any more.
    Refuse,
}

/// What a loss leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LossFate {
    /// The stand-in ends.
    Close,
    /// The stand-in stays for the next request.
    Stay,
    /// It was over already.
    Nothing,
}

/// Where a stand-in stands.
#[derive(Debug)]
pub(super) struct Lifecycle {
    front: Front,
    state: RuntimeState,
    found: Option<Found>,
    signals: LossSignals,
    attempts: u32,
}

impl Lifecycle {
    /// A stand-in that has no browser yet.
    pub(super) fn new(front: Front) -> Self {
        let (state, found) = (RuntimeState::Starting, None);
        Self { front, state, found, signals: LossSignals::default(), attempts: 0 }
    }

    /// The state's name in logs.
    pub(super) const fn state_name(&self) -> &'static str {
        match self.state {
            RuntimeState::Starting => "starting",
            RuntimeState::Connected => "connected",
            RuntimeState::Degraded(_) => "degraded",
            RuntimeState::Closing => "closing",
        }
    }

    /// Whether the browser was there before; none while there is none.
    pub(super) const fn found(&self) -> Option<Found> {
        self.found
    }

    /// How often a browser was brought back or tried to be.
    pub(super) const fn attempts(&self) -> u32 {
        self.attempts
    }

    /// The browser is there. At the start that is all; in a recovery the client's wishes come next.
    ///
    /// Says whether the bootstrap is to be sent.
    pub(super) fn obtained(&mut self, found: Found) -> bool {
        match self.state {
            RuntimeState::Starting => {
                self.found = Some(found);
                self.state = RuntimeState::Connected;
                false
            }
            RuntimeState::Degraded(Recovery::Obtaining) => {
                self.found = Some(found);
                self.state = RuntimeState::Degraded(Recovery::Bootstrapping);
                true
            }
            RuntimeState::Connected | RuntimeState::Degraded(_) | RuntimeState::Closing => false,
        }
    }

    /// The bootstrap was acknowledged: what waited may be sent. Says whether that is so.
    pub(super) fn bootstrapped(&mut self) -> bool {
        let is_due = self.state == RuntimeState::Degraded(Recovery::Bootstrapping);
        if is_due {
            self.state = RuntimeState::Connected;
        }
        is_due
    }

    /// There is no browser, or it refused the bootstrap: it is over.
    pub(super) fn recovery_failed(&mut self) {
        self.state = RuntimeState::Closing;
    }

    /// Whoever runs the stand-in wants it to end, or something cannot be mended.
    pub(super) fn end(&mut self) {
        self.state = RuntimeState::Closing;
    }

    /// A sign that proves nothing alone.
    pub(super) fn weak_signal(&mut self, signal: WeakSignal, at: Instant) {
        self.signals.note(signal, at);
    }

    /// The connection to the browser broke. That alone is a loss; weak signs near it say that the browser itself is
    /// gone.
    pub(super) fn lost(&mut self, at: Instant) -> (LossFate, LossVerdict) {
        let verdict = self.signals.verdict(at);
        let fate = match (self.state, self.front) {
            (RuntimeState::Closing, _) => LossFate::Nothing,
            (RuntimeState::Starting, _) | (_, Front::Pipe) => {
                self.state = RuntimeState::Closing;
                LossFate::Close
            }
            (_, Front::Port) => {
                self.state = RuntimeState::Degraded(Recovery::Idle);
                LossFate::Stay
            }
        };
        (fate, verdict)
    }

    /// The signs that are remembered, for logs.
    pub(super) fn signal_names(&self) -> Vec<&'static str> {
        let name = |(signal, _)| match signal {
            WeakSignal::InspectorDetached => "Inspector.detached",
            WeakSignal::DetachedFromTarget => "Target.detachedFromTarget",
        };
        self.signals.iter().map(name).collect()
    }

    /// What becomes of a request.
    pub(super) fn request(&mut self, method: &str) -> RequestFate {
        match self.state {
            RuntimeState::Connected => RequestFate::Forward,
            RuntimeState::Closing => RequestFate::Refuse,
            RuntimeState::Starting => RequestFate::Queue,
            // Or else a client that leaves would start a browser to close it.
            RuntimeState::Degraded(Recovery::Idle) if method == "Browser.close" => RequestFate::AnswerHere,
            RuntimeState::Degraded(Recovery::Idle) => {
                self.attempts = self.attempts.saturating_add(1);
                self.state = RuntimeState::Degraded(Recovery::Obtaining);
                RequestFate::QueueAndRecover
            }
            RuntimeState::Degraded(Recovery::Obtaining | Recovery::Bootstrapping) => RequestFate::Queue,
        }
    }
}

#[cfg(test)]
#[path = "lifecycle_tests.rs"]
mod tests;
