//! What `mcp` takes: said once for a connection, so that no tool has to repeat it.

use clap::{Args, Subcommand, ValueEnum};
use tabwire_wire::api::AnswerForm;

use super::client_program::ClientProgram;
use crate::session_flags::{SessionFlags, ViewFlags};

/// What `mcp` takes.
#[derive(Clone, Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct McpFlags {
    #[command(subcommand)]
    pub(crate) command: Option<McpCommand>,
    /// Tools to offer besides the usual ones, by group (network, state, emulate, files, evidence, vision, input,
    /// sharing, all) or name; `-NAME` takes one away. Separated by commas.
    #[arg(long, value_name = "TOOLS", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) tools: Vec<String>,
    /// Where answers carry what is to be read.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) answers: Answers,
    /// Serve over HTTP on the daemon's loopback port, for as long as this command runs; prints the address, which is
    /// a secret.
    #[arg(long, conflicts_with = "isolated")]
    pub(crate) http: bool,
    /// Serve alone: no daemon, nothing shared, nothing left behind.
    #[arg(long)]
    pub(crate) isolated: bool,
    /// List the tools and what each costs a client to know, in tokens; serves nobody.
    #[arg(long)]
    pub(crate) list_tools: bool,
    #[command(flatten)]
    pub(crate) options: SessionFlags,
    #[command(flatten)]
    pub(crate) view: ViewFlags,
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// Add Tabwire to a client's list of MCP servers.
    ///
    /// Only its own entry is changed; a copy of the file is kept. A file that is not understood is left as it is.
    Install {
        /// The client.
        #[arg(long, value_enum)]
        client: ClientProgram,
        /// In the project's file, where the client has one.
        #[arg(long)]
        project: bool,
        /// Write nothing; print what would be written, and where.
        #[arg(long)]
        print: bool,
        /// Arguments for the server, after `--`: `-- --tools network --session work`.
        #[arg(last = true, value_name = "ARGUMENTS")]
        arguments: Vec<String>,
    },
    /// Take Tabwire off a client's list again.
    Uninstall {
        /// The client.
        #[arg(long, value_enum)]
        client: ClientProgram,
        /// In the project's file.
        #[arg(long)]
        project: bool,
    },
    /// Start the server as a client would, greet it, and use a tool.
    Doctor {
        /// With the command that this client has in its file.
        #[arg(long, value_enum)]
        client: Option<ClientProgram>,
        /// In the project's file.
        #[arg(long)]
        project: bool,
    },
}

/// Where answers carry what is to be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Answers {
    /// As data where the result is data (tabs, links, values, requests), in text where it is what a page says.
    #[default]
    Auto,
    /// In text, for clients that show their models no structured content.
    Text,
    /// All as structured content with schemas, for programs.
    Data,
}

impl From<Answers> for AnswerForm {
    fn from(answers: Answers) -> Self {
        match answers {
            Answers::Auto => Self::Auto,
            Answers::Text => Self::Text,
            Answers::Data => Self::Data,
        }
    }
}
