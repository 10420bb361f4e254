//! The gate in front of every route: who may speak, decided before anything is read or looked up.
//!
//! Pure: it sees header strings and a table of routes, and says yes or how to refuse. What is unknown and
//! what is not allowed get the same answer, so that nothing can be learnt by asking.

use tabwire_extension::package::extension_origin;
use tabwire_wire::SessionKey;
use tabwire_wire::api::SOCKET_HOST;

use crate::authority::LocalAuthority;
use crate::route::{Access, EXTENSION_ROUTE, Route, find_route};
use crate::token::Token;

/// Where a request came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// The unix socket; the peer's user id was checked when it connected.
    Socket,
    /// The loopback port.
    Port(u16),
}

/// The parts of a request the gate looks at.
#[derive(Clone, Debug, Default)]
pub struct Visit<'a> {
    /// The method, upper case.
    pub method: &'a str,
    /// The path without the query.
    pub path: &'a str,
    /// Every Host header.
    pub hosts: Vec<&'a str>,
    /// The Origin header, whatever it says.
    pub origin: Option<&'a str>,
    /// The Sec-Fetch-Site header.
    pub fetch_site: Option<&'a str>,
    /// The Authorization header.
    pub authorization: Option<&'a str>,
    /// The Content-Type header.
    pub content_type: Option<&'a str>,
}

/// What a visitor has shown itself to be allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Everything: the user on the socket, or the holder of the daemon's token.
    User,
    /// One session's CDP endpoint: the holder of its address.
    Session(SessionKey),
    /// MCP over HTTP: the holder of its address.
    Mcp,
    /// Public pages only.
    Public,
    /// The greeting of the user's own browser, and nothing before it has proved itself.
    Extension,
}

/// A request the gate lets through.
#[derive(Clone, Debug)]
pub struct Admitted {
    /// The route it goes to.
    pub route: &'static Route,
    /// What the visitor is allowed.
    pub scope: Scope,
    /// The variable part of the path, if the route has one.
    pub variable: Option<String>,
}

/// How a request is refused; carries nothing that depends on what exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Wrong Host, an Origin, or a cross-site fetch: 403.
    Foreign,
    /// No valid credential, or nothing at that path for it: 401.
    Unauthorised,
    /// Allowed in principle, but there is no such route: 404.
    NotFound,
    /// The route does not take this method: 405.
    Method,
    /// A body that is not declared as JSON: 415.
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

/// Looks up which session an address secret belongs to.
pub trait Secrets {
    /// The session with this secret, compared in constant time.
    fn find_session(&self, secret: &str) -> Option<SessionKey>;

    /// Whether it is the secret of the address that MCP clients are given, compared in constant time.
    fn is_mcp(&self, secret: &str) -> bool;
}

/// The gate of one daemon.
#[derive(Debug)]
pub struct Gate {
    token: Token,
}

impl Gate {
    /// A gate that opens for this token.
    #[must_use]
    pub const fn new(token: Token) -> Self {
        Self { token }
    }

    /// Decides on a request.
    ///
    /// # Errors
    /// With the way to refuse it.
    pub fn admit(&self, door: Door, visit: &Visit<'_>, secrets: &impl Secrets) -> Result<Admitted, Refusal> {
        if is_extension(door, visit) {
            return Ok(Admitted { route: &EXTENSION_ROUTE, scope: Scope::Extension, variable: None });
        }
        check_sender(door, visit)?;
        let (path, scope) = self.identify(door, visit, secrets);
        let found = find_route(path);
        let public = found.as_ref().is_some_and(|(route, _)| route.access == Access::Public);
        check_fetch_site(visit, public)?;
        let Some((route, variable)) = found else {
            return Err(if scope == Scope::User { Refusal::NotFound } else { Refusal::Unauthorised });
        };
        let allowed = match (route.access, &scope) {
            (Access::Public, _)
            | (_, Scope::User)
            | (Access::Session, Scope::Session(_))
            | (Access::Mcp, Scope::Mcp) => true,
            (Access::User | Access::Session | Access::Mcp | Access::Extension, _) => false,
        };
        if !allowed {
            return Err(Refusal::Unauthorised);
        }
        if !route.takes(visit.method) {
            return Err(Refusal::Method);
        }
        if visit.method == "POST" && !is_json(visit.content_type) {
            return Err(Refusal::NotJson);
        }
        Ok(Admitted { route, scope, variable: variable.map(str::to_owned) })
    }

    /// Who the visitor is, and the path without an address secret.
    fn identify<'a>(&self, door: Door, visit: &Visit<'a>, secrets: &impl Secrets) -> (&'a str, Scope) {
        if door == Door::Socket {
            return (visit.path, Scope::User);
        }
        let bearer = visit.authorization.and_then(|value| value.strip_prefix("Bearer "));
        if bearer.is_some_and(|presented| self.token.matches(presented)) {
            return (visit.path, Scope::User);
        }
        let below = visit.path.strip_prefix('/').unwrap_or_default();
        let first = below.split('/').next().unwrap_or_default();
        let rest = below.get(first.len()..).filter(|rest| !rest.is_empty()).unwrap_or("/");
        match secrets.find_session(first) {
            Some(session) => (rest, Scope::Session(session)),
            None if secrets.is_mcp(first) => (rest, Scope::Mcp),
            None => (visit.path, Scope::Public),
        }
    }
}

/// Whether this is the one extension that is ours, at the one place that is for it (T05). A browser says who sends a
/// request, and other programs may lie about it: whoever is let in here still has to prove that it knows the key.
fn is_extension(door: Door, visit: &Visit<'_>) -> bool {
    let (Door::Port(port), [host]) = (door, visit.hosts.as_slice()) else { return false };
    LocalAuthority::parse(host, port).is_some()
        && visit.path == EXTENSION_ROUTE.path
        && EXTENSION_ROUTE.takes(visit.method)
        && visit.origin == Some(extension_origin().as_str())
}

fn check_sender(door: Door, visit: &Visit<'_>) -> Result<(), Refusal> {
    let [host] = visit.hosts.as_slice() else { return Err(Refusal::Foreign) };
    let known = match door {
        Door::Socket => *host == SOCKET_HOST,
        Door::Port(port) => LocalAuthority::parse(host, port).is_some(),
    };
    // A browser attaches Origin to what pages send; no page is a friend of this interface.
    if known && visit.origin.is_none() { Ok(()) } else { Err(Refusal::Foreign) }
}

fn check_fetch_site(visit: &Visit<'_>, public: bool) -> Result<(), Refusal> {
    match visit.fetch_site {
        None | Some("same-origin") => Ok(()),
        // An address typed by the user, or opened by a tool: fine for what is public anyway.
        Some("none") if public => Ok(()),
        Some(_) => Err(Refusal::Foreign),
    }
}

fn is_json(content_type: Option<&str>) -> bool {
    let essence = content_type.unwrap_or_default().split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("application/json")
}
