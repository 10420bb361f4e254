//! The websocket of the chats in a dashboard. The first message is the key, as on `/dashboard/line`; then the messages are
//! those of a side panel.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use http::Request;
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use tabwire_api::Failure;
use tabwire_cdp::websocket::{ByteStream, serve};
use tabwire_cdp::{CloseFrame, FrameSource, ReceivedFrame};

use crate::chat::socket::{self, ChatPage};
use crate::daemon::Daemon;
use crate::dashboard::line::PLACE;
use crate::endpoint::cdp::{accept_key, switching};
use crate::http::server::HttpResponse;
use crate::limits::{HANDSHAKE_DEADLINE, UNAUTHENTICATED_BYTES};

/// How often the key is checked again.
const CHECK: Duration = Duration::from_secs(3);

/// The first message of a page.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Opening {
    key: String,
}

/// Upgrades to a websocket. Everything else waits for the key.
pub(super) fn accept(daemon: &Arc<Daemon>, mut request: Request<Incoming>) -> Result<HttpResponse, Failure> {
    let accept = accept_key(&request)?;
    let (daemon, peer) = (Arc::clone(daemon), daemon.extensions.unauthenticated().enter());
    let upgrade = hyper::upgrade::on(&mut request);
    let tasks = daemon.tasks.clone();
    tasks.start("dashboard-chats", async move {
        let upgraded = match upgrade.await {
            Ok(upgraded) => upgraded,
            Err(error) => return tracing::debug!(%error, "a websocket upgrade failed"),
        };
        let stream: Box<dyn ByteStream> = Box::new(TokioIo::new(upgraded));
        let (mut source, mut sink) = serve(stream, UNAUTHENTICATED_BYTES);
        let opening = tokio::select! {
            read = tokio::time::timeout(HANDSHAKE_DEADLINE, read_opening(&mut source)) => read.ok().flatten(),
            () = peer.replaced() => None,
        };
        let known = opening.filter(|opening| daemon.dashboards.connect(&opening.key, Instant::now()).is_ok());
        let Some(Opening { key }) = known else {
            // A message, because a page cannot distinguish every close frame from a broken connection.
            sink.enqueue(BytesMut::from(&br#"{"type":"refused"}"#[..]));
            let _ = tokio::time::timeout(HANDSHAKE_DEADLINE, sink.flush()).await;
            return sink.close_with(CloseFrame::Gone("the key is not valid"));
        };
        peer.authenticated();
        let page = ChatPage { place: PLACE.to_owned(), upstream: "auto".to_owned() };
        let invalid = async {
            while daemon.dashboards.is_valid(&key, Instant::now()) {
                tokio::time::sleep(CHECK).await;
            }
        };
        socket::serve(Arc::clone(&daemon), page, (source, sink), invalid).await;
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
