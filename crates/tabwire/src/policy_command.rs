//! What can be said about the policy: granting, denying, looking, and answering what agents ask for.

use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use tabwire_wire::api::PolicyProfile;

use crate::cli::parse_duration;
use crate::session_flags::parse_policy;

/// A site, and what is allowed there.
#[derive(Debug, Args)]
pub(crate) struct AllowWish {
    /// The site: https://example.org, https://*.example.org, http://127.0.0.1:8080/app, or * for every site.
    #[arg(value_name = "ORIGIN")]
    pub(crate) site: String,
    /// Also clicking, typing and whatever else a person could do there.
    #[arg(long)]
    pub(crate) act: bool,
    /// Also running code in its pages.
    #[arg(long)]
    pub(crate) eval: bool,
    /// Also having files written to this machine.
    #[arg(long)]
    pub(crate) download: bool,
    /// Also giving it files of this machine.
    #[arg(long)]
    pub(crate) upload: bool,
    /// Also driving it with bare CDP, which is everything at once.
    #[arg(long)]
    pub(crate) cdp: bool,
    /// Also bringing much there after another site was read.
    #[arg(long)]
    pub(crate) carry: bool,
    /// For how long: a time such as 1h, `session` until the session is stopped, or `always`.
    #[arg(long = "for", value_name = "TERM", default_value = "always", value_parser = parse_term)]
    pub(crate) term: Term,
    /// Grant although no terminal is there, in a script that a person wrote.
    #[arg(long)]
    pub(crate) without_terminal: bool,
}

/// How long a grant holds.
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
    /// List what was granted and denied.
    #[command(visible_alias = "ls")]
    List,
    /// Take a grant or a denial back; it holds no more at once.
    Revoke {
        /// Its id from `grants list`, or its site.
        #[arg(value_name = "ID|ORIGIN")]
        which: String,
        /// Do it although no terminal is there, in a script that a person wrote.
        #[arg(long)]
        without_terminal: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Say what would be decided, and by which rule, without doing it.
    Check {
        /// The address.
        url: String,
        /// An action such as `click`, or an effect: read, act, navigate, eval, files.
        action: String,
        /// The policy to check with; that of the session if left out.
        #[arg(long, value_name = "POLICY", value_parser = parse_policy)]
        policy: Option<PolicyProfile>,
    },
    /// Print the rules of policy.toml, and what was granted and denied.
    Show,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalsCommand {
    /// Answer one question.
    Answer {
        /// Its id.
        id: String,
        /// The answer.
        answer: Answer,
        /// Answer although no terminal is there.
        #[arg(long)]
        without_terminal: bool,
    },
}

/// An answer to whether something may be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Answer {
    /// This one time.
    Once,
    /// Until the session is stopped.
    Session,
    /// From now on.
    Always,
    /// No.
    No,
}

impl Answer {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Session => "session",
            Self::Always => "always",
            Self::No => "no",
        }
    }
}
