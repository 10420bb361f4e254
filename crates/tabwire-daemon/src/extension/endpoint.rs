//! The websocket endpoint of the extension, and its handshake, in which both sides prove that they know the key. The
//! daemon reveals nothing before that, and uses nothing that the peer sends.

use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use http::{Request, StatusCode};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde_json::json;
use tabwire_api::{ErrorCode, Failure, VERSION};
use tabwire_cdp::limits::BROWSER_MESSAGE_CEILING;
use tabwire_cdp::websocket::{ByteStream, raise_ceiling, serve};
use tabwire_cdp::{CloseFrame, FrameSink, FrameSource, ReceivedFrame, UnauthenticatedPeer};
use tabwire_extension::link_message::{
    BrowserState, Challenge, HandshakeFrame, Hello, PROTOCOL, Rejected, Welcome, find_browser_state,
};
use tabwire_extension::proof::{Handshake, Side, is_valid_id};

use crate::endpoint::cdp::{accept_key, switching};
use crate::extension::browser::Ends;
use crate::extension::key;
use crate::extension::registry::ExtensionRegistry;
use crate::http::server::{HttpResponse, json as json_response};
use crate::http::token::Token;
use crate::limits::{HANDSHAKE_DEADLINE, UNAUTHENTICATED_BYTES};

impl ExtensionRegistry {
    /// Upgrades to a websocket and runs the handshake.
    pub(crate) fn accept(self: &Arc<Self>, mut request: Request<Incoming>) -> Result<HttpResponse, Failure> {
        let accept = accept_key(&request)?;
        let registry = Arc::clone(self);
        let peer = registry.unauthenticated().enter();
        let upgrade = hyper::upgrade::on(&mut request);
        self.tasks().start("extension-upgrade", async move {
            let upgraded = match upgrade.await {
                Ok(upgraded) => upgraded,
                Err(error) => return tracing::debug!(%error, "a websocket upgrade failed"),
            };
            let stream: Box<dyn ByteStream> = Box::new(TokioIo::new(upgraded));
            authenticate(&registry, serve(stream, UNAUTHENTICATED_BYTES), peer, HANDSHAKE_DEADLINE).await;
        });
        Ok(switching(accept))
    }

    /// The extension API: `status`, or `rotate` for a new key.
    pub(crate) async fn handle(&self, verb: Option<&str>, port: u16) -> Result<HttpResponse, Failure> {
        let response = match verb.unwrap_or_default() {
            "status" => {
                key::obtain(self.key_file())?;
                json!({"port": port, "connected": self.list().await})
            }
            "rotate" => {
                key::draw(self.key_file())?;
                json!({"rotated": true, "dismissed": self.dismiss_all().await})
            }
            other => {
                let message = format!("Unknown extension request `{other}`.");
                return Err(Failure::new(ErrorCode::UnknownMethod, message));
            }
        };
        Ok(json_response(StatusCode::OK, &response))
    }
}

/// Runs the handshake until the deadline, or until a newer connection replaces this one.
async fn authenticate(
    registry: &ExtensionRegistry,
    ends: Ends,
    peer: UnauthenticatedPeer,
    deadline: Duration,
) {
    let accepted = tokio::select! {
        done = tokio::time::timeout(deadline, handshake(registry, ends, &peer)) => done.ok().flatten(),
        () = peer.replaced() => None,
    };
    match accepted {
        Some((hello, present, ends)) => {
            tracing::info!(install = %hello.install, product = %hello.browser.product, "an extension is connected");
            registry.arrived(&hello, present, ends).await;
        }
        None => tracing::info!("the handshake of an extension failed"),
    }
}

/// Runs the handshake; `None` when a side does not know the key. Large messages are accepted after it.
async fn handshake(
    registry: &ExtensionRegistry,
    mut ends: Ends,
    peer: &UnauthenticatedPeer,
) -> Option<(Hello, BrowserState, Ends)> {
    let Some(hello) = check_proofs(registry, &mut ends).await else {
        ends.1.close_with(CloseFrame::Done);
        return None;
    };
    peer.authenticated();
    let (mut source, mut sink) = raise_ceiling(ends, BROWSER_MESSAGE_CEILING)?;
    if hello.protocol != PROTOCOL {
        write(&mut sink, &HandshakeFrame::Rejected(other_protocol(&hello))).await?;
        sink.close_with(CloseFrame::Done);
        return None;
    }
    let welcome = Welcome { version: VERSION.to_owned() };
    write(&mut sink, &HandshakeFrame::Welcome(welcome)).await?;
    let present = find_browser_state(&next(&mut source).await?)?;
    Some((hello, present, (source, sink)))
}

/// Proves that we know the key, and checks the extension's proof.
async fn check_proofs(registry: &ExtensionRegistry, (source, sink): &mut Ends) -> Option<Hello> {
    let key = key::as_pairing(&key::obtain(registry.key_file()).ok()?)?;
    let HandshakeFrame::Hello(hello) = read(source).await? else { return None };
    if !is_valid_id(&hello.install) || !is_valid_id(&hello.nonce) {
        return None;
    }
    // A new nonce per handshake makes a recorded proof useless.
    let nonce = Token::draw().ok()?;
    let greeting =
        Handshake { install: &hello.install, extension_nonce: &hello.nonce, daemon_nonce: nonce.expose() };
    let proof = key.proof(Side::Daemon, &greeting);
    let challenge = Challenge { nonce: nonce.expose().to_owned(), proof };
    write(sink, &HandshakeFrame::Challenge(challenge)).await?;
    let HandshakeFrame::Proof(shown) = read(source).await? else { return None };
    key.verify(Side::Extension, &greeting, &shown).then_some(hello)
}

/// The message for an authenticated extension with another protocol version.
fn other_protocol(hello: &Hello) -> Rejected {
    let message = format!(
        "This extension (version {}) and Tabwire {VERSION} use different protocols. Run `tabwire extension install`, \
         then reload the extension at chrome://extensions.",
        hello.version
    );
    Rejected { code: ErrorCode::VersionMismatch.as_str().to_owned(), message }
}

async fn next(source: &mut FrameSource) -> Option<BytesMut> {
    match source.next().await {
        Ok(Some(ReceivedFrame::Frame(frame))) => Some(frame),
        _ => None,
    }
}

async fn read(source: &mut FrameSource) -> Option<HandshakeFrame> {
    serde_json::from_slice(&next(source).await?).ok()
}

async fn write(sink: &mut FrameSink, frame: &HandshakeFrame) -> Option<()> {
    sink.enqueue(BytesMut::from(serde_json::to_vec(frame).ok()?.as_slice()));
    sink.flush().await.ok()
}
