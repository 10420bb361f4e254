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
    /// A page of the dashboard. The handler checks its ticket or key.
    Dashboard,
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
    /// The websocket of one page.
    CdpPage,
    /// Opens a page.
    JsonNew,
    /// Activates a page.
    JsonActivate,
    /// Closes a page.
    JsonClose,
    /// CDP discovery: the browser.
    JsonVersion,
    /// CDP discovery: its tabs.
    JsonList,
    /// CDP discovery: its commands and events.
    JsonProtocol,
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
    /// A URL that opens the dashboard once.
    DashboardUrl,
    /// The files of the dashboard.
    DashboardFile,
    /// Trades a ticket for a key.
    DashboardEnter,
    /// The websocket of the dashboard.
    DashboardLine,
    /// The websocket of a live view in the dashboard.
    DashboardLive,
    /// The websocket of the chats in the dashboard.
    DashboardChats,
    /// The audit log as a stream of events.
    Events,
    /// The daemon, its browsers and sessions.
    Status,
    /// A URL for CDP clients.
    CdpUrl,
    /// Grants, denials and approvals.
    Policy,
    /// The chats, and a new one.
    Chats,
    /// One chat, and its removal.
    Chat,
    /// The changes of a chat as a stream of events, a screenshot of a step, and the chat as Markdown.
    ChatEvents,
    /// A message, a stop, an answer or a change for a chat.
    ChatCommand,
    /// The agents that chats can run.
    ChatAgents,
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
    /// Its path. A segment `*` is variable.
    pub path: &'static str,
    /// Who may use it.
    pub access: Access,
}

impl Route {
    /// Whether it takes a method. Routes of a session take it in lower case too, as Chrome's port does: nodriver sends
    /// `get`.
    #[must_use]
    pub fn takes(&self, method: &str) -> bool {
        let is_session = self.access == Access::Session;
        self.methods
            .split(' ')
            .any(|taken| taken == method || (is_session && taken.eq_ignore_ascii_case(method)))
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
    route(RouteName::Cdp, "GET", "/devtools/browser/*", Access::Session),
    route(RouteName::CdpPage, "GET", "/devtools/page/*", Access::Session),
    // PUT only: a web page can send a cross-origin GET with a link or an image.
    route(RouteName::JsonNew, "PUT", "/json/new", Access::Session),
    route(RouteName::JsonActivate, "GET PUT", "/json/activate/*", Access::Session),
    route(RouteName::JsonClose, "GET PUT", "/json/close/*", Access::Session),
    route(RouteName::JsonVersion, "GET", "/json/version", Access::Session),
    route(RouteName::JsonVersion, "GET", "/json/version/", Access::Session),
    route(RouteName::JsonList, "GET", "/json", Access::Session),
    route(RouteName::JsonList, "GET", "/json/", Access::Session),
    route(RouteName::JsonList, "GET", "/json/list", Access::Session),
    route(RouteName::JsonList, "GET", "/json/list/", Access::Session),
    route(RouteName::JsonProtocol, "GET", "/json/protocol", Access::Session),
    route(RouteName::JsonProtocol, "GET", "/json/protocol/", Access::Session),
    route(RouteName::ClientSlot, "GET", "/client-slot", Access::Session),
    route(RouteName::Actions, "GET", "/v1/actions", Access::User),
    route(RouteName::Action, "POST", "/v1/actions/*", Access::User),
    route(RouteName::Execute, "POST", "/v1/execute", Access::User),
    route(RouteName::Reset, "POST", "/v1/reset", Access::User),
    route(RouteName::Complete, "GET", "/v1/complete", Access::User),
    route(RouteName::Progress, "GET", "/v1/progress", Access::User),
    route(RouteName::DashboardUrl, "POST", "/v1/dashboard", Access::User),
    route(RouteName::Events, "GET", "/v1/events", Access::User),
    route(RouteName::ChatAgents, "GET", "/v1/agents", Access::User),
    route(RouteName::Chats, "GET POST", "/v1/chats", Access::User),
    route(RouteName::Chat, "GET DELETE", "/v1/chats/*", Access::User),
    route(RouteName::ChatEvents, "GET", "/v1/chats/*/events", Access::User),
    route(RouteName::ChatEvents, "GET", "/v1/chats/*/screenshot", Access::User),
    route(RouteName::ChatEvents, "GET", "/v1/chats/*/export", Access::User),
    route(RouteName::ChatCommand, "POST", "/v1/chats/*/messages", Access::User),
    route(RouteName::ChatCommand, "POST", "/v1/chats/*/retry", Access::User),
    route(RouteName::ChatCommand, "POST", "/v1/chats/*/stop", Access::User),
    route(RouteName::ChatCommand, "POST", "/v1/chats/*/answer", Access::User),
    route(RouteName::ChatCommand, "POST", "/v1/chats/*/change", Access::User),
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

/// The routes of the dashboard. They are not in the list because they take the dashboard's own Origin, which all others
/// refuse.
pub static DASHBOARD_ROUTES: &[Route] = &[
    route(RouteName::DashboardEnter, "POST", "/dashboard/enter", Access::Dashboard),
    route(RouteName::DashboardLine, "GET", "/dashboard/line", Access::Dashboard),
    route(RouteName::DashboardLive, "GET", "/dashboard/live", Access::Dashboard),
    route(RouteName::DashboardChats, "GET", "/dashboard/chats", Access::Dashboard),
    route(RouteName::DashboardFile, "GET", "/dashboard", Access::Public),
    route(RouteName::DashboardFile, "GET", "/dashboard/*", Access::Public),
    route(RouteName::DashboardFile, "GET", "/dashboard/shared/*", Access::Public),
    route(RouteName::DashboardFile, "GET", "/dashboard/shared/chat/*", Access::Public),
    route(RouteName::DashboardFile, "GET", "/dashboard/views/*", Access::Public),
    route(RouteName::DashboardFile, "GET", "/dashboard/live/*", Access::Public),
];

/// The route of a path, and its variable part.
pub(crate) fn find_route(path: &str) -> Option<(&'static Route, Option<&str>)> {
    find_in(ROUTES, path)
}

/// The route of a path in a list.
pub(crate) fn find_in<'a>(
    routes: &'static [Route],
    path: &'a str,
) -> Option<(&'static Route, Option<&'a str>)> {
    routes.iter().find_map(|route| match route.path.split_once('*') {
        None => (route.path == path).then_some((route, None)),
        Some((prefix, suffix)) => {
            let variable = path.strip_prefix(prefix)?.strip_suffix(suffix)?;
            (!variable.is_empty() && !variable.contains('/')).then_some((route, Some(variable)))
        }
    })
}
