//! HTTP on socket and port: every request passes the gate, then goes to its handler.

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, header};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tabwire_wire::api::ErrorAnswer;
use tabwire_wire::{ErrorCode, Failure};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::caller::Caller;
use crate::daemon::Daemon;
use crate::gate::{Door, Refusal, Scope, Visit};
use crate::limits::{CONNECTIONS, HEAD_BYTES, HEAD_DEADLINE};
use crate::listener::Visitor;
use crate::port_peer::PortPeer;
use crate::route::Access;

pub(crate) type Answer = Response<BoxBody<Bytes, Infallible>>;

/// Serves one connection until it ends.
pub(crate) async fn serve(daemon: Arc<Daemon>, visitor: Visitor) {
    match visitor {
        Visitor::Socket(stream) => {
            let own = rustix::process::getuid().as_raw();
            match stream.peer_cred() {
                Ok(peer) if peer.uid() == own => {
                    let caller = Caller::at_socket(peer.pid().filter(|_| daemon.scribe.writes()));
                    serve_stream(daemon, stream, Door::Socket, caller, None).await;
                }
                other => tracing::warn!(?other, "another user's connection was refused"),
            }
        }
        Visitor::Port(stream) => {
            let door = Door::Port(daemon.port);
            let peer = Arc::new(daemon.peers.enter());
            let served = serve_stream(daemon, stream, door, Caller::at_port(), Some(Arc::clone(&peer)));
            tokio::select! {
                () = served => {}
                () = peer.replaced() => tracing::debug!("an unproved connection made room for a newer one"),
            }
        }
    }
}

async fn serve_stream<S>(
    daemon: Arc<Daemon>,
    stream: S,
    door: Door,
    caller: Caller,
    peer: Option<Arc<PortPeer>>,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(move |mut request: Request<Incoming>| {
        let (daemon, peer) = (Arc::clone(&daemon), peer.clone());
        request.extensions_mut().insert(caller.clone());
        async move { Ok::<_, Infallible>(guarded(answer(daemon, request, door, peer.as_deref())).await) }
    });
    let served = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_DEADLINE)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades()
        .await;
    if let Err(error) = served {
        tracing::debug!(%error, "a connection ended early");
    }
}

/// A panic in a handler costs that one request (F43).
async fn guarded(answer: impl Future<Output = Answer>) -> Answer {
    match AssertUnwindSafe(answer).catch_unwind().await {
        Ok(answer) => answer,
        Err(panic) => {
            let what = panic
                .downcast_ref::<&str>()
                .map(|text| (*text).to_owned())
                .or_else(|| panic.downcast_ref::<String>().cloned())
                .unwrap_or_default();
            tracing::error!(what, "a handler panicked");
            let failure = Failure::new(ErrorCode::Internal, "Tabwire failed while answering; this is a bug.")
                .with_hint("The session goes on. `tabwire daemon logs` has the details.");
            failed(&failure)
        }
    }
}

async fn answer(
    daemon: Arc<Daemon>,
    request: Request<Incoming>,
    door: Door,
    peer: Option<&PortPeer>,
) -> Answer {
    let visit = Visit {
        method: request.method().as_str(),
        path: request.uri().path(),
        hosts: hosts(&request),
        origin: text(request.headers(), "origin"),
        fetch_site: text(request.headers(), "sec-fetch-site"),
        authorization: text(request.headers(), "authorization"),
        content_type: text(request.headers(), "content-type"),
    };
    match daemon.gate.admit(door, &visit, daemon.as_ref()) {
        Err(refusal) => closing(refused(refusal)),
        Ok(admitted) => {
            let is_proof = !matches!(admitted.scope, Scope::Public | Scope::Extension);
            if is_proof && peer.is_some_and(|peer| !peer.prove()) {
                return closing(too_many());
            }
            let is_last = peer.is_some() && (!is_proof || admitted.route.access == Access::Public);
            let _working = daemon.work.begin();
            let answer = daemon.handle(admitted, request, door).await;
            if is_last { closing(answer) } else { answer }
        }
    }
}

/// Ends the connection after an answer: who has shown nothing is given one answer, and holds no place after it.
fn closing(mut answer: Answer) -> Answer {
    if answer.status() != StatusCode::SWITCHING_PROTOCOLS {
        answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    answer
}

fn too_many() -> Answer {
    let message = format!("{CONNECTIONS} clients are connected to this port, which is the most.");
    let failure = Failure::new(ErrorCode::Busy, message).with_hint("Close one of them, and try again.");
    failed_with(StatusCode::SERVICE_UNAVAILABLE, &failure)
}

/// What a header counts as that is doubled or not text: a value nobody accepts.
const UNACCEPTABLE: &str = "\u{fffd}";

/// Every host the request names, in its headers and, as proxies are asked, in its first line.
fn hosts(request: &Request<Incoming>) -> Vec<&str> {
    let named = request.headers().get_all(header::HOST).iter();
    let named = named.map(|value| value.to_str().unwrap_or(UNACCEPTABLE));
    named.chain(request.uri().authority().map(http::uri::Authority::as_str)).collect()
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    Some(first.to_str().ok().filter(|_| values.next().is_none()).unwrap_or(UNACCEPTABLE))
}

/// A refusal: the same bytes whatever was asked for.
fn refused(refusal: Refusal) -> Answer {
    let failure = match refusal {
        Refusal::Foreign => Failure::new(ErrorCode::PolicyDenied, "This interface is not for web pages."),
        Refusal::Unauthorised => Failure::new(ErrorCode::PolicyDenied, "Nothing here without its secret.")
            .with_hint("Run `tabwire cdp-url` for an address that works."),
        Refusal::NotFound => Failure::new(ErrorCode::UnknownMethod, "There is no such route."),
        Refusal::Method => Failure::new(ErrorCode::BadArgs, "The route does not take this method."),
        Refusal::NotJson => Failure::new(ErrorCode::BadArgs, "The body must be application/json."),
    };
    let status = StatusCode::from_u16(refusal.status()).unwrap_or(StatusCode::FORBIDDEN);
    json(status, &ErrorAnswer { error: failure })
}

/// A failure as an answer; the status follows from its code.
pub(crate) fn failed(failure: &Failure) -> Answer {
    let status = match failure.code {
        ErrorCode::BadArgs => StatusCode::BAD_REQUEST,
        ErrorCode::UnknownMethod | ErrorCode::TabNotFound | ErrorCode::StaleTab => StatusCode::NOT_FOUND,
        ErrorCode::PolicyDenied => StatusCode::FORBIDDEN,
        ErrorCode::Timeout => StatusCode::GATEWAY_TIMEOUT,
        ErrorCode::VersionMismatch => StatusCode::UPGRADE_REQUIRED,
        ErrorCode::Busy => StatusCode::CONFLICT,
        ErrorCode::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        _ => StatusCode::BAD_GATEWAY,
    };
    failed_with(status, failure)
}

/// A failure as an answer with a status of its own.
pub(crate) fn failed_with(status: StatusCode, failure: &Failure) -> Answer {
    json(status, &ErrorAnswer { error: failure.clone() })
}

pub(crate) fn json(status: StatusCode, body: &impl serde::Serialize) -> Answer {
    let text = serde_json::to_vec(body).unwrap_or_default();
    page(status, "application/json", "default-src 'none'", Bytes::from(text))
}

pub(crate) fn page(status: StatusCode, kind: &'static str, policy: &'static str, body: Bytes) -> Answer {
    let mut answer = Response::new(Full::new(body).boxed());
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn f43_a_panicking_handler_costs_one_request() {
        let answer = guarded(async { panic!("as planned") }).await;
        assert_eq!(answer.status(), StatusCode::INTERNAL_SERVER_ERROR);
        let fine = guarded(async { json(StatusCode::OK, &serde_json::json!({})) }).await;
        assert_eq!(fine.status(), StatusCode::OK);
    }
}
