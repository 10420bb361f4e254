//! The state machine of a shim between its launcher and its browser: takes events, returns decisions. Has no I/O and
//! no clock.

use std::time::Instant;

use tabwire_api::api::ChromeOpened;
use tabwire_mux::{LossSignals, LossVerdict, WeakSignal};

/// How the launcher is connected; decides what a loss of the browser leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LauncherTransport {
    /// A lost browser ends the shim; the launcher starts it again.
    Pipe,
    /// The port stays open; the next request starts a browser again.
    Port,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RuntimeState {
    /// No browser yet.
    Starting,
    /// Frames flow.
    Connected,
    /// The browser is gone; the shim still runs.
    Degraded(Recovery),
    /// The shim ends.
    Closing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Recovery {
    /// Waits for a request, without a limit.
    Idle,
    /// A browser is searched or started.
    Obtaining,
    /// The browser is connected; the client's auto-attach and discovery settings are sent again.
    Bootstrapping,
}

/// How the browser was obtained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BrowserOrigin {
    /// It was running already.
    Attached,
    /// It was started.
    Launched,
}

impl BrowserOrigin {
    pub(super) fn from_opened(opened: &ChromeOpened) -> Self {
        if opened.ownership == "launched" { Self::Launched } else { Self::Attached }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Attached => "attached",
            Self::Launched => "launched",
        }
    }

    /// The value of `recoveryResult` in logs.
    pub(super) const fn recovery_result(self) -> &'static str {
        match self {
            Self::Attached => "attached",
            Self::Launched => "relaunched",
        }
    }
}

/// What to do with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestDecision {
    /// Send it to the browser.
    Forward,
    /// Queue it until the browser is connected.
    Queue,
    /// Queue it and start the recovery.
    QueueAndRecover,
    /// Respond with an empty result, without a recovery.
    RespondLocally,
    /// Refuse it: the shim ends.
    Refuse,
}

/// What to do about a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LossDecision {
    /// End the shim.
    Close,
    /// Wait for the next request.
    Stay,
    /// Do nothing: the shim ends already.
    Ignore,
}

#[derive(Debug)]
pub(super) struct Lifecycle {
    transport: LauncherTransport,
    state: RuntimeState,
    origin: Option<BrowserOrigin>,
    signals: LossSignals,
    attempts: u32,
}

impl Lifecycle {
    pub(super) fn new(transport: LauncherTransport) -> Self {
        let (state, origin) = (RuntimeState::Starting, None);
        Self { transport, state, origin, signals: LossSignals::default(), attempts: 0 }
    }

    pub(super) const fn state_name(&self) -> &'static str {
        match self.state {
            RuntimeState::Starting => "starting",
            RuntimeState::Connected => "connected",
            RuntimeState::Degraded(_) => "degraded",
            RuntimeState::Closing => "closing",
        }
    }

    /// `None` before the first browser.
    pub(super) const fn origin(&self) -> Option<BrowserOrigin> {
        self.origin
    }

    /// Number of recoveries, failed ones included.
    pub(super) const fn attempts(&self) -> u32 {
        self.attempts
    }

    /// The browser is connected. Returns whether the bootstrap has to be sent: only in a recovery, since a client sends
    /// its own settings at the first start.
    pub(super) fn browser_ready(&mut self, origin: BrowserOrigin) -> bool {
        match self.state {
            RuntimeState::Starting => {
                self.origin = Some(origin);
                self.state = RuntimeState::Connected;
                false
            }
            RuntimeState::Degraded(Recovery::Obtaining) => {
                self.origin = Some(origin);
                self.state = RuntimeState::Degraded(Recovery::Bootstrapping);
                true
            }
            RuntimeState::Connected | RuntimeState::Degraded(_) | RuntimeState::Closing => false,
        }
    }

    /// The browser acknowledged the bootstrap. Returns whether the queue may be sent now.
    pub(super) fn bootstrap_done(&mut self) -> bool {
        let is_due = self.state == RuntimeState::Degraded(Recovery::Bootstrapping);
        if is_due {
            self.state = RuntimeState::Connected;
        }
        is_due
    }

    /// No browser was found, or it refused the bootstrap.
    pub(super) fn recovery_failed(&mut self) {
        self.state = RuntimeState::Closing;
    }

    /// A signal or a fatal error ends the shim.
    pub(super) fn end(&mut self) {
        self.state = RuntimeState::Closing;
    }

    /// Records a weak disconnect signal: it counts only together with a broken connection.
    pub(super) fn weak_signal(&mut self, signal: WeakSignal, at: Instant) {
        self.signals.note(signal, at);
    }

    /// The connection to the browser broke. That is a loss; weak signals near it show that the browser itself is gone.
    pub(super) fn connection_lost(&mut self, at: Instant) -> (LossDecision, LossVerdict) {
        let verdict = self.signals.verdict(at);
        let decision = match (self.state, self.transport) {
            (RuntimeState::Closing, _) => LossDecision::Ignore,
            (RuntimeState::Starting, _) | (_, LauncherTransport::Pipe) => {
                self.state = RuntimeState::Closing;
                LossDecision::Close
            }
            (_, LauncherTransport::Port) => {
                self.state = RuntimeState::Degraded(Recovery::Idle);
                LossDecision::Stay
            }
        };
        (decision, verdict)
    }

    /// The recorded weak signals, for logs.
    pub(super) fn signal_names(&self) -> Vec<&'static str> {
        let name = |(signal, _)| match signal {
            WeakSignal::InspectorDetached => "Inspector.detached",
            WeakSignal::DetachedFromTarget => "Target.detachedFromTarget",
        };
        self.signals.iter().map(name).collect()
    }

    pub(super) fn request(&mut self, method: &str) -> RequestDecision {
        match self.state {
            RuntimeState::Connected => RequestDecision::Forward,
            RuntimeState::Closing => RequestDecision::Refuse,
            RuntimeState::Starting => RequestDecision::Queue,
            // A recovery here would start a browser only to close it.
            RuntimeState::Degraded(Recovery::Idle) if method == "Browser.close" => {
                RequestDecision::RespondLocally
            }
            RuntimeState::Degraded(Recovery::Idle) => {
                self.attempts = self.attempts.saturating_add(1);
                self.state = RuntimeState::Degraded(Recovery::Obtaining);
                RequestDecision::QueueAndRecover
            }
            RuntimeState::Degraded(Recovery::Obtaining | Recovery::Bootstrapping) => RequestDecision::Queue,
        }
    }
}

#[cfg(test)]
#[path = "lifecycle_tests.rs"]
mod tests;
