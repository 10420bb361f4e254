//! What was decided, by what, why, and what would change it.

use serde::Serialize;

use crate::Profile;
use crate::capability::Capability;
use crate::ledger::EntryId;
use crate::site::Site;

/// What decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// What holds where nothing was said.
    Profile(Profile),
    /// The rule of the policy file that begins on this line.
    Rule(usize),
    /// A grant.
    Grant(EntryId),
    /// A denial.
    Denial(EntryId),
    /// Somebody who was asked, for this one time.
    Approval,
    /// What no profile allows.
    BuiltIn,
    /// A policy file that cannot be used: nothing is allowed without it.
    BrokenFile,
}

impl Source {
    /// The source in two words, as the journal has it.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Profile(Profile::Open) => "profile open",
            Self::Profile(Profile::Guarded) => "profile guarded",
            Self::Rule(_) => "policy file",
            Self::Grant(_) => "grant",
            Self::Denial(_) => "denial",
            Self::Approval => "approval",
            Self::BuiltIn => "built in",
            Self::BrokenFile => "broken policy file",
        }
    }
}

impl std::fmt::Display for Source {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Profile(profile) => write!(formatter, "the profile {}", profile.as_str()),
            Self::Rule(line) => write!(formatter, "the rule on line {line} of policy.toml"),
            Self::Grant(id) => write!(formatter, "grant {id}"),
            Self::Denial(id) => write!(formatter, "denial {id}"),
            Self::Approval => formatter.write_str("somebody who was asked"),
            Self::BuiltIn => formatter.write_str("a rule that is built in"),
            Self::BrokenFile => formatter.write_str("a policy.toml that cannot be used"),
        }
    }
}

/// How long an answer is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Patience {
    /// Not at all when nobody is there to answer.
    IfSomebodyIsThere,
    /// Until the time is up: a rule says that somebody is to be asked.
    Wait,
}

/// What was decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// It may be done.
    Allow {
        /// What allows it.
        by: Source,
    },
    /// It may not.
    Deny {
        /// What denies it.
        by: Source,
        /// Why, as a sentence.
        why: String,
        /// The command that would allow it, if one would.
        remedy: Option<String>,
    },
    /// Somebody decides.
    Ask {
        /// What has somebody asked.
        by: Source,
        /// Why, as a sentence.
        why: String,
        /// The command that would allow it without asking.
        remedy: String,
        /// Where.
        site: Site,
        /// What.
        #[serde(serialize_with = "capability_word")]
        capability: Capability,
        /// How long to wait.
        patience: Patience,
    },
}

fn capability_word<S: serde::Serializer>(capability: &Capability, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(capability.as_str())
}

impl Decision {
    /// Whether it may be done without asking anybody.
    #[must_use]
    pub const fn is_allowed(&self) -> bool {
        matches!(self, Self::Allow { .. })
    }

    /// Says first what it is about; nothing is said of what is allowed.
    pub fn explain(&mut self, what: &str) {
        if let Self::Deny { why, .. } | Self::Ask { why, .. } = self {
            *why = format!("{what} {why}");
        }
    }

    /// The decision in a word.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Allow { .. } => "allow",
            Self::Deny { .. } => "deny",
            Self::Ask { .. } => "ask",
        }
    }

    /// What decided.
    #[must_use]
    pub const fn source(&self) -> &Source {
        match self {
            Self::Allow { by } | Self::Deny { by, .. } | Self::Ask { by, .. } => by,
        }
    }
}

/// The command that allows something on a site.
pub(crate) fn remedy(site: &Site, capability: Capability) -> String {
    let site = if site.is_everywhere() { "'*'".to_owned() } else { site.to_string() };
    match capability {
        Capability::Read => format!("tabwire allow {site}"),
        other => format!("tabwire allow {site} --{}", other.as_str()),
    }
}
