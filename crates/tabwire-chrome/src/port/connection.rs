//! One client of the port: forwards its frames, and recovers the browser after a loss.

use std::sync::Arc;
use std::time::Instant;

use bytes::BytesMut;
use tabwire_api::Failure;
use tabwire_api::api::{ChromeEnd, ChromeEndReason};
use tabwire_cdp::envelope::peek_client_frame;
use tabwire_cdp::{CloseFrame, FrameSink, FrameSource, ReceivedFrame, TransportError};

use super::BROWSER_TIMEOUT;
use super::link::Link;
use super::replay_state::{ReplayState, bootstrap_response, empty_response, error_response};
use super::server::{Finish, Generation, PortServer};
use crate::frame_log::ClientFrames;
use crate::lifecycle::{LauncherTransport, Lifecycle, LossDecision, RequestDecision};

struct Connection {
    server: Arc<PortServer>,
    client: FrameSink,
    life: Lifecycle,
    replay: ReplayState,
    /// The connection to the browser; `None` after a loss.
    link: Option<Link>,
    generation: Generation,
    /// Set when frames are logged.
    frames: Option<ClientFrames>,
    /// Whether the client has sent `Browser.close`: it may hang up before the browser confirms it.
    has_sent_close: bool,
}

/// Why a connection ends.
enum ConnectionEnd {
    ClientLeft,
    BrowserClosed,
    RecoveryFailed(Failure),
}

/// Serves a client until it disconnects or closes its browser, or a recovery fails.
pub(super) async fn serve(server: &Arc<PortServer>, mut source: FrameSource, mut sink: FrameSink) {
    let _guard = server.register_client();
    let (link, generation) = match server.open_link().await {
        Ok(opened) => opened,
        Err(failure) => {
            sink.close_with(CloseFrame::Gone("BROWSER_GONE: no browser is available"));
            return server.finish(Finish::Failed(failure));
        }
    };
    let mut life = Lifecycle::new(LauncherTransport::Port);
    life.browser_ready(server.origin());
    let mut connection = Connection {
        server: Arc::clone(server),
        client: sink,
        life,
        replay: ReplayState::default(),
        link: Some(link),
        generation,
        frames: server.client_frames(),
        has_sent_close: false,
    };
    let end = connection.serve(&mut source).await;
    connection.life.end();
    match end {
        ConnectionEnd::ClientLeft if connection.has_sent_close => server.close_browser(),
        ConnectionEnd::ClientLeft => {}
        ConnectionEnd::BrowserClosed => server.close_browser(),
        ConnectionEnd::RecoveryFailed(failure) => {
            let close_frame = CloseFrame::Gone("BROWSER_GONE: the recovery of the browser failed");
            connection.client.close_with(close_frame);
            server.finish(Finish::Failed(failure));
        }
    }
}

enum Wakeup {
    Client(Result<Option<ReceivedFrame>, TransportError>),
    Browser(Result<Option<ReceivedFrame>, TransportError>),
}

impl Connection {
    async fn serve(&mut self, source: &mut FrameSource) -> ConnectionEnd {
        loop {
            let wakeup = tokio::select! {
                read = source.next() => Wakeup::Client(read),
                read = next_frame(&mut self.link) => Wakeup::Browser(read),
                _ = self.server.finished() => return ConnectionEnd::ClientLeft,
            };
            let done = match wakeup {
                Wakeup::Client(Ok(Some(ReceivedFrame::Frame(frame)))) => self.client_frame(frame).await,
                Wakeup::Client(_) => Err(ConnectionEnd::ClientLeft),
                Wakeup::Browser(Ok(Some(ReceivedFrame::Frame(frame)))) => self.browser_frame(frame).await,
                Wakeup::Browser(Ok(Some(ReceivedFrame::Oversize(_)))) => Ok(()),
                Wakeup::Browser(Ok(None) | Err(_)) => self.connection_lost().await,
            };
            if let Err(end) = done {
                return end;
            }
        }
    }

    async fn client_frame(&mut self, frame: BytesMut) -> Result<(), ConnectionEnd> {
        // The browser responds to a malformed frame with the right error.
        let method = peek_client_frame(&frame).map(|envelope| envelope.method.to_owned()).unwrap_or_default();
        if let Some(frames) = &self.frames {
            frames.log_client(&frame);
        }
        let decision = self.life.request(&method);
        tracing::debug!(method, ?decision, bytes = frame.len(), "client request");
        match decision {
            RequestDecision::Forward => self.forward(frame).await,
            RequestDecision::Queue => self.queue(frame).await,
            RequestDecision::QueueAndRecover => {
                self.queue(frame).await?;
                self.recover().await
            }
            RequestDecision::RespondLocally => {
                tracing::info!(
                    shortCircuitBrowserClose = true,
                    "responding to Browser.close without a browser"
                );
                match empty_response(&frame) {
                    Some(response) => self.send_to_client(response).await,
                    None => Ok(()),
                }
            }
            RequestDecision::Refuse => Err(ConnectionEnd::ClientLeft),
        }
    }

    async fn forward(&mut self, frame: BytesMut) -> Result<(), ConnectionEnd> {
        let Some(link) = &mut self.link else {
            // The browser was lost again while the queue was sent.
            return match error_response(&frame, "BROWSER_GONE: the browser is lost again; this was not sent.")
            {
                Some(response) => self.send_to_client(response).await,
                None => Ok(()),
            };
        };
        if let Ok(envelope) = peek_client_frame(&frame) {
            self.replay.record_request(&envelope);
            self.has_sent_close |= envelope.method == "Browser.close" && envelope.session.is_none();
        }
        // The request is pending now: after a loss it gets the response that it may or may not have run.
        if link.sink.send(frame).await.is_ok() { Ok(()) } else { self.connection_lost().await }
    }

    async fn queue(&mut self, frame: BytesMut) -> Result<(), ConnectionEnd> {
        let refusal = error_response(&frame, "BACKPRESSURE: too many requests wait for the browser.");
        match (self.replay.queue(frame), refusal) {
            (Err(_), Some(refusal)) => self.send_to_client(refusal).await,
            _ => Ok(()),
        }
    }

    async fn browser_frame(&mut self, frame: BytesMut) -> Result<(), ConnectionEnd> {
        if let Some(signal) = self.replay.record_frame(&frame) {
            tracing::debug!(?signal, event = %String::from_utf8_lossy(&frame), "weak disconnect signal");
            self.life.weak_signal(signal, Instant::now());
        }
        self.send_to_client(frame).await
    }

    async fn send_to_client(&mut self, frame: BytesMut) -> Result<(), ConnectionEnd> {
        if let Some(frames) = &self.frames {
            frames.log_browser(&frame);
        }
        self.client.send(frame).await.map_err(|_| ConnectionEnd::ClientLeft)
    }

    async fn connection_lost(&mut self) -> Result<(), ConnectionEnd> {
        let Some(mut link) = self.link.take() else { return Ok(()) };
        let end = match tokio::time::timeout(BROWSER_TIMEOUT, link.end.wait()).await {
            Ok(end) => end,
            Err(_) => ChromeEnd {
                why: ChromeEndReason::DaemonEnds,
                sentence: "The daemon did not report why the browser ended.".to_owned(),
            },
        };
        if end.why == ChromeEndReason::BrowserClosed {
            return Err(ConnectionEnd::BrowserClosed);
        }
        let (decision, verdict) = self.life.connection_lost(Instant::now());
        tracing::info!(
            runtimeState = self.life.state_name(),
            disconnectSignals = ?self.life.signal_names(),
            ?verdict,
            why = %end.sentence,
            "browser lost"
        );
        if decision != LossDecision::Stay {
            return Err(ConnectionEnd::ClientLeft);
        }
        for frame in self.replay.take_loss_frames() {
            self.send_to_client(frame).await?;
        }
        Ok(())
    }

    /// Reconnects to a browser, sends the bootstrap, then the queue.
    async fn recover(&mut self) -> Result<(), ConnectionEnd> {
        let attempt = self.life.attempts();
        tracing::info!(recoveryAttempt = attempt, "browser recovery started");
        let (origin, link, generation) = match self.reconnect().await {
            Ok(connected) => connected,
            Err(failure) => {
                tracing::warn!(recoveryAttempt = attempt, recoveryResult = "failed", %failure);
                self.life.recovery_failed();
                return Err(ConnectionEnd::RecoveryFailed(failure));
            }
        };
        self.generation = generation;
        tracing::info!(recoveryAttempt = attempt, recoveryResult = origin.recovery_result());
        self.link = Some(link);
        if !self.life.browser_ready(origin) {
            return Ok(());
        }
        tracing::info!(recoveryBootstrap = "started");
        if !self.bootstrap().await? {
            tracing::warn!(recoveryBootstrap = "failed");
            self.life.recovery_failed();
            let message = "The new browser refused the client's auto-attach or discovery settings.";
            return Err(ConnectionEnd::RecoveryFailed(Failure::new(
                tabwire_api::ErrorCode::BrowserGone,
                message,
            )));
        }
        tracing::info!(recoveryBootstrap = "acknowledged");
        if self.life.bootstrap_done() {
            for frame in self.replay.take_queue() {
                self.forward(frame).await?;
            }
        }
        Ok(())
    }

    async fn reconnect(&self) -> Result<(crate::lifecycle::BrowserOrigin, Link, Generation), Failure> {
        let origin = self.server.renew(self.generation).await?;
        let (link, generation) = self.server.open_link().await?;
        Ok((origin, link, generation))
    }

    /// Sends the bootstrap and waits for all responses, which the client does not get; it gets the events. Returns whether
    /// all requests succeeded.
    async fn bootstrap(&mut self) -> Result<bool, ConnectionEnd> {
        let requests = self.replay.bootstrap();
        let mut unacknowledged: Vec<i64> = requests.iter().map(|(id, _)| *id).collect();
        for (_, frame) in requests {
            let Some(link) = &mut self.link else { return Ok(false) };
            if link.sink.send(frame).await.is_err() {
                return Ok(false);
            }
        }
        while !unacknowledged.is_empty() {
            let reading = tokio::time::timeout(BROWSER_TIMEOUT, next_frame(&mut self.link));
            let Ok(Ok(Some(ReceivedFrame::Frame(frame)))) = reading.await else { return Ok(false) };
            match bootstrap_response(&frame, &unacknowledged) {
                Some((_, false)) => return Ok(false),
                Some((id, true)) => unacknowledged.retain(|own| *own != id),
                None => self.browser_frame(frame).await?,
            }
        }
        Ok(true)
    }
}

/// The next frame of the browser; pending while there is none.
async fn next_frame(link: &mut Option<Link>) -> Result<Option<ReceivedFrame>, TransportError> {
    match link {
        Some(link) => link.source.next().await,
        None => std::future::pending().await,
    }
}
