//! The keeper's event loop: one thread around `poll`, until the browser is gone.
//! Of CDP it parses only the browser's first response.

use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use tabwire_api::{ErrorCode, Failure, InstanceId};

use super::browser_process::{BrowserProcess, Drained};
use super::connection::{Connection, ConnectionKey, Received};
use super::control_message::{ControlRequest, ControlResponse, KeeperState};
use super::keep_request::KeepRequest;
use super::signals::Signals;
use super::start::BrowserFiles;
use crate::error::{BrowserError, LaunchFault};
use crate::launch::spec::LaunchSpec;
use crate::limits;
use crate::profile::lock::{find_socket, remove_directory_of};

/// Longest accepted linger: one day.
const LONGEST_LINGER: Duration = Duration::from_secs(24 * 60 * 60);

/// Longest grace period of a `stop` request.
const LONGEST_CLOSE_GRACE: Duration = Duration::from_secs(60);

/// How long a control connection may be silent, unless it holds the claim or waits for `stop`.
const CONTROL_IDLE: Duration = Duration::from_secs(60);

/// Longest note a holder may leave for the next one.
const CONTROL_SESSION_BYTES: usize = 256;

/// Most bytes that are read from a starting browser before its first complete frame.
const GREETING_BYTES: usize = 1024 * 1024;

/// The state of the browser.
#[derive(Debug)]
enum Phase {
    /// It has not responded yet. `greeting` is its output so far.
    Starting { until: Instant, greeting: Vec<u8> },
    /// It has responded.
    Running,
    /// `Browser.close` was sent. It is killed at `kill_at`.
    Closing { kill_at: Instant },
    /// It was killed. If it still exists at `give_up_at`, the keeper reports a failure.
    Killed { give_up_at: Instant },
    /// Its main process has ended, or cannot be ended.
    Ended,
}

/// Which connection holds the browser's pipe.
#[derive(Debug)]
enum ClaimState {
    Unclaimed { since: Instant },
    Claimed { connection: ConnectionKey, holder: InstanceId },
}

/// A descriptor that `poll` reported as ready.
#[derive(Clone, Copy, Debug)]
enum Source {
    Stop,
    Child,
    Output,
    Stderr,
    Listener,
    Connection(ConnectionKey),
}

/// The remains of a browser that did not start.
#[derive(Debug)]
pub(super) struct Abandoned {
    pub(super) spec: LaunchSpec,
    /// How its main process ended.
    pub(super) ended: Option<String>,
    /// The last lines of its stderr.
    pub(super) stderr: String,
}

/// The state of a keeper: one browser, its control connections and its files.
#[derive(Debug)]
pub(super) struct Keeper {
    request: KeepRequest,
    browser: BrowserProcess,
    listener: UnixListener,
    signals: Signals,
    files: BrowserFiles,
    phase: Phase,
    claim_state: ClaimState,
    control_session: Option<String>,
    /// False once the browser has closed its end. `poll` would report that end of file again and again.
    output_is_open: bool,
    connections: Vec<Connection>,
    next_key: u64,
    /// The browser's own socket. Its profile, which links to it, may be gone when the browser is killed.
    socket: Option<PathBuf>,
}

impl Keeper {
    pub(super) fn new(
        request: KeepRequest,
        browser: BrowserProcess,
        listener: UnixListener,
        signals: Signals,
        files: BrowserFiles,
    ) -> Self {
        let now = Instant::now();
        Self {
            request,
            browser,
            listener,
            signals,
            files,
            phase: Phase::Starting { until: now + limits::START_DEADLINE, greeting: Vec::new() },
            claim_state: ClaimState::Unclaimed { since: now },
            control_session: None,
            output_is_open: true,
            connections: Vec::new(),
            next_key: 0,
            socket: None,
        }
    }

    /// The browser's files.
    pub(super) fn files(&self) -> &BrowserFiles {
        &self.files
    }

    /// Waits for the browser's first response and returns its product name.
    pub(super) fn wait_until_ready(&mut self) -> Result<String, LaunchFault> {
        self.browser.greet();
        loop {
            match &self.phase {
                Phase::Starting { until, .. } if self.browser.has_marionette() => {
                    if Instant::now() >= *until {
                        return Err(LaunchFault::Timeout(limits::START_DEADLINE));
                    }
                    let advanced = self.browser.advance_session();
                    if let Some(product) = advanced.transpose()?.flatten() {
                        self.phase = Phase::Running;
                        self.claim_state = ClaimState::Unclaimed { since: Instant::now() };
                        return Ok(product);
                    }
                }
                Phase::Starting { until, greeting } => {
                    if let Some(response) = first_frame(greeting) {
                        let product = product(response).ok_or(LaunchFault::NotCdp)?;
                        self.phase = Phase::Running;
                        self.socket = find_socket(&self.request.spec.profile);
                        self.claim_state = ClaimState::Unclaimed { since: Instant::now() };
                        return Ok(product);
                    }
                    if Instant::now() >= *until {
                        return Err(LaunchFault::Timeout(limits::START_DEADLINE));
                    }
                    if greeting.len() > GREETING_BYTES {
                        return Err(LaunchFault::NotCdp);
                    }
                }
                Phase::Ended => return Err(LaunchFault::Ended(String::new())),
                _ => return Err(LaunchFault::Canceled),
            }
            self.turn();
        }
    }

    /// Ends a browser that did not start. Returns what the error needs.
    pub(super) fn abandon(mut self) -> Abandoned {
        // Stopped by a signal: the browser may be writing its profile, so it gets time to close (F27).
        while matches!(self.phase, Phase::Closing { .. }) {
            self.turn();
        }
        let ended = self.browser.reap();
        let stderr = self.browser.ring().last_lines();
        self.finish(ended.is_some());
        Abandoned { spec: self.request.spec, ended, stderr }
    }

    /// Serves until the browser is gone, then removes its files.
    pub(super) fn serve(mut self) {
        while !matches!(self.phase, Phase::Ended) {
            self.turn();
        }
        let gone = self.browser.reap().is_some();
        self.finish(gone);
    }

    fn finish(&mut self, gone: bool) {
        let response = if gone {
            self.files.remove();
            ControlResponse::Stopped {}
        } else {
            // The descriptor and profile stay: the browser may still be using them.
            let _ = std::fs::remove_file(&self.files.socket);
            let failure = Failure::new(ErrorCode::Timeout, "The browser was killed and still runs.");
            ControlResponse::Refused(
                failure.with_remedy("A browser process hangs in the kernel. Restart the machine to end it."),
            )
        };
        for connection in self.connections.drain(..).filter(|connection| connection.waits_for_stop) {
            connection.send_last(&response, Duration::from_secs(1));
        }
    }

    /// Waits for events and handles them.
    fn turn(&mut self) {
        for (source, flags) in self.wait() {
            match source {
                Source::Stop => self.stop_signals(),
                Source::Child => self.signals.clear_child(),
                Source::Output => self.take_output(),
                Source::Stderr => self.browser.drain_stderr(),
                Source::Listener => self.accept(),
                Source::Connection(key) => self.serve_connection(key, flags),
            }
        }
        if self.browser.has_ended() {
            self.take_output();
            self.phase = Phase::Ended;
        }
        self.handle_deadlines();
    }

    fn wait(&self) -> Vec<(Source, PollFlags)> {
        let mut sources = vec![Source::Stop, Source::Child, Source::Listener];
        let listener = &self.listener;
        let mut descriptors = vec![
            PollFd::from_borrowed_fd(self.signals.stop(), PollFlags::IN),
            PollFd::from_borrowed_fd(self.signals.child(), PollFlags::IN),
            PollFd::new(listener, PollFlags::IN),
        ];
        if self.drains_output() {
            sources.push(Source::Output);
            descriptors.push(PollFd::from_borrowed_fd(self.browser.output(), PollFlags::IN));
        }
        if let Some(stderr) = self.browser.stderr() {
            sources.push(Source::Stderr);
            descriptors.push(PollFd::from_borrowed_fd(stderr, PollFlags::IN));
        }
        for connection in &self.connections {
            let wanted = if connection.has_output() { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
            sources.push(Source::Connection(connection.key));
            descriptors.push(PollFd::from_borrowed_fd(connection.descriptor(), wanted));
        }
        let timeout = self
            .next_deadline()
            .and_then(|deadline| Timespec::try_from(deadline.saturating_duration_since(Instant::now())).ok());
        // Interrupted or out of memory: the next turn polls again.
        let ready = rustix::event::poll(&mut descriptors, timeout.as_ref()).unwrap_or(0);
        if ready == 0 {
            return Vec::new();
        }
        let flags = descriptors.iter().map(PollFd::revents);
        sources.into_iter().zip(flags).filter(|(_, flags)| !flags.is_empty()).collect()
    }

    fn drains_output(&self) -> bool {
        self.output_is_open && matches!(self.claim_state, ClaimState::Unclaimed { .. })
    }

    fn next_deadline(&self) -> Option<Instant> {
        let phase = match (&self.phase, &self.claim_state) {
            (Phase::Starting { until, .. }, _) if self.browser.has_marionette() => {
                // Its port file and its responses are polled.
                Some((*until).min(Instant::now() + limits::RECHECK))
            }
            (Phase::Starting { until, .. }, _) => Some(*until),
            (Phase::Running, ClaimState::Unclaimed { since }) => Some(*since + self.linger()),
            (Phase::Running, ClaimState::Claimed { .. }) => None,
            (Phase::Closing { kill_at }, _) => Some(*kill_at),
            (Phase::Killed { give_up_at }, _) => Some(*give_up_at),
            (Phase::Ended, _) => Some(Instant::now()),
        };
        let idle = self.connections.iter().filter_map(|connection| self.idle_deadline(connection)).min();
        phase.into_iter().chain(idle).min()
    }

    /// When an idle connection is closed; `None` for one that holds the claim or waits for `stop`.
    fn idle_deadline(&self, connection: &Connection) -> Option<Instant> {
        let is_holder = self.is_holder(connection.key);
        (!is_holder && !connection.waits_for_stop).then(|| connection.last_received_at() + CONTROL_IDLE)
    }

    fn is_holder(&self, key: ConnectionKey) -> bool {
        matches!(&self.claim_state, ClaimState::Claimed { connection, .. } if *connection == key)
    }

    fn linger(&self) -> Duration {
        // Capped, because adding a very long duration to an `Instant` panics.
        Duration::from_millis(self.request.spec.linger_ms).min(LONGEST_LINGER)
    }

    fn handle_deadlines(&mut self) {
        let now = Instant::now();
        match (&self.phase, &self.claim_state) {
            (Phase::Running, ClaimState::Unclaimed { since }) if now >= *since + self.linger() => {
                self.begin_closing(None);
            }
            (Phase::Closing { kill_at }, _) if now >= *kill_at => {
                self.browser.kill_group();
                // A killed Chromium leaves the directory of its socket.
                if let Some(socket) = self.socket.take() {
                    remove_directory_of(&socket);
                }
                self.phase = Phase::Killed { give_up_at: now + limits::VERIFY_GONE };
            }
            (Phase::Killed { give_up_at }, _) if now >= *give_up_at => self.phase = Phase::Ended,
            _ => {}
        }
        let idle: Vec<_> = self
            .connections
            .iter()
            .filter(|connection| self.idle_deadline(connection).is_some_and(|deadline| now >= deadline))
            .map(|connection| connection.key)
            .collect();
        for key in idle {
            self.drop_connection(key);
        }
    }

    /// Sends `Browser.close`, or shortens the grace period if that was done.
    fn begin_closing(&mut self, grace: Option<Duration>) {
        let own = Duration::from_millis(self.request.spec.close_grace_ms);
        let kill_at = Instant::now() + grace.unwrap_or(own).min(LONGEST_CLOSE_GRACE);
        match &mut self.phase {
            Phase::Starting { .. } | Phase::Running => {
                self.browser.ask_to_close();
                self.phase = Phase::Closing { kill_at };
            }
            Phase::Closing { kill_at: earlier } => *earlier = kill_at.min(*earlier),
            Phase::Killed { .. } | Phase::Ended => {}
        }
    }

    /// The first stop signal closes the browser, a second one kills it (F27).
    fn stop_signals(&mut self) {
        let asked_before = matches!(self.phase, Phase::Closing { .. });
        let asked_now = self.signals.take_stops();
        if asked_now > 0 {
            self.begin_closing(None);
        }
        // A second signal means that the sender does not want to wait (F27).
        if asked_now > 1 || asked_now > 0 && asked_before {
            self.begin_closing(Some(Duration::ZERO));
        }
    }

    /// Reads the browser's output. Keeps it only until the first response.
    fn take_output(&mut self) {
        if !self.drains_output() {
            return;
        }
        let phase = &mut self.phase;
        let drained = self.browser.drain_output(|bytes| {
            if let Phase::Starting { greeting, .. } = phase {
                let room = (GREETING_BYTES + 1).saturating_sub(greeting.len());
                greeting.extend_from_slice(bytes.get(..bytes.len().min(room)).unwrap_or_default());
            }
        });
        self.output_is_open = drained != Drained::Closed;
    }

    fn accept(&mut self) {
        while let Ok((stream, _)) = self.listener.accept() {
            let key = ConnectionKey(self.next_key);
            self.next_key += 1;
            let Some(mut connection) = Connection::accept(key, stream) else { continue };
            if self.is_full() {
                self.drop_closed_connections();
            }
            if self.is_full() {
                // A closed connection without a response would look like a keeper that is gone.
                connection.send(&refused(ErrorCode::Busy, "The browser's keeper has too many connections."));
            } else {
                self.connections.push(connection);
            }
        }
    }

    fn is_full(&self) -> bool {
        self.connections.len() >= limits::CONTROL_CONNECTIONS
    }

    /// Reads all connections now, so that closed ones do not count against the limit for a new one.
    fn drop_closed_connections(&mut self) {
        let keys: Vec<_> = self.connections.iter().map(|connection| connection.key).collect();
        for key in keys {
            self.serve_connection(key, PollFlags::IN);
        }
    }

    fn serve_connection(&mut self, key: ConnectionKey, flags: PollFlags) {
        let Some(connection) = self.connections.iter_mut().find(|connection| connection.key == key) else {
            return;
        };
        if flags.contains(PollFlags::OUT) && !connection.flush() {
            return self.drop_connection(key);
        }
        if !flags.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR) {
            return;
        }
        let lines = match connection.receive() {
            Received::Lines(lines) => lines,
            Received::Closed => return self.drop_connection(key),
        };
        for line in lines {
            let is_sent = match serde_json::from_slice(&line) {
                Ok(request) => self.handle(key, request),
                Err(_) => self.send(
                    key,
                    &refused(ErrorCode::UnknownMethod, "The keeper does not support that request."),
                ),
            };
            if !is_sent {
                return self.drop_connection(key);
            }
        }
    }

    fn send(&mut self, key: ConnectionKey, response: &ControlResponse) -> bool {
        let connection = self.connections.iter_mut().find(|connection| connection.key == key);
        connection.is_some_and(|connection| connection.send(response))
    }

    /// Handles one request. False if the connection is lost.
    fn handle(&mut self, key: ConnectionKey, request: ControlRequest) -> bool {
        let response = match request {
            ControlRequest::Hello {} => self.hello(),
            ControlRequest::Claim { holder } => return self.claim(key, holder),
            ControlRequest::Note { control_session } => self.note(key, control_session),
            ControlRequest::Stop { grace_ms } => {
                if let Some(connection) = self.connections.iter_mut().find(|connection| connection.key == key)
                {
                    // It gets its response when the browser is verified gone.
                    connection.waits_for_stop = true;
                }
                self.begin_closing(grace_ms.map(Duration::from_millis));
                return true;
            }
            ControlRequest::Stderr {} => {
                self.browser.drain_stderr();
                ControlResponse::Stderr { text: self.browser.ring().text() }
            }
        };
        self.send(key, &response)
    }

    fn hello(&self) -> ControlResponse {
        let state = match (&self.phase, &self.claim_state) {
            (Phase::Starting { .. }, _) => KeeperState::Starting,
            (Phase::Running, ClaimState::Unclaimed { .. }) => KeeperState::Unclaimed,
            (Phase::Running, ClaimState::Claimed { .. }) => KeeperState::Claimed,
            _ => KeeperState::Stopping,
        };
        let browser = self.browser.identity();
        ControlResponse::Hello {
            instance: self.request.instance.clone(),
            browser_pid: browser.pid(),
            browser,
            state,
            control_session: self.control_session.clone(),
        }
    }

    fn claim(&mut self, key: ConnectionKey, holder: InstanceId) -> bool {
        let id = self.request.spec.id.to_string();
        let refusal = match (&self.phase, &self.claim_state) {
            (Phase::Running, ClaimState::Unclaimed { .. }) => None,
            (Phase::Running, ClaimState::Claimed { holder, .. }) => {
                Some(BrowserError::Busy { browser: id, holder: holder.to_string() })
            }
            (Phase::Starting { .. }, _) => {
                Some(BrowserError::Busy { browser: id, holder: "its start".to_owned() })
            }
            _ => Some(BrowserError::Gone { what: id }),
        };
        if let Some(refusal) = refusal {
            return self.send(key, &ControlResponse::Refused(refusal.into()));
        }
        let response = ControlResponse::Claimed {
            instance: self.request.instance.clone(),
            browser: self.browser.identity(),
            control_session: self.control_session.clone(),
            bidi: self.browser.bidi(),
        };
        // Later bytes belong to the holder.
        self.take_output();
        let ends = self.browser.ends();
        let connection = self.connections.iter_mut().find(|connection| connection.key == key);
        // The open connection is the claim: it ends with its process, however that ends.
        let handed_over =
            connection.is_some_and(|connection| connection.send_with_descriptors(&response, &ends));
        if handed_over {
            self.claim_state = ClaimState::Claimed { connection: key, holder };
        }
        handed_over
    }

    fn note(&mut self, key: ConnectionKey, control_session: Option<String>) -> ControlResponse {
        if !self.is_holder(key) {
            return refused(
                ErrorCode::Busy,
                "Only the process that has claimed the browser may name its control session.",
            );
        }
        if control_session
            .as_ref()
            .is_some_and(|control_session| control_session.len() > CONTROL_SESSION_BYTES)
        {
            return refused(ErrorCode::BadArgs, "The id of the control session is too long.");
        }
        self.control_session = control_session;
        ControlResponse::Noted {}
    }

    fn drop_connection(&mut self, key: ConnectionKey) {
        self.connections.retain(|connection| connection.key != key);
        if self.is_holder(key) {
            // The holder may have made the pipe blocking: all copies of a descriptor share that flag.
            self.browser.take_back();
            self.claim_state = ClaimState::Unclaimed { since: Instant::now() };
        }
    }
}

fn refused(code: ErrorCode, message: &str) -> ControlResponse {
    ControlResponse::Refused(Failure::new(code, message))
}

/// The bytes before the first NUL, if there is one.
fn first_frame(bytes: &[u8]) -> Option<&[u8]> {
    let end = bytes.iter().position(|byte| *byte == 0)?;
    bytes.get(..end)
}

/// The product name in the response to `Browser.getVersion`.
fn product(response: &[u8]) -> Option<String> {
    let response: serde_json::Value = serde_json::from_slice(response).ok()?;
    Some(response.get("result")?.get("product")?.as_str()?.chars().take(200).collect())
}
