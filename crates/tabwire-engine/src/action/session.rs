//! Actions on sessions: opening and closing, starting and stopping, session memory, leases of tabs.
//!
//! Their definitions are in the registry with those of the page actions. The daemon runs them, because they create and
//! end the browsers that page actions run in.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tabwire_api::{SessionName, TabId};
use tabwire_policy::{Capability, Needs};

use super::{ActionKind, Definition, Effect, Example};
use crate::url::checked_url;

/// Which action on a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionAction {
    /// Closes a tab, or the session with its browser.
    Close,
    /// Starts the browser.
    Start,
    /// Ends the browser; the session's memory stays.
    Stop,
    /// Ends the browser and starts it with the same tabs.
    Restart,
    /// Reports the state of one session.
    Status,
    /// Lists sessions.
    List,
    /// Renames a session.
    Rename,
    /// Ends the browser and deletes the session's memory.
    Delete,
    /// Shows the session's memory.
    ContextShow,
    /// Changes the session's memory.
    ContextSet,
    /// Clears the session's memory.
    ContextClear,
    /// Leases a tab to one client.
    TabLease,
    /// Ends a lease.
    TabRelease,
    /// Lists leases.
    TabLeases,
}

/// The parameters of an action on a session.
pub trait SessionParameters: DeserializeOwned + Serialize + JsonSchema + Send + 'static {
    /// Its name: `session_start`.
    const NAME: &'static str;
    /// The command that runs it: `session start`.
    const COMMAND: &'static str;
    /// Which action it is.
    const KIND: ActionKind;
    /// What it does to the world.
    const EFFECT: Effect = Effect::Session;
    /// Command lines that show its use.
    const EXAMPLES: &'static [Example] = &[];

    /// What it needs of the policy; nothing by default, because it shows nothing of a page.
    fn needs(&self) -> Needs {
        Needs::nothing()
    }
}

macro_rules! session_parameters {
    ($($type:ident = $action:ident $name:literal $command:literal;)+) => {
        $(impl SessionParameters for $type {
            const NAME: &'static str = $name;
            const COMMAND: &'static str = $command;
            const KIND: ActionKind = ActionKind::Session(SessionAction::$action);
        })+
    };
}

session_parameters! {
    SessionStart = Start "session_start" "session start";
    SessionStop = Stop "session_stop" "session stop";
    SessionRestart = Restart "session_restart" "session restart";
    SessionStatus = Status "session_status" "session status";
    SessionList = List "session_list" "session list";
    SessionRename = Rename "session_rename" "session rename";
    SessionDelete = Delete "session_delete" "session delete";
    ContextShow = ContextShow "context_show" "context show";
    ContextSet = ContextSet "context_set" "context set";
    ContextClear = ContextClear "context_clear" "context clear";
    TabLease = TabLease "tab_lease" "tab lease";
    TabRelease = TabRelease "tab_release" "tab release";
    TabLeases = TabLeases "tab_leases" "tab leases";
}

/// The actions on sessions.
pub static SESSION_ACTIONS: &[Definition] = &[
    Definition::of_session::<Open>(),
    Definition::of_session::<Close>(),
    Definition::of_session::<SessionStart>(),
    Definition::of_session::<SessionStop>(),
    Definition::of_session::<SessionRestart>(),
    Definition::of_session::<SessionStatus>(),
    Definition::of_session::<SessionList>(),
    Definition::of_session::<SessionRename>(),
    Definition::of_session::<SessionDelete>(),
    Definition::of_session::<ContextShow>(),
    Definition::of_session::<ContextSet>(),
    Definition::of_session::<ContextClear>(),
    Definition::of_session::<TabLease>(),
    Definition::of_session::<TabRelease>(),
    Definition::of_session::<TabLeases>(),
];

/// Open a page and print its snapshot.
///
/// Uses the session's current tab. A session without a browser gets one: headless, with a temporary profile by default.
/// Without a URL it opens the demo page that Tabwire serves.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema, clap::Args)]
#[serde(default)]
pub struct Open {
    /// The URL; `https://` may be left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "url"))]
    pub url: Option<String>,
    /// Open in a new tab.
    #[arg(long)]
    pub new_tab: bool,
}

impl SessionParameters for Open {
    const NAME: &'static str = "open";
    const COMMAND: &'static str = "open";
    const KIND: ActionKind = ActionKind::Open;
    const EFFECT: Effect = Effect::Navigate;
    const EXAMPLES: &'static [Example] = &[Example::new(
        "tabwire open https://example.org",
        "Open a page in the current tab; start the browser if there is none.",
    )];

    fn needs(&self) -> Needs {
        let url = self.url.as_deref().and_then(|url| checked_url(url).ok());
        Needs::destination().at(Capability::Read, url)
    }
}

/// Close the session and its browser, or one tab.
///
/// A browser that Tabwire launched ends. A browser that it is attached to keeps running.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema, clap::Args)]
#[serde(default)]
pub struct Close {
    /// Close only this tab.
    #[arg(long, value_name = "TAB")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    #[schemars(extend("x-carries" = "tab"))]
    pub tab: Option<TabId>,
}

impl SessionParameters for Close {
    const NAME: &'static str = "close";
    const COMMAND: &'static str = "close";
    const KIND: ActionKind = ActionKind::Session(SessionAction::Close);
    const EFFECT: Effect = Effect::Navigate;
    const EXAMPLES: &'static [Example] =
        &[Example::new("tabwire close", "End the session and the browser that Tabwire launched for it.")];
}

/// Start a session's browser if it has none.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SessionStart {}

/// End a session's browser. Its memory and options stay.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SessionStop {}

/// End a session's browser and start it again with the same tabs.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SessionRestart {}

/// Report a session's endpoint, processes, tabs and memory use.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SessionStatus {}

/// List the project's sessions, stopped ones included.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SessionList {
    /// List the sessions of all projects.
    pub all: bool,
}

/// Rename a session. Its browser keeps running.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SessionRename {
    /// The new name.
    #[schemars(with = "String")]
    #[schemars(extend("x-carries" = "text", "x-log" = "keyword"))]
    pub to: SessionName,
}

/// End a session's browser and delete its memory and saved state.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SessionDelete {}

/// Show what the session remembers between commands.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ContextShow {}

/// Change what the session remembers between commands.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ContextSet {
    /// The URL that `_` stands for.
    #[schemars(extend("x-carries" = "url"))]
    pub url: Option<String>,
    /// The target that `_` stands for.
    #[schemars(extend("x-carries" = "target"))]
    pub target: Option<String>,
    /// The file that `_` stands for.
    #[schemars(extend("x-carries" = "text", "x-log" = "path"))]
    pub output: Option<String>,
    /// The URL that relative URLs start from.
    #[schemars(extend("x-carries" = "url"))]
    pub base_url: Option<String>,
}

/// Clear what the session remembers between commands.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ContextClear {}

/// Lease a tab. Other clients cannot use it until the lease ends.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TabLease {
    /// The tab; the client's own or the current one by default.
    #[schemars(with = "Option<String>")]
    #[schemars(extend("x-carries" = "tab"))]
    pub tab: Option<TabId>,
    /// How long the lease lasts; 600 by default.
    pub seconds: Option<u64>,
}

/// End a lease.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TabRelease {
    /// The tab; the client's own or the current one by default.
    #[schemars(with = "Option<String>")]
    #[schemars(extend("x-carries" = "tab"))]
    pub tab: Option<TabId>,
    /// End another client's lease.
    pub force: bool,
}

/// List the leases of the session's tabs.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct TabLeases {}
