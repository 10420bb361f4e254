//! Table: the agents that chats can run, and what is known of each.
//!
//! A new agent gets no rule for permissions and no claim of confinement until both were tried.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Value, json};
use tabwire_acp::{Steering, ToolFacts};
use tabwire_api::{ErrorCode, Failure};

use crate::config::DaemonConfig;

/// The name of the MCP server that a chat gives its agent. Another one than `mcp install` writes: Codex drops a server
/// whose name its configuration has already.
pub(crate) const SERVER: &str = "tabwire_chat";

/// How permission requests name the MCP server, outside of texts that the model writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Naming {
    /// `_meta.claudeCode.toolName` is `mcp__SERVER__TOOL`.
    ClaudeMeta,
    /// `_meta.is_mcp_tool_approval`, and the call's parameters have the member `server`.
    CodexApproval,
    /// Not known: the user answers every request.
    Unknown,
}

/// What the agent can use besides Tabwire's tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Confinement {
    /// Nothing: its own tools are switched off.
    OwnToolsOff,
    /// No shell and no other agents; it can look at images in files.
    ShellOff,
    /// Not known: it may have a shell and files.
    Unknown,
}

/// The program of an agent that speaks the protocol through an adapter only.
#[derive(Debug)]
pub(crate) struct OwnProgram {
    command: &'static str,
    /// The variable by which the adapter takes it. Otherwise the adapter runs a copy of its own.
    variable: &'static str,
}

/// One agent.
#[derive(Debug)]
pub(crate) struct AgentSpec {
    /// Its id.
    pub(crate) id: &'static str,
    /// Its name.
    pub(crate) name: &'static str,
    /// Programs that speak the protocol, the preferred one first.
    commands: &'static [&'static str],
    /// Arguments that make the program speak the protocol.
    pub(crate) arguments: &'static [&'static str],
    /// Additional environment.
    pub(crate) environment: &'static [(&'static str, &'static str)],
    /// The agent's own program, if those are adapters.
    own: Option<OwnProgram>,
    /// Arguments that tell by the exit code whether the user has signed in.
    pub(crate) status: Option<&'static [&'static str]>,
    /// How to install it.
    pub(crate) install: &'static str,
    /// How to sign in.
    pub(crate) sign_in: &'static str,
    /// How its permission requests name the MCP server.
    pub(crate) naming: Naming,
    /// What else it can use.
    pub(crate) confinement: Confinement,
    /// How a message reaches it while it works; otherwise messages wait.
    pub(crate) steering: Option<Steering>,
    /// The mode in which it asks the client for permission.
    pub(crate) mode: Option<&'static str>,
}

/// All agents, in the order of preference.
pub(crate) static AGENTS: &[AgentSpec] = &[
    AgentSpec {
        id: "claude-code",
        name: "Claude Code",
        commands: &["claude-agent-acp", "claude-code-acp"],
        arguments: &[],
        // Without it the tools of MCP servers are hidden behind a search.
        environment: &[("ENABLE_TOOL_SEARCH", "false")],
        own: Some(OwnProgram { command: "claude", variable: "CLAUDE_CODE_EXECUTABLE" }),
        status: Some(&["auth", "status"]),
        install: "npm install -g @agentclientprotocol/claude-agent-acp",
        sign_in: "Run `claude` in a terminal and sign in with /login.",
        naming: Naming::ClaudeMeta,
        confinement: Confinement::OwnToolsOff,
        steering: Some(Steering::SecondPrompt),
        mode: None,
    },
    AgentSpec {
        id: "codex",
        name: "Codex",
        commands: &["codex-acp"],
        arguments: &[],
        environment: &[(
            "CODEX_CONFIG",
            r#"{"features":{"shell_tool":false,"multi_agent":false,"apps":false,"plugins":false,"goals":false}}"#,
        )],
        own: Some(OwnProgram { command: "codex", variable: "CODEX_PATH" }),
        status: Some(&["login", "status"]),
        install: "npm install -g @agentclientprotocol/codex-acp",
        sign_in: "Run `codex login` in a terminal.",
        naming: Naming::CodexApproval,
        confinement: Confinement::ShellOff,
        steering: Some(Steering::Method),
        // The mode `agent` lets a model judge each call instead.
        mode: Some("read-only"),
    },
    AgentSpec {
        id: "gemini",
        name: "Gemini CLI",
        commands: &["gemini"],
        arguments: &["--acp"],
        environment: &[],
        own: None,
        status: None,
        install: "npm install -g @google/gemini-cli",
        sign_in: "Run `gemini` in a terminal and sign in with /auth.",
        naming: Naming::Unknown,
        confinement: Confinement::Unknown,
        steering: None,
        mode: None,
    },
    AgentSpec {
        id: "opencode",
        name: "OpenCode",
        commands: &["opencode"],
        arguments: &["acp"],
        environment: &[],
        own: None,
        status: None,
        install: "npm install -g opencode-ai",
        sign_in: "Run `opencode auth login` in a terminal.",
        naming: Naming::Unknown,
        confinement: Confinement::Unknown,
        steering: None,
        mode: None,
    },
    AgentSpec {
        id: "qwen",
        name: "Qwen Code",
        commands: &["qwen"],
        arguments: &["--acp"],
        environment: &[],
        own: None,
        status: None,
        install: "npm install -g @qwen-code/qwen-code",
        sign_in: "Run `qwen` in a terminal and sign in with /auth.",
        naming: Naming::Unknown,
        confinement: Confinement::Unknown,
        steering: None,
        mode: None,
    },
];

/// The agent with an id.
pub(crate) fn find_agent(id: &str) -> Option<&'static AgentSpec> {
    AGENTS.iter().find(|agent| agent.id == id)
}

/// An agent on this machine, for diagnostics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledAgent {
    /// The agent's name.
    pub name: &'static str,
    /// The program that speaks the protocol.
    pub program: Option<PathBuf>,
    /// The agent's own program, if that is another one.
    pub own_program: Option<PathBuf>,
    /// How to install what is missing.
    pub install: &'static str,
}

/// All agents that chats know, with their programs on a search path.
#[must_use]
pub fn find_agents(search_path: Option<&OsStr>) -> Vec<InstalledAgent> {
    let agents = AGENTS.iter().map(|agent| InstalledAgent {
        name: agent.name,
        program: agent.find_program(search_path),
        own_program: agent.find_own_program(search_path),
        install: agent.install,
    });
    agents.collect()
}

/// The variables by which users name the programs of agents.
pub const PROGRAM_VARIABLES: [&str; 2] = ["CLAUDE_CODE_EXECUTABLE", "CODEX_PATH"];

impl AgentSpec {
    /// The program that speaks the protocol, if it is installed.
    pub(crate) fn find_program(&self, search_path: Option<&OsStr>) -> Option<PathBuf> {
        self.commands.iter().find_map(|name| find_on_path(name, search_path))
    }

    /// The agent's own program, if it is installed and another one.
    pub(crate) fn find_own_program(&self, search_path: Option<&OsStr>) -> Option<PathBuf> {
        find_on_path(self.own.as_ref()?.command, search_path)
    }

    /// The program, or what the user has to install.
    pub(crate) fn require_program(&self, search_path: Option<&OsStr>) -> Result<PathBuf, Failure> {
        self.find_program(search_path).ok_or_else(|| {
            let message = match self.find_own_program(search_path) {
                Some(_) => format!("{} is installed, but its adapter for chats is not.", self.name),
                None => format!("{} is not installed.", self.name),
            };
            Failure::new(ErrorCode::LaunchFailed, message)
                .with_remedy(format!("Run `{}`, then retry.", self.install))
        })
    }

    /// The variable that names the agent's own program for the adapter: as the user has set it, or as it is found.
    pub(crate) fn variables(&self, config: &DaemonConfig) -> Vec<(&'static str, OsString)> {
        let Some(own) = &self.own else { return Vec::new() };
        let set = config.agent_programs.iter().find(|(name, _)| name == own.variable);
        let program = match set {
            Some((_, program)) => Some(program.clone()),
            None => self.find_own_program(config.path_env.as_deref()).map(PathBuf::into_os_string),
        };
        program.map(|program| (own.variable, program)).into_iter().collect()
    }

    /// The member `_meta` of the request that opens a session.
    pub(crate) fn session_meta(&self) -> Option<Value> {
        // No tools of its own, no settings files that could add some, and no mode without questions.
        let options = json!({"tools": [], "settingSources": [], "allowDangerouslySkipPermissions": false});
        (self.naming == Naming::ClaudeMeta).then(|| json!({"claudeCode": {"options": options}}))
    }

    /// Whether a permission request is for a tool of our MCP server, which Tabwire's policy judges by itself.
    pub(crate) fn is_own_tool(&self, tool: &ToolFacts, is_mcp: bool) -> bool {
        match self.naming {
            Naming::ClaudeMeta => {
                let name = tool.meta_tool.as_deref().and_then(|name| name.strip_prefix("mcp__"));
                let rest =
                    name.and_then(|name| name.strip_prefix(SERVER)).and_then(|rest| rest.strip_prefix("__"));
                rest.is_some_and(|tool| !tool.is_empty())
            }
            Naming::CodexApproval => is_mcp && tool.input_server.as_deref() == Some(SERVER),
            Naming::Unknown => false,
        }
    }
}

fn find_on_path(name: &str, search_path: Option<&OsStr>) -> Option<PathBuf> {
    let mut candidates = std::env::split_paths(search_path?).map(|place| place.join(name));
    candidates.find(|path| path.is_absolute() && is_program(path))
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(meta_tool: Option<&str>, server: Option<&str>) -> ToolFacts {
        let title = Some("mcp__tabwire_chat__click".to_owned());
        let owned = |text: Option<&str>| text.map(str::to_owned);
        ToolFacts { title, meta_tool: owned(meta_tool), input_server: owned(server), ..ToolFacts::default() }
    }

    #[test]
    fn only_names_that_the_adapter_writes_count_as_our_tools() {
        let (claude, codex) =
            (find_agent("claude-code").expect("known"), find_agent("codex").expect("known"));
        assert!(claude.is_own_tool(&facts(Some("mcp__tabwire_chat__click"), None), false));
        for (meta, server, is_mcp) in [
            (None, Some(SERVER), true),
            (Some("Bash"), Some(SERVER), false),
            (Some("mcp__tabwire__click"), None, false),
            (Some("mcp__tabwire_chat__"), None, false),
            (Some("mcp__tabwire_chat2__click"), None, false),
        ] {
            assert!(!claude.is_own_tool(&facts(meta, server), is_mcp), "{meta:?} {server:?}");
        }
        assert!(codex.is_own_tool(&facts(None, Some(SERVER)), true));
        assert!(!codex.is_own_tool(&facts(None, Some(SERVER)), false), "a shell call with that parameter");
        assert!(!codex.is_own_tool(&facts(None, Some("other")), true));
        for agent in AGENTS.iter().filter(|agent| agent.naming == Naming::Unknown) {
            assert_eq!(agent.confinement, Confinement::Unknown, "{}", agent.id);
            assert!(!agent.is_own_tool(&facts(Some("mcp__tabwire_chat__click"), Some(SERVER)), true));
        }
    }

    #[test]
    fn a_chat_is_named_as_other_connections_of_its_agent() {
        for agent in AGENTS {
            let client = tabwire_api::ClientName::new(&format!("{}:3f9c0a1b2c4d", agent.id));
            assert_eq!(client.expect("a name").display_name(), agent.name);
        }
    }

    #[test]
    fn a_missing_adapter_and_a_missing_agent_are_different_findings() {
        let home = tempfile::tempdir().expect("a directory");
        let program = |name: &str| {
            let path = home.path().join(name);
            std::fs::write(&path, "").expect("written");
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).expect("executable");
        };
        let (codex, path) = (find_agent("codex").expect("known"), home.path().as_os_str());
        let message = || codex.require_program(Some(path)).expect_err("no adapter").message;
        assert_eq!(message(), "Codex is not installed.");
        program("codex");
        assert_eq!(message(), "Codex is installed, but its adapter for chats is not.");
        program("codex-acp");
        assert_eq!(codex.require_program(Some(path)).ok(), Some(home.path().join("codex-acp")));
        let listed: Vec<_> = AGENTS.iter().filter_map(|agent| Some(agent.own.as_ref()?.variable)).collect();
        assert_eq!(listed, PROGRAM_VARIABLES);
    }

    #[test]
    fn the_configuration_of_an_agent_is_valid() {
        for agent in AGENTS {
            assert!(!agent.commands.is_empty() && !agent.install.is_empty() && !agent.sign_in.is_empty());
            for (name, value) in agent.environment {
                let is_json = !value.starts_with('{') || serde_json::from_str::<Value>(value).is_ok();
                assert!(is_json, "{} {name}", agent.id);
            }
        }
    }
}
