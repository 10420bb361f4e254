//! One client on the port: its frames to the browser and back, and what it is owed while the browser is gone.

use std::sync::Arc;
use std::time::Instant;

use bytes::BytesMut;
use tabwire_cdp::envelope::peek_client_frame;
use tabwire_cdp::{Farewell, FrameSink, FrameSource, Framed, TransportError};
use tabwire_wire::Failure;
use tabwire_wire::api::{ChromeEnd, ChromeEndReason};

use super::client_memory::{ClientMemory, empty_answer, error_answer, own_answer};
use super::link::Link;
use super::steward::{Finish, Generation, Steward};
use crate::chrome::frame_log::ClientFrames;
use crate::chrome::lifecycle::{Front, Lifecycle, LossFate, RequestFate};
use crate::limits::CHROME_ASK_DEADLINE;

/// One client.
struct Connection {
    steward: Arc<Steward>,
    client: FrameSink,
    life: Lifecycle,
    memory: ClientMemory,
    /// The line to the browser; none while it is gone.
    link: Option<Link>,
    generation: Generation,
    /// Where its frames are written, if they are wanted.
    frames: Option<ClientFrames>,
}

/// Why a client is served no more.
enum Over {
    /// It left.
    Left,
    /// It closed its browser.
    Closed,
    /// The browser cannot be brought back.
    Lost(Failure),
}

/// Serves a client until it leaves, or closes its browser, or the browser cannot be brought back.
pub(super) async fn serve(steward: &Arc<Steward>, mut source: FrameSource, mut sink: FrameSink) {
    let _guest = steward.welcome();
    let (link, generation) = match steward.open_link().await {
        Ok(opened) => opened,
        Err(failure) => {
            sink.say_goodbye(Farewell::Gone("BROWSER_GONE: there is no browser"));
            return steward.finish(Finish::Failed(failure));
        }
    };
    let mut life = Lifecycle::new(Front::Port);
    life.obtained(steward.found());
    let memory = ClientMemory::default();
    let mut connection = Connection {
        steward: Arc::clone(steward),
        client: sink,
        life,
        memory,
        link: Some(link),
        generation,
        frames: steward.client_frames(),
    };
    let over = connection.serve(&mut source).await;
    connection.life.end();
    match over {
        Over::Left => {}
        Over::Closed => steward.close_browser(),
        Over::Lost(failure) => {
            let farewell = Farewell::Gone("BROWSER_GONE: the browser could not be brought back");
            connection.client.say_goodbye(farewell);
            steward.finish(Finish::Failed(failure));
        }
    }
}

/// What happened next.
enum Woken {
    Client(Result<Option<Framed>, TransportError>),
    Browser(Result<Option<Framed>, TransportError>),
}

impl Connection {
    async fn serve(&mut self, source: &mut FrameSource) -> Over {
        loop {
            let woken = tokio::select! {
                read = source.next() => Woken::Client(read),
                read = next_of(&mut self.link) => Woken::Browser(read),
                _ = self.steward.finished() => return Over::Left,
            };
            let done = match woken {
                Woken::Client(Ok(Some(Framed::Frame(frame)))) => self.asked(frame).await,
                Woken::Client(_) => Err(Over::Left),
                Woken::Browser(Ok(Some(Framed::Frame(frame)))) => self.told(frame).await,
                Woken::Browser(Ok(Some(Framed::Oversize(_)))) => Ok(()),
                Woken::Browser(Ok(None) | Err(_)) => self.lost().await,
            };
            if let Err(over) = done {
                return over;
            }
        }
    }

    /// The client wants something.
    async fn asked(&mut self, frame: BytesMut) -> Result<(), Over> {
        // What cannot be read is for the browser to complain about.
        let method = peek_client_frame(&frame).map(|envelope| envelope.method.to_owned()).unwrap_or_default();
        if let Some(frames) = &self.frames {
            frames.asked(&frame);
        }
        let fate = self.life.request(&method);
        tracing::debug!(method, ?fate, bytes = frame.len(), "a client asks");
        match fate {
            RequestFate::Forward => self.forward(frame).await,
            RequestFate::Queue => self.queue(frame).await,
            RequestFate::QueueAndRecover => {
                self.queue(frame).await?;
                self.recover().await
            }
            RequestFate::AnswerHere => {
                tracing::info!(
                    shortCircuitBrowserClose = true,
                    "closing a browser that is gone is answered here"
                );
                match empty_answer(&frame) {
                    Some(answer) => self.say(answer).await,
                    None => Ok(()),
                }
            }
            RequestFate::Refuse => Err(Over::Left),
        }
    }

    async fn forward(&mut self, frame: BytesMut) -> Result<(), Over> {
        let Some(link) = &mut self.link else {
            // Lost while what waited for it was sent.
            return match error_answer(&frame, "BROWSER_GONE: the browser went away again; this was not sent.")
            {
                Some(answer) => self.say(answer).await,
                None => Ok(()),
            };
        };
        if let Ok(envelope) = peek_client_frame(&frame) {
            self.memory.asked(&envelope);
        }
        // The request is remembered: it is answered as one that may or may not have been done.
        if link.sink.send(frame).await.is_ok() { Ok(()) } else { self.lost().await }
    }

    async fn queue(&mut self, frame: BytesMut) -> Result<(), Over> {
        let refusal = error_answer(&frame, "BACKPRESSURE: too much waits for the browser to come back.");
        match (self.memory.keep(frame), refusal) {
            (Err(_), Some(refusal)) => self.say(refusal).await,
            _ => Ok(()),
        }
    }

    /// The browser says something.
    async fn told(&mut self, frame: BytesMut) -> Result<(), Over> {
        if let Some(signal) = self.memory.told(&frame) {
            tracing::debug!(?signal, event = %String::from_utf8_lossy(&frame), "a sign that proves nothing alone");
            self.life.weak_signal(signal, Instant::now());
        }
        self.say(frame).await
    }

    async fn say(&mut self, frame: BytesMut) -> Result<(), Over> {
        if let Some(frames) = &self.frames {
            frames.told(&frame);
        }
        self.client.send(frame).await.map_err(|_| Over::Left)
    }

    /// The line to the browser broke.
    async fn lost(&mut self) -> Result<(), Over> {
        let Some(mut link) = self.link.take() else { return Ok(()) };
        let end = match tokio::time::timeout(CHROME_ASK_DEADLINE, link.ending.wait()).await {
            Ok(end) => end,
            Err(_) => ChromeEnd {
                why: ChromeEndReason::DaemonEnds,
                sentence: "The daemon does not say what became of the browser.".to_owned(),
            },
        };
        if end.why == ChromeEndReason::BrowserClosed {
            return Err(Over::Closed);
        }
        let (fate, verdict) = self.life.lost(Instant::now());
        tracing::info!(
            runtimeState = self.life.state_name(),
            disconnectSignals = ?self.life.signal_names(),
            ?verdict,
            why = %end.sentence,
            "the browser is lost"
        );
        if fate != LossFate::Stay {
            return Err(Over::Left);
        }
        for frame in self.memory.lose() {
            self.say(frame).await?;
        }
        Ok(())
    }

    /// Brings the browser back, puts in force what the client had wished for, and sends what waits.
    async fn recover(&mut self) -> Result<(), Over> {
        let attempt = self.life.attempts();
        tracing::info!(recoveryAttempt = attempt, "the browser is brought back");
        let (found, link, generation) = match self.obtain().await {
            Ok(obtained) => obtained,
            Err(failure) => {
                tracing::warn!(recoveryAttempt = attempt, recoveryResult = "failed", %failure);
                self.life.recovery_failed();
                return Err(Over::Lost(failure));
            }
        };
        self.generation = generation;
        tracing::info!(recoveryAttempt = attempt, recoveryResult = found.recovery());
        self.link = Some(link);
        if !self.life.obtained(found) {
            return Ok(());
        }
        tracing::info!(recoveryBootstrap = "started");
        if !self.bootstrap().await? {
            tracing::warn!(recoveryBootstrap = "failed");
            self.life.recovery_failed();
            let message = "The browser that was brought back did not take up what its client had asked for.";
            return Err(Over::Lost(Failure::new(tabwire_wire::ErrorCode::BrowserGone, message)));
        }
        tracing::info!(recoveryBootstrap = "acknowledged");
        if self.life.bootstrapped() {
            for frame in self.memory.take_queue() {
                self.forward(frame).await?;
            }
        }
        Ok(())
    }

    async fn obtain(&self) -> Result<(crate::chrome::lifecycle::Found, Link, Generation), Failure> {
        let found = self.steward.renew(self.generation).await?;
        let (link, generation) = self.steward.open_link().await?;
        Ok((found, link, generation))
    }

    /// Sends what the client had wished for and waits until all of it is acknowledged. Our own answers go no further;
    /// events do. Says whether all went well.
    async fn bootstrap(&mut self) -> Result<bool, Over> {
        let requests = self.memory.bootstrap();
        let mut open: Vec<i64> = requests.iter().map(|(id, _)| *id).collect();
        for (_, frame) in requests {
            let Some(link) = &mut self.link else { return Ok(false) };
            if link.sink.send(frame).await.is_err() {
                return Ok(false);
            }
        }
        while !open.is_empty() {
            let reading = tokio::time::timeout(CHROME_ASK_DEADLINE, next_of(&mut self.link));
            let Ok(Ok(Some(Framed::Frame(frame)))) = reading.await else { return Ok(false) };
            match own_answer(&frame, &open) {
                Some((_, false)) => return Ok(false),
                Some((id, true)) => open.retain(|own| *own != id),
                None => self.told(frame).await?,
            }
        }
        Ok(true)
    }
}

/// The next frame of the browser; waits for ever while there is none.
async fn next_of(link: &mut Option<Link>) -> Result<Option<Framed>, TransportError> {
    match link {
        Some(link) => link.source.next().await,
        None => std::future::pending().await,
    }
}
