//! Clients over HTTP: the SDK's streamable service. The daemon has checked the credentials before.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use http_body_util::combinators::BoxBody;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tabwire_api::{ErrorCode, Failure};
use tokio::sync::mpsc;

use crate::connection::Connection;
use crate::handler::Handler;
use crate::limits::{HTTP_CLIENTS, HTTP_SILENCE};

/// What a request is answered with; may go on for as long as a call does.
pub type HttpAnswer = Response<BoxBody<Bytes, Infallible>>;

/// Where clients that greet wait for a connection of their own, and where they leave.
#[derive(Debug)]
pub(crate) struct HttpClients {
    leaving: mpsc::Sender<Arc<Connection>>,
    count: AtomicUsize,
}

impl HttpClients {
    /// A connection for one more client.
    pub(crate) fn admit(&self, door: &Connection) -> Result<Arc<Connection>, Failure> {
        if self.count.fetch_add(1, Ordering::SeqCst) >= HTTP_CLIENTS {
            self.count.fetch_sub(1, Ordering::SeqCst);
            let message = format!("{HTTP_CLIENTS} clients are served already.");
            return Err(Failure::new(ErrorCode::Backpressure, message).with_remedy("Close one of them."));
        }
        door.another().map(Arc::new).inspect_err(|_| {
            self.count.fetch_sub(1, Ordering::SeqCst);
        })
    }

    /// Has everything of a client ended, by whoever waits at the door.
    pub(crate) fn dismiss(&self, connection: Arc<Connection>) {
        self.count.fetch_sub(1, Ordering::SeqCst);
        connection.end();
        // As many places as clients: there is room. Nobody waits once the door is closed, and then all is ended.
        let _ = self.leaving.try_send(connection);
    }
}

/// A door for clients over HTTP.
#[derive(Clone)]
pub struct HttpDoor {
    service: StreamableHttpService<Handler, LocalSessionManager>,
}

impl std::fmt::Debug for HttpDoor {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("HttpDoor").finish_non_exhaustive()
    }
}

impl HttpDoor {
    /// Opens a door; the stream gives clients that have left, for everything of theirs to be ended.
    #[must_use]
    pub fn open(connection: Arc<Connection>) -> (Self, mpsc::Receiver<Arc<Connection>>) {
        let (leaving, left) = mpsc::channel(HTTP_CLIENTS);
        let http_clients = Arc::new(HttpClients { leaving, count: AtomicUsize::new(0) });
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(HTTP_SILENCE);
        // The gate in front has checked Host, Origin and secret; the SDK checks what it can once more.
        let config = StreamableHttpServerConfig::default().enforce_origin_validation();
        let handler = move || Ok(Handler::over_http(Arc::clone(&connection), Arc::clone(&http_clients)));
        (Self { service: StreamableHttpService::new(handler, Arc::new(sessions), config) }, left)
    }

    /// Answers a request.
    pub async fn answer(&self, request: Request<Full<Bytes>>) -> HttpAnswer {
        self.service.handle(request).await
    }

    /// Ends every stream that is open.
    pub fn close(&self) {
        self.service.config.cancellation_token.cancel();
    }
}
