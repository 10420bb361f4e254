//! Command-line definitions of `session`, `context` and `tab`.

use std::time::Duration;

use clap::Subcommand;
use tabwire_api::{SessionName, TabId};

use crate::cli::parse_duration;
use crate::cli::session_flags::{SessionFlags, ViewFlags};

#[derive(Debug, Subcommand)]
pub(crate) enum SessionCommand {
    /// Start a session's browser; other commands do that on demand.
    Start {
        /// The session (default: the current one).
        name: Option<SessionName>,
        #[command(flatten)]
        options: SessionFlags,
        #[command(flatten)]
        view: ViewFlags,
    },
    /// Close a session's browser. The session's options and remembered values stay.
    Stop {
        /// The session (default: the current one).
        name: Option<SessionName>,
        /// Stop every session of the project.
        #[arg(long, conflicts_with = "name")]
        all: bool,
    },
    /// List the project's sessions, stopped ones included.
    #[command(visible_alias = "ls")]
    List {
        /// List the sessions of all projects.
        #[arg(long, short)]
        all: bool,
    },
    /// Show a session: endpoint, ownership, processes, tabs, memory.
    #[command(visible_alias = "info")]
    Status {
        /// The session (default: the current one).
        name: Option<SessionName>,
    },
    /// Restart a session's browser with the same tabs.
    Restart {
        /// The session (default: the current one).
        name: Option<SessionName>,
        #[command(flatten)]
        options: SessionFlags,
        #[command(flatten)]
        view: ViewFlags,
    },
    /// Rename a session; its browser keeps running.
    Rename {
        /// The current name.
        from: SessionName,
        /// The new name.
        to: SessionName,
    },
    /// Delete a session with its saved state, and close its browser.
    Delete {
        /// The session (default: the current one).
        name: Option<SessionName>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ContextCommand {
    /// Show the last URL, target and file, the base URL and the current tab.
    Show,
    /// Change remembered values.
    #[command(arg_required_else_help = true)]
    Set {
        /// The URL for `navigate` and `open _`.
        #[arg(long)]
        url: Option<String>,
        /// The target of actions without one, or with `_`.
        #[arg(long)]
        target: Option<String>,
        /// The file for `_`.
        #[arg(long, value_name = "FILE")]
        output: Option<String>,
        /// The base of relative URLs.
        #[arg(long = "base", value_name = "URL")]
        base: Option<String>,
    },
    /// Clear the remembered values.
    Clear,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TabCommand {
    /// Lease a tab: other clients are refused until the lease ends.
    Lease {
        /// The tab (default: the current one).
        tab: Option<TabId>,
        /// Duration of the lease (default: 10m, at most 1d).
        #[arg(long = "for", value_name = "TIME", value_parser = parse_duration)]
        length: Option<Duration>,
    },
    /// End a lease.
    Release {
        /// The tab (default: the current one).
        tab: Option<TabId>,
        /// End another client's lease.
        #[arg(long)]
        force: bool,
    },
    /// List the leases.
    Leases,
}
