//! The HTTP server on socket and port. Every request passes the gate, then goes to its handler.

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, header};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tabwire_api::api::ErrorResponse;
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use crate::daemon::Daemon;
use crate::http::caller::Caller;
use crate::http::gate::{Refusal, RequestHead, Scope, Transport};
use crate::http::listener::IncomingStream;
use crate::http::listener::PortPeer;
use crate::http::route::Access;
use crate::limits::{CONNECTIONS, HEAD_BYTES, HEAD_DEADLINE};

pub(crate) type HttpResponse = Response<BoxBody<Bytes, Infallible>>;

/// Serves one connection until it ends.
pub(crate) async fn serve(daemon: Arc<Daemon>, stream: IncomingStream) {
    match stream {
        IncomingStream::Socket(stream) => {
            let own = rustix::process::getuid().as_raw();
            // SO_PEERCRED: the kernel notes the peer's uid when it connects; the peer cannot choose it
            // (unix(7)).
            match stream.peer_cred() {
                Ok(peer) if peer.uid() == own => {
                    let caller = Caller::at_socket(peer.pid().filter(|_| daemon.audit.writes()));
                    serve_stream(daemon, stream, Transport::Socket, caller, None).await;
                }
                other => tracing::warn!(?other, "refused a connection of another user"),
            }
        }
        IncomingStream::Port(stream) => {
            let transport = Transport::Port(daemon.port);
            serve_port(daemon, stream, transport).await;
        }
    }
}

/// Serves one connection to the open port of a session until it ends. Boxed, because a request on a connection opens the
/// port that accepts such connections.
pub(crate) fn serve_open_port(
    daemon: Arc<Daemon>,
    stream: IncomingStream,
    port: u16,
) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        if let IncomingStream::Port(stream) = stream {
            serve_port(daemon, stream, Transport::OpenPort(port)).await;
        }
    })
}

async fn serve_port(daemon: Arc<Daemon>, stream: TcpStream, transport: Transport) {
    let peer = Arc::new(daemon.peers.enter());
    let caller = Caller::at_port(stream.peer_addr().ok().zip(stream.local_addr().ok()));
    let served = serve_stream(daemon, stream, transport, caller, Some(Arc::clone(&peer)));
    tokio::select! {
        () = served => {}
        () = peer.replaced() => tracing::debug!("a newer connection replaced an unauthenticated one"),
    }
}

async fn serve_stream<S>(
    daemon: Arc<Daemon>,
    stream: S,
    transport: Transport,
    caller: Caller,
    peer: Option<Arc<PortPeer>>,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(move |mut request: Request<Incoming>| {
        let (daemon, peer) = (Arc::clone(&daemon), peer.clone());
        request.extensions_mut().insert(caller.clone());
        request.extensions_mut().insert(transport);
        async move { Ok::<_, Infallible>(guarded(respond(daemon, request, transport, peer.as_deref())).await) }
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

/// Turns a panic of a handler into a failure of its one request (F43).
async fn guarded(response: impl Future<Output = HttpResponse>) -> HttpResponse {
    match AssertUnwindSafe(response).catch_unwind().await {
        Ok(response) => response,
        Err(panic) => {
            let what = panic
                .downcast_ref::<&str>()
                .map(|text| (*text).to_owned())
                .or_else(|| panic.downcast_ref::<String>().cloned())
                .unwrap_or_default();
            tracing::error!(what, "a handler panicked");
            let failure =
                Failure::new(ErrorCode::Internal, "The handler panicked. This is a bug in Tabwire.")
                    .with_remedy(Remedy::new(
                        "The session goes on. Run {} for the details.",
                        [Step::command("tabwire daemon logs")],
                    ));
            failed(&failure)
        }
    }
}

async fn respond(
    daemon: Arc<Daemon>,
    request: Request<Incoming>,
    transport: Transport,
    peer: Option<&PortPeer>,
) -> HttpResponse {
    let head = RequestHead {
        method: request.method().as_str(),
        path: request.uri().path(),
        hosts: hosts(&request),
        origin: text(request.headers(), "origin"),
        fetch_site: text(request.headers(), "sec-fetch-site"),
        authorization: text(request.headers(), "authorization"),
        content_type: text(request.headers(), "content-type"),
    };
    match daemon.gate.admit(transport, &head, daemon.as_ref()) {
        Err(refusal) => closing(refused(refusal)),
        Ok(admitted) => {
            let is_proof = !matches!(admitted.scope, Scope::Public | Scope::Extension);
            if is_proof && peer.is_some_and(|peer| !peer.prove()) {
                return closing(too_many());
            }
            let is_last = peer.is_some() && (!is_proof || admitted.route.access == Access::Public);
            let _working = daemon.work.begin();
            let response = daemon.handle(admitted, request, transport).await;
            if is_last { closing(response) } else { response }
        }
    }
}

/// Closes the connection after the response: an unauthenticated peer gets one response and then frees its slot.
fn closing(mut response: HttpResponse) -> HttpResponse {
    if response.status() != StatusCode::SWITCHING_PROTOCOLS {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

fn too_many() -> HttpResponse {
    let message = format!("{CONNECTIONS} clients are connected to this port; more are not accepted.");
    let failure = Failure::new(ErrorCode::Busy, message).with_remedy("Close one of them and try again.");
    failed_with(StatusCode::SERVICE_UNAVAILABLE, &failure)
}

/// Stands for a header that is doubled or not text. No check accepts this value.
const UNACCEPTABLE: &str = "\u{fffd}";

/// Every host that the request names: in its Host headers and, as in requests to proxies, in its request line.
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

/// A refusal. Its bytes do not depend on the path.
fn refused(refusal: Refusal) -> HttpResponse {
    let failure = match refusal {
        Refusal::Foreign => {
            Failure::new(ErrorCode::PolicyDenied, "The Host or Origin header is refused: web pages have no access.")
                .with_remedy(
                    "Send no Origin, and as Host `tabwire.local` on the socket, or 127.0.0.1 or localhost with the port.",
                )
        }
        Refusal::Unauthorised => {
            Failure::new(ErrorCode::PolicyDenied, "Unauthorized: the URL lacks the session secret.")
                .with_remedy(Remedy::new(
                    "Run {} for a URL with the secret.",
                    [Step::command("tabwire cdp-url")],
                ))
        }
        Refusal::NotFound => Failure::new(ErrorCode::UnknownMethod, "There is no such route."),
        Refusal::Method => Failure::new(ErrorCode::BadArgs, "The route does not take this method."),
        Refusal::NotJson => Failure::new(ErrorCode::BadArgs, "The body must be application/json."),
    };
    let status = StatusCode::from_u16(refusal.status()).unwrap_or(StatusCode::FORBIDDEN);
    json(status, &ErrorResponse { error: failure })
}

/// A failure as a response. The status follows from its code.
pub(crate) fn failed(failure: &Failure) -> HttpResponse {
    let status = match failure.code {
        ErrorCode::BadArgs => StatusCode::BAD_REQUEST,
        ErrorCode::UnknownMethod | ErrorCode::TabNotFound | ErrorCode::StaleTab => StatusCode::NOT_FOUND,
        ErrorCode::PolicyDenied => StatusCode::FORBIDDEN,
        ErrorCode::Timeout => StatusCode::GATEWAY_TIMEOUT,
        ErrorCode::VersionMismatch | ErrorCode::DaemonOlder => StatusCode::UPGRADE_REQUIRED,
        ErrorCode::Busy => StatusCode::CONFLICT,
        ErrorCode::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        _ => StatusCode::BAD_GATEWAY,
    };
    failed_with(status, failure)
}

/// A failure as a response with this status.
pub(crate) fn failed_with(status: StatusCode, failure: &Failure) -> HttpResponse {
    json(status, &ErrorResponse { error: failure.clone() })
}

pub(crate) fn json(status: StatusCode, body: &impl serde::Serialize) -> HttpResponse {
    let text = serde_json::to_vec(body).unwrap_or_default();
    page(status, "application/json", "default-src 'none'", Bytes::from(text))
}

pub(crate) fn page(
    status: StatusCode,
    kind: &'static str,
    policy: &'static str,
    body: Bytes,
) -> HttpResponse {
    let mut response = Response::new(Full::new(body).boxed());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn f43_a_panic_fails_one_request_only() {
        let response = guarded(async { panic!("as planned") }).await;
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        let fine = guarded(async { json(StatusCode::OK, &serde_json::json!({})) }).await;
        assert_eq!(fine.status(), StatusCode::OK);
    }
}
