//! The door of the port: discovery over HTTP as Chrome answers it, and the handshake that makes a visitor a CDP client.

use std::sync::Arc;

use serde_json::{Value, json};
use tabwire_cdp::discovery::version_body;
use tabwire_cdp::limits::CLIENT_MESSAGE_CEILING;
use tabwire_cdp::websocket::{self, handshake_answer};
use tabwire_cdp::{UnprovedPeer, UnprovedPeers};
use tabwire_wire::Failure;
use tabwire_wire::api::ErrorAnswer;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use super::connection;
use super::http_request::HttpRequest;
use super::page_connection::PageLine;
use super::steward::{Finish, Steward};
use crate::limits::{CHROME_CONNECTIONS, CHROME_HEAD_DEADLINE};

/// What the paths of pages' websockets begin with.
const PAGES: &str = "/devtools/page/";

/// Where the developer tools are on the web; a browser's revision follows.
const DEVTOOLS: &str = "https://chrome-devtools-frontend.appspot.com/serve_rev/";

/// Answers visitors for as long as the port is served.
pub(super) async fn serve(steward: Arc<Steward>, listener: TcpListener) {
    let places = Arc::new(Semaphore::new(CHROME_CONNECTIONS));
    let unproved = UnprovedPeers::new(CHROME_CONNECTIONS);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = steward.tasks().stopping() => return,
        };
        // A visitor that is gone again is nobody's problem.
        let Ok((stream, _)) = accepted else { continue };
        let (host, places, peer) = (Arc::clone(&steward), Arc::clone(&places), unproved.enter());
        steward.tasks().start("visitor", async move { receive(&host, stream, peer, &places).await });
    }
}

/// Reads a visitor's request; one that only holds its connection open makes room for the next.
async fn receive(steward: &Arc<Steward>, mut stream: TcpStream, peer: UnprovedPeer, places: &Semaphore) {
    let _ = stream.set_nodelay(true);
    let reading = tokio::time::timeout(CHROME_HEAD_DEADLINE, HttpRequest::read(&mut stream));
    let request = tokio::select! {
        read = reading => read.ok().flatten(),
        () = peer.replaced() => None,
    };
    let Some(request) = request else { return };
    drop(peer);
    let Ok(_place) = places.try_acquire() else {
        return answer(&mut stream, 503, "Too many clients are connected to this port.").await;
    };
    // Without what follows a question mark, which may be an address with secrets in it.
    let path = request.path.split('?').next().unwrap_or_default();
    tracing::debug!(method = request.method, path, "a visitor asks");
    if !request.names_this_machine() {
        return answer(&mut stream, 403, "Only this machine is answered.").await;
    }
    if request.path == steward.path() {
        return upgrade(steward, stream, &request, None).await;
    }
    if let Some(target) = request.path.strip_prefix(PAGES) {
        return upgrade(steward, stream, &request, Some(target)).await;
    }
    match find_answer(steward, &request).await {
        Ok((status, body)) => answer(&mut stream, status, &body).await,
        Err(failure) => {
            answer(&mut stream, 500, &failure.message).await;
            steward.finish(Finish::Failed(failure));
        }
    }
}

/// What is at a path, and with which status, as Chrome has it.
async fn find_answer(steward: &Steward, request: &HttpRequest) -> Result<(u16, String), Failure> {
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    let (command, target) = match path.strip_prefix("/json") {
        None => return Ok((404, String::new())),
        Some("") => ("list", ""),
        Some(rest) => match rest.strip_prefix('/') {
            Some(rest) => rest.split_once('/').unwrap_or((rest, "")),
            None => return Ok((404, format!("Malformed query: {}", request.path))),
        },
    };
    let host = request.header("host").map_or_else(|| steward.authority(), str::to_owned);
    match command {
        "version" => Ok((200, version(steward, &host).await?)),
        "list" => Ok((200, list(steward, &host).await?)),
        "protocol" => protocol(steward).await,
        // With PUT only, so that no web page can cause it with a link or a picture.
        "new" if request.method == "PUT" => Ok((200, open_page(steward, query, &host).await?)),
        "new" => {
            let verb = &request.method;
            let refusal = format!(
                "Using unsafe HTTP verb {verb} to invoke /json/new. This action supports only PUT verb."
            );
            Ok((405, refusal))
        }
        "activate" | "close" => change(steward, command, target).await,
        other => Ok((404, format!("Unknown command: {other}"))),
    }
}

async fn version(steward: &Steward, host: &str) -> Result<String, Failure> {
    let version = ask_version(steward).await?;
    Ok(format!("{:#}", version_body(&version, &steward.websocket(host))))
}

async fn ask_version(steward: &Steward) -> Result<Value, Failure> {
    let answer = steward.ask("Browser.getVersion", json!({})).await?;
    Ok(answer.get("result").cloned().unwrap_or_default())
}

/// A protocol that cannot be learned is no loss of the browser: that is said, and all goes on.
async fn protocol(steward: &Steward) -> Result<(u16, String), Failure> {
    let version = ask_version(steward).await?;
    let product = version["product"].as_str().unwrap_or_default().to_owned();
    Ok(match steward.describe_protocol(product).await {
        Ok(text) => (200, text),
        Err(error) => (500, serde_json::to_string(&ErrorAnswer { error }).unwrap_or_default()),
    })
}

async fn list(steward: &Steward, host: &str) -> Result<String, Failure> {
    let revision = revision(&ask_version(steward).await?);
    let answer = steward.ask("Target.getTargets", json!({})).await?;
    let targets =
        answer.pointer("/result/targetInfos").and_then(Value::as_array).cloned().unwrap_or_default();
    let entries: Vec<Value> = targets.iter().map(|target| entry(target, host, &revision)).collect();
    Ok(format!("{:#}", Value::Array(entries)))
}

/// The revision a browser was built from, which its developer tools on the web go by.
fn revision(version: &Value) -> String {
    version["revision"].as_str().unwrap_or_default().to_owned()
}

/// A target as the list tells of it.
fn entry(target: &Value, host: &str, revision: &str) -> Value {
    let id = target["targetId"].as_str().unwrap_or_default();
    let kind = target["type"].as_str().unwrap_or_default();
    let tool = if matches!(kind, "service_worker" | "shared_worker") { "worker_app" } else { "inspector" };
    let mut entry = json!({
        "description": "",
        "devtoolsFrontendUrl": format!("{DEVTOOLS}{revision}/{tool}.html?ws={host}{PAGES}{id}"),
        "id": id,
        "title": target["title"],
        "type": kind,
        "url": target["url"],
        "webSocketDebuggerUrl": format!("ws://{host}{PAGES}{id}"),
    });
    if let (Some(opener), Some(members)) =
        (target.get("parentFrameId").or(target.get("openerId")), entry.as_object_mut())
    {
        members.insert("parentId".to_owned(), opener.clone());
    }
    entry
}

async fn open_page(steward: &Steward, query: &str, host: &str) -> Result<String, Failure> {
    let revision = revision(&ask_version(steward).await?);
    let address = if query.is_empty() { "about:blank" } else { query };
    let answer = steward.ask("Target.createTarget", json!({"url": address})).await?;
    let target = answer.pointer("/result/targetId").cloned().unwrap_or_default();
    let info = steward.ask("Target.getTargetInfo", json!({"targetId": target})).await?;
    let info = info.pointer("/result/targetInfo").cloned().unwrap_or_default();
    Ok(format!("{:#}", entry(&info, host, &revision)))
}

async fn change(steward: &Steward, verb: &str, target: &str) -> Result<(u16, String), Failure> {
    let (method, done) = match verb {
        "close" => ("Target.closeTarget", "Target is closing"),
        _ => ("Target.activateTarget", "Target activated"),
    };
    let answer = steward.ask(method, json!({"targetId": target})).await?;
    Ok(match answer.get("error") {
        Some(_) => (404, no_target(target)),
        None => (200, done.to_owned()),
    })
}

fn no_target(target: &str) -> String {
    format!("No such target id: {target}")
}

/// Makes a visitor a client of the browser, or of one page. One that a web page sent says so with an Origin, and is
/// refused as Chrome refuses it.
async fn upgrade(steward: &Arc<Steward>, mut stream: TcpStream, request: &HttpRequest, page: Option<&str>) {
    let Some(accept) = handshake_answer(|name| request.header(name)) else {
        return answer(&mut stream, 400, "This address speaks CDP over a websocket.").await;
    };
    if request.header("origin").is_some() {
        return answer(&mut stream, 403, "A web page may not drive this browser.").await;
    }
    let line = match page {
        None => None,
        Some(target) => match PageLine::open(steward, target).await {
            Ok(Some(line)) => Some(line),
            Ok(None) => return answer(&mut stream, 500, &no_target(target)).await,
            Err(failure) => {
                answer(&mut stream, 500, &failure.message).await;
                return steward.finish(Finish::Failed(failure));
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
    match line {
        None => connection::serve(steward, source, sink).await,
        Some(line) => {
            let _guest = steward.welcome();
            line.serve(steward, source, sink).await;
        }
    }
}

async fn answer(stream: &mut TcpStream, status: u16, body: &str) {
    let reason = match status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        503 => "Service Unavailable",
        _ => "Internal Server Error",
    };
    let head = format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Security-Policy: frame-ancestors 'none'\r\nContent-Length: {}\r\n\
         Content-Type: application/json; charset=UTF-8\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    // Whoever has gone meanwhile misses nothing.
    let _ = stream.write_all(head.as_bytes()).await;
    let _ = stream.shutdown().await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_that_pages_share_have_developer_tools_of_their_own() {
        let told = |kind: &str| {
            let target = json!({"targetId": "T", "type": kind, "title": "", "url": ""});
            entry(&target, "localhost:7", "@abc")["devtoolsFrontendUrl"].as_str().unwrap().to_owned()
        };
        for (kind, tool) in [("page", "inspector"), ("worker", "inspector"), ("shared_worker", "worker_app")]
        {
            assert_eq!(
                told(kind),
                format!("{DEVTOOLS}@abc/{tool}.html?ws=localhost:7/devtools/page/T"),
                "{kind}"
            );
        }
    }
}
