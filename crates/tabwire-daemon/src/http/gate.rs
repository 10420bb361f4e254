//! The gate in front of every route. It admits or refuses a request by its head, before the body is read.
//!
//! The gate is pure: it takes header strings and the table of routes. Unknown and forbidden paths get the same
//! response, so that a client learns nothing by probing.

use tabwire_api::SessionKey;
use tabwire_api::api::SOCKET_HOST;
use tabwire_extension::package::extension_origin;

use crate::http::authority::LocalAuthority;
use crate::http::route::{Access, DASHBOARD_ROUTES, EXTENSION_ROUTE, Route, find_in, find_route};
use crate::http::token::Token;

/// How a request arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// The unix socket. The peer's user id was checked when it connected.
    Socket,
    /// The loopback port.
    Port(u16),
    /// The open port of a session: its clients may use that session's CDP endpoint, and nothing else.
    OpenPort(u16),
}

/// The parts of a request that the gate checks.
#[derive(Clone, Debug, Default)]
pub struct RequestHead<'a> {
    /// The method, upper case.
    pub method: &'a str,
    /// The path without the query.
    pub path: &'a str,
    /// Every Host header.
    pub hosts: Vec<&'a str>,
    /// The Origin header.
    pub origin: Option<&'a str>,
    /// The Sec-Fetch-Site header.
    pub fetch_site: Option<&'a str>,
    /// The Authorization header.
    pub authorization: Option<&'a str>,
    /// The Content-Type header.
    pub content_type: Option<&'a str>,
}

/// The rights that a request's credential gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Every route: the user on the socket, or the holder of the daemon's token.
    User,
    /// The CDP endpoint of one session: the holder of its URL.
    Session(SessionKey),
    /// MCP over HTTP: the holder of its URL.
    Mcp,
    /// Public pages only.
    Public,
    /// The handshake of the extension, which has yet to prove that it knows the key.
    Extension,
}

/// An admitted request.
#[derive(Clone, Debug)]
pub struct AdmittedRequest {
    /// The route it goes to.
    pub route: &'static Route,
    /// The rights of its sender.
    pub scope: Scope,
    /// The variable part of the path, if the route has one.
    pub variable: Option<String>,
}

/// How a request is refused. Carries nothing that depends on what exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Wrong Host, an Origin, or a cross-site fetch: 403.
    Foreign,
    /// No valid credential, or no route at that path for it: 401.
    Unauthorised,
    /// The credential is valid, but there is no such route: 404.
    NotFound,
    /// The route does not take this method: 405.
    Method,
    /// The body is not declared as JSON: 415.
    NotJson,
}

impl Refusal {
    /// The HTTP status.
    #[must_use]
    pub const fn status(self) -> u16 {
        match self {
            Self::Foreign => 403,
            Self::Unauthorised => 401,
            Self::NotFound => 404,
            Self::Method => 405,
            Self::NotJson => 415,
        }
    }
}

/// Looks up the secrets in URLs.
pub trait Secrets {
    /// The session with this secret, compared in constant time.
    fn find_session(&self, secret: &str) -> Option<SessionKey>;

    /// Whether this is the secret of the MCP URL, compared in constant time.
    fn is_mcp(&self, secret: &str) -> bool;

    /// The session that has this open port.
    fn find_open_port(&self, port: u16) -> Option<SessionKey>;
}

/// The gate of one daemon.
#[derive(Debug)]
pub struct Gate {
    token: Token,
}

impl Gate {
    /// A gate that admits this token.
    #[must_use]
    pub const fn new(token: Token) -> Self {
        Self { token }
    }

    /// Decides on a request.
    ///
    /// # Errors
    /// With the way to refuse it.
    pub fn admit(
        &self,
        transport: Transport,
        head: &RequestHead<'_>,
        secrets: &impl Secrets,
    ) -> Result<AdmittedRequest, Refusal> {
        if is_extension(transport, head) {
            return Ok(AdmittedRequest { route: &EXTENSION_ROUTE, scope: Scope::Extension, variable: None });
        }
        if let Some(decided) = admit_dashboard(transport, head) {
            return decided;
        }
        check_sender(transport, head)?;
        let (path, scope) = self.identify(transport, head, secrets);
        let found = find_route(path);
        let public = found.as_ref().is_some_and(|(route, _)| route.access == Access::Public);
        check_fetch_site(head, public)?;
        let Some((route, variable)) = found else {
            return Err(if scope == Scope::User { Refusal::NotFound } else { Refusal::Unauthorised });
        };
        let allowed = match (route.access, &scope) {
            (Access::Public, _)
            | (_, Scope::User)
            | (Access::Session, Scope::Session(_))
            | (Access::Mcp, Scope::Mcp) => true,
            (Access::User | Access::Session | Access::Mcp | Access::Extension | Access::Dashboard, _) => {
                false
            }
        };
        if !allowed {
            return Err(Refusal::Unauthorised);
        }
        if !route.takes(head.method) {
            return Err(Refusal::Method);
        }
        if head.method == "POST" && !is_json(head.content_type) {
            return Err(Refusal::NotJson);
        }
        Ok(AdmittedRequest { route, scope, variable: variable.map(str::to_owned) })
    }

    /// The path without the secret, and the rights that the credential gives.
    fn identify<'a>(
        &self,
        transport: Transport,
        head: &RequestHead<'a>,
        secrets: &impl Secrets,
    ) -> (&'a str, Scope) {
        match transport {
            Transport::Socket => return (head.path, Scope::User),
            Transport::OpenPort(port) => {
                let scope = secrets.find_open_port(port).map_or(Scope::Public, Scope::Session);
                return (head.path, scope);
            }
            Transport::Port(_) => {}
        }
        let bearer = head.authorization.and_then(|value| value.strip_prefix("Bearer "));
        if bearer.is_some_and(|presented| self.token.matches(presented)) {
            return (head.path, Scope::User);
        }
        let below = head.path.strip_prefix('/').unwrap_or_default();
        let first = below.split('/').next().unwrap_or_default();
        let rest = below.get(first.len()..).filter(|rest| !rest.is_empty()).unwrap_or("/");
        match secrets.find_session(first) {
            Some(session) => (rest, Scope::Session(session)),
            None if secrets.is_mcp(first) => (rest, Scope::Mcp),
            None => (head.path, Scope::Public),
        }
    }
}

/// Whether this is our extension at its route (T05). A browser sets Origin truthfully, other programs may forge it, so
/// the extension still has to prove that it knows the key.
fn is_extension(transport: Transport, head: &RequestHead<'_>) -> bool {
    let (Transport::Port(port), [host]) = (transport, head.hosts.as_slice()) else { return false };
    LocalAuthority::parse(host, port).is_some()
        && head.path == EXTENSION_ROUTE.path
        && EXTENSION_ROUTE.takes(head.method)
        && head.origin == Some(extension_origin().as_str())
}

/// Decides on requests for the dashboard; `None` for all others. Its page is served at the literal address only, so
/// `localhost` is another origin, and so is every other port.
fn admit_dashboard(transport: Transport, head: &RequestHead<'_>) -> Option<Result<AdmittedRequest, Refusal>> {
    let Transport::Port(port) = transport else { return None };
    let (route, variable) = find_in(DASHBOARD_ROUTES, head.path)?;
    let host = format!("127.0.0.1:{port}");
    let own = format!("http://{host}");
    let is_page = route.access == Access::Public;
    let is_host = matches!(head.hosts.as_slice(), [named] if *named == host);
    // Scripts, posts and websockets of a page have its Origin; an opened URL and style sheets have none.
    let is_origin = match head.origin {
        Some(origin) => origin == own,
        None => is_page,
    };
    let is_site = match head.fetch_site {
        None | Some("same-origin") => true,
        Some("none") => is_page,
        // The file that leads to the dashboard is another site. The page tells nothing, cannot be framed, and other sites
        // get nothing of it.
        Some("cross-site") => head.path == "/dashboard" && head.origin.is_none(),
        Some(_) => false,
    };
    Some(if !is_host || !is_origin || !is_site {
        Err(Refusal::Foreign)
    } else if !route.takes(head.method) {
        Err(Refusal::Method)
    } else if head.method == "POST" && !is_json(head.content_type) {
        Err(Refusal::NotJson)
    } else {
        Ok(AdmittedRequest { route, scope: Scope::Public, variable: variable.map(str::to_owned) })
    })
}

fn check_sender(transport: Transport, head: &RequestHead<'_>) -> Result<(), Refusal> {
    let [host] = head.hosts.as_slice() else { return Err(Refusal::Foreign) };
    let known = match transport {
        Transport::Socket => *host == SOCKET_HOST,
        Transport::Port(port) | Transport::OpenPort(port) => LocalAuthority::parse(host, port).is_some(),
    };
    // A browser adds Origin to requests of pages, and no page may use this interface.
    if known && head.origin.is_none() { Ok(()) } else { Err(Refusal::Foreign) }
}

fn check_fetch_site(head: &RequestHead<'_>, public: bool) -> Result<(), Refusal> {
    match head.fetch_site {
        None | Some("same-origin") => Ok(()),
        // A URL that the user typed, or that a program opened: allowed for public routes.
        Some("none") if public => Ok(()),
        Some(_) => Err(Refusal::Foreign),
    }
}

fn is_json(content_type: Option<&str>) -> bool {
    let essence = content_type.unwrap_or_default().split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("application/json")
}
