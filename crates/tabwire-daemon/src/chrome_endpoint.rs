//! Where programs that stand in for a browser come in: a stream that is upgraded, on which descriptors can be passed.

use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags};
use tabwire_wire::api::{CHROME_UPGRADE, ChromeOpening, ChromeWord};
use tabwire_wire::{ErrorCode, Failure};
use tokio::io::{AsyncWriteExt, Interest};
use tokio::net::UnixStream;

use crate::chrome_guest::ChromeGuest;
use crate::daemon::Daemon;
use crate::handler::caller_of;
use crate::limits::{BODY_DEADLINE, CHROME_OPENING_BYTES};
use crate::server::Answer;

/// What a stand-in wants, and the descriptors that came with it.
#[derive(Debug)]
pub(crate) struct Opening {
    pub(crate) wish: ChromeOpening,
    pub(crate) descriptors: Vec<OwnedFd>,
}

impl Daemon {
    /// Upgrades a request to a stand-in's stream.
    pub(crate) fn accept_chrome(self: &Arc<Self>, mut request: Request<Incoming>) -> Result<Answer, Failure> {
        let asked = request.headers().get(header::UPGRADE).and_then(|value| value.to_str().ok());
        if asked != Some(CHROME_UPGRADE) {
            let message = "This address is for programs that stand in for a browser.";
            return Err(Failure::new(ErrorCode::BadArgs, message).with_hint("Run `tabwire chrome`."));
        }
        let caller = caller_of(&request);
        let upgrade = hyper::upgrade::on(&mut request);
        let daemon = Arc::clone(self);
        self.tasks.start("chrome", async move {
            let upgraded = match upgrade.await {
                Ok(upgraded) => upgraded,
                Err(error) => return tracing::debug!(%error, "a stand-in's stream was not opened"),
            };
            // Descriptors can be passed on the socket only, and nothing has been read ahead: its other end waits.
            match upgraded.downcast::<TokioIo<UnixStream>>() {
                Ok(parts) if parts.read_buf.is_empty() => {
                    daemon.serve_chrome(parts.io.into_inner(), caller).await;
                }
                _ => tracing::warn!("a stand-in did not come over the socket, or did not wait for its turn"),
            }
        });
        let mut answer = Response::new(Full::new(Bytes::new()).boxed());
        *answer.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        let headers = answer.headers_mut();
        headers.insert(header::UPGRADE, HeaderValue::from_static(CHROME_UPGRADE));
        headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
        Ok(answer)
    }

    /// Serves a stand-in from its first word to its end.
    async fn serve_chrome(self: &Arc<Self>, mut stream: UnixStream, caller: crate::caller::Caller) {
        let _seat = self.guests.seat();
        tell(&mut stream, &ChromeWord::Ready {}).await;
        let opening = match tokio::time::timeout(BODY_DEADLINE, receive_opening(&stream)).await {
            Ok(Ok(opening)) => opening,
            Ok(Err(failure)) => return tell(&mut stream, &ChromeWord::Failed(failure)).await,
            Err(_) => return tracing::debug!("a stand-in did not say what it wants"),
        };
        match ChromeGuest::open(self, opening, caller).await {
            Ok((guest, opened)) => {
                tell(&mut stream, &ChromeWord::Opened(opened)).await;
                if let Some(end) = guest.stay(&stream).await {
                    tell(&mut stream, &ChromeWord::Ended(end)).await;
                }
            }
            Err(failure) => tell(&mut stream, &ChromeWord::Failed(failure)).await,
        }
    }
}

/// Waits until the other end has closed the stream; nothing else is expected of it.
pub(crate) async fn hung_up(stream: &UnixStream) {
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

/// Reads the opening's line and takes the descriptors that come with it.
async fn receive_opening(stream: &UnixStream) -> Result<Opening, Failure> {
    let wrong = |what: String| Failure::new(ErrorCode::BadArgs, what);
    let mut line = Vec::new();
    let mut descriptors = Vec::new();
    while line.last() != Some(&b'\n') {
        let received = stream.async_io(Interest::READABLE, || receive(stream, &mut descriptors)).await;
        match received {
            Ok(bytes) if !bytes.is_empty() && line.len() < CHROME_OPENING_BYTES => line.extend(bytes),
            Ok(_) => return Err(wrong("A stand-in's opening is cut short or too long.".to_owned())),
            Err(error) => return Err(wrong(format!("A stand-in's opening cannot be read: {error}."))),
        }
    }
    let wish = serde_json::from_slice(&line)
        .map_err(|error| wrong(format!("A stand-in's opening is not understood: {error}.")))?;
    Ok(Opening { wish, descriptors })
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
                rustix::io::fcntl_setfd(&descriptor, rustix::io::FdFlags::CLOEXEC)?;
                descriptors.push(descriptor);
            }
        }
    }
    buffer.truncate(received.bytes);
    Ok(buffer)
}

/// One line for the other end; whoever has gone meanwhile is noticed by the reader.
async fn tell(stream: &mut UnixStream, word: &ChromeWord) {
    if let Ok(mut line) = serde_json::to_vec(word) {
        line.push(b'\n');
        let _ = stream.write_all(&line).await;
    }
}
