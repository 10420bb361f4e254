//! A request to the gate, and the response that it must get.

use tabwire_api::SessionKey;
use tabwire_daemon::{
    Access, AdmittedRequest, Gate, ROUTES, Refusal, RequestHead, Route, Scope, Secrets, Token, Transport,
};

pub(crate) const PORT: u16 = 38_017;
/// The open port of session `one`.
pub(crate) const OPEN_PORT: u16 = 38_117;
pub(crate) const TOKEN: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
/// The secret in the URL of session `one`.
pub(crate) const ONE: &str = "1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a";
/// The secret in the URL of session `two`.
pub(crate) const TWO: &str = "2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b";

/// The secret in the URL for MCP clients.
pub(crate) const MCP: &str = "4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d";

/// All transports.
pub(crate) const TRANSPORTS: [Transport; 3] =
    [Transport::Socket, Transport::Port(PORT), Transport::OpenPort(OPEN_PORT)];

pub(crate) struct TwoSessions;

impl Secrets for TwoSessions {
    fn find_session(&self, secret: &str) -> Option<SessionKey> {
        match secret {
            ONE => SessionKey::find("one"),
            TWO => SessionKey::find("two"),
            _ => None,
        }
    }

    fn is_mcp(&self, secret: &str) -> bool {
        secret == MCP
    }

    fn find_open_port(&self, port: u16) -> Option<SessionKey> {
        (port == OPEN_PORT).then(|| SessionKey::find("one")).flatten()
    }
}

/// The credential of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Credential {
    None,
    WrongToken,
    RightToken,
    /// The token without its scheme.
    BareToken,
    Address,
    OtherAddress,
    WrongSecret,
    McpAddress,
}

impl Credential {
    pub(crate) const ALL: [Self; 8] = [
        Self::None,
        Self::WrongToken,
        Self::RightToken,
        Self::BareToken,
        Self::Address,
        Self::OtherAddress,
        Self::WrongSecret,
        Self::McpAddress,
    ];
}

/// A request, its fields owned so that tests can change any of them.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    pub(crate) transport: Transport,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) hosts: Vec<String>,
    pub(crate) origin: Option<String>,
    pub(crate) fetch_site: Option<String>,
    pub(crate) authorization: Option<String>,
    pub(crate) content_type: Option<String>,
}

impl Attempt {
    /// A valid request to a route, with a credential.
    pub(crate) fn valid(route: &Route, transport: Transport, credential: Credential) -> Self {
        let path = route.path.replace('*', "open");
        let bearer = |text: &str| Some(format!("Bearer {text}"));
        let (prefix, authorization) = match credential {
            Credential::None => (String::new(), None),
            Credential::WrongToken => (String::new(), bearer(&TOKEN.replace('0', "1"))),
            Credential::RightToken => (String::new(), bearer(TOKEN)),
            Credential::BareToken => (String::new(), Some(TOKEN.to_owned())),
            Credential::Address => (format!("/{ONE}"), None),
            Credential::OtherAddress => (format!("/{TWO}"), None),
            Credential::WrongSecret => (format!("/{}", ONE.replace('1', "3")), None),
            Credential::McpAddress => (format!("/{MCP}"), None),
        };
        let host = match transport {
            Transport::Socket => "tabwire.local".to_owned(),
            Transport::Port(port) | Transport::OpenPort(port) => format!("127.0.0.1:{port}"),
        };
        let method = route.methods.split(' ').next().unwrap_or_default();
        Self {
            transport,
            method: method.to_owned(),
            path: format!("{prefix}{path}"),
            hosts: vec![host],
            origin: None,
            fetch_site: None,
            authorization,
            content_type: (method == "POST").then(|| "application/json".to_owned()),
        }
    }

    pub(crate) fn admit(&self) -> Result<AdmittedRequest, Refusal> {
        let head = RequestHead {
            method: &self.method,
            path: &self.path,
            hosts: self.hosts.iter().map(String::as_str).collect(),
            origin: self.origin.as_deref(),
            fetch_site: self.fetch_site.as_deref(),
            authorization: self.authorization.as_deref(),
            content_type: self.content_type.as_deref(),
        };
        Gate::new(Token::find(TOKEN).expect("64 digits")).admit(self.transport, &head, &TwoSessions)
    }

    /// The refusal; panics when the request is admitted.
    pub(crate) fn refusal(&self) -> Refusal {
        match self.admit() {
            Err(refusal) => refusal,
            Ok(admitted) => panic!("admitted as {:?}: {self:?}", admitted.scope),
        }
    }
}

/// The scope that a credential gets on a route, if it is admitted.
pub(crate) fn scope_of(credential: Credential, transport: Transport, access: Access) -> Option<Scope> {
    let session = |name: &str| SessionKey::find(name).map(Scope::Session);
    let is_for_sessions = matches!(access, Access::Public | Access::Session);
    let has_secret = matches!(
        credential,
        Credential::Address | Credential::OtherAddress | Credential::WrongSecret | Credential::McpAddress
    );
    match (transport, credential) {
        // The open port takes no credential, and knows no secret in the path.
        (Transport::OpenPort(_), _) if is_for_sessions && !has_secret => session("one"),
        (Transport::OpenPort(_), _) => None,
        // On the socket a secret in the path is not recognised, so there is no such route.
        (
            Transport::Socket,
            Credential::Address | Credential::OtherAddress | Credential::WrongSecret | Credential::McpAddress,
        ) => None,
        (Transport::Socket, _) | (Transport::Port(_), Credential::RightToken) => Some(Scope::User),
        (Transport::Port(_), Credential::Address) if is_for_sessions => session("one"),
        (Transport::Port(_), Credential::OtherAddress) if is_for_sessions => session("two"),
        (Transport::Port(_), Credential::McpAddress) if matches!(access, Access::Public | Access::Mcp) => {
            Some(Scope::Mcp)
        }
        (Transport::Port(_), Credential::None | Credential::WrongToken | Credential::BareToken)
            if access == Access::Public =>
        {
            Some(Scope::Public)
        }
        _ => None,
    }
}

/// Every route over every transport with every credential, otherwise valid.
pub(crate) fn every_attempt() -> impl Iterator<Item = (&'static Route, Credential, Attempt)> {
    ROUTES.iter().flat_map(|route| {
        TRANSPORTS.into_iter().flat_map(move |transport| {
            Credential::ALL
                .into_iter()
                .map(move |credential| (route, credential, Attempt::valid(route, transport, credential)))
        })
    })
}
