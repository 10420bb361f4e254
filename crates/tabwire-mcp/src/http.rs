//! Serves clients over HTTP with the SDK's streamable service. The daemon has checked the credentials before.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tabwire_api::{ErrorCode, Failure};
use tokio::sync::mpsc;

use crate::connection::Connection;
use crate::handler::Handler;
use crate::limits::HTTP_CLIENTS;

/// How long a client over HTTP may be silent before it counts as gone.
const HTTP_SILENCE: std::time::Duration = std::time::Duration::from_secs(600);

/// A response. Its body can stream for as long as a call runs.
pub type HttpResponse = Response<BoxBody<Bytes, Infallible>>;

/// Counts the initialized clients and hands over those that have left.
#[derive(Debug)]
pub(crate) struct HttpClients {
    leaving: mpsc::Sender<Arc<Connection>>,
    count: AtomicUsize,
}

impl HttpClients {
    /// A connection for one more client.
    pub(crate) fn add(&self, shared: &Connection) -> Result<Arc<Connection>, Failure> {
        if self.count.fetch_add(1, Ordering::SeqCst) >= HTTP_CLIENTS {
            self.count.fetch_sub(1, Ordering::SeqCst);
            let message = format!("{HTTP_CLIENTS} clients are already connected.");
            return Err(Failure::new(ErrorCode::Backpressure, message).with_remedy("Close one of them."));
        }
        shared.another().map(Arc::new).inspect_err(|_| {
            self.count.fetch_sub(1, Ordering::SeqCst);
        })
    }

    /// Ends a client's calls, and hands the client to the task that cleans up after it.
    pub(crate) fn remove(&self, connection: Arc<Connection>) {
        self.count.fetch_sub(1, Ordering::SeqCst);
        connection.end();
        // The channel holds as many entries as there can be clients. It is closed only after the endpoint, which ends
        // all.
        let _ = self.leaving.try_send(connection);
    }
}

/// An MCP endpoint for clients over HTTP.
#[derive(Clone)]
pub struct HttpService {
    service: StreamableHttpService<Handler, LocalSessionManager>,
}

impl std::fmt::Debug for HttpService {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("HttpService").finish_non_exhaustive()
    }
}

impl HttpService {
    /// Creates an endpoint. The receiver returns clients that have left, for the caller to clean up.
    #[must_use]
    pub fn open(connection: Arc<Connection>) -> (Self, mpsc::Receiver<Arc<Connection>>) {
        let (leaving, left) = mpsc::channel(HTTP_CLIENTS);
        let http_clients = Arc::new(HttpClients { leaving, count: AtomicUsize::new(0) });
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(HTTP_SILENCE);
        // The daemon's gate has checked Host, Origin and secret. The SDK checks the origin again.
        let config = StreamableHttpServerConfig::default().enforce_origin_validation();
        let handler = move || Ok(Handler::over_http(Arc::clone(&connection), Arc::clone(&http_clients)));
        (Self { service: StreamableHttpService::new(handler, Arc::new(sessions), config) }, left)
    }

    /// Handles a request.
    pub async fn handle(&self, request: Request<Full<Bytes>>) -> HttpResponse {
        let is_end = request.method() == Method::DELETE;
        let mut response = self.service.handle(request).await;
        // The SDK says 202 although the session has ended when it responds. No body follows: 204.
        if is_end && response.status() == StatusCode::ACCEPTED {
            *response.status_mut() = StatusCode::NO_CONTENT;
            *response.body_mut() = Full::new(Bytes::new()).boxed();
        }
        response
    }

    /// Ends every open stream.
    pub fn close(&self) {
        self.service.config.cancellation_token.cancel();
    }
}
