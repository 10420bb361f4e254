//! Table: MCP clients, and the path and format of the file in which each lists its servers.

pub(super) mod doctor;
pub(crate) mod install;
mod json_members;
mod toml_table;

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde_json::{Value, json};

/// An MCP client program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClientProgram {
    /// Claude Code.
    ClaudeCode,
    /// Claude Desktop.
    ClaudeDesktop,
    /// Codex.
    Codex,
    /// Cursor.
    Cursor,
    /// Visual Studio Code.
    Vscode,
    /// Gemini CLI.
    Gemini,
    /// Windsurf.
    Windsurf,
    /// Zed.
    Zed,
    /// Any other client that reads JSON; the entry is only printed.
    Json,
}

/// The format of a client's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// JSON, with the servers in an object of this name.
    Json(&'static str),
    /// TOML, with each server in a table below this name.
    Toml(&'static str),
}

/// Which of a client's files is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The file of the user.
    User,
    /// The file of one project.
    Project,
}

impl ClientProgram {
    /// Its file below the home directory or the project; `None` when it has none there.
    pub(crate) fn file(self, scope: Scope, base: &Path, config_home: &Path) -> Option<PathBuf> {
        let is_mac = cfg!(target_os = "macos");
        let support = base.join("Library/Application Support");
        match (self, scope) {
            (Self::ClaudeCode, Scope::User) => Some(base.join(".claude.json")),
            (Self::ClaudeCode, Scope::Project) => Some(base.join(".mcp.json")),
            (Self::ClaudeDesktop, Scope::User) => {
                let folder = if is_mac { support.join("Claude") } else { config_home.join("Claude") };
                Some(folder.join("claude_desktop_config.json"))
            }
            (Self::Codex, _) => Some(base.join(".codex/config.toml")),
            (Self::Cursor, _) => Some(base.join(".cursor/mcp.json")),
            (Self::Vscode, Scope::User) => {
                let folder = if is_mac { support.join("Code/User") } else { config_home.join("Code/User") };
                Some(folder.join("mcp.json"))
            }
            (Self::Vscode, Scope::Project) => Some(base.join(".vscode/mcp.json")),
            (Self::Gemini, _) => Some(base.join(".gemini/settings.json")),
            (Self::Windsurf, Scope::User) => Some(base.join(".codeium/windsurf/mcp_config.json")),
            (Self::Zed, Scope::User) => Some(config_home.join("zed/settings.json")),
            (Self::Zed, Scope::Project) => Some(base.join(".zed/settings.json")),
            (Self::ClaudeDesktop | Self::Windsurf, Scope::Project) | (Self::Json, _) => None,
        }
    }

    /// The format of its file.
    pub(crate) const fn form(self) -> Form {
        match self {
            Self::Codex => Form::Toml("mcp_servers"),
            Self::Vscode => Form::Json("servers"),
            Self::Zed => Form::Json("context_servers"),
            _ => Form::Json("mcpServers"),
        }
    }

    /// The entry of a server in its file.
    pub(crate) fn entry(self, command: &str, arguments: &[String]) -> Value {
        match self {
            Self::ClaudeCode | Self::Vscode => {
                json!({"type": "stdio", "command": command, "args": arguments})
            }
            Self::Zed => json!({"source": "custom", "command": command, "args": arguments}),
            _ => json!({"command": command, "args": arguments}),
        }
    }
}
