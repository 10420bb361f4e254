//! An action as an MCP tool: its group, and what differs from the command line.

use serde::Serialize;

/// A group of tools that an MCP client can be given with `tabwire mcp --tools GROUP`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolGroup {
    /// Every client gets these.
    Default,
    /// More ways to act on elements.
    Input,
    /// Requests, routes and network conditions.
    Network,
    /// Cookies, storage and logins.
    State,
    /// Devices, locations and scripts of later documents.
    Emulate,
    /// Uploads, downloads and PDF.
    Files,
    /// Console, captures, recordings and traces.
    Debug,
    /// Coordinates instead of elements.
    Vision,
    /// Leases of tabs.
    Sharing,
    /// Scripts.
    Execute,
}

impl ToolGroup {
    /// Every group that is added by name.
    pub const ADDED: &[Self] = &[
        Self::Input,
        Self::Network,
        Self::State,
        Self::Emulate,
        Self::Files,
        Self::Debug,
        Self::Vision,
        Self::Sharing,
        Self::Execute,
    ];

    /// The group's name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Input => "input",
            Self::Network => "network",
            Self::State => "state",
            Self::Emulate => "emulate",
            Self::Files => "files",
            Self::Debug => "debug",
            Self::Vision => "vision",
            Self::Sharing => "sharing",
            Self::Execute => "execute",
        }
    }
}

/// The form in which a tool returns its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolResult {
    /// As text.
    Text,
    /// As structured content, to clients that read it.
    Data,
    /// As an image.
    Image,
}

/// How an action is offered to MCP clients.
#[derive(Clone, Copy, Debug)]
pub struct ToolOptions {
    /// Its group.
    pub group: ToolGroup,
    /// The tool's description; the first sentence of the action's help if absent.
    pub description: Option<&'static str>,
    /// The form of its result; data for actions that read or evaluate, text for the others if absent.
    pub result: Option<ToolResult>,
    /// Parameters that are not offered: another one does the same, or they are for terminals.
    pub hidden: &'static [&'static str],
    /// Whether the tool takes `timeout_ms`, because the action often needs more time than usual.
    pub has_timeout: bool,
    /// Whether calling it twice does the same as once.
    pub is_idempotent: bool,
}

impl ToolOptions {
    /// A tool of a group, described by the action's help.
    #[must_use]
    pub const fn new(group: ToolGroup) -> Self {
        Self { group, description: None, result: None, hidden: &[], has_timeout: false, is_idempotent: false }
    }

    /// The same with a description for models.
    #[must_use]
    pub const fn described(mut self, description: &'static str) -> Self {
        self.description = Some(description);
        self
    }

    /// The same with a form of result.
    #[must_use]
    pub const fn returning(mut self, result: ToolResult) -> Self {
        self.result = Some(result);
        self
    }

    /// The same without some parameters.
    #[must_use]
    pub const fn hiding(mut self, hidden: &'static [&'static str]) -> Self {
        self.hidden = hidden;
        self
    }

    /// The same with the argument `timeout_ms`.
    #[must_use]
    pub const fn with_timeout(mut self) -> Self {
        self.has_timeout = true;
        self
    }

    /// The same, marked as idempotent.
    #[must_use]
    pub const fn idempotent(mut self) -> Self {
        self.is_idempotent = true;
        self
    }
}
