//! The HTTP endpoints of the port (`/json/...`), with Chrome's responses, and the WebSocket handshake.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tabwire_api::Failure;
use tabwire_api::api::ErrorResponse;
use tabwire_cdp::discovery::{PAGE_PATH, target_body, version_body};
use tabwire_cdp::limits::CLIENT_MESSAGE_CEILING;
use tabwire_cdp::websocket::{self, handshake_accept};
use tabwire_cdp::{UnauthenticatedPeer, UnauthenticatedPeers};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use super::connection;
use super::http_request::HttpRequest;
use super::page_connection::PageLink;
use super::server::{Finish, PortServer};
use crate::limits::CONNECTIONS;

/// How long a client may take to send the head of its request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(5);

/// Accepts connections until the server stops.
pub(super) async fn serve(server: Arc<PortServer>, listener: TcpListener) {
    let permits = Arc::new(Semaphore::new(CONNECTIONS));
    let unproved = UnauthenticatedPeers::new(CONNECTIONS);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = server.tasks().stopping() => return,
        };
        // The peer may have closed the connection meanwhile.
        let Ok((stream, _)) = accepted else { continue };
        let (shared, permits, peer) = (Arc::clone(&server), Arc::clone(&permits), unproved.enter());
        server.tasks().start("connection", async move { receive(&shared, stream, peer, &permits).await });
    }
}

/// Reads one request and responds. A connection that sends no request is dropped when a newer one needs its slot.
async fn receive(
    server: &Arc<PortServer>,
    mut stream: TcpStream,
    peer: UnauthenticatedPeer,
    permits: &Semaphore,
) {
    let _ = stream.set_nodelay(true);
    let reading = tokio::time::timeout(HEAD_TIMEOUT, HttpRequest::read(&mut stream));
    let request = tokio::select! {
        read = reading => read.ok().flatten(),
        () = peer.replaced() => None,
    };
    let Some(request) = request else { return };
    drop(peer);
    let Ok(_permit) = permits.try_acquire() else {
        return respond(&mut stream, 503, "Too many clients are connected to this port.").await;
    };
    // The query of `/json/new` is a URL, which may contain secrets: it is not logged.
    let path = request.path.split('?').next().unwrap_or_default();
    tracing::debug!(method = request.method, path, "HTTP request");
    if !request.has_loopback_host() {
        return respond(&mut stream, 403, "The Host header must name this machine.").await;
    }
    if request.path == server.path() {
        return upgrade(server, stream, &request, None).await;
    }
    if let Some(target) = request.path.strip_prefix(PAGE_PATH) {
        return upgrade(server, stream, &request, Some(target)).await;
    }
    match find_response(server, &request).await {
        Ok((status, body)) => respond(&mut stream, status, &body).await,
        Err(failure) => {
            respond(&mut stream, 500, &failure.message).await;
            server.finish(Finish::Failed(failure));
        }
    }
}

/// Status and body of a path, as Chrome responds.
async fn find_response(server: &PortServer, request: &HttpRequest) -> Result<(u16, String), Failure> {
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    let (command, target) = match path.strip_prefix("/json") {
        None => return Ok((404, String::new())),
        Some("") => ("list", ""),
        Some(rest) => match rest.strip_prefix('/') {
            Some(rest) => rest.split_once('/').unwrap_or((rest, "")),
            None => return Ok((404, format!("Malformed query: {}", request.path))),
        },
    };
    let host = request.header("host").map_or_else(|| server.authority(), str::to_owned);
    match command {
        "version" => Ok((200, version(server, &host).await?)),
        "list" => Ok((200, list(server, &host).await?)),
        "protocol" => protocol(server).await,
        // PUT only: a web page can send a cross-origin GET with a link or an image.
        "new" if request.method == "PUT" => Ok((200, open_page(server, query, &host).await?)),
        "new" => {
            let verb = &request.method;
            let refusal = format!(
                "Using unsafe HTTP verb {verb} to invoke /json/new. This action supports only PUT verb."
            );
            Ok((405, refusal))
        }
        "activate" | "close" => activate_or_close(server, command, target).await,
        other => Ok((404, format!("Unknown command: {other}"))),
    }
}

async fn version(server: &PortServer, host: &str) -> Result<String, Failure> {
    let version = get_version(server).await?;
    Ok(format!("{:#}", version_body(&version, &server.websocket(host))))
}

async fn get_version(server: &PortServer) -> Result<Value, Failure> {
    let response = server.send_command("Browser.getVersion", json!({})).await?;
    Ok(response.get("result").cloned().unwrap_or_default())
}

/// `/json/protocol`. A failure is reported with status 500 and does not end the shim.
async fn protocol(server: &PortServer) -> Result<(u16, String), Failure> {
    let version = get_version(server).await?;
    let product = version["product"].as_str().unwrap_or_default().to_owned();
    Ok(match server.describe_protocol(product).await {
        Ok(text) => (200, text),
        Err(error) => (500, serde_json::to_string(&ErrorResponse { error }).unwrap_or_default()),
    })
}

async fn list(server: &PortServer, host: &str) -> Result<String, Failure> {
    let revision = revision(&get_version(server).await?);
    let response = server.send_command("Target.getTargets", json!({})).await?;
    let targets =
        response.pointer("/result/targetInfos").and_then(Value::as_array).cloned().unwrap_or_default();
    let entries: Vec<Value> = targets.iter().map(|target| target_body(target, host, &revision)).collect();
    Ok(format!("{:#}", Value::Array(entries)))
}

/// The revision in the URL of the hosted DevTools.
fn revision(version: &Value) -> String {
    version["revision"].as_str().unwrap_or_default().to_owned()
}

async fn open_page(server: &PortServer, query: &str, host: &str) -> Result<String, Failure> {
    let revision = revision(&get_version(server).await?);
    let url = if query.is_empty() { "about:blank" } else { query };
    let response = server.send_command("Target.createTarget", json!({"url": url})).await?;
    let target = response.pointer("/result/targetId").cloned().unwrap_or_default();
    let info = server.send_command("Target.getTargetInfo", json!({"targetId": target})).await?;
    let info = info.pointer("/result/targetInfo").cloned().unwrap_or_default();
    Ok(format!("{:#}", target_body(&info, host, &revision)))
}

async fn activate_or_close(server: &PortServer, verb: &str, target: &str) -> Result<(u16, String), Failure> {
    let (method, done) = match verb {
        "close" => ("Target.closeTarget", "Target is closing"),
        _ => ("Target.activateTarget", "Target activated"),
    };
    let response = server.send_command(method, json!({"targetId": target})).await?;
    Ok(match response.get("error") {
        Some(_) => (404, no_target(target)),
        None => (200, done.to_owned()),
    })
}

fn no_target(target: &str) -> String {
    format!("No such target id: {target}")
}

/// Upgrades a connection to a WebSocket, of the browser or of one page. Like Chrome, refuses requests with an `Origin`
/// header: a web page sent them.
async fn upgrade(server: &Arc<PortServer>, mut stream: TcpStream, request: &HttpRequest, page: Option<&str>) {
    let Some(accept) = handshake_accept(|name| request.header(name)) else {
        return respond(&mut stream, 400, "Expected a WebSocket handshake.").await;
    };
    if request.header("origin").is_some() {
        return respond(&mut stream, 403, "Requests from web pages are refused.").await;
    }
    let link = match page {
        None => None,
        Some(target) => match PageLink::open(server, target).await {
            Ok(Some(link)) => Some(link),
            Ok(None) => return respond(&mut stream, 500, &no_target(target)).await,
            Err(failure) => {
                respond(&mut stream, 500, &failure.message).await;
                return server.finish(Finish::Failed(failure));
            }
        },
    };
    let head = format!(
        "HTTP/1.1 101 WebSocket Protocol Handshake\r\nUpgrade: WebSocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {accept}\r\n\r\n"
    );
    if stream.write_all(head.as_bytes()).await.is_err() {
        return;
    }
    let (source, sink) = websocket::serve(Box::new(stream), CLIENT_MESSAGE_CEILING);
    match link {
        None => connection::serve(server, source, sink).await,
        Some(link) => {
            let _guard = server.register_client();
            link.serve(server, source, sink).await;
        }
    }
}

async fn respond(stream: &mut TcpStream, status: u16, body: &str) {
    let reason = match status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not BrowserOrigin",
        405 => "Method Not Allowed",
        503 => "Service Unavailable",
        _ => "Internal Server Error",
    };
    let head = format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Security-Policy: frame-ancestors 'none'\r\nContent-Length: {}\r\n\
         Content-Type: application/json; charset=UTF-8\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    // Fails only when the client is gone.
    let _ = stream.write_all(head.as_bytes()).await;
    let _ = stream.shutdown().await;
}
