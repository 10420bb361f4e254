//! The task behind one of the user's own browsers: a loop around its emulated browser, between a hub and the extension.
//! Knows frames, not what they say.

use std::time::{Duration, Instant};

use bytes::BytesMut;
use tabwire_cdp::{Farewell, Flush, Framed, TransportError, channel_pair};
use tabwire_extension::link_message::{BrowserFacts, Present, find_present, messages};
use tabwire_extension::user_word::UserWord;
use tabwire_extension::{EmulatedBrowser, Holdings, Output};
use tabwire_wire::{ErrorCode, Failure};
use tokio::sync::{mpsc, oneshot, watch};

use crate::extension_browser::{Ends, ExtensionFacts, LineCommand, session_scope};
use crate::limits::{EXTENSION_GRACE, EXTENSION_SILENCE, TICK};

/// Ids of probes, far from those of commands.
const FIRST_PROBE: u64 = 1 << 48;

/// What a message begins with that tells how the browser stands; the extension writes the event first.
const PRESENT: &[u8] = br#"{"event":"present","#;

/// One side of the loop: its wires, and whether it still has to take what was written.
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

/// A question whether the extension is there.
struct Probe {
    id: u64,
    since: Instant,
    reply: Option<oneshot::Sender<()>>,
}

pub(crate) struct ExtensionTask {
    browser: EmulatedBrowser,
    line: Option<End>,
    hub: Option<End>,
    commands: mpsc::Receiver<LineCommand>,
    probes: Vec<Probe>,
    /// Who asks whether it is there while it is away.
    callers: Vec<oneshot::Sender<()>>,
    next_probe: u64,
    heard: Instant,
    /// Since when the extension has been away.
    away: Option<Instant>,
    /// How it stood when it last said so.
    facts: ExtensionFacts,
    /// What its user is to see, told anew on every line.
    news: Option<String>,
    /// Where what its user says goes.
    words: mpsc::Sender<UserWord>,
    /// Tells how the browser stands.
    standing: watch::Sender<Holdings>,
}

/// What woke the loop.
enum Woken {
    Line(Result<Option<Framed>, TransportError>),
    LineTook(Result<(), TransportError>),
    Hub(Result<Option<Framed>, TransportError>),
    HubTook(Result<(), TransportError>),
    Command(Option<LineCommand>),
    Tick,
}

/// Whether the loop goes on.
enum Next {
    GoOn,
    End,
}

impl ExtensionTask {
    pub(crate) fn new(
        facts: BrowserFacts,
        present: &Present,
        line: Ends,
        commands: mpsc::Receiver<LineCommand>,
        words: mpsc::Sender<UserWord>,
        standing: watch::Sender<Holdings>,
    ) -> Self {
        Self {
            browser: EmulatedBrowser::new(&session_scope(), facts, present),
            line: Some(End::new(line)),
            hub: None,
            commands,
            probes: Vec::new(),
            callers: Vec::new(),
            next_probe: FIRST_PROBE,
            heard: Instant::now(),
            away: None,
            facts: told_facts(present),
            news: None,
            words,
            standing,
        }
    }

    pub(crate) async fn run(mut self) {
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            self.carry_out();
            let woken = self.wait(&mut tick).await;
            if matches!(self.handle(woken), Next::End) {
                break;
            }
        }
        if let Some(mut line) = self.line.take() {
            line.ends.1.say_goodbye(Farewell::Done);
        }
        tracing::info!("a browser's extension is gone");
    }

    async fn wait(&mut self, tick: &mut tokio::time::Interval) -> Woken {
        // Who does not take what is written is not written more to: the other side waits.
        let line_full = self.line.as_ref().is_some_and(|line| line.is_full);
        let hub_full = self.hub.as_ref().is_some_and(|hub| hub.is_full);
        let (mut line_source, mut line_sink) = halves(&mut self.line);
        let (mut hub_source, mut hub_sink) = halves(&mut self.hub);
        tokio::select! {
            read = next_of(&mut line_source), if !hub_full => Woken::Line(read),
            read = next_of(&mut hub_source), if !line_full => Woken::Hub(read),
            took = flushed(&mut line_sink), if line_full => Woken::LineTook(took),
            took = flushed(&mut hub_sink), if hub_full => Woken::HubTook(took),
            command = self.commands.recv() => Woken::Command(command),
            _ = tick.tick() => Woken::Tick,
        }
    }

    fn handle(&mut self, woken: Woken) -> Next {
        match woken {
            Woken::Line(Ok(Some(Framed::Frame(frame)))) => {
                messages(&frame).for_each(|message| self.extension_said(message));
            }
            Woken::Line(_) | Woken::LineTook(Err(_)) => return self.line_lost(),
            Woken::LineTook(Ok(())) => {
                if let Some(line) = &mut self.line {
                    line.is_full = false;
                }
            }
            Woken::Hub(Ok(Some(Framed::Frame(frame)))) => self.browser.from_hub(&frame),
            Woken::Hub(_) | Woken::HubTook(Err(_)) => return self.hub_left(),
            Woken::HubTook(Ok(())) => {
                if let Some(hub) = &mut self.hub {
                    hub.is_full = false;
                }
            }
            Woken::Command(Some(command)) => return self.command(command),
            Woken::Command(None) => return Next::End,
            Woken::Tick => return self.tick(),
        }
        Next::GoOn
    }

    fn extension_said(&mut self, message: &[u8]) {
        self.heard = Instant::now();
        if !self.probes.is_empty()
            && let Some(at) = self.probes.iter().position(|probe| is_answer(message, probe.id))
        {
            let probe = self.probes.remove(at);
            if let Some(reply) = probe.reply {
                // Who asked may have given up.
                let _ = reply.send(());
            }
            return;
        }
        if message.starts_with(PRESENT)
            && let Some(present) = find_present(message)
        {
            self.facts = told_facts(&present);
        }
        match UserWord::find(message) {
            // Somebody who clicks faster than it is heard clicks again.
            Some(word) => drop(self.words.try_send(word)),
            None => self.browser.from_extension(message),
        }
    }

    fn command(&mut self, command: LineCommand) -> Next {
        match command {
            LineCommand::Line(line) => {
                let (present, ends) = *line;
                if let Some(mut old) = self.line.replace(End::new(ends)) {
                    self.browser.link_lost();
                    old.ends.1.say_goodbye(Farewell::Gone("another connection of this browser took over"));
                }
                (self.away, self.heard) = (None, Instant::now());
                self.probes.clear();
                self.facts = told_facts(&present);
                self.browser.link_restored(&present);
                self.tell_news();
                for caller in std::mem::take(&mut self.callers) {
                    self.probe(Some(caller));
                }
            }
            LineCommand::Serve(reply) => {
                let served = if self.hub.is_some() { Err(served_already()) } else { Ok(self.take_hub()) };
                let _ = reply.send(served);
            }
            LineCommand::Probe(reply) => self.probe(Some(reply)),
            LineCommand::Facts(reply) => {
                let held = self.browser.holdings();
                let (awake, tabs, driven) = (self.line.is_some(), held.tabs, held.attached);
                // Who asked may have given up.
                let _ = reply.send(ExtensionFacts { awake, tabs, driven, ..self.facts.clone() });
            }
            LineCommand::Tell(news) => {
                self.news = Some(news);
                self.tell_news();
            }
            LineCommand::Dismiss => return Next::End,
        }
        Next::GoOn
    }

    fn tell_news(&mut self) {
        if let (Some(line), Some(news)) = (&mut self.line, &self.news) {
            line.ends.1.enqueue(BytesMut::from(news.as_bytes()));
        }
    }

    fn take_hub(&mut self) -> Ends {
        let (ours, theirs) = channel_pair();
        self.hub = Some(End::new(ours));
        theirs
    }

    fn probe(&mut self, reply: Option<oneshot::Sender<()>>) {
        let Some(line) = &mut self.line else {
            self.callers.retain(|caller| !caller.is_closed());
            self.callers.extend(reply);
            return;
        };
        self.next_probe += 1;
        let message = format!(r#"{{"id":{},"do":"probe","with":{{}}}}"#, self.next_probe);
        line.ends.1.enqueue(BytesMut::from(message.as_bytes()));
        self.probes.push(Probe { id: self.next_probe, since: Instant::now(), reply });
    }

    /// The extension is away. Its worker may only have been put to sleep: what it was attached to stays so for a while.
    fn line_lost(&mut self) -> Next {
        self.line = None;
        self.probes.clear();
        self.browser.link_lost();
        self.away = Some(Instant::now());
        if self.hub.is_some() { Next::GoOn } else { Next::End }
    }

    /// Nobody uses the browser any more: the debugger goes off every tab.
    fn hub_left(&mut self) -> Next {
        self.hub = None;
        self.browser.hub_left();
        if self.line.is_some() { Next::GoOn } else { Next::End }
    }

    fn tick(&mut self) -> Next {
        let now = Instant::now();
        let older = |since: Instant, than: Duration| now.duration_since(since) > than;
        if self.away.is_some_and(|since| older(since, EXTENSION_GRACE)) {
            return Next::End;
        }
        if self.line.is_none() {
            return Next::GoOn;
        }
        let is_owing = self.browser.holdings().pending > 0 && older(self.heard, EXTENSION_SILENCE);
        if self.probes.iter().any(|probe| older(probe.since, EXTENSION_SILENCE)) && is_owing {
            tracing::warn!("an extension is connected and does not answer; its line is given up");
            return self.line_lost();
        }
        if is_owing && self.probes.is_empty() {
            self.probe(None);
        }
        Next::GoOn
    }

    fn carry_out(&mut self) {
        let now = self.browser.holdings();
        self.standing.send_if_modified(|before| std::mem::replace(before, now) != now);
        for output in self.browser.take_outputs() {
            match (output, &mut self.line, &mut self.hub) {
                (Output::ToHub(frame), _, Some(hub)) => hub.ends.1.enqueue(frame),
                (Output::ToExtension(text), Some(line), _) => {
                    line.ends.1.enqueue(BytesMut::from(text.as_bytes()));
                }
                // Told to nobody: there is no hub yet, or no line any more.
                (Output::ToHub(_), _, None) | (Output::ToExtension(_), None, _) => {}
            }
        }
        // A broken wire is found again when it is read.
        for end in [&mut self.line, &mut self.hub].into_iter().flatten() {
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
) -> Result<Option<Framed>, TransportError> {
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

fn told_facts(present: &Present) -> ExtensionFacts {
    let off_limits = present.tabs.iter().filter(|tab| tab.restricted).count();
    ExtensionFacts {
        mode: present.mode.clone(),
        paused: present.paused,
        off_limits,
        ..ExtensionFacts::default()
    }
}

/// Whether a message answers this command; the extension writes the id first.
fn is_answer(message: &[u8], id: u64) -> bool {
    message.starts_with(format!(r#"{{"id":{id},"#).as_bytes())
}

fn served_already() -> Failure {
    Failure::new(ErrorCode::Busy, "This browser is being served already.")
        .with_hint("Try again: the session that had it is ending.")
}
