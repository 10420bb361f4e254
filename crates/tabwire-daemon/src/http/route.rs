//! The table of routes, for the router, the gate and the tests that walk all routes.

/// The rights that a route needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// No credential. Shows nothing of any session.
    Public,
    /// The user, or the holder of a session's URL, for that session.
    Session,
    /// The user, or the holder of the MCP URL, while there is one.
    Mcp,
    /// The user only.
    User,
    /// Our extension, which its browser names in the Origin header.
    Extension,
}

/// What a route does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteName {
    /// The demo page.
    Demo,
    /// Whether the daemon runs.
    Live,
    /// The CDP websocket.
    Cdp,
    /// CDP discovery: the browser.
    JsonVersion,
    /// CDP discovery: its tabs.
    JsonList,
    /// Whether the slot of a single-client session is free.
    ClientSlot,
    /// The actions and their schemas.
    Actions,
    /// Runs one action.
    Action,
    /// Runs a script; the response is a stream of lines.
    Execute,
    /// Ends the process of a client's scripts.
    Reset,
    /// Names of sessions, tabs and refs, for completion.
    Complete,
    /// Downloads and recordings that a session runs.
    Progress,
    /// The daemon, its browsers and sessions.
    Status,
    /// A URL for CDP clients.
    CdpUrl,
    /// Grants, denials and approvals.
    Policy,
    /// Upgrades to an MCP connection.
    McpStream,
    /// MCP over HTTP, while `tabwire mcp --http` runs.
    Mcp,
    /// Upgrades to the connection of a Chrome shim.
    ChromeStream,
    /// Ends the daemon for a newer one; browsers keep running.
    Drain,
    /// Ends the daemon and every launched browser.
    Stop,
    /// The websocket of the extension.
    Extension,
    /// The connected browsers of the user, and a new key for them.
    ExtensionStatus,
}

/// One route.
#[derive(Debug, PartialEq, Eq)]
pub struct Route {
    /// What it does.
    pub name: RouteName,
    /// The methods it takes, separated by spaces; the first is the usual one.
    pub methods: &'static str,
    /// Its path. A last segment `*` is variable.
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

/// All routes but [`EXTENSION_ROUTE`].
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
    route(RouteName::Execute, "POST", "/v1/execute", Access::User),
    route(RouteName::Reset, "POST", "/v1/reset", Access::User),
    route(RouteName::Complete, "GET", "/v1/complete", Access::User),
    route(RouteName::Progress, "GET", "/v1/progress", Access::User),
    route(RouteName::Status, "GET", "/v1/status", Access::User),
    route(RouteName::CdpUrl, "POST", "/v1/cdp-url", Access::User),
    route(RouteName::Policy, "POST", "/v1/policy/*", Access::User),
    route(RouteName::McpStream, "GET", "/v1/mcp", Access::User),
    route(RouteName::ChromeStream, "GET", "/v1/chrome", Access::User),
    route(RouteName::Mcp, "POST GET DELETE", "/mcp", Access::Mcp),
    route(RouteName::ExtensionStatus, "POST", "/v1/extension/*", Access::User),
    route(RouteName::Drain, "POST", "/v1/daemon/drain", Access::User),
    route(RouteName::Stop, "POST", "/v1/daemon/stop", Access::User),
];

/// The route of the extension. It is not in the list because it requires an Origin, which all others refuse.
pub(crate) static EXTENSION_ROUTE: Route =
    route(RouteName::Extension, "GET", "/extension", Access::Extension);

/// The route of a path, and its variable part.
pub(crate) fn find_route(path: &str) -> Option<(&'static Route, Option<&str>)> {
    ROUTES.iter().find_map(|route| match route.path.strip_suffix('*') {
        None => (route.path == path).then_some((route, None)),
        Some(prefix) => {
            let variable = path.strip_prefix(prefix)?;
            (!variable.is_empty() && !variable.contains('/')).then_some((route, Some(variable)))
        }
    })
}
