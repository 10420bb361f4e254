//! The task of one of the user's own browsers: a loop around its emulated browser, between a hub and the extension. It
//! moves frames without parsing them.

use std::time::{Duration, Instant};

use bytes::BytesMut;
use tabwire_api::{ErrorCode, Failure};
use tabwire_cdp::{CloseFrame, Flush, ReceivedFrame, TransportError, channel_pair};
use tabwire_extension::link_message::{BrowserInfo, BrowserState, find_browser_state, messages};
use tabwire_extension::user_message::UserMessage;
use tabwire_extension::{BrowserStats, EmulatedBrowser, Output};
use tokio::sync::{mpsc, oneshot, watch};

use crate::extension::browser::{Ends, ExtensionCommand, ExtensionFacts, session_scope};
use crate::hub::clock::TICK;

/// How long the user's own browser is kept after its extension disconnected. A sleeping extension wakes every 30 s.
const EXTENSION_GRACE: Duration = Duration::from_secs(40);

/// Silence after which an extension that owes a response is probed.
const EXTENSION_SILENCE: Duration = Duration::from_secs(5);

/// First id of probes, far above those of commands.
const FIRST_PROBE: u64 = 1 << 48;

/// The start of a message with the state of the browser. The extension writes the event name first.
const PRESENT: &[u8] = br#"{"event":"state","#;

/// One side of the loop, and whether its sink still has data to flush.
struct End {
    ends: Ends,
    is_full: bool,
}

impl End {
    fn new(ends: Ends) -> Self {
        Self { ends, is_full: false }
    }

    fn flush(&mut self) -> Result<(), TransportError> {
        self.is_full = self.ends.1.try_flush()? == Flush::Waiting;
        Ok(())
    }
}

/// A probe that waits for its response.
struct Probe {
    id: u64,
    since: Instant,
    reply: Option<oneshot::Sender<()>>,
}

pub(crate) struct ExtensionTask {
    browser: EmulatedBrowser,
    connection: Option<End>,
    hub: Option<End>,
    commands: mpsc::Receiver<ExtensionCommand>,
    probes: Vec<Probe>,
    /// Probes that wait until the extension has reconnected.
    callers: Vec<oneshot::Sender<()>>,
    next_probe: u64,
    heard: Instant,
    /// When the extension disconnected.
    away: Option<Instant>,
    /// Its latest reported state.
    facts: ExtensionFacts,
    /// The latest notification, sent again on every connection.
    notification: Option<String>,
    /// Receives decisions of the user.
    words: mpsc::Sender<UserMessage>,
    /// Publishes the counters of the browser.
    counters: watch::Sender<BrowserStats>,
}

/// What the loop waits for.
enum WakeEvent {
    Connection(Result<Option<ReceivedFrame>, TransportError>),
    ConnectionFlushed(Result<(), TransportError>),
    Hub(Result<Option<ReceivedFrame>, TransportError>),
    HubFlushed(Result<(), TransportError>),
    Command(Option<ExtensionCommand>),
    Tick,
}

/// Whether the loop goes on.
enum Next {
    GoOn,
    End,
}

impl ExtensionTask {
    pub(crate) fn new(
        facts: BrowserInfo,
        present: &BrowserState,
        connection: Ends,
        commands: mpsc::Receiver<ExtensionCommand>,
        words: mpsc::Sender<UserMessage>,
        counters: watch::Sender<BrowserStats>,
    ) -> Self {
        Self {
            browser: EmulatedBrowser::new(&session_scope(), facts, present),
            connection: Some(End::new(connection)),
            hub: None,
            commands,
            probes: Vec::new(),
            callers: Vec::new(),
            next_probe: FIRST_PROBE,
            heard: Instant::now(),
            away: None,
            facts: extension_facts(present),
            notification: None,
            words,
            counters,
        }
    }

    pub(crate) async fn run(mut self) {
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            self.execute_outputs();
            let woken = self.wait(&mut tick).await;
            if matches!(self.handle(woken), Next::End) {
                break;
            }
        }
        if let Some(mut connection) = self.connection.take() {
            connection.ends.1.close_with(CloseFrame::Done);
        }
        tracing::info!("an extension is gone");
    }

    async fn wait(&mut self, tick: &mut tokio::time::Interval) -> WakeEvent {
        // Backpressure: while one side cannot take more, the other side is not read.
        let connection_full = self.connection.as_ref().is_some_and(|connection| connection.is_full);
        let hub_full = self.hub.as_ref().is_some_and(|hub| hub.is_full);
        let (mut connection_source, mut connection_sink) = halves(&mut self.connection);
        let (mut hub_source, mut hub_sink) = halves(&mut self.hub);
        tokio::select! {
            read = next_of(&mut connection_source), if !hub_full => WakeEvent::Connection(read),
            read = next_of(&mut hub_source), if !connection_full => WakeEvent::Hub(read),
            took = flushed(&mut connection_sink), if connection_full => WakeEvent::ConnectionFlushed(took),
            took = flushed(&mut hub_sink), if hub_full => WakeEvent::HubFlushed(took),
            command = self.commands.recv() => WakeEvent::Command(command),
            _ = tick.tick() => WakeEvent::Tick,
        }
    }

    fn handle(&mut self, woken: WakeEvent) -> Next {
        match woken {
            WakeEvent::Connection(Ok(Some(ReceivedFrame::Frame(frame)))) => {
                messages(&frame).for_each(|message| self.handle_message(message));
            }
            WakeEvent::Connection(_) | WakeEvent::ConnectionFlushed(Err(_)) => return self.connection_lost(),
            WakeEvent::ConnectionFlushed(Ok(())) => {
                if let Some(connection) = &mut self.connection {
                    connection.is_full = false;
                }
            }
            WakeEvent::Hub(Ok(Some(ReceivedFrame::Frame(frame)))) => self.browser.from_hub(&frame),
            WakeEvent::Hub(_) | WakeEvent::HubFlushed(Err(_)) => return self.hub_left(),
            WakeEvent::HubFlushed(Ok(())) => {
                if let Some(hub) = &mut self.hub {
                    hub.is_full = false;
                }
            }
            WakeEvent::Command(Some(command)) => return self.command(command),
            WakeEvent::Command(None) => return Next::End,
            WakeEvent::Tick => return self.tick(),
        }
        Next::GoOn
    }

    fn handle_message(&mut self, message: &[u8]) {
        self.heard = Instant::now();
        if !self.probes.is_empty()
            && let Some(at) = self.probes.iter().position(|probe| is_response(message, probe.id))
        {
            let probe = self.probes.remove(at);
            if let Some(reply) = probe.reply {
                // The caller may have given up.
                let _ = reply.send(());
            }
            return;
        }
        if message.starts_with(PRESENT)
            && let Some(present) = find_browser_state(message)
        {
            self.facts = extension_facts(&present);
        }
        match UserMessage::find(message) {
            // A click that finds the queue full is dropped, and the user clicks again.
            Some(word) => drop(self.words.try_send(word)),
            None => self.browser.from_extension(message),
        }
    }

    fn command(&mut self, command: ExtensionCommand) -> Next {
        match command {
            ExtensionCommand::Reconnect(line) => {
                let (present, ends) = *line;
                if let Some(mut old) = self.connection.replace(End::new(ends)) {
                    self.browser.extension_disconnected();
                    old.ends
                        .1
                        .close_with(CloseFrame::Gone("a newer connection of this browser replaced this one"));
                }
                (self.away, self.heard) = (None, Instant::now());
                self.probes.clear();
                self.facts = extension_facts(&present);
                self.browser.extension_reconnected(&present);
                self.resend_notification();
                for caller in std::mem::take(&mut self.callers) {
                    self.probe(Some(caller));
                }
            }
            ExtensionCommand::Serve(reply) => {
                let served = if self.hub.is_some() { Err(served_already()) } else { Ok(self.take_hub()) };
                let _ = reply.send(served);
            }
            ExtensionCommand::Probe(reply) => self.probe(Some(reply)),
            ExtensionCommand::Facts(reply) => {
                let held = self.browser.stats();
                let (awake, tabs, driven) = (self.connection.is_some(), held.tabs, held.attached);
                // The caller may have given up.
                let _ = reply.send(ExtensionFacts { awake, tabs, driven, ..self.facts.clone() });
            }
            ExtensionCommand::Notify(notification) => {
                self.notification = Some(notification);
                self.resend_notification();
            }
            ExtensionCommand::Dismiss => return Next::End,
        }
        Next::GoOn
    }

    fn resend_notification(&mut self) {
        if let (Some(connection), Some(notification)) = (&mut self.connection, &self.notification) {
            connection.ends.1.enqueue(BytesMut::from(notification.as_bytes()));
        }
    }

    fn take_hub(&mut self) -> Ends {
        let (ours, theirs) = channel_pair();
        self.hub = Some(End::new(ours));
        theirs
    }

    fn probe(&mut self, reply: Option<oneshot::Sender<()>>) {
        let Some(connection) = &mut self.connection else {
            self.callers.retain(|caller| !caller.is_closed());
            self.callers.extend(reply);
            return;
        };
        self.next_probe += 1;
        let message = format!(r#"{{"id":{},"command":"probe","params":{{}}}}"#, self.next_probe);
        connection.ends.1.enqueue(BytesMut::from(message.as_bytes()));
        self.probes.push(Probe { id: self.next_probe, since: Instant::now(), reply });
    }

    /// The extension has disconnected. Chrome may only have suspended its worker, so attachments stay for a while.
    fn connection_lost(&mut self) -> Next {
        self.connection = None;
        self.probes.clear();
        self.browser.extension_disconnected();
        self.away = Some(Instant::now());
        if self.hub.is_some() { Next::GoOn } else { Next::End }
    }

    /// No hub uses the browser any more: the debugger detaches from every tab.
    fn hub_left(&mut self) -> Next {
        self.hub = None;
        self.browser.hub_disconnected();
        if self.connection.is_some() { Next::GoOn } else { Next::End }
    }

    fn tick(&mut self) -> Next {
        let now = Instant::now();
        let older = |since: Instant, than: Duration| now.duration_since(since) > than;
        if self.away.is_some_and(|since| older(since, EXTENSION_GRACE)) {
            return Next::End;
        }
        if self.connection.is_none() {
            return Next::GoOn;
        }
        let is_owing = self.browser.stats().pending > 0 && older(self.heard, EXTENSION_SILENCE);
        if self.probes.iter().any(|probe| older(probe.since, EXTENSION_SILENCE)) && is_owing {
            tracing::warn!("an extension is connected but does not respond; its connection is dropped");
            return self.connection_lost();
        }
        if is_owing && self.probes.is_empty() {
            self.probe(None);
        }
        Next::GoOn
    }

    fn execute_outputs(&mut self) {
        let now = self.browser.stats();
        self.counters.send_if_modified(|before| std::mem::replace(before, now) != now);
        for output in self.browser.take_outputs() {
            match (output, &mut self.connection, &mut self.hub) {
                (Output::ToHub(frame), _, Some(hub)) => hub.ends.1.enqueue(frame),
                (Output::ToExtension(text), Some(connection), _) => {
                    connection.ends.1.enqueue(BytesMut::from(text.as_bytes()));
                }
                // Dropped: there is no hub yet, or no connection any more.
                (Output::ToHub(_), _, None) | (Output::ToExtension(_), None, _) => {}
            }
        }
        // A broken connection is noticed by the next read.
        for end in [&mut self.connection, &mut self.hub].into_iter().flatten() {
            let _ = end.flush();
        }
    }
}

type Halves<'a> = (Option<&'a mut tabwire_cdp::FrameSource>, Option<&'a mut tabwire_cdp::FrameSink>);

fn halves(end: &mut Option<End>) -> Halves<'_> {
    match end {
        Some(End { ends: (source, sink), .. }) => (Some(source), Some(sink)),
        None => (None, None),
    }
}

async fn next_of(
    source: &mut Option<&mut tabwire_cdp::FrameSource>,
) -> Result<Option<ReceivedFrame>, TransportError> {
    match source {
        Some(source) => source.next().await,
        None => std::future::pending().await,
    }
}

async fn flushed(sink: &mut Option<&mut tabwire_cdp::FrameSink>) -> Result<(), TransportError> {
    match sink {
        Some(sink) => sink.flush().await,
        None => std::future::pending().await,
    }
}

fn extension_facts(present: &BrowserState) -> ExtensionFacts {
    let off_limits = present.tabs.iter().filter(|tab| tab.restricted).count();
    ExtensionFacts {
        mode: present.mode.clone(),
        paused: present.paused,
        off_limits,
        ..ExtensionFacts::default()
    }
}

/// Whether a message is the response to this id. The extension writes the id first.
fn is_response(message: &[u8], id: u64) -> bool {
    message.starts_with(format!(r#"{{"id":{id},"#).as_bytes())
}

fn served_already() -> Failure {
    Failure::new(ErrorCode::Busy, "This browser is already in use.")
        .with_remedy("Retry: the session that used it is ending.")
}
