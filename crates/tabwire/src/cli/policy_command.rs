//! Command-line definitions of `allow`, `grants`, `policy` and `approvals`.

use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use tabwire_api::api::PolicyProfile;

use crate::cli::parse_duration;
use crate::cli::session_flags::parse_policy;

/// Options of `allow`.
#[derive(Debug, Args)]
pub(crate) struct AllowOptions {
    /// The site: https://example.org, https://*.example.org, http://127.0.0.1:8080/app, or * for every site.
    #[arg(value_name = "ORIGIN")]
    pub(crate) site: String,
    /// Also allow clicking, typing and other input.
    #[arg(long)]
    pub(crate) act: bool,
    /// Also allow running code in its pages.
    #[arg(long)]
    pub(crate) eval: bool,
    /// Also allow downloads to this machine.
    #[arg(long)]
    pub(crate) download: bool,
    /// Also allow uploads of files of this machine.
    #[arg(long)]
    pub(crate) upload: bool,
    /// Also allow raw CDP commands on pages of the site. They can do all that the actions can.
    #[arg(long)]
    pub(crate) cdp: bool,
    /// Also allow sending long texts there after another site was read.
    #[arg(long)]
    pub(crate) carry: bool,
    /// Duration: a time such as 1h, `session` (until the session stops), or `always`.
    #[arg(long = "for", value_name = "TERM", default_value = "always", value_parser = parse_term)]
    pub(crate) term: Term,
    /// Only for the agent of this name, such as "Claude Code" (default: every agent). Agents choose their own names.
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Grant without a terminal, for scripts written by a person.
    #[arg(long)]
    pub(crate) without_terminal: bool,
}

/// Duration of a grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Term {
    Always,
    Session,
    For(Duration),
}

fn parse_term(text: &str) -> Result<Term, String> {
    match text {
        "always" => Ok(Term::Always),
        "session" => Ok(Term::Session),
        other => match parse_duration(other) {
            Ok(length) if length >= Duration::from_secs(1) => Ok(Term::For(length)),
            _ => Err("expected a time such as 1h, `session` or `always`".to_owned()),
        },
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum GrantsCommand {
    /// List grants and denials.
    #[command(visible_alias = "ls")]
    List,
    /// Revoke a grant or a denial, effective at once.
    Revoke {
        /// The id from `grants list`, or the site.
        #[arg(value_name = "ID|ORIGIN")]
        which: String,
        /// Revoke without a terminal, for scripts written by a person.
        #[arg(long)]
        without_terminal: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Show what the policy decides for an action, and by which rule.
    Check {
        /// The URL.
        url: String,
        /// An action such as `click`, or an effect: read, act, navigate, eval, files.
        action: String,
        /// The policy (default: that of the session).
        #[arg(long, value_name = "POLICY", value_parser = parse_policy)]
        policy: Option<PolicyProfile>,
        /// Decide for this agent: grants for other agents do not apply.
        #[arg(long, value_name = "NAME")]
        agent: Option<String>,
    },
    /// Print the rules of policy.toml, the grants and the denials.
    Show,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalsCommand {
    /// Answer one request.
    Answer {
        /// The request's id.
        id: String,
        /// The answer.
        answer: ApprovalAnswer,
        /// Answer without a terminal, for scripts written by a person.
        #[arg(long)]
        without_terminal: bool,
    },
}

/// A response to an approval request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ApprovalAnswer {
    /// Allow this once.
    Once,
    /// Allow until the session stops.
    Session,
    /// Allow this agent from now on.
    Agent,
    /// Allow every agent from now on.
    Always,
    /// Deny.
    No,
}

impl ApprovalAnswer {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Session => "session",
            Self::Agent => "agent",
            Self::Always => "always",
            Self::No => "no",
        }
    }
}
