//! The task behind a hub: a loop around one mux. Knows frames, not what they say.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use futures_util::future::{AbortHandle, Abortable, Aborted};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use tabwire_cdp::{Farewell, Flush, FrameSink, FrameSource, Framed, TransportError};
use tabwire_mux::{ClientQueue, CloseReason, Mux, Output};
use tabwire_wire::{BrowserContextId, ClientId, Failure, TargetId, UpstreamKind};
use tokio::sync::{mpsc, oneshot, watch};

use crate::browser_link::{BrowserLink, KeeperLine};
use crate::download_file::{self, PlacedFiles};
use crate::driver_board::DriverBoard;
use crate::hub::{HubCommand, HubFacts, HubState, Joining};
use crate::limits::{
    FRAMES_IN_A_ROW, PUMP_BYTES, TICK, UPSTREAM_LOST, UPSTREAM_SILENCE, UPSTREAM_WAITING_BYTES,
};
use crate::place::Place;
use crate::waking_clock::WakingClock;

type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;
type Read = Result<(ClientId, FrameSource, Result<Option<Framed>, TransportError>), Aborted>;
type Flushed = (ClientId, FrameSink, Result<(), TransportError>);
type Placed = (u64, bool);

/// Said to a client that is disconnected for not reading.
const TOO_SLOW: &str = "BACKPRESSURE: this connection reads too slowly; too much is waiting for it";

/// One client's wires.
struct Line {
    queue: ClientQueue,
    /// Absent while a slow client is being waited for.
    sink: Option<FrameSink>,
    reader: AbortHandle,
    /// To be disconnected once its queue is written.
    closing: Option<&'static str>,
    /// Held as long as the client is there.
    place: Option<Place>,
}

/// Who waits for something the mux reports.
enum Asked {
    Tab(oneshot::Sender<Result<TargetId, Failure>>),
    Context(oneshot::Sender<Option<BrowserContextId>>),
    End(oneshot::Sender<()>),
}

pub(crate) struct HubTask {
    mux: Mux,
    kind: UpstreamKind,
    source: FrameSource,
    sink: FrameSink,
    /// Bytes given to the browser's sink since it was last empty.
    waiting: usize,
    keeper: Option<KeeperLine>,
    earlier_house: Option<String>,
    board: Option<DriverBoard>,
    lines: HashMap<ClientId, Line>,
    readers: FuturesUnordered<Boxed<Read>>,
    flushers: FuturesUnordered<Boxed<Flushed>>,
    placements: FuturesUnordered<Boxed<Placed>>,
    placed: PlacedFiles,
    commands: mpsc::Receiver<HubCommand>,
    state: watch::Sender<HubState>,
    next_client: u64,
    /// Who waits for what the mux was asked for, by ticket.
    asked: HashMap<u64, Asked>,
    next_ticket: u64,
    clock: WakingClock,
    heard: Instant,
    probed: Instant,
    events_dropped: u64,
    dirty: Vec<ClientId>,
}

/// What woke the loop.
enum Woken {
    Browser(Result<Option<Framed>, TransportError>),
    Client(Read),
    Flushed(Flushed),
    UpstreamFlushed(Result<(), TransportError>),
    Placed(Placed),
    Command(Option<HubCommand>),
    Tick,
    KeeperGone,
}

impl Line {
    /// Has the client disconnected once everything that waits for it is written.
    fn close(&mut self, reason: CloseReason) {
        if let Some(place) = self.place.as_ref().filter(|_| reason == CloseReason::Asked) {
            place.note_close();
        }
        self.closing = Some(reason.sentence());
    }
}

impl HubTask {
    pub(crate) fn new(
        link: BrowserLink,
        commands: mpsc::Receiver<HubCommand>,
        state: watch::Sender<HubState>,
    ) -> Self {
        let now = Instant::now();
        let mut mux = Mux::new();
        if let Some(staging) = link.staging {
            mux.stage_downloads(staging);
        }
        if link.kind == UpstreamKind::Extension {
            mux.copy_downloads();
        }
        Self {
            mux,
            kind: link.kind,
            source: link.source,
            sink: link.sink,
            waiting: 0,
            keeper: link.keeper,
            earlier_house: link.earlier_house,
            board: link.board,
            lines: HashMap::new(),
            readers: calm_set(),
            flushers: calm_set(),
            placements: calm_set(),
            placed: PlacedFiles::default(),
            commands,
            state,
            next_client: 0,
            asked: HashMap::new(),
            next_ticket: 0,
            clock: WakingClock::new(now),
            heard: now,
            probed: now,
            events_dropped: 0,
            dirty: Vec::new(),
        }
    }

    pub(crate) async fn run(mut self) {
        let reason = self.serve().await;
        let signals: Vec<_> = self.mux.loss_signals().iter().map(|(signal, _)| signal).collect();
        tracing::info!(reason, disconnectSignals = ?signals, "the hub ends");
        self.mux.browser_lost(Instant::now());
        self.carry_out().await.ok();
        for line in self.lines.values_mut() {
            line.reader.abort();
            if let Some(sink) = &mut line.sink {
                sink.say_goodbye(Farewell::Gone("BROWSER_GONE: the browser has exited or was let go"));
            }
        }
        self.state.send_replace(HubState::Gone(Arc::from(reason)));
    }

    /// Serves until the browser is gone or let go; says why.
    async fn serve(&mut self) -> &'static str {
        let earlier = self.earlier_house.take();
        self.mux.start(earlier.as_deref(), Instant::now());
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            if let Err(reason) = self.carry_out().await {
                return reason;
            }
            let woken = self.wait(&mut tick).await;
            if let Err(reason) = self.handle(woken) {
                return reason;
            }
        }
    }

    async fn wait(&mut self, tick: &mut tokio::time::Interval) -> Woken {
        let congested = self.waiting > UPSTREAM_WAITING_BYTES;
        tokio::select! {
            framed = self.source.next() => Woken::Browser(framed),
            Some(read) = self.readers.next(), if !congested => Woken::Client(read),
            Some(flushed) = self.flushers.next() => Woken::Flushed(flushed),
            Some(placed) = self.placements.next() => Woken::Placed(placed),
            flushed = self.sink.flush(), if self.waiting > 0 => Woken::UpstreamFlushed(flushed),
            command = self.commands.recv() => Woken::Command(command),
            _ = tick.tick() => Woken::Tick,
            () = keeper_gone(&mut self.keeper) => Woken::KeeperGone,
        }
    }

    /// The time as far as this process ran.
    fn now(&mut self) -> Instant {
        self.clock.read(Instant::now())
    }

    fn handle(&mut self, woken: Woken) -> Result<(), &'static str> {
        let now = self.now();
        match woken {
            Woken::Browser(read) => return self.browser_read(read, now),
            Woken::UpstreamFlushed(Ok(())) => self.waiting = 0,
            Woken::UpstreamFlushed(Err(error)) => {
                tracing::warn!(%error, "writing to the browser failed");
                return Err("its connection broke");
            }
            Woken::Client(Ok((client, source, read))) => self.client_read(client, source, read, now),
            Woken::Client(Err(Aborted)) => {}
            Woken::Placed((ticket, placed)) => self.mux.download_placed(ticket, placed),
            Woken::Flushed((client, sink, result)) => self.client_flushed(client, sink, result, now),
            Woken::Command(Some(command)) => return self.command(command, now),
            Woken::Command(None) => return Err("nobody uses it any more"),
            Woken::Tick => return self.tick(now),
            Woken::KeeperGone => return Err("its keeper is gone"),
        }
        Ok(())
    }

    fn command(&mut self, command: HubCommand, now: Instant) -> Result<(), &'static str> {
        match command {
            HubCommand::Join(joining) => self.join(*joining, now),
            HubCommand::OpenTab { url, realm, reply } => {
                let ticket = self.ticket(Asked::Tab(reply));
                self.mux.open_tab(ticket, &url, realm, now);
            }
            HubCommand::MakeContext { proxy, reply } => {
                let ticket = self.ticket(Asked::Context(reply));
                self.mux.make_context(ticket, proxy.as_deref(), now);
            }
            HubCommand::Reserve { realm, place, reply } => {
                self.mux.reserve(realm, place, now);
                let _ = reply.send(());
            }
            HubCommand::EndRealm { realm, reply } => {
                let ticket = self.ticket(Asked::End(reply));
                self.mux.end_realm(ticket, &realm, now);
            }
            HubCommand::Sources { target, reply } => drop(reply.send(self.mux.sources_of(&target))),
            HubCommand::Facts { reply } => drop(reply.send(self.facts())),
            HubCommand::Dismiss { client } => self.drop_client(client, Farewell::Done, now),
            HubCommand::LetGo => return Err("it was let go"),
        }
        Ok(())
    }

    fn ticket(&mut self, asked: Asked) -> u64 {
        self.next_ticket += 1;
        self.asked.insert(self.next_ticket, asked);
        self.next_ticket
    }

    /// Takes what the browser sent, and what more of it is there already.
    fn browser_read(
        &mut self,
        mut read: Result<Option<Framed>, TransportError>,
        now: Instant,
    ) -> Result<(), &'static str> {
        self.heard = now;
        for taken in 1.. {
            match read {
                Ok(Some(Framed::Frame(frame))) => self.mux.from_browser(frame, now),
                Ok(Some(Framed::Oversize(oversize))) => {
                    self.mux.oversize_from_browser(&oversize.head, oversize.size);
                }
                Ok(None) => return Err("it closed its connection"),
                Err(error) => {
                    tracing::warn!(%error, "reading from the browser failed");
                    return Err("its connection broke");
                }
            }
            // Once one is taken it must be handled, so the last look comes before the bound.
            let more = if taken < FRAMES_IN_A_ROW { self.source.next().now_or_never() } else { None };
            match more {
                Some(more) => read = more,
                None => break,
            }
        }
        Ok(())
    }

    fn tick(&mut self, now: Instant) -> Result<(), &'static str> {
        self.mux.tick(now);
        self.write_board();
        if self.kind == UpstreamKind::Websocket {
            let silence = now.duration_since(self.heard);
            if silence > UPSTREAM_LOST {
                return Err("it fell silent though its connection is open");
            }
            if silence > UPSTREAM_SILENCE && now.duration_since(self.probed) > UPSTREAM_SILENCE {
                self.probed = now;
                self.mux.probe(now);
            }
        }
        Ok(())
    }

    fn write_board(&self) {
        let Some(board) = &self.board else { return };
        let name = |client: ClientId| Some(self.lines.get(&client)?.place.as_ref()?.name.clone());
        board.write(
            self.mux.attachments().filter_map(|(client, target)| Some((name(client)?, target.clone()))),
        );
    }

    fn join(&mut self, joining: Joining, now: Instant) {
        let Joining { source, sink, options, place, reply } = joining;
        self.next_client += 1;
        let client = ClientId(self.next_client);
        let reader = self.read_next(client, source);
        let line = Line { queue: ClientQueue::default(), sink: Some(sink), reader, closing: None, place };
        self.lines.insert(client, line);
        self.mux.client_joined(client, options, now);
        let _ = reply.send(client);
    }

    fn read_next(&mut self, client: ClientId, mut source: FrameSource) -> AbortHandle {
        let (handle, registration) = AbortHandle::new_pair();
        let read = async move {
            let read = source.next().await;
            (client, source, read)
        };
        self.readers.push(Box::pin(Abortable::new(read, registration)));
        handle
    }

    fn client_read(
        &mut self,
        client: ClientId,
        mut source: FrameSource,
        mut read: Result<Option<Framed>, TransportError>,
        now: Instant,
    ) {
        if !self.lines.contains_key(&client) {
            return;
        }
        for taken in 1.. {
            match read {
                Ok(Some(Framed::Frame(frame))) => self.mux.from_client(client, frame, now),
                Ok(Some(Framed::Oversize(_)) | None) => {
                    return self.drop_client(client, Farewell::Done, now);
                }
                Err(error) => {
                    tracing::debug!(%client, %error, "reading from a client failed");
                    return self.drop_client(client, Farewell::Done, now);
                }
            }
            let more = if taken < FRAMES_IN_A_ROW { source.next().now_or_never() } else { None };
            match more {
                Some(more) => read = more,
                None => break,
            }
        }
        let reader = self.read_next(client, source);
        if let Some(line) = self.lines.get_mut(&client) {
            line.reader = reader;
        }
    }

    fn client_flushed(
        &mut self,
        client: ClientId,
        sink: FrameSink,
        result: Result<(), TransportError>,
        now: Instant,
    ) {
        let Some(line) = self.lines.get_mut(&client) else { return };
        line.sink = Some(sink);
        match result {
            Ok(()) => self.dirty.push(client),
            Err(_) => self.drop_client(client, Farewell::Done, now),
        }
    }

    fn drop_client(&mut self, client: ClientId, farewell: Farewell, now: Instant) {
        if let Some(mut line) = self.lines.remove(&client) {
            line.reader.abort();
            self.events_dropped += line.queue.dropped();
            if let Some(sink) = &mut line.sink {
                sink.say_goodbye(farewell);
            }
            self.mux.client_left(client, now);
        }
    }

    /// Does what the mux wants, until it wants nothing more.
    async fn carry_out(&mut self) -> Result<(), &'static str> {
        loop {
            let outputs = self.mux.take_outputs();
            if outputs.is_empty() && self.dirty.is_empty() {
                return Ok(());
            }
            for output in outputs {
                self.carry_out_one(output).await;
            }
            if self.waiting > 0 {
                match self.sink.try_flush() {
                    Ok(Flush::Done) => self.waiting = 0,
                    Ok(Flush::Waiting) => {}
                    Err(_) => return Err("its connection broke"),
                }
            }
            let mut dirty = std::mem::take(&mut self.dirty);
            dirty.sort_unstable();
            dirty.dedup();
            for client in dirty {
                self.pump(client);
            }
        }
    }

    async fn carry_out_one(&mut self, output: Output) {
        match output {
            Output::ToBrowser(frame) => {
                self.waiting += frame.len() + 1;
                self.sink.enqueue(frame);
            }
            Output::ToClient { client, frame, class } => {
                if let Some(line) = self.lines.get_mut(&client) {
                    if let Err(overflow) = line.queue.push(frame, class) {
                        tracing::warn!(%client, %overflow, "a client is disconnected");
                        let now = self.now();
                        self.drop_client(client, Farewell::Overloaded(TOO_SLOW), now);
                        return;
                    }
                    self.dirty.push(client);
                }
            }
            Output::CloseClient { client, reason } => {
                if let Some(line) = self.lines.get_mut(&client) {
                    line.close(reason);
                    self.dirty.push(client);
                }
            }
            Output::HouseOpened(house) => {
                if let Some(keeper) = &mut self.keeper
                    && let Err(error) = keeper.note_house(house.as_str()).await
                {
                    tracing::warn!(%error, "the keeper did not take a note");
                }
            }
            Output::PlaceDownload { ticket, from, to, keep } => {
                self.placements.push(Box::pin(self.placed.clone().place(ticket, from, to, keep)));
            }
            Output::TabOpened { ticket, target } => {
                if let Some(Asked::Tab(reply)) = self.asked.remove(&ticket) {
                    let _ = reply.send(target);
                }
            }
            Output::ContextMade { ticket, context } => {
                if let Some(Asked::Context(reply)) = self.asked.remove(&ticket) {
                    let _ = reply.send(context);
                }
            }
            Output::RealmEnded { ticket } => {
                if let Some(Asked::End(reply)) = self.asked.remove(&ticket) {
                    let _ = reply.send(());
                }
            }
            Output::DropDownload(path) => {
                self.placements.push(Box::pin(download_file::remove(path)));
            }
            Output::Connected => {
                self.state.send_replace(HubState::Serving);
            }
            // Clients of this hub are disconnected with the browser; a session starts a new hub.
            Output::WantBrowser => {}
        }
    }

    /// Writes what a client's socket takes without waiting.
    fn pump(&mut self, client: ClientId) {
        loop {
            let Some(line) = self.lines.get_mut(&client) else { return };
            let Some(mut sink) = line.sink.take() else { return };
            let mut bytes = 0;
            while bytes < PUMP_BYTES {
                let Some(frame) = line.queue.pop() else { break };
                bytes += frame.len() + 1;
                sink.enqueue(frame);
            }
            let flushed = if bytes == 0 { Ok(Flush::Done) } else { sink.try_flush() };
            match flushed {
                Ok(Flush::Done) => {
                    line.sink = Some(sink);
                    if line.queue.is_empty() {
                        if let Some(sentence) = line.closing {
                            let now = self.now();
                            self.drop_client(client, Farewell::Gone(sentence), now);
                        }
                        return;
                    }
                }
                Ok(Flush::Waiting) => {
                    self.flushers.push(Box::pin(async move {
                        let result = sink.flush().await;
                        (client, sink, result)
                    }));
                    return;
                }
                Err(_) => {
                    let now = self.now();
                    return self.drop_client(client, Farewell::Done, now);
                }
            }
        }
    }

    fn facts(&self) -> HubFacts {
        HubFacts {
            clients: self.lines.len(),
            link: self.mux.link(),
            counters: self.mux.counters(),
            leftovers: self.mux.leftovers(),
            pending: self.mux.pending(),
            realms: self.mux.realms(),
            events_dropped: self.events_dropped
                + self.lines.values().map(|line| line.queue.dropped()).sum::<u64>(),
        }
    }
}

/// A set with one in it that never ends. A set that has just asked all of its members has its task run once more, and
/// with it wakes a thread that finds nothing to do: for every frame of the only client.
fn calm_set<T: 'static>() -> FuturesUnordered<Boxed<T>> {
    let never: Boxed<T> = Box::pin(std::future::pending());
    [never].into_iter().collect()
}

async fn keeper_gone(keeper: &mut Option<KeeperLine>) {
    match keeper {
        Some(line) => line.closed().await,
        None => std::future::pending().await,
    }
}
