//! The endpoint of Chrome shims: an upgraded stream over which file descriptors are passed.

use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags};
use tabwire_api::api::{CHROME_UPGRADE, ChromeMessage, ChromeOpening};
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tokio::io::{AsyncWriteExt, Interest};
use tokio::net::UnixStream;

use crate::daemon::Daemon;
use crate::endpoint::chrome_connection::ShimConnection;
use crate::http::handler::caller_of;
use crate::http::server::HttpResponse;
use crate::limits::BODY_DEADLINE;

/// Longest opening message of a Chrome shim: a launcher's whole command line.
const SHIM_OPENING_BYTES: usize = 1024 * 1024;

/// The opening message of a Chrome shim, and the descriptors that came with it.
#[derive(Debug)]
pub(crate) struct Opening {
    pub(crate) message: ChromeOpening,
    pub(crate) descriptors: Vec<OwnedFd>,
}

impl Daemon {
    /// Upgrades a request to the stream of a Chrome shim.
    pub(crate) fn accept_shim(
        self: &Arc<Self>,
        mut request: Request<Incoming>,
    ) -> Result<HttpResponse, Failure> {
        let asked = request.headers().get(header::UPGRADE).and_then(|value| value.to_str().ok());
        if asked != Some(CHROME_UPGRADE) {
            let message = "This URL is for Chrome shims.";
            return Err(Failure::new(ErrorCode::BadArgs, message)
                .with_remedy(Remedy::new("Run {}.", [Step::command("tabwire chrome")])));
        }
        let caller = caller_of(&request);
        let upgrade = hyper::upgrade::on(&mut request);
        let daemon = Arc::clone(self);
        self.tasks.start("chrome", async move {
            let upgraded = match upgrade.await {
                Ok(upgraded) => upgraded,
                Err(error) => return tracing::debug!(%error, "the upgrade of a Chrome shim failed"),
            };
            // Descriptors pass over the unix socket only. The shim waits for `Ready`, so hyper has read nothing ahead.
            match upgraded.downcast::<TokioIo<UnixStream>>() {
                Ok(parts) if parts.read_buf.is_empty() => {
                    daemon.serve_shim(parts.io.into_inner(), caller).await;
                }
                _ => tracing::warn!("a Chrome shim used the port, or sent data before it was ready"),
            }
        });
        let mut response = Response::new(Full::new(Bytes::new()).boxed());
        *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        let headers = response.headers_mut();
        headers.insert(header::UPGRADE, HeaderValue::from_static(CHROME_UPGRADE));
        headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
        Ok(response)
    }

    /// Serves a Chrome shim until it ends.
    async fn serve_shim(self: &Arc<Self>, mut stream: UnixStream, caller: crate::http::caller::Caller) {
        let _connected = self.mcp_clients.connect();
        send(&mut stream, &ChromeMessage::Ready {}).await;
        let opening = match tokio::time::timeout(BODY_DEADLINE, receive_opening(&stream)).await {
            Ok(Ok(opening)) => opening,
            Ok(Err(failure)) => return send(&mut stream, &ChromeMessage::Failed(failure)).await,
            Err(_) => return tracing::debug!("a Chrome shim sent no opening message"),
        };
        match ShimConnection::open(self, opening, caller).await {
            Ok((connection, opened)) => {
                send(&mut stream, &ChromeMessage::Opened(opened)).await;
                if let Some(end) = connection.stay(&stream).await {
                    send(&mut stream, &ChromeMessage::Ended(end)).await;
                }
            }
            Err(failure) => send(&mut stream, &ChromeMessage::Failed(failure)).await,
        }
    }
}

/// Waits until the peer has closed the stream. Data is discarded.
pub(crate) async fn closed_by_peer(stream: &UnixStream) {
    let mut buffer = [0; 64];
    loop {
        if stream.readable().await.is_err() {
            return;
        }
        match stream.try_read(&mut buffer) {
            Ok(1..) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Ok(0) | Err(_) => return,
        }
    }
}

/// Whether the peer has closed the stream in both directions, as a killed process does. A shim that ends closes one
/// direction, and waits for the last message.
pub(crate) fn is_hung_up(stream: &UnixStream) -> bool {
    let mut descriptors = [PollFd::new(stream, PollFlags::empty())];
    let polled = rustix::event::poll(&mut descriptors, Some(&Timespec::default()));
    polled.is_ok() && descriptors.iter().any(|polled| polled.revents().contains(PollFlags::HUP))
}

/// Reads the opening line and the descriptors that come with it.
async fn receive_opening(stream: &UnixStream) -> Result<Opening, Failure> {
    let wrong = |what: String| Failure::new(ErrorCode::BadArgs, what);
    let mut line = Vec::new();
    let mut descriptors = Vec::new();
    while line.last() != Some(&b'\n') {
        let received = stream.async_io(Interest::READABLE, || receive(stream, &mut descriptors)).await;
        match received {
            Ok(bytes) if !bytes.is_empty() && line.len() < SHIM_OPENING_BYTES => line.extend(bytes),
            Ok(_) => {
                return Err(wrong(
                    "The opening message of a Chrome shim is cut short or too long.".to_owned(),
                ));
            }
            Err(error) => {
                return Err(wrong(format!("The opening message of a Chrome shim cannot be read: {error}.")));
            }
        }
    }
    let message = serde_json::from_slice(&line)
        .map_err(|error| wrong(format!("The opening message of a Chrome shim is invalid: {error}.")))?;
    Ok(Opening { message, descriptors })
}

fn receive(stream: &UnixStream, descriptors: &mut Vec<OwnedFd>) -> io::Result<Vec<u8>> {
    #[cfg(target_os = "linux")]
    let flags = RecvFlags::CMSG_CLOEXEC;
    #[cfg(not(target_os = "linux"))]
    let flags = RecvFlags::empty();
    let mut buffer = vec![0; 16 * 1024];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let received = rustix::net::recvmsg(stream, &mut [IoSliceMut::new(&mut buffer)], &mut ancillary, flags)?;
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(passed) = message {
            for descriptor in passed {
                // macOS has no `MSG_CMSG_CLOEXEC`: there a child that is started in between inherits the
                // descriptor.
                rustix::io::fcntl_setfd(&descriptor, rustix::io::FdFlags::CLOEXEC)?;
                descriptors.push(descriptor);
            }
        }
    }
    buffer.truncate(received.bytes);
    Ok(buffer)
}

/// Sends one line. A closed stream is noticed by the reader.
async fn send(stream: &mut UnixStream, word: &ChromeMessage) {
    if let Ok(mut line) = serde_json::to_vec(word) {
        line.push(b'\n');
        let _ = stream.write_all(&line).await;
    }
}
