//! Where the extension of the user's own browser dials in: the greeting, in which both sides prove that they know the
//! key, and what the user asks about it. Nothing is told to a visitor that has not proved itself, and nothing it says
//! is used.

use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use http::{Request, StatusCode};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde_json::json;
use tabwire_cdp::limits::BROWSER_MESSAGE_CEILING;
use tabwire_cdp::websocket::{ByteStream, raise_ceiling, serve};
use tabwire_cdp::{Farewell, FrameSink, FrameSource, Framed, UnprovedPeer};
use tabwire_extension::link_message::{
    Challenge, Goodbye, GreetingFrame, Hello, PROTOCOL, Present, Welcome, find_present,
};
use tabwire_extension::proof::{Greeting, Side, is_name};
use tabwire_wire::{ErrorCode, Failure, VERSION};

use crate::cdp_endpoint::{accept_key, switching};
use crate::daemon::Daemon;
use crate::extension_browser::Ends;
use crate::extension_desk::ExtensionDesk;
use crate::extension_key;
use crate::limits::{GREETING_DEADLINE, UNPROVED_BYTES};
use crate::server::{Answer, json as json_answer};
use crate::token::Token;

impl Daemon {
    /// Upgrades to a websocket and greets.
    pub(crate) fn accept_extension(&self, mut request: Request<Incoming>) -> Result<Answer, Failure> {
        let accept = accept_key(&request)?;
        let desk = Arc::clone(&self.extensions);
        let peer = desk.unproved().enter();
        let upgrade = hyper::upgrade::on(&mut request);
        self.tasks.start("extension-upgrade", async move {
            let upgraded = match upgrade.await {
                Ok(upgraded) => upgraded,
                Err(error) => return tracing::debug!(%error, "a websocket was not opened"),
            };
            let stream: Box<dyn ByteStream> = Box::new(TokioIo::new(upgraded));
            receive(&desk, serve(stream, UNPROVED_BYTES), peer, GREETING_DEADLINE).await;
        });
        Ok(switching(accept))
    }

    /// What the user asks about the extension: `status`, or `rotate` for a new key.
    pub(crate) async fn extension_request(&self, verb: Option<&str>) -> Result<Answer, Failure> {
        let desk = &self.extensions;
        let told = match verb.unwrap_or_default() {
            "status" => {
                extension_key::obtain(desk.key_file())?;
                json!({"port": self.port, "connected": desk.list().await})
            }
            "rotate" => {
                extension_key::draw(desk.key_file())?;
                json!({"rotated": true, "dismissed": desk.dismiss_all().await})
            }
            other => {
                let message = format!("`{other}` is not known about the extension.");
                return Err(Failure::new(ErrorCode::UnknownMethod, message));
            }
        };
        Ok(json_answer(StatusCode::OK, &told))
    }
}

/// Greets until the deadline, or until a newer connection takes the place of this one.
async fn receive(desk: &ExtensionDesk, ends: Ends, peer: UnprovedPeer, deadline: Duration) {
    let greeted = tokio::select! {
        greeted = tokio::time::timeout(deadline, greet(desk, ends, &peer)) => greeted.ok().flatten(),
        () = peer.replaced() => None,
    };
    match greeted {
        Some((hello, present, ends)) => {
            tracing::info!(install = %hello.install, product = %hello.browser.product, "an extension is paired");
            desk.arrived(&hello, present, ends).await;
        }
        None => tracing::info!("an extension did not prove itself"),
    }
}

/// Greets an extension; nothing comes of it when either side cannot show that it knows the key. Large messages are
/// taken only once it has.
async fn greet(desk: &ExtensionDesk, mut ends: Ends, peer: &UnprovedPeer) -> Option<(Hello, Present, Ends)> {
    let Some(hello) = check_proofs(desk, &mut ends).await else {
        ends.1.say_goodbye(Farewell::Done);
        return None;
    };
    peer.proved();
    let (mut source, mut sink) = raise_ceiling(ends, BROWSER_MESSAGE_CEILING)?;
    if hello.protocol != PROTOCOL {
        write(&mut sink, &GreetingFrame::Goodbye(other_protocol(&hello))).await?;
        sink.say_goodbye(Farewell::Done);
        return None;
    }
    let welcome = Welcome { version: VERSION.to_owned() };
    write(&mut sink, &GreetingFrame::Welcome(welcome)).await?;
    let present = find_present(&next(&mut source).await?)?;
    Some((hello, present, (source, sink)))
}

/// Shows that we know the key, and has the extension show it.
async fn check_proofs(desk: &ExtensionDesk, (source, sink): &mut Ends) -> Option<Hello> {
    let key = extension_key::as_pairing(&extension_key::obtain(desk.key_file()).ok()?)?;
    let GreetingFrame::Hello(hello) = read(source).await? else { return None };
    if !is_name(&hello.install) || !is_name(&hello.nonce) {
        return None;
    }
    // Drawn for this greeting and forgotten with it, so a proof that was overheard is worth nothing.
    let nonce = Token::draw().ok()?;
    let greeting =
        Greeting { install: &hello.install, extension_nonce: &hello.nonce, daemon_nonce: nonce.expose() };
    let proof = key.proof(Side::Daemon, &greeting);
    let challenge = Challenge { nonce: nonce.expose().to_owned(), proof };
    write(sink, &GreetingFrame::Challenge(challenge)).await?;
    let GreetingFrame::Proof(shown) = read(source).await? else { return None };
    key.is_proved(Side::Extension, &greeting, &shown).then_some(hello)
}

/// What an extension is told that speaks otherwise, once it has shown that it is ours.
fn other_protocol(hello: &Hello) -> Goodbye {
    let message = format!(
        "This extension (version {}) and Tabwire {VERSION} do not understand each other. Run `tabwire extension install`, \
         then reload the extension at chrome://extensions.",
        hello.version
    );
    Goodbye { code: ErrorCode::VersionMismatch.as_str().to_owned(), message }
}

async fn next(source: &mut FrameSource) -> Option<BytesMut> {
    match source.next().await {
        Ok(Some(Framed::Frame(frame))) => Some(frame),
        _ => None,
    }
}

async fn read(source: &mut FrameSource) -> Option<GreetingFrame> {
    serde_json::from_slice(&next(source).await?).ok()
}

async fn write(sink: &mut FrameSink, frame: &GreetingFrame) -> Option<()> {
    sink.enqueue(BytesMut::from(serde_json::to_vec(frame).ok()?.as_slice()));
    sink.flush().await.ok()
}
