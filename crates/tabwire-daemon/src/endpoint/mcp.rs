//! The endpoint of MCP clients: an upgraded stream, or HTTP while `tabwire mcp --http` runs.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tabwire_api::api::{MCP_UPGRADE, McpOpening, McpTransport};
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_mcp::{Connection, HttpService};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};

use crate::daemon::Daemon;
use crate::endpoint::connections::DisconnectSignal;
use crate::endpoint::mcp_clients::Principal;
use crate::endpoint::mcp_connection::McpConnection;
use crate::http::caller::Caller;
use crate::http::gate::Scope;
use crate::http::handler::caller_of;
use crate::http::server::{HttpResponse, failed, failed_with};
use crate::limits::BODY_DEADLINE;

/// Longest first line of an MCP connection.
const OPENING_BYTES: u64 = 1024 * 1024;

/// The header with the MCP session id of a client over HTTP.
const SESSION_HEADER: &str = "mcp-session-id";

impl Daemon {
    /// Upgrades a request to an MCP connection.
    pub(crate) fn accept_mcp(
        self: &Arc<Self>,
        mut request: Request<Incoming>,
    ) -> Result<HttpResponse, Failure> {
        let asked = request.headers().get(header::UPGRADE).and_then(|value| value.to_str().ok());
        if asked != Some(MCP_UPGRADE) {
            let message = "This URL upgrades to an MCP connection, and the request asks for no upgrade.";
            return Err(Failure::new(ErrorCode::BadArgs, message).with_remedy(Remedy::new(
                "Run {}, or {} for a URL.",
                [Step::command("tabwire mcp"), Step::command("tabwire mcp --http")],
            )));
        }
        let caller = caller_of(&request);
        let upgrade = hyper::upgrade::on(&mut request);
        let daemon = Arc::clone(self);
        self.tasks.start("mcp", async move {
            match upgrade.await {
                Ok(upgraded) => daemon.serve_mcp(TokioIo::new(upgraded), caller).await,
                Err(error) => tracing::debug!(%error, "an MCP upgrade failed"),
            }
        });
        let mut response = Response::new(Full::new(Bytes::new()).boxed());
        *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        let headers = response.headers_mut();
        headers.insert(header::UPGRADE, HeaderValue::from_static(MCP_UPGRADE));
        headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
        Ok(response)
    }

    /// Serves a connection from its first line to its end.
    async fn serve_mcp(
        self: &Arc<Self>,
        stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
        caller: Caller,
    ) {
        let _connected = self.mcp_clients.connect();
        let (reader, mut writer) = tokio::io::split(stream);
        let mut reader = BufReader::new(reader);
        let opened = match read_opening(&mut reader).await {
            Ok(opening) => self.open_mcp(&opening, caller).map(|connection| (opening, connection)),
            Err(failure) => Err(failure),
        };
        let (opening, (connection, signal)) = match opened {
            Ok(opened) => opened,
            Err(failure) => return send(&mut writer, &json!({"failed": failure})).await,
        };
        let serving = async {
            match opening.transport {
                McpTransport::Stdio => {
                    send(&mut writer, &json!({"ready": true, "tools": connection.tool_list_digest()})).await;
                    tabwire_mcp::serve(Arc::clone(&connection), reader, writer).await;
                }
                McpTransport::Http => self.serve_http(&connection, reader, writer).await,
            }
        };
        tokio::select! {
            () = serving => {}
            // A newer daemon takes over and keeps the client's session.
            () = self.tasks.stopping() => connection.end(),
            // Its calls end, and its own session with them. Its next message opens a new connection.
            () = signal.wanted() => connection.leave().await,
        }
    }

    fn open_mcp(
        self: &Arc<Self>,
        opening: &McpOpening,
        caller: Caller,
    ) -> Result<(Arc<Connection>, DisconnectSignal), Failure> {
        let backend = Arc::new(McpConnection::new(Arc::clone(self), caller, opening)?);
        let signal = backend.disconnect_signal();
        let connection = Connection::new(backend, opening)?;
        Ok((Arc::new(connection.with_extras(self.config.mcp_extras.clone())), signal))
    }

    /// Serves clients over HTTP while the connection lasts.
    async fn serve_http(
        self: &Arc<Self>,
        connection: &Arc<Connection>,
        mut reader: impl AsyncRead + Unpin,
        mut writer: impl AsyncWrite + Unpin,
    ) {
        let (service, mut left) = HttpService::open(Arc::clone(connection));
        let secret = match self.mcp_clients.open(service) {
            Ok(secret) => secret,
            Err(failure) => return send(&mut writer, &json!({"failed": failure})).await,
        };
        let address = format!("http://127.0.0.1:{}/{}/mcp", self.port, secret.expose());
        send(&mut writer, &json!({"ready": true, "address": address})).await;
        let mut discarded = [0_u8; 64];
        loop {
            tokio::select! {
                gone = left.recv() => {
                    if let Some(gone) = gone {
                        self.tasks.start("mcp-leave", async move { gone.leave().await });
                    }
                }
                read = reader.read(&mut discarded) => {
                    if !read.is_ok_and(|count| count > 0) {
                        break;
                    }
                }
            }
        }
        self.mcp_clients.close();
        connection.leave().await;
        // The streams end with the endpoint, and their clients leave.
        let leaving = async {
            while let Some(gone) = left.recv().await {
                gone.leave().await;
            }
        };
        let _ = tokio::time::timeout(BODY_DEADLINE, leaving).await;
    }

    /// Handles a request of a client over HTTP.
    ///
    /// Clients see our own session ids, which are random and hold only for the credential that they were given to (T17).
    pub(crate) async fn handle_mcp(&self, mut request: Request<Bytes>, scope: &Scope) -> HttpResponse {
        let principal = if *scope == Scope::Mcp { Principal::Address } else { Principal::User };
        let Some(service) = self.mcp_clients.find_http() else {
            return failed(
                &Failure::new(ErrorCode::UnknownMethod, "MCP is not served over HTTP.")
                    .with_remedy(Remedy::new("Run {}.", [Step::command("tabwire mcp --http")])),
            );
        };
        if let Some(presented) = request.headers_mut().remove(SESSION_HEADER) {
            let inside =
                presented.to_str().ok().and_then(|name| self.mcp_clients.find_inside(name, principal));
            match inside.and_then(|inside| HeaderValue::from_str(&inside).ok()) {
                Some(inside) => drop(request.headers_mut().insert(SESSION_HEADER, inside)),
                None => {
                    let failure = Failure::new(ErrorCode::UnknownMethod, "There is no such MCP session.")
                        .with_remedy("Send `initialize` again, without a session id.");
                    return failed_with(StatusCode::NOT_FOUND, &failure);
                }
            }
        }
        let mut response = service.handle(request.map(Full::new)).await;
        if let Some(inside) = response.headers_mut().remove(SESSION_HEADER) {
            let outside =
                inside.to_str().ok().and_then(|inside| self.mcp_clients.session_id(inside, principal));
            let outside = outside.and_then(|outside| HeaderValue::from_str(outside.expose()).ok());
            if let Some(outside) = outside {
                response.headers_mut().insert(SESSION_HEADER, outside);
            }
        }
        response
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
        _ => return Err(wrong("The MCP connection sent no opening line.".to_owned())),
    }
    serde_json::from_slice(&line).map_err(|error| wrong(format!("The connection's first line: {error}.")))
}

/// Sends one line.
async fn send(writer: &mut (impl AsyncWrite + Unpin), line: &Value) {
    // A closed stream is noticed by the reader.
    let _ = writer.write_all(format!("{line}\n").as_bytes()).await;
    let _ = writer.flush().await;
}
