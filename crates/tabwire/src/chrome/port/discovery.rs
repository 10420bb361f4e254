//! The door of the port: discovery over HTTP as Chrome answers it, and the handshake that makes a visitor a CDP client.

use std::sync::Arc;

use base64::Engine as _;
use serde_json::{Value, json};
use tabwire_cdp::limits::CLIENT_MESSAGE_CEILING;
use tabwire_cdp::websocket::{ByteStream, split, stream_config, stream_limits};
use tabwire_wire::Failure;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio_websockets::ServerBuilder;

use super::connection;
use super::http_request::HttpRequest;
use super::steward::{Finish, Steward};
use crate::limits::{CHROME_CONNECTIONS, CHROME_HEAD_DEADLINE};

/// The suffix every websocket handshake hashes with its key (RFC 6455).
const WEBSOCKET_SUFFIX: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// Answers visitors for as long as the port is served.
pub(super) async fn serve(steward: Arc<Steward>, listener: TcpListener) {
    let places = Arc::new(tokio::sync::Semaphore::new(CHROME_CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = steward.tasks().stopping() => return,
        };
        // A visitor that is gone again is nobody's problem.
        let Ok((stream, _)) = accepted else { continue };
        let host = Arc::clone(&steward);
        steward.tasks().start("visitor", async move {
            receive(&host, stream).await;
            drop(place);
        });
    }
}

async fn receive(steward: &Arc<Steward>, mut stream: TcpStream) {
    let _ = stream.set_nodelay(true);
    let reading = tokio::time::timeout(CHROME_HEAD_DEADLINE, HttpRequest::read(&mut stream));
    let Ok(Some(request)) = reading.await else { return };
    if !request.names_this_machine() {
        return answer(&mut stream, "403 Forbidden", "Only this machine is answered.").await;
    }
    if request.path == steward.path() {
        return upgrade(steward, stream, &request).await;
    }
    match find_answer(steward, &request).await {
        Some(Ok(body)) => answer(&mut stream, "200 OK", &body).await,
        Some(Err(failure)) => {
            answer(&mut stream, "500 Internal Server Error", &failure.message).await;
            steward.finish(Finish::Failed(failure));
        }
        None => answer(&mut stream, "404 Not Found", "There is nothing at this address.").await,
    }
}

/// What is at a path of `/json`; nothing at any other.
async fn find_answer(steward: &Steward, request: &HttpRequest) -> Option<Result<String, Failure>> {
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    let words: Vec<&str> = path.trim_matches('/').split('/').collect();
    // Chrome takes these with PUT only, so that no web page can cause them with a link or a picture.
    let may_change = request.method == "PUT";
    match words.as_slice() {
        ["json", "version"] => Some(version(steward).await),
        ["json"] | ["json", "list"] => Some(list(steward).await),
        ["json", "new"] if may_change => Some(open_page(steward, query).await),
        ["json", verb @ ("activate" | "close"), target] if may_change => {
            Some(change(steward, verb, target).await)
        }
        _ => None,
    }
}

async fn version(steward: &Steward) -> Result<String, Failure> {
    let answer = steward.ask("Browser.getVersion", json!({})).await?;
    let version = answer.get("result").cloned().unwrap_or_default();
    let body = json!({
        "Browser": version["product"],
        "Protocol-Version": version["protocolVersion"],
        "User-Agent": version["userAgent"],
        "V8-Version": version["jsVersion"],
        "WebKit-Version": version["revision"],
        "webSocketDebuggerUrl": steward.websocket(),
    });
    Ok(format!("{body:#}"))
}

async fn list(steward: &Steward) -> Result<String, Failure> {
    let answer = steward.ask("Target.getTargets", json!({})).await?;
    let targets =
        answer.pointer("/result/targetInfos").and_then(Value::as_array).cloned().unwrap_or_default();
    let pages = targets.iter().filter(|target| target["type"] == "page");
    let entries: Vec<Value> = pages.map(|target| entry(steward, target)).collect();
    Ok(format!("{:#}", Value::Array(entries)))
}

/// All pages are reached through the one websocket of the browser.
fn entry(steward: &Steward, target: &Value) -> Value {
    json!({
        "description": "",
        "id": target["targetId"],
        "title": target["title"],
        "type": target["type"],
        "url": target["url"],
        "webSocketDebuggerUrl": steward.websocket(),
    })
}

async fn open_page(steward: &Steward, query: &str) -> Result<String, Failure> {
    let address = if query.is_empty() { "about:blank" } else { query };
    let answer = steward.ask("Target.createTarget", json!({"url": address})).await?;
    let target = answer.pointer("/result/targetId").cloned().unwrap_or_default();
    let info = steward.ask("Target.getTargetInfo", json!({"targetId": target})).await?;
    let info = info.pointer("/result/targetInfo").cloned().unwrap_or_default();
    Ok(format!("{:#}", entry(steward, &info)))
}

async fn change(steward: &Steward, verb: &str, target: &str) -> Result<String, Failure> {
    let (method, done) = match verb {
        "close" => ("Target.closeTarget", "Target is closing"),
        _ => ("Target.activateTarget", "Target activated"),
    };
    let answer = steward.ask(method, json!({"targetId": target})).await?;
    Ok(if answer.get("error").is_some() { format!("No such target id: {target}") } else { done.to_owned() })
}

/// Makes a visitor a client. One that a web page sent says so with an Origin, and is refused as Chrome refuses it.
async fn upgrade(steward: &Arc<Steward>, mut stream: TcpStream, request: &HttpRequest) {
    let Some(key) = request.websocket_key() else {
        return answer(&mut stream, "400 Bad Request", "This address speaks CDP over a websocket.").await;
    };
    if request.header("origin").is_some() {
        return answer(&mut stream, "403 Forbidden", "A web page may not drive this browser.").await;
    }
    let digest = sha1_smol::Sha1::from(format!("{key}{WEBSOCKET_SUFFIX}")).digest().bytes();
    let accept = base64::engine::general_purpose::STANDARD.encode(digest);
    let head = format!(
        "HTTP/1.1 101 WebSocket Protocol Handshake\r\nUpgrade: WebSocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {accept}\r\n\r\n"
    );
    if stream.write_all(head.as_bytes()).await.is_err() {
        return;
    }
    let stream: Box<dyn ByteStream> = Box::new(stream);
    let socket = ServerBuilder::new()
        .config(stream_config())
        .limits(stream_limits(CLIENT_MESSAGE_CEILING))
        .serve(stream);
    let (source, sink) = split(socket);
    connection::serve(steward, source, sink).await;
}

async fn answer(stream: &mut TcpStream, status: &str, body: &str) {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Security-Policy: frame-ancestors 'none'\r\nContent-Length: {}\r\n\
         Content-Type: application/json; charset=UTF-8\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    // Whoever has gone meanwhile misses nothing.
    let _ = stream.write_all(head.as_bytes()).await;
    let _ = stream.shutdown().await;
}
