//! What can be said about sessions, what they remember, and who has which tab.

use std::time::Duration;

use clap::Subcommand;
use tabwire_wire::{SessionName, TabId};

use crate::cli::parse_duration;
use crate::session_flags::{SessionFlags, ViewFlags};

#[derive(Debug, Subcommand)]
pub(crate) enum SessionCommand {
    /// Start a session's browser; other commands do that by themselves.
    Start {
        /// The session; the current one if left out.
        name: Option<SessionName>,
        #[command(flatten)]
        options: SessionFlags,
        #[command(flatten)]
        view: ViewFlags,
    },
    /// End a session's browser. What the session remembers and how it was started stays.
    Stop {
        /// The session; the current one if left out.
        name: Option<SessionName>,
        /// Stop every session of the project.
        #[arg(long, conflicts_with = "name")]
        all: bool,
    },
    /// List the project's sessions, those that were stopped too.
    #[command(visible_alias = "ls")]
    List {
        /// List sessions of all projects.
        #[arg(long, short)]
        all: bool,
    },
    /// Say how a session is: endpoint, ownership, processes, tabs, memory.
    #[command(visible_alias = "info")]
    Status {
        /// The session; the current one if left out.
        name: Option<SessionName>,
    },
    /// End a session's browser and start it again with the same tabs.
    Restart {
        /// The session; the current one if left out.
        name: Option<SessionName>,
        #[command(flatten)]
        options: SessionFlags,
        #[command(flatten)]
        view: ViewFlags,
    },
    /// Give a session another name; its browser goes on.
    Rename {
        /// The session's name.
        from: SessionName,
        /// Its new name.
        to: SessionName,
    },
    /// End a session's browser and forget everything about it, saved state too.
    Delete {
        /// The session; the current one if left out.
        name: Option<SessionName>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ContextCommand {
    /// Print what the session remembers: last address, target and file, base URL, current tab.
    Show,
    /// Change what the session remembers.
    #[command(arg_required_else_help = true)]
    Set {
        /// The address that `navigate` and `open _` go to.
        #[arg(long)]
        url: Option<String>,
        /// The target that actions mean when they name none, or `_`.
        #[arg(long)]
        target: Option<String>,
        /// The file that `_` stands for.
        #[arg(long, value_name = "FILE")]
        output: Option<String>,
        /// Where relative addresses begin.
        #[arg(long = "base", value_name = "URL")]
        base: Option<String>,
    },
    /// Forget what the session remembers.
    Clear,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TabCommand {
    /// Lease a tab: until it ends, others are refused.
    Lease {
        /// The tab; the current one if left out.
        tab: Option<TabId>,
        /// For how long, e.g. 10m; 10 minutes if left out, a day at most.
        #[arg(long = "for", value_name = "TIME", value_parser = parse_duration)]
        length: Option<Duration>,
    },
    /// End a lease.
    Release {
        /// The tab; the current one if left out.
        tab: Option<TabId>,
        /// End another client's lease.
        #[arg(long)]
        force: bool,
    },
    /// List the leases.
    Leases,
}
