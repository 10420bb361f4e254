//! Command-line definition of `chat`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Below the help of `chat`.
pub(crate) const CHAT_HELP: &str = "\
Examples:
  tabwire chat agents                      which agents are installed
  tabwire chat new --agent codex           chat in this terminal
  echo 'What is on example.org?' | tabwire chat new
  tabwire chat resume 3f9c0a1b2c4d

In a chat, Ctrl-C stops the turn, and Ctrl-C at the prompt leaves. A line that you type while the agent works waits for the end
of the turn; `/steer TEXT` sends it into the turn. `/attach FILE`, `/retry`, `/set NAME=VALUE` and `/?` work at a terminal.";

#[derive(Debug, Subcommand)]
pub(crate) enum ChatCommand {
    /// List the agents that a chat can run, and which of them are installed.
    Agents,
    /// Start a chat: at a terminal line by line, else one message per line of standard input.
    ///
    /// The agent gets Tabwire's tools in a guarded session of its own, which ends with the agent. `--session` uses one of
    /// yours.
    New(NewChatFlags),
    /// Continue an earlier chat.
    Resume {
        /// The chat's id.
        id: String,
        /// Send this file or image with the first message. Can be repeated.
        #[arg(long, value_name = "FILE")]
        attach: Vec<PathBuf>,
    },
    /// List the chats, the newest first.
    List {
        /// Only chats with this text in the title or the transcript.
        #[arg(long, value_name = "TEXT")]
        search: Option<String>,
    },
    /// Print a chat as Markdown.
    Export {
        /// The chat's id.
        id: String,
        /// Write it to this new file.
        #[arg(long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Set options of a chat's agent, such as its model. They are kept.
    Set {
        /// The chat's id.
        id: String,
        /// NAME=VALUE. `tabwire chat show ID --json` has the names and values.
        #[arg(required = true, value_name = "OPTION")]
        options: Vec<String>,
    },
    /// Print the transcript of a chat.
    Show {
        /// The chat's id.
        id: String,
    },
    /// Change the title of a chat.
    Rename {
        /// The chat's id.
        id: String,
        /// The title.
        title: String,
    },
    /// End a chat and delete its transcript.
    Rm {
        /// The chat's id.
        id: String,
    },
}

/// Options of `chat new`.
#[derive(Debug, Args)]
pub(crate) struct NewChatFlags {
    /// Use this agent (default: the first one that is installed).
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// auto: your own browser if it is connected, else launch (default); launch; extension.
    #[arg(long, value_name = "UPSTREAM", value_parser = ["auto", "launch", "extension"])]
    pub(crate) upstream: Option<String>,
    /// Set an option of the agent (NAME=VALUE), such as its model. Can be repeated.
    #[arg(long, value_name = "OPTION")]
    pub(crate) set: Vec<String>,
    /// Send this file or image with the first message. Can be repeated.
    #[arg(long, value_name = "FILE")]
    pub(crate) attach: Vec<PathBuf>,
}
