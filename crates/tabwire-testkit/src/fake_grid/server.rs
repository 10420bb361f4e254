//! The HTTP and websocket server of a fake Grid.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout_at};

use super::state::State;
use super::{GridFault, GridOptions};
use crate::fake_browser::{ConnectionId, serve_connection};
use crate::http_request::HttpRequest;
use crate::websocket;

/// The time between two looks for idle sessions.
const IDLE_CHECK: Duration = Duration::from_millis(50);

/// The Grid that all connections share.
#[derive(Debug)]
struct Grid {
    state: Mutex<State>,
    /// Woken when a slot may be free.
    changed: Notify,
    options: GridOptions,
    /// The header that every request needs.
    authorization: Option<String>,
}

/// Status and body; `None` closes the connection without a response.
type Reply = Option<(u16, Value)>;

impl Grid {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self) {
        self.changed.notify_waiters();
    }
}

/// Serves a fake Grid until the listener fails.
pub async fn serve(options: GridOptions, listener: TcpListener) -> io::Result<()> {
    let authorization =
        options.credentials.as_ref().map(|words| format!("Basic {}", base64(words.as_bytes())));
    let state = Mutex::new(State::new(options.clone()));
    let grid = Arc::new(Grid { state, changed: Notify::new(), options, authorization });
    let mut connections = JoinSet::new();
    let mut next = 1;
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let (stream, _) = accepted?;
                connections.spawn(welcome(Arc::clone(&grid), ConnectionId(next), stream));
                next += 1;
            }
            Some(_) = connections.join_next() => {}
            () = sleep(IDLE_CHECK) => {
                grid.state().end_idle();
                grid.wake();
            }
        }
    }
}

async fn welcome(grid: Arc<Grid>, connection: ConnectionId, stream: TcpStream) {
    let _ = stream.set_nodelay(true);
    let (input, mut output) = stream.into_split();
    let mut input = BufReader::new(input);
    while let Ok(Some(request)) = HttpRequest::read(&mut input).await {
        let is_allowed = grid
            .authorization
            .as_deref()
            .is_none_or(|wanted| request.header("authorization") == Some(wanted));
        if request.websocket_key().is_some() && is_allowed {
            return upgrade(&grid, connection, &request, (input, output)).await;
        }
        let reply = if is_allowed || request.path.starts_with("/fake/") {
            respond(&grid, &request).await
        } else {
            Some((401, json!({})))
        };
        let Some((status, body)) = reply else { return };
        let body = body.to_string();
        let head = format!(
            "HTTP/1.1 {status} X\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        if output.write_all(format!("{head}{body}").as_bytes()).await.is_err() {
            return;
        }
    }
}

async fn upgrade(
    grid: &Grid,
    connection: ConnectionId,
    request: &HttpRequest,
    (input, mut output): (BufReader<OwnedReadHalf>, OwnedWriteHalf),
) {
    let id = request.path.split('/').nth(2).unwrap_or_default().to_owned();
    let is_dead = grid.state().take_fault(|fault| *fault == GridFault::DeadWebsocket).is_some();
    let found = grid.state().sessions.get_mut(&id).map(|session| {
        session.connections += 1;
        (Arc::clone(&session.hub), session.ended.subscribe())
    });
    let Some((hub, mut ended)) = found.filter(|_| !is_dead) else {
        let _ = output.write_all(b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n").await;
        return;
    };
    let head = websocket::accept_head(request.websocket_key().unwrap_or_default());
    if output.write_all(head.as_bytes()).await.is_err() {
        return;
    }
    tokio::select! {
        () = serve_connection(&hub, connection, input, output) => {}
        () = hub.exited() => {}
        _ = ended.wait_for(|ended| *ended) => {}
    }
    if let Some(session) = grid.state().sessions.get_mut(&id) {
        session.connections -= 1;
    }
}

async fn respond(grid: &Grid, request: &HttpRequest) -> Reply {
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let parts: Vec<&str> = request.path.split('/').skip(1).collect();
    match (request.method.as_str(), parts.as_slice()) {
        ("POST", ["session"]) if !has_charset(request) => {
            Some((500, json!({"value": {"error": "unknown error", "message": "no charset"}})))
        }
        ("POST", ["session"]) => create(grid, &body).await,
        ("GET", ["status"]) => Some((200, grid.state().status())),
        ("GET", ["se", "grid", "newsessionqueue", "queue"]) => Some((200, grid.state().queue())),
        (_, ["session", id, rest @ ..]) => Some(on_session(grid, (request.method.as_str(), rest), id, &body)),
        ("GET", ["fake", "counts"]) => Some((200, grid.state().counts())),
        ("POST", ["fake", "fault"]) => Some(add_fault(grid, body)),
        ("POST", ["fake", "kill-node", node]) => {
            grid.state().kill_node(node.parse().unwrap_or_default());
            grid.wake();
            Some((200, json!({})))
        }
        _ => Some((404, json!({"value": {"error": "unknown command", "message": "no such route"}}))),
    }
}

fn has_charset(request: &HttpRequest) -> bool {
    request.header("content-type").is_some_and(|kind| kind.contains("charset=utf-8"))
}

async fn create(grid: &Grid, body: &Value) -> Reply {
    let not_created = |message: &str| {
        Some((500, json!({"value": {"error": "session not created", "message": message, "stacktrace": ""}})))
    };
    let wanted = body.get("capabilities").cloned().unwrap_or_default();
    if grid.state().take_fault(|fault| *fault == GridFault::Refuse).is_some() {
        return not_created(
            "Could not start a new session. Chrome failed to start: exited normally.\nBuild info",
        );
    }
    let ticket = grid.state().enqueue(wanted);
    let deadline = Instant::now() + grid.options.request_timeout;
    let id = loop {
        let mut changed = std::pin::pin!(grid.changed.notified());
        changed.as_mut().enable();
        if let Some(id) = grid.state().try_create(ticket) {
            break id;
        }
        if timeout_at(deadline, changed).await.is_err() {
            grid.state().dequeue(ticket);
            return not_created("Could not start a new session. New session request timed out");
        }
    };
    grid.wake();
    let slow = grid.state().take_fault(|fault| matches!(fault, GridFault::Slow { .. }));
    if let Some(GridFault::Slow { milliseconds }) = slow {
        sleep(Duration::from_millis(milliseconds)).await;
    }
    let mut state = grid.state();
    if state.take_fault(|fault| *fault == GridFault::LoseResponse).is_some() {
        return None;
    }
    let has_cdp = state.take_fault(|fault| *fault == GridFault::NoCdp).is_none();
    Some((200, json!({"value": {"sessionId": id, "capabilities": state.capabilities(&id, has_cdp)}})))
}

fn on_session(grid: &Grid, command: (&str, &[&str]), id: &str, body: &Value) -> (u16, Value) {
    let mut state = grid.state();
    let gone = || (404, json!({"value": {"error": "invalid session id", "message": "no such session"}}));
    if command == ("DELETE", &[]) {
        if state.take_fault(|fault| *fault == GridFault::FailRelease).is_some() {
            return (500, json!({"value": {"error": "unknown error", "message": "not now"}}));
        }
        let deleted = state.delete(id);
        drop(state);
        grid.wake();
        return if deleted { (200, json!({"value": null})) } else { gone() };
    }
    let Some(session) = state.sessions.get_mut(id) else { return gone() };
    session.used = std::time::Instant::now();
    match command {
        ("GET", ["timeouts"]) => {
            (200, json!({"value": {"implicit": 0, "pageLoad": 300_000, "script": 30_000}}))
        }
        ("POST", ["se", "file"]) if body.get("file").is_some_and(Value::is_string) => {
            session.uploads += 1;
            (200, json!({"value": format!("/tmp/upload-{}/file", session.uploads)}))
        }
        _ => (404, json!({"value": {"error": "unknown command", "message": "no such command"}})),
    }
}

fn add_fault(grid: &Grid, mut body: Value) -> (u16, Value) {
    let times = body.as_object_mut().and_then(|members| members.remove("times"));
    let times = times.and_then(|times| times.as_u64()).and_then(|times| usize::try_from(times).ok());
    match serde_json::from_value::<GridFault>(body) {
        Ok(fault) => {
            grid.state().add_fault(fault, times.unwrap_or(1));
            (200, json!({}))
        }
        Err(error) => (400, json!({"error": error.to_string()})),
    }
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let letter = |bits: u32| char::from(LETTERS[usize::try_from(bits & 63).unwrap_or_default()]);
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let all = chunk.iter().chain([0; 2].iter()).take(3).fold(0, |all, byte| all << 8 | u32::from(*byte));
        let letters = [all >> 18, all >> 12, all >> 6, all].map(letter);
        text.extend(letters.iter().take(chunk.len() + 1));
        text.extend(std::iter::repeat_n('=', 3 - chunk.len()));
    }
    text
}
