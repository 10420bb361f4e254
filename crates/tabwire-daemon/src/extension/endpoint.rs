//! The websocket endpoint of the extension, and its handshake, in which both sides prove that they know the key. The
//! daemon reveals nothing before that, and uses nothing that the peer sends.

use std::sync::Arc;

use bytes::BytesMut;
use http::{Request, StatusCode};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde_json::json;
use tabwire_api::{ErrorCode, Failure, VERSION};
use tabwire_cdp::limits::BROWSER_MESSAGE_CEILING;
use tabwire_cdp::websocket::{ByteStream, raise_ceiling, serve};
use tabwire_cdp::{CloseFrame, FrameSink, FrameSource, ReceivedFrame, UnauthenticatedPeer};
use tabwire_engine::plain_line;
use tabwire_extension::link_message::{
    BrowserState, Challenge, HandshakeFrame, Hello, PROTOCOL, Purpose, Rejected, Welcome, find_browser_state,
};
use tabwire_extension::proof::{Handshake, Side, is_valid_id};

use crate::chat::socket::{self, ChatPage};
use crate::daemon::Daemon;
use crate::endpoint::cdp::{accept_key, switching};
use crate::extension::browser::Ends;
use crate::extension::key;
use crate::extension::registry::ExtensionRegistry;
use crate::http::server::{HttpResponse, json as json_response};
use crate::http::token::Token;
use crate::limits::{HANDSHAKE_DEADLINE, UNAUTHENTICATED_BYTES};

/// Longest name of a browser.
const NAME_BYTES: usize = 60;

impl ExtensionRegistry {
    /// Upgrades to a websocket and runs the handshake.
    pub(crate) fn accept(
        self: &Arc<Self>,
        mut request: Request<Incoming>,
        daemon: &Arc<Daemon>,
    ) -> Result<HttpResponse, Failure> {
        let accept = accept_key(&request)?;
        let (registry, daemon) = (Arc::clone(self), Arc::clone(daemon));
        let peer = registry.unauthenticated().enter();
        let upgrade = hyper::upgrade::on(&mut request);
        self.tasks().start("extension-upgrade", async move {
            let upgraded = match upgrade.await {
                Ok(upgraded) => upgraded,
                Err(error) => return tracing::debug!(%error, "a websocket upgrade failed"),
            };
            let stream: Box<dyn ByteStream> = Box::new(TokioIo::new(upgraded));
            authenticate(&registry, daemon, serve(stream, UNAUTHENTICATED_BYTES), peer).await;
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

/// A connection that has proved the key.
enum AuthenticatedPeer {
    Browser(Hello, BrowserState, Ends),
    Panel(Hello, Ends),
}

/// Runs the handshake until the deadline, or until a newer connection replaces this one.
async fn authenticate(
    registry: &ExtensionRegistry,
    daemon: Arc<Daemon>,
    ends: Ends,
    peer: UnauthenticatedPeer,
) {
    // Before the proof, so that a key that is replaced meanwhile ends the panel.
    let mut rotations = registry.rotations();
    let accepted = tokio::select! {
        done = tokio::time::timeout(HANDSHAKE_DEADLINE, handshake(registry, ends, &peer)) => done.ok().flatten(),
        () = peer.replaced() => None,
    };
    match accepted {
        Some(AuthenticatedPeer::Browser(hello, present, ends)) => {
            tracing::info!(install = %hello.install, product = %hello.browser.product, "an extension is connected");
            registry.arrived(&hello, present, ends).await;
        }
        Some(AuthenticatedPeer::Panel(hello, ends)) => {
            tracing::info!(install = %hello.install, "a side panel is connected");
            let page = ChatPage {
                place: format!("the side panel in {}", plain_line(&hello.browser.name, NAME_BYTES)),
                upstream: format!("extension:{}", hello.install),
            };
            let rotated = async { drop(rotations.changed().await) };
            socket::serve(daemon, page, ends, rotated).await;
        }
        None => tracing::info!("the handshake of an extension failed"),
    }
}

/// Runs the handshake; `None` when a side does not know the key. Large messages are accepted after it.
async fn handshake(
    registry: &ExtensionRegistry,
    mut ends: Ends,
    peer: &UnauthenticatedPeer,
) -> Option<AuthenticatedPeer> {
    let Some(hello) = check_proofs(registry, &mut ends).await else {
        ends.1.close_with(CloseFrame::Done);
        return None;
    };
    peer.authenticated();
    if hello.protocol != PROTOCOL {
        write(&mut ends.1, &HandshakeFrame::Rejected(other_protocol(&hello))).await?;
        ends.1.close_with(CloseFrame::Done);
        return None;
    }
    write(&mut ends.1, &HandshakeFrame::Welcome(Welcome { version: VERSION.to_owned() })).await?;
    if hello.purpose == Purpose::Panel {
        return Some(AuthenticatedPeer::Panel(hello, ends));
    }
    let (mut source, sink) = raise_ceiling(ends, BROWSER_MESSAGE_CEILING)?;
    let present = find_browser_state(&next(&mut source).await?)?;
    Some(AuthenticatedPeer::Browser(hello, present, (source, sink)))
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
    let greeting = Handshake {
        install: &hello.install,
        extension_nonce: &hello.nonce,
        daemon_nonce: nonce.expose(),
        purpose: hello.purpose,
    };
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
