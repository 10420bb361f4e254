//! Command-line definition of `mcp`. The options apply to all calls of one connection.

use clap::{Args, Subcommand, ValueEnum};
use tabwire_api::api::ResultForm;

use super::clients::ClientProgram;
use crate::cli::session_flags::{SessionFlags, ViewFlags};

#[derive(Clone, Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct McpFlags {
    #[command(subcommand)]
    pub(crate) command: Option<McpCommand>,
    /// Add tools, by group (network, state, emulate, files, debug, vision, input, sharing, execute, all) or name;
    /// `-NAME` removes one. Separated by commas.
    #[arg(long, value_name = "TOOLS", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) tools: Vec<String>,
    /// Form of tool results.
    // The name before, which configurations of clients may hold.
    #[arg(long, alias = "answers", value_enum, default_value_t)]
    pub(crate) results: ResultFormFlag,
    /// Serve over HTTP on the daemon's loopback port while this command runs. Prints the URL, which contains a secret.
    #[arg(long, conflicts_with = "isolated")]
    pub(crate) http: bool,
    /// Run without the daemon: nothing is shared, nothing stays afterwards.
    #[arg(long)]
    pub(crate) isolated: bool,
    /// List the tools with their size in tokens, and exit.
    #[arg(long)]
    pub(crate) list_tools: bool,
    /// The chat whose agent starts this server.
    #[arg(long, hide = true, value_name = "ID", conflicts_with_all = ["http", "isolated"])]
    pub(crate) chat: Option<String>,
    #[command(flatten)]
    pub(crate) options: SessionFlags,
    #[command(flatten)]
    pub(crate) view: ViewFlags,
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// Add Tabwire to a client's MCP servers.
    ///
    /// Changes only its own entry, and keeps a backup of the file. Does not change a file with syntax errors.
    Install {
        /// The client.
        #[arg(long, value_enum)]
        client: ClientProgram,
        /// Use the project's file, if the client has one.
        #[arg(long)]
        project: bool,
        /// Print the entry and the path, without writing.
        #[arg(long)]
        print: bool,
        /// Arguments of the server, after `--`: `-- --tools network --session work`.
        #[arg(last = true, value_name = "ARGUMENTS")]
        arguments: Vec<String>,
    },
    /// Remove Tabwire from a client's MCP servers.
    Uninstall {
        /// The client.
        #[arg(long, value_enum)]
        client: ClientProgram,
        /// Use the project's file.
        #[arg(long)]
        project: bool,
    },
    /// Start the server as a client does, and call a tool.
    Doctor {
        /// Use the command in this client's file.
        #[arg(long, value_enum)]
        client: Option<ClientProgram>,
        /// Use the project's file.
        #[arg(long)]
        project: bool,
    },
}

/// Form of tool results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ResultFormFlag {
    /// Text, which every client shows to its model.
    #[default]
    Text,
    /// Structured content too, for data (tabs, links, values, requests) and clients that show it to their models.
    Auto,
    /// JSON as structured content with schemas, and as text, for programs.
    Data,
}

impl From<ResultFormFlag> for ResultForm {
    fn from(flag: ResultFormFlag) -> Self {
        match flag {
            ResultFormFlag::Auto => Self::Auto,
            ResultFormFlag::Text => Self::Text,
            ResultFormFlag::Data => Self::Data,
        }
    }
}
