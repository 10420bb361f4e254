//! The websockets of live views: one session on a stage, or small images of all sessions on the wall.
//!
//! The first message is the key, as on `/dashboard/line`. A stage reads its tab through the session's engine, in a CDP
//! session of its own, so that the session's guards hold. Frames and inputs are never logged.

mod head;
mod message;
mod shown;
mod stage;
mod upload;
mod user_commands;
mod wall;

use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use bytes::BytesMut;
use http::Request;
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use tabwire_api::{Failure, SessionKey};
use tabwire_cdp::websocket::{ByteStream, raise_ceiling, serve};
use tabwire_cdp::{CloseFrame, FrameSink, FrameSource, ReceivedFrame};

pub(super) use self::message::{Opening, PageMessage};
use self::stage::Stage;
pub(super) use self::stage::ViewMessage;
pub(super) use self::user_commands::Command;
use self::wall::Wall;
pub(super) use self::wall::WallMessage;
use crate::control::Holder;
use crate::daemon::Daemon;
use crate::dashboard::line::refuse;
use crate::endpoint::cdp::{accept_key, switching};
use crate::http::server::HttpResponse;
use crate::limits::{HANDSHAKE_DEADLINE, UNAUTHENTICATED_BYTES};

/// Largest message of an authenticated page: a part of a file.
const MESSAGE_BYTES: usize = 1024 * 1024;

/// One dashboard at the other end of a websocket.
struct Dashboard {
    daemon: Arc<Daemon>,
    key: String,
    holder: Holder,
    sink: FrameSink,
    /// The state as last sent.
    sent: String,
}

/// Upgrades to a websocket. Everything else waits for the key.
pub(super) fn accept(daemon: &Arc<Daemon>, mut request: Request<Incoming>) -> Result<HttpResponse, Failure> {
    let accept = accept_key(&request)?;
    let (daemon, peer) = (Arc::clone(daemon), daemon.extensions.unauthenticated().enter());
    let upgrade = hyper::upgrade::on(&mut request);
    let tasks = daemon.tasks.clone();
    tasks.start("dashboard-live", async move {
        let upgraded = match upgrade.await {
            Ok(upgraded) => upgraded,
            Err(error) => return tracing::debug!(%error, "a websocket upgrade failed"),
        };
        let stream: Box<dyn ByteStream> = Box::new(TokioIo::new(upgraded));
        let (mut source, sink) = serve(stream, UNAUTHENTICATED_BYTES);
        let opening = tokio::select! {
            read = tokio::time::timeout(HANDSHAKE_DEADLINE, read_opening(&mut source)) => read.ok().flatten(),
            () = peer.replaced() => None,
        };
        let connected = match opening {
            Some(opening) => match daemon.dashboards.connect(&opening.key, Instant::now()) {
                Ok(holder) => Ok((opening, Holder(holder))),
                Err(failure) => Err(Some(failure)),
            },
            None => Err(None),
        };
        let (opening, holder) = match connected {
            Ok(connected) => connected,
            Err(failure) => return refuse(sink, failure.as_ref()).await,
        };
        peer.authenticated();
        let key = opening.key.clone();
        if let Some((source, sink)) = raise_ceiling((source, sink), MESSAGE_BYTES) {
            let dashboard = Dashboard {
                daemon: Arc::clone(&daemon),
                key: key.clone(),
                holder,
                sink,
                sent: String::new(),
            };
            dashboard.show(opening, source).await;
        }
        daemon.dashboards.disconnect(&key, Instant::now());
    });
    Ok(switching(accept))
}

async fn read_opening(source: &mut FrameSource) -> Option<Opening> {
    match source.next().await {
        Ok(Some(ReceivedFrame::Frame(frame))) => serde_json::from_slice(&frame).ok(),
        _ => None,
    }
}

impl Dashboard {
    async fn show(mut self, opening: Opening, source: FrameSource) {
        match opening.session.as_deref().map(SessionKey::find) {
            None => Wall::new(self).run(source).await,
            Some(Some(session)) => Stage::new(self, session, opening.tab).run(source).await,
            Some(None) => {
                self.send_text(r#"{"type":"view","state":"no_session"}"#.to_owned()).await;
                self.sink.close_with(CloseFrame::Done);
            }
        }
    }

    fn is_valid(&self) -> bool {
        self.daemon.dashboards.is_valid(&self.key, Instant::now())
    }

    /// Sends a state, if it is not the one that was sent last. `None` when the page is gone.
    async fn send_text(&mut self, text: String) -> Option<()> {
        if text == self.sent {
            return Some(());
        }
        self.sink.enqueue(BytesMut::from(text.as_bytes()));
        self.sent = text;
        self.flush().await
    }

    /// Sends a message that is not a state.
    async fn send_once(&mut self, text: &str) -> Option<()> {
        self.sink.enqueue(BytesMut::from(text.as_bytes()));
        self.flush().await
    }

    async fn send_image(&mut self, message: BytesMut) -> Option<()> {
        self.sink.enqueue_binary(message);
        self.flush().await
    }

    async fn flush(&mut self) -> Option<()> {
        // A page that does not read for so long is gone.
        tokio::time::timeout(HANDSHAKE_DEADLINE, self.sink.flush()).await.ok()?.ok()
    }
}

/// The next message of a page; `None` when it is gone. What cannot be read is skipped.
async fn read_message(source: &mut FrameSource) -> Option<PageMessage> {
    loop {
        match source.next().await {
            Ok(Some(ReceivedFrame::Frame(frame))) => {
                if let Some(message) = PageMessage::read(&frame) {
                    return Some(message);
                }
            }
            _ => return None,
        }
    }
}

/// Milliseconds since 1970.
fn time_now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64() * 1_000.0)
}
