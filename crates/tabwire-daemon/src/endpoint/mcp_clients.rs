//! The connected MCP clients and Chrome shims, and the MCP endpoint over HTTP.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_mcp::HttpService;

use crate::http::token::Token;

/// MCP sessions over HTTP. The oldest one is dropped, and has to initialize again.
const MCP_HTTP_SESSIONS: usize = 256;

/// The MCP endpoint over HTTP, while `tabwire mcp --http` runs.
#[derive(Debug)]
struct HttpEndpoint {
    secret: Token,
    service: HttpService,
    /// Sessions, oldest first.
    sessions: VecDeque<HttpSession>,
}

/// The credential of a client over HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Principal {
    /// The secret in the MCP URL.
    Address,
    /// The daemon's token, or the socket.
    User,
}

/// An MCP session over HTTP: the id that the client knows, the id inside, and the credential. The id alone is not
/// enough (T17).
#[derive(Debug)]
struct HttpSession {
    outside: Token,
    inside: String,
    principal: Principal,
}

/// The connected clients.
#[derive(Debug, Default)]
pub(crate) struct McpClients {
    count: Arc<AtomicUsize>,
    numbers: AtomicU64,
    http: Mutex<Option<HttpEndpoint>>,
}

/// A connected client. Counts until it is dropped.
#[derive(Debug)]
pub(crate) struct ConnectedClient(Arc<AtomicUsize>);

impl Drop for ConnectedClient {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl McpClients {
    fn http(&self) -> MutexGuard<'_, Option<HttpEndpoint>> {
        self.http.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of connections.
    pub(crate) fn count(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }

    /// Counts a connection.
    pub(crate) fn connect(&self) -> ConnectedClient {
        self.count.fetch_add(1, Ordering::SeqCst);
        ConnectedClient(Arc::clone(&self.count))
    }

    /// A unique client number.
    pub(crate) fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// Opens the endpoint over HTTP, with a new secret.
    pub(crate) fn open(&self, service: HttpService) -> Result<Token, Failure> {
        let secret = Token::draw().map_err(Failure::no_random_bytes)?;
        let mut open = self.http();
        if open.is_some() {
            return Err(Failure::new(ErrorCode::Busy, "MCP is already served over HTTP.").with_remedy(
                Remedy::new("End the other {} first, or use its URL.", [Step::command("tabwire mcp --http")]),
            ));
        }
        *open = Some(HttpEndpoint { secret: secret.clone(), service, sessions: VecDeque::new() });
        Ok(secret)
    }

    /// Closes the endpoint over HTTP and its streams.
    pub(crate) fn close(&self) {
        if let Some(open) = self.http().take() {
            open.service.close();
        }
    }

    /// Whether this is the secret of the endpoint over HTTP.
    pub(crate) fn is_address(&self, secret: &str) -> bool {
        self.http().as_ref().is_some_and(|open| open.secret.matches(secret))
    }

    /// The id that a client knows for a session, created if it is new.
    pub(crate) fn session_id(&self, inside: &str, principal: Principal) -> Option<Token> {
        let outside = Token::draw().ok()?;
        let mut open = self.http();
        let sessions = &mut open.as_mut()?.sessions;
        if let Some(known) = sessions.iter().find(|known| known.inside == inside) {
            return Some(known.outside.clone());
        }
        if sessions.len() == MCP_HTTP_SESSIONS {
            sessions.pop_front();
        }
        sessions.push_back(HttpSession { outside: outside.clone(), inside: inside.to_owned(), principal });
        Some(outside)
    }

    /// The id inside for the id that a client knows, if the credential matches.
    pub(crate) fn find_inside(&self, outside: &str, principal: Principal) -> Option<String> {
        let open = self.http();
        let mut sessions = open.as_ref()?.sessions.iter();
        sessions
            .find(|known| known.outside.matches(outside) && known.principal == principal)
            .map(|known| known.inside.clone())
    }

    /// The endpoint over HTTP, if it is open.
    pub(crate) fn find_http(&self) -> Option<HttpService> {
        self.http().as_ref().map(|open| open.service.clone())
    }
}
