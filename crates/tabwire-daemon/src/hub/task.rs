//! The task of a hub: a loop around one mux. It moves frames without parsing them.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::{AbortHandle, Abortable, Aborted};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use tabwire_api::{BrowserContextId, ClientId, Failure, SessionKey, TargetId, UpstreamKind};
use tabwire_cdp::{CloseFrame, Flush, FrameSink, FrameSource, ReceivedFrame, TransportError};
use tabwire_mux::{ClientQueue, CloseReason, Mux, Output};
use tokio::sync::{mpsc, oneshot, watch};

use crate::browser::link::{BrowserLink, KeeperConnection};
use crate::hub::attachments::AttachmentList;
use crate::hub::client_guard::ClientGuard;
use crate::hub::clock::RunClock;
use crate::hub::clock::TICK;
use crate::hub::downloads::{self, PlacedFiles};
use crate::hub::{HubCommand, HubFacts, HubState, JoinRequest};

/// Silence after which a browser behind an open websocket counts as gone.
const UPSTREAM_LOST: Duration = Duration::from_secs(13);

/// Bytes waiting for the browser above which no client is read.
const UPSTREAM_WAITING_BYTES: usize = 4 * 1024 * 1024;

/// Frames read from one peer before the others have their turn.
const FRAMES_PER_TURN: usize = 64;

/// Bytes moved from a client's queue to its socket in one turn.
const PUMP_BYTES: usize = 1024 * 1024;

/// Silence after which a browser behind a websocket is probed.
const UPSTREAM_SILENCE: Duration = Duration::from_secs(5);

type BoxedFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;
type ReadResult = Result<(ClientId, FrameSource, Result<Option<ReceivedFrame>, TransportError>), Aborted>;
type FlushResult = (ClientId, FrameSink, Result<(), TransportError>);
type PlacementResult = (u64, bool);

/// The close reason for a client that does not read.
const TOO_SLOW: &str = "BACKPRESSURE: this connection reads too slowly; too much is waiting for it";

/// One client's connection.
struct ClientConnection {
    queue: ClientQueue,
    /// Absent while a flush to a slow client runs.
    sink: Option<FrameSink>,
    reader: AbortHandle,
    /// The close reason, sent after the queue is written.
    closing: Option<&'static str>,
    /// Dropped when the client disconnects.
    guard: Option<ClientGuard>,
}

/// The receiver of a result that the mux reports later.
enum PendingReply {
    Tab(oneshot::Sender<Result<TargetId, Failure>>),
    Context(oneshot::Sender<Option<BrowserContextId>>),
    End(oneshot::Sender<()>),
}

pub(crate) struct HubTask {
    mux: Mux,
    kind: UpstreamKind,
    source: FrameSource,
    sink: FrameSink,
    /// Bytes in the browser's sink since it was last empty.
    waiting: usize,
    keeper: Option<KeeperConnection>,
    earlier_control_session: Option<String>,
    attachments: Option<AttachmentList>,
    clients: HashMap<ClientId, ClientConnection>,
    readers: FuturesUnordered<BoxedFuture<ReadResult>>,
    flushers: FuturesUnordered<BoxedFuture<FlushResult>>,
    placements: FuturesUnordered<BoxedFuture<PlacementResult>>,
    placed: PlacedFiles,
    commands: mpsc::Receiver<HubCommand>,
    state: watch::Sender<HubState>,
    next_client: u64,
    /// Receivers of results, by ticket.
    pending: HashMap<u64, PendingReply>,
    next_ticket: u64,
    clock: RunClock,
    heard: Instant,
    probed: Instant,
    events_dropped: u64,
    dirty: Vec<ClientId>,
}

/// What the loop waits for.
enum WakeEvent {
    Browser(Result<Option<ReceivedFrame>, TransportError>),
    Client(ReadResult),
    Flushed(FlushResult),
    UpstreamFlushed(Result<(), TransportError>),
    Placed(PlacementResult),
    Command(Option<HubCommand>),
    Tick,
    KeeperGone,
}

impl ClientConnection {
    /// Disconnects the client after its queue is written.
    fn close(&mut self, reason: CloseReason) {
        if let Some(guard) = self.guard.as_ref().filter(|_| reason == CloseReason::Requested) {
            guard.set_closed_browser();
        }
        self.closing = Some(reason.message());
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
        if link.keeper.is_none() && !link.is_rented {
            mux.show_user_tabs();
        }
        Self {
            mux,
            kind: link.kind,
            source: link.source,
            sink: link.sink,
            waiting: 0,
            keeper: link.keeper,
            earlier_control_session: link.earlier_control_session,
            attachments: link.attachments,
            clients: HashMap::new(),
            readers: never_empty(),
            flushers: never_empty(),
            placements: never_empty(),
            placed: PlacedFiles::default(),
            commands,
            state,
            next_client: 0,
            pending: HashMap::new(),
            next_ticket: 0,
            clock: RunClock::new(now),
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
        self.execute_outputs().await.ok();
        for connection in self.clients.values_mut() {
            connection.reader.abort();
            if let Some(sink) = &mut connection.sink {
                sink.close_with(CloseFrame::Gone("BROWSER_GONE: the browser has exited or was released"));
            }
        }
        self.state.send_replace(HubState::Gone(Arc::from(reason)));
    }

    /// Serves until the browser is gone or released; returns the reason.
    async fn serve(&mut self) -> &'static str {
        let earlier = self.earlier_control_session.take();
        self.mux.start(earlier.as_deref(), Instant::now());
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            if let Err(reason) = self.execute_outputs().await {
                return reason;
            }
            let woken = self.wait(&mut tick).await;
            if let Err(reason) = self.handle(woken) {
                return reason;
            }
        }
    }

    async fn wait(&mut self, tick: &mut tokio::time::Interval) -> WakeEvent {
        let congested = self.waiting > UPSTREAM_WAITING_BYTES;
        tokio::select! {
            framed = self.source.next() => WakeEvent::Browser(framed),
            Some(read) = self.readers.next(), if !congested => WakeEvent::Client(read),
            Some(flushed) = self.flushers.next() => WakeEvent::Flushed(flushed),
            Some(placed) = self.placements.next() => WakeEvent::Placed(placed),
            flushed = self.sink.flush(), if self.waiting > 0 => WakeEvent::UpstreamFlushed(flushed),
            command = self.commands.recv() => WakeEvent::Command(command),
            _ = tick.tick() => WakeEvent::Tick,
            () = keeper_gone(&mut self.keeper) => WakeEvent::KeeperGone,
        }
    }

    /// The time in which this process ran.
    fn now(&mut self) -> Instant {
        self.clock.read(Instant::now())
    }

    fn handle(&mut self, woken: WakeEvent) -> Result<(), &'static str> {
        let now = self.now();
        match woken {
            WakeEvent::Browser(read) => return self.browser_read(read, now),
            WakeEvent::UpstreamFlushed(Ok(())) => self.waiting = 0,
            WakeEvent::UpstreamFlushed(Err(error)) => {
                tracing::warn!(%error, "writing to the browser failed");
                return Err("its connection broke");
            }
            WakeEvent::Client(Ok((client, source, read))) => self.client_read(client, source, read, now),
            WakeEvent::Client(Err(Aborted)) => {}
            WakeEvent::Placed((ticket, placed)) => self.mux.download_placed(ticket, placed),
            WakeEvent::Flushed((client, sink, result)) => self.client_flushed(client, sink, result, now),
            WakeEvent::Command(Some(command)) => return self.command(command, now),
            WakeEvent::Command(None) => return Err("no session uses it any more"),
            WakeEvent::Tick => return self.tick(now),
            WakeEvent::KeeperGone => return Err("its keeper is gone"),
        }
        Ok(())
    }

    fn command(&mut self, command: HubCommand, now: Instant) -> Result<(), &'static str> {
        match command {
            HubCommand::Join(joining) => self.join(*joining, now),
            HubCommand::OpenTab { url, partition, reply } => {
                let ticket = self.ticket(PendingReply::Tab(reply));
                self.mux.open_tab(ticket, &url, partition, now);
            }
            HubCommand::MakeContext { proxy, reply } => {
                let ticket = self.ticket(PendingReply::Context(reply));
                self.mux.create_context(ticket, proxy.as_deref(), now);
            }
            HubCommand::Reserve { partition, guard, reply } => {
                self.mux.reserve(partition, guard, now);
                let _ = reply.send(());
            }
            HubCommand::EndPartition { partition, kept, reply } => {
                let ticket = self.ticket(PendingReply::End(reply));
                self.mux.end_partition(ticket, &partition, kept, now);
            }
            HubCommand::Sources { target, reply } => drop(reply.send(self.mux.remote_addresses_of(&target))),
            HubCommand::Facts { reply } => drop(reply.send(self.facts())),
            HubCommand::Dismiss { client, close_frame } => self.drop_client(client, close_frame, now),
            HubCommand::DismissSession { session } => self.dismiss_session(&session, now),
            HubCommand::Leave(why) => return Err(why),
        }
        Ok(())
    }

    fn dismiss_session(&mut self, session: &SessionKey, now: Instant) {
        let is_meant = |connection: &ClientConnection| {
            connection.guard.as_ref().is_some_and(|guard| guard.session.as_ref() == Some(session))
        };
        let meant: Vec<ClientId> =
            self.clients.iter().filter(|(_, one)| is_meant(one)).map(|(client, _)| *client).collect();
        for client in meant {
            self.drop_client(client, CloseFrame::Gone("PAUSED: the user has stopped this session"), now);
        }
    }

    fn ticket(&mut self, pending: PendingReply) -> u64 {
        self.next_ticket += 1;
        self.pending.insert(self.next_ticket, pending);
        self.next_ticket
    }

    /// Handles a frame of the browser, and those that are already buffered behind it.
    fn browser_read(
        &mut self,
        mut read: Result<Option<ReceivedFrame>, TransportError>,
        now: Instant,
    ) -> Result<(), &'static str> {
        self.heard = now;
        for taken in 1.. {
            match read {
                Ok(Some(ReceivedFrame::Frame(frame))) => self.mux.from_browser(frame, now),
                Ok(Some(ReceivedFrame::Oversize(oversize))) => {
                    self.mux.oversize_from_browser(&oversize.head, oversize.size);
                }
                Ok(None) => return Err("it closed its connection"),
                Err(error) => {
                    tracing::warn!(%error, "reading from the browser failed");
                    return Err("its connection broke");
                }
            }
            // A frame that was taken must be handled, so the bound is checked before the next poll.
            let more = if taken < FRAMES_PER_TURN { self.source.next().now_or_never() } else { None };
            match more {
                Some(more) => read = more,
                None => break,
            }
        }
        Ok(())
    }

    fn tick(&mut self, now: Instant) -> Result<(), &'static str> {
        self.mux.tick(now);
        self.publish_attachments();
        // A pipe ends with its process. A TCP connection to a machine that has vanished stays open, without
        // a sign.
        if self.kind == UpstreamKind::Websocket {
            let silence = now.duration_since(self.heard);
            if silence > UPSTREAM_LOST {
                return Err("it sent nothing for 13 s, although its connection is open");
            }
            if silence > UPSTREAM_SILENCE && now.duration_since(self.probed) > UPSTREAM_SILENCE {
                self.probed = now;
                self.mux.probe(now);
            }
        }
        Ok(())
    }

    fn publish_attachments(&self) {
        let Some(attachments) = &self.attachments else { return };
        let name = |client: ClientId, target: &TargetId| {
            Some(self.clients.get(&client)?.guard.as_ref()?.name.of_target(target))
        };
        let guards = self.clients.values().filter_map(|client| client.guard.as_ref());
        let open = guards.filter(|guard| guard.is_open).map(|guard| guard.name.own());
        attachments.write(
            self.mux
                .attachments()
                .filter_map(|(client, target)| Some((name(client, target)?, target.clone()))),
            open.collect(),
        );
    }

    fn join(&mut self, joining: JoinRequest, now: Instant) {
        let JoinRequest { source, sink, options, guard, reply } = joining;
        self.next_client += 1;
        let client = ClientId(self.next_client);
        let reader = self.read_next(client, source);
        let connection = ClientConnection {
            queue: ClientQueue::default(),
            sink: Some(sink),
            reader,
            closing: None,
            guard,
        };
        self.clients.insert(client, connection);
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
        mut read: Result<Option<ReceivedFrame>, TransportError>,
        now: Instant,
    ) {
        if !self.clients.contains_key(&client) {
            return;
        }
        for taken in 1.. {
            match read {
                Ok(Some(ReceivedFrame::Frame(frame))) => self.mux.from_client(client, frame, now),
                Ok(Some(ReceivedFrame::Oversize(_)) | None) => {
                    return self.drop_client(client, CloseFrame::Done, now);
                }
                Err(error) => {
                    tracing::debug!(%client, %error, "reading from a client failed");
                    return self.drop_client(client, CloseFrame::Done, now);
                }
            }
            let more = if taken < FRAMES_PER_TURN { source.next().now_or_never() } else { None };
            match more {
                Some(more) => read = more,
                None => break,
            }
        }
        let reader = self.read_next(client, source);
        if let Some(connection) = self.clients.get_mut(&client) {
            connection.reader = reader;
        }
    }

    fn client_flushed(
        &mut self,
        client: ClientId,
        sink: FrameSink,
        result: Result<(), TransportError>,
        now: Instant,
    ) {
        let Some(connection) = self.clients.get_mut(&client) else { return };
        connection.sink = Some(sink);
        match result {
            Ok(()) => self.dirty.push(client),
            Err(_) => self.drop_client(client, CloseFrame::Done, now),
        }
    }

    fn drop_client(&mut self, client: ClientId, close_frame: CloseFrame, now: Instant) {
        if let Some(mut connection) = self.clients.remove(&client) {
            // It may have hung up before the mux's request to disconnect it was carried out.
            if let Some(guard) = connection.guard.as_ref().filter(|_| self.mux.has_closed_browser(client)) {
                guard.set_closed_browser();
            }
            connection.reader.abort();
            self.events_dropped += connection.queue.dropped();
            if let Some(sink) = &mut connection.sink {
                sink.close_with(close_frame);
            }
            self.mux.client_left(client, now);
        }
    }

    /// Executes the mux's outputs until there are none.
    async fn execute_outputs(&mut self) -> Result<(), &'static str> {
        loop {
            let outputs = self.mux.take_outputs();
            if outputs.is_empty() && self.dirty.is_empty() {
                return Ok(());
            }
            for output in outputs {
                self.execute(output).await;
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

    async fn execute(&mut self, output: Output) {
        match output {
            Output::ToBrowser(frame) => {
                self.waiting += frame.len() + 1;
                self.sink.enqueue(frame);
            }
            Output::ToClient { client, frame, class } => {
                if let Some(connection) = self.clients.get_mut(&client) {
                    if let Err(overflow) = connection.queue.push(frame, class) {
                        tracing::warn!(%client, %overflow, "a client is disconnected: it reads too slowly");
                        let now = self.now();
                        self.drop_client(client, CloseFrame::Overloaded(TOO_SLOW), now);
                        return;
                    }
                    self.dirty.push(client);
                }
            }
            Output::CloseClient { client, reason } => {
                if let Some(connection) = self.clients.get_mut(&client) {
                    connection.close(reason);
                    self.dirty.push(client);
                }
            }
            Output::ControlOpened(session) => {
                if let Some(keeper) = &mut self.keeper
                    && let Err(error) = keeper.save_control_session(session.as_str()).await
                {
                    tracing::warn!(%error, "the keeper did not save the control session");
                }
            }
            Output::PlaceDownload { ticket, from, to, keep } => {
                self.placements.push(Box::pin(self.placed.clone().place(ticket, from, to, keep)));
            }
            Output::TabOpened { ticket, target } => {
                if let Some(PendingReply::Tab(reply)) = self.pending.remove(&ticket) {
                    let _ = reply.send(target);
                }
            }
            Output::ContextCreated { ticket, context } => {
                if let Some(PendingReply::Context(reply)) = self.pending.remove(&ticket) {
                    let _ = reply.send(context);
                }
            }
            Output::PartitionEnded { ticket } => {
                if let Some(PendingReply::End(reply)) = self.pending.remove(&ticket) {
                    let _ = reply.send(());
                }
            }
            Output::DropDownload(path) => {
                self.placements.push(Box::pin(downloads::remove(path)));
            }
            Output::Connected => {
                self.state.send_replace(HubState::Serving);
            } // Clients of this hub are disconnected with the browser. A session starts a new hub.
        }
    }

    /// Writes to a client as much as its socket takes without waiting.
    fn pump(&mut self, client: ClientId) {
        loop {
            let Some(connection) = self.clients.get_mut(&client) else { return };
            let Some(mut sink) = connection.sink.take() else { return };
            let mut bytes = 0;
            while bytes < PUMP_BYTES {
                let Some(frame) = connection.queue.pop() else { break };
                bytes += frame.len() + 1;
                sink.enqueue(frame);
            }
            let flushed = if bytes == 0 { Ok(Flush::Done) } else { sink.try_flush() };
            match flushed {
                Ok(Flush::Done) => {
                    connection.sink = Some(sink);
                    if connection.queue.is_empty() {
                        if let Some(sentence) = connection.closing {
                            let now = self.now();
                            self.drop_client(client, CloseFrame::Gone(sentence), now);
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
                    return self.drop_client(client, CloseFrame::Done, now);
                }
            }
        }
    }

    fn facts(&self) -> HubFacts {
        HubFacts {
            clients: self.clients.len(),
            link: self.mux.link(),
            counters: self.mux.counters(),
            leftovers: self.mux.resource_counts(),
            pending: self.mux.pending(),
            partitions: self.mux.partitions(),
            client_pending: self.clients.keys().map(|id| (*id, self.mux.pending_of(*id))).collect(),
            events_dropped: self.events_dropped
                + self.clients.values().map(|connection| connection.queue.dropped()).sum::<u64>(),
        }
    }
}

/// A set that holds one never-ready future: `FuturesUnordered` wakes itself after polling all members, which costs a
/// wakeup per frame when there is a single client.
fn never_empty<T: 'static>() -> FuturesUnordered<BoxedFuture<T>> {
    let never: BoxedFuture<T> = Box::pin(std::future::pending());
    [never].into_iter().collect()
}

async fn keeper_gone(keeper: &mut Option<KeeperConnection>) {
    match keeper {
        Some(connection) => connection.closed().await,
        None => std::future::pending().await,
    }
}
