//! Table: every route of the daemon. The router, the gate and the tests that walk all routes read this one.

/// Who may use a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Anybody who gets past the sender checks; shows nothing of any session.
    Public,
    /// The user, or the holder of one session's address, for that session.
    Session,
    /// The user, or the holder of the address that MCP clients are given, while there is one.
    Mcp,
    /// The user only.
    User,
    /// The one extension that is ours, which its browser names in the Origin header.
    Extension,
}

/// What a route does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteName {
    /// The demo page.
    Demo,
    /// Whether the daemon runs, and nothing else.
    Live,
    /// The CDP websocket.
    Cdp,
    /// CDP discovery: the browser.
    JsonVersion,
    /// CDP discovery: its tabs.
    JsonList,
    /// Whether a CDP client would be served now.
    ClientSlot,
    /// The actions there are, with their schemas.
    Actions,
    /// One action.
    Action,
    /// Names of sessions, tabs and refs, for completion.
    Complete,
    /// What a session is busy with.
    Progress,
    /// The daemon, its browsers and sessions.
    Status,
    /// An address for CDP clients.
    CdpUrl,
    /// What may be done where: looking, granting, denying, answering.
    Policy,
    /// A stream that becomes an MCP connection.
    McpStream,
    /// MCP over HTTP, while somebody keeps it open.
    Mcp,
    /// A stream on which a program that stands in for a browser gets one.
    ChromeStream,
    /// Makes room for a newer daemon; browsers are kept.
    Drain,
    /// Ends the daemon and every browser it launched.
    Stop,
    /// The websocket of the user's own browsers.
    Extension,
    /// Which of the user's own browsers are there, and their key.
    ExtensionDesk,
}

/// One route.
#[derive(Debug, PartialEq, Eq)]
pub struct Route {
    /// What it does.
    pub name: RouteName,
    /// The methods it takes, separated by spaces; the first is the usual one.
    pub methods: &'static str,
    /// Its path; a last segment `*` is variable.
    pub path: &'static str,
    /// Who may use it.
    pub access: Access,
}

impl Route {
    /// Whether it takes a method.
    #[must_use]
    pub fn takes(&self, method: &str) -> bool {
        self.methods.split(' ').any(|taken| taken == method)
    }
}

const fn route(name: RouteName, methods: &'static str, path: &'static str, access: Access) -> Route {
    Route { name, methods, path, access }
}

/// Every route there is.
pub static ROUTES: &[Route] = &[
    route(RouteName::Demo, "GET", "/demo", Access::Public),
    route(RouteName::Live, "GET", "/live", Access::Public),
    route(RouteName::Cdp, "GET", "/cdp", Access::Session),
    route(RouteName::JsonVersion, "GET", "/json/version", Access::Session),
    route(RouteName::JsonVersion, "GET", "/json/version/", Access::Session),
    route(RouteName::JsonList, "GET", "/json", Access::Session),
    route(RouteName::JsonList, "GET", "/json/", Access::Session),
    route(RouteName::JsonList, "GET", "/json/list", Access::Session),
    route(RouteName::JsonList, "GET", "/json/list/", Access::Session),
    route(RouteName::ClientSlot, "GET", "/client-slot", Access::Session),
    route(RouteName::Actions, "GET", "/v1/actions", Access::User),
    route(RouteName::Action, "POST", "/v1/actions/*", Access::User),
    route(RouteName::Complete, "GET", "/v1/complete", Access::User),
    route(RouteName::Progress, "GET", "/v1/progress", Access::User),
    route(RouteName::Status, "GET", "/v1/status", Access::User),
    route(RouteName::CdpUrl, "POST", "/v1/cdp-url", Access::User),
    route(RouteName::Policy, "POST", "/v1/policy/*", Access::User),
    route(RouteName::McpStream, "GET", "/v1/mcp", Access::User),
    route(RouteName::ChromeStream, "GET", "/v1/chrome", Access::User),
    route(RouteName::Mcp, "POST GET DELETE", "/mcp", Access::Mcp),
    route(RouteName::ExtensionDesk, "POST", "/v1/extension/*", Access::User),
    route(RouteName::Drain, "POST", "/v1/daemon/drain", Access::User),
    route(RouteName::Stop, "POST", "/v1/daemon/stop", Access::User),
];

/// The route of the user's own browsers. It stands beside the list because it opens by what closes all the others: an
/// Origin.
pub(crate) static EXTENSION_ROUTE: Route =
    route(RouteName::Extension, "GET", "/extension", Access::Extension);

/// Finds the route of a path, and its variable part.
pub(crate) fn find_route(path: &str) -> Option<(&'static Route, Option<&str>)> {
    ROUTES.iter().find_map(|route| match route.path.strip_suffix('*') {
        None => (route.path == path).then_some((route, None)),
        Some(prefix) => {
            let variable = path.strip_prefix(prefix)?;
            (!variable.is_empty() && !variable.contains('/')).then_some((route, Some(variable)))
        }
    })
}
