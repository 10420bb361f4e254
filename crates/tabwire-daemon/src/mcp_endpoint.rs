//! Where MCP clients come in: a stream that is upgraded, or HTTP while somebody keeps that door open.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tabwire_mcp::{Connection, HttpDoor};
use tabwire_wire::api::{MCP_UPGRADE, McpOpening, McpTransport};
use tabwire_wire::{ErrorCode, Failure};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};

use crate::caller::Caller;
use crate::daemon::Daemon;
use crate::gate::Scope;
use crate::handler::caller_of;
use crate::limits::{BODY_DEADLINE, OPENING_BYTES};
use crate::mcp_guest::McpGuest;
use crate::mcp_guests::Principal;
use crate::server::{Answer, failed, failed_with};

/// Where a client over HTTP says which one it is.
const SESSION_HEADER: &str = "mcp-session-id";

impl Daemon {
    /// Upgrades a request to an MCP connection.
    pub(crate) fn accept_mcp(self: &Arc<Self>, mut request: Request<Incoming>) -> Result<Answer, Failure> {
        let asked = request.headers().get(header::UPGRADE).and_then(|value| value.to_str().ok());
        if asked != Some(MCP_UPGRADE) {
            let message = "This address becomes an MCP connection; the request does not ask for that.";
            return Err(Failure::new(ErrorCode::BadArgs, message)
                .with_hint("Run `tabwire mcp`, or `tabwire mcp --http` for an address."));
        }
        let caller = caller_of(&request);
        let upgrade = hyper::upgrade::on(&mut request);
        let daemon = Arc::clone(self);
        self.tasks.start("mcp", async move {
            match upgrade.await {
                Ok(upgraded) => daemon.serve_mcp(TokioIo::new(upgraded), caller).await,
                Err(error) => tracing::debug!(%error, "an MCP connection was not opened"),
            }
        });
        let mut answer = Response::new(Full::new(Bytes::new()).boxed());
        *answer.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        let headers = answer.headers_mut();
        headers.insert(header::UPGRADE, HeaderValue::from_static(MCP_UPGRADE));
        headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
        Ok(answer)
    }

    /// Serves a connection from its first line to its end.
    async fn serve_mcp(
        self: &Arc<Self>,
        stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
        caller: Caller,
    ) {
        let _seat = self.guests.seat();
        let (reader, mut writer) = tokio::io::split(stream);
        let mut reader = BufReader::new(reader);
        let opened = match read_opening(&mut reader).await {
            Ok(opening) => self.open_mcp(&opening, caller).map(|connection| (opening, connection)),
            Err(failure) => Err(failure),
        };
        let (opening, connection) = match opened {
            Ok(opened) => opened,
            Err(failure) => return tell(&mut writer, &json!({"failed": failure})).await,
        };
        let serving = async {
            match opening.transport {
                McpTransport::Stdio => {
                    tell(&mut writer, &json!({"ready": true, "tools": connection.list_mark()})).await;
                    tabwire_mcp::serve(Arc::clone(&connection), reader, writer).await;
                }
                McpTransport::Http => self.keep_door(&connection, reader, writer).await,
            }
        };
        tokio::select! {
            () = serving => {}
            // A newer daemon takes over: what the client has stays for it.
            () = self.tasks.stopping() => connection.end(),
        }
    }

    fn open_mcp(self: &Arc<Self>, opening: &McpOpening, caller: Caller) -> Result<Arc<Connection>, Failure> {
        let guest = Arc::new(McpGuest::new(Arc::clone(self), caller, opening)?);
        let connection = Connection::new(guest, opening)?;
        Ok(Arc::new(connection.with_extras(self.config.mcp_extras.clone())))
    }

    /// Keeps the door for clients over HTTP open for as long as the connection lasts.
    async fn keep_door(
        self: &Arc<Self>,
        connection: &Arc<Connection>,
        mut reader: impl AsyncRead + Unpin,
        mut writer: impl AsyncWrite + Unpin,
    ) {
        let (door, mut left) = HttpDoor::open(Arc::clone(connection));
        let secret = match self.guests.open(door) {
            Ok(secret) => secret,
            Err(failure) => return tell(&mut writer, &json!({"failed": failure})).await,
        };
        let address = format!("http://127.0.0.1:{}/{}/mcp", self.port, secret.expose());
        tell(&mut writer, &json!({"ready": true, "address": address})).await;
        let mut nothing = [0_u8; 64];
        loop {
            tokio::select! {
                gone = left.recv() => {
                    if let Some(gone) = gone {
                        self.tasks.start("mcp-leave", async move { gone.leave().await });
                    }
                }
                read = reader.read(&mut nothing) => {
                    if !read.is_ok_and(|count| count > 0) {
                        break;
                    }
                }
            }
        }
        self.guests.close();
        connection.leave().await;
        // Streams end with the door; who came through it has left then.
        let leaving = async {
            while let Some(gone) = left.recv().await {
                gone.leave().await;
            }
        };
        let _ = tokio::time::timeout(BODY_DEADLINE, leaving).await;
    }

    /// Answers a request of a client over HTTP.
    ///
    /// The names that clients go by are our own, long and random, and hold only for the credential that they were given
    /// to (T17).
    pub(crate) async fn answer_mcp(&self, mut request: Request<Bytes>, scope: &Scope) -> Answer {
        let principal = if *scope == Scope::Mcp { Principal::Address } else { Principal::User };
        let Some(door) = self.guests.find_door() else {
            return failed(
                &Failure::new(ErrorCode::UnknownMethod, "MCP is not served over HTTP now.")
                    .with_hint("Run `tabwire mcp --http`."),
            );
        };
        if let Some(presented) = request.headers_mut().remove(SESSION_HEADER) {
            let inside = presented.to_str().ok().and_then(|name| self.guests.find_inside(name, principal));
            match inside.and_then(|inside| HeaderValue::from_str(&inside).ok()) {
                Some(inside) => drop(request.headers_mut().insert(SESSION_HEADER, inside)),
                None => {
                    let failure = Failure::new(ErrorCode::UnknownMethod, "There is no such MCP session.")
                        .with_hint("Send `initialize` again, without a session id.");
                    return failed_with(StatusCode::NOT_FOUND, &failure);
                }
            }
        }
        let mut answer = door.answer(request.map(Full::new)).await;
        if let Some(inside) = answer.headers_mut().remove(SESSION_HEADER) {
            let outside = inside.to_str().ok().and_then(|inside| self.guests.name(inside, principal));
            let outside = outside.and_then(|outside| HeaderValue::from_str(outside.expose()).ok());
            if let Some(outside) = outside {
                answer.headers_mut().insert(SESSION_HEADER, outside);
            }
        }
        answer
    }
}

/// Reads the first line, of bounded size and in bounded time.
async fn read_opening(reader: &mut (impl AsyncBufReadExt + Unpin)) -> Result<McpOpening, Failure> {
    let wrong = |what: String| Failure::new(ErrorCode::BadArgs, what);
    let mut line = Vec::new();
    let mut bounded = reader.take(OPENING_BYTES);
    let reading = bounded.read_until(b'\n', &mut line);
    match tokio::time::timeout(BODY_DEADLINE, reading).await {
        Ok(Ok(_)) if line.ends_with(b"\n") => {}
        _ => return Err(wrong("An MCP connection began without saying what it wants.".to_owned())),
    }
    serde_json::from_slice(&line).map_err(|error| wrong(format!("The connection's first line: {error}.")))
}

/// One line for the other end.
async fn tell(writer: &mut (impl AsyncWrite + Unpin), line: &Value) {
    // Whoever has gone meanwhile is noticed by the reader.
    let _ = writer.write_all(format!("{line}\n").as_bytes()).await;
    let _ = writer.flush().await;
}
