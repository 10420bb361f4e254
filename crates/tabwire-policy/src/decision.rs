//! Decisions, with their source, reason and remedy.

use serde::Serialize;

use crate::Profile;
use crate::capability::Capability;
use crate::grants::GrantId;
use crate::site::Site;

/// What made a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The default of the profile.
    Profile(Profile),
    /// The rule of the policy file that starts on this line.
    Rule(usize),
    /// A grant.
    Grant(GrantId),
    /// A denial.
    Denial(GrantId),
    /// The user approved this one action.
    Approval,
    /// A built-in rule, which holds in every profile.
    BuiltIn,
    /// An invalid policy file: until it is fixed, everything is denied.
    InvalidFile,
}

impl Source {
    /// The source as the audit log stores it.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Profile(Profile::Open) => "policy open",
            Self::Profile(Profile::Guarded) => "policy guarded",
            Self::Rule(_) => "policy file",
            Self::Grant(_) => "grant",
            Self::Denial(_) => "denial",
            Self::Approval => "approval",
            Self::BuiltIn => "built in",
            Self::InvalidFile => "invalid policy file",
        }
    }
}

impl std::fmt::Display for Source {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Profile(profile) => write!(formatter, "the {} policy", profile.as_str()),
            Self::Rule(line) => write!(formatter, "the rule on line {line} of policy.toml"),
            Self::Grant(id) => write!(formatter, "grant {id}"),
            Self::Denial(id) => write!(formatter, "denial {id}"),
            Self::Approval => formatter.write_str("the user's approval"),
            Self::BuiltIn => formatter.write_str("a built-in rule"),
            Self::InvalidFile => formatter.write_str("an invalid policy.toml"),
        }
    }
}

/// How long to wait for the user's approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalWait {
    /// Wait only while an approval front end is connected.
    IfApproverConnected,
    /// Wait until the timeout, because a rule requires approval.
    UntilTimeout,
}

/// The result of a policy check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// Allowed.
    Allow {
        /// What allows it.
        by: Source,
    },
    /// Denied.
    Deny {
        /// What decided.
        by: Source,
        /// The reason, as a sentence.
        why: String,
        /// The command that would allow it, if there is one.
        remedy: Option<String>,
    },
    /// The user decides.
    Ask {
        /// What decided.
        by: Source,
        /// The reason, as a sentence.
        why: String,
        /// The command that would allow it without approval.
        remedy: String,
        /// The site.
        site: Site,
        /// The capability.
        #[serde(serialize_with = "capability_word")]
        capability: Capability,
        /// How long to wait.
        wait: ApprovalWait,
    },
}

fn capability_word<S: serde::Serializer>(capability: &Capability, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(capability.as_str())
}

impl Decision {
    /// Whether it is allowed without approval.
    #[must_use]
    pub const fn is_allowed(&self) -> bool {
        matches!(self, Self::Allow { .. })
    }

    /// Puts a sentence before the reason.
    pub fn explain(&mut self, what: &str) {
        if let Self::Deny { why, .. } | Self::Ask { why, .. } = self {
            *why = format!("{what} {why}");
        }
    }

    /// The decision in one word.
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

/// The command that allows a capability on a site.
pub(crate) fn remedy(site: &Site, capability: Capability) -> String {
    let site = if site.is_everywhere() { "'*'".to_owned() } else { site.to_string() };
    match capability {
        Capability::Read => format!("tabwire allow {site}"),
        other => format!("tabwire allow {site} --{}", other.as_str()),
    }
}
