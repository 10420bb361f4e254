//! The daemon's state for the user of one browser, as its popup and options page show it. `cargo xtask gen` writes
//! `web/shared/wire.d.ts` from these types.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Everything that the daemon reports to the user of a browser. Each replaces the one before.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Notification {
    /// Questions that wait for an answer, the most urgent first.
    pub approvals: Vec<Question>,
    /// Questions that were answered lately, the newest first.
    pub decided: Vec<DecidedQuestion>,
    /// Grants and denials.
    pub grants: Vec<Grant>,
    /// The rules of the user's file.
    pub policy: PolicySummary,
    /// The clients of each tab.
    pub drivers: Vec<TabDriver>,
    /// Clients of open sessions, which use shared tabs without asking.
    pub open: Vec<String>,
    /// What the policy allows in the tabs that the popup shows.
    pub standings: Vec<UrlAccess>,
    /// What was refused lately in this browser, the newest first.
    pub refused: Vec<Refusal>,
}

/// A question of the policy.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Question {
    /// Its id.
    pub id: String,
    /// The agent's name, as its user knows it.
    pub agent: String,
    /// The client with its program and process.
    pub who: String,
    /// The session.
    pub session: String,
    /// The action.
    pub action: String,
    /// The site, never with a path or query.
    pub site: String,
    /// The capability that would be granted.
    pub capability: String,
    /// Why the user is asked.
    pub why: String,
    /// Seconds until it is denied.
    pub seconds_left: u64,
    /// Seconds that it had at first.
    pub seconds_total: u64,
}

/// An answered question.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DecidedQuestion {
    /// Its id.
    pub id: String,
    /// The agent's name.
    pub agent: String,
    /// The site.
    pub site: String,
    /// The capability.
    pub capability: String,
    /// `once`, `session`, `agent`, `always` or `no`.
    pub answer: String,
    /// Where it was answered.
    pub by: String,
    /// When, in seconds since 1970.
    pub when: u64,
}

/// A grant or denial.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Grant {
    /// Its id.
    pub id: String,
    /// `allow` or `deny`.
    pub stance: String,
    /// The site.
    pub site: String,
    /// What is granted.
    pub capabilities: Vec<String>,
    /// How long.
    pub term: Term,
    /// When it was given, in seconds since 1970.
    pub given_at: u64,
    /// Where it was given.
    pub given_by: String,
    /// The agent that it holds for; without one it holds for every agent.
    pub agent: Option<String>,
}

/// How long a grant holds.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Term {
    /// Until it is revoked.
    Always,
    /// Until this session stops.
    Session(String),
    /// For this many seconds.
    SecondsLeft(u64),
}

/// The user's policy file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PolicySummary {
    /// Whether the user is asked about sites without a rule or grant; otherwise they are refused.
    pub asks_about_unlisted: bool,
    /// Its rules.
    pub rules: Vec<RuleSummary>,
    /// Its path.
    pub file: String,
    /// Why it is invalid.
    pub fault: Option<String>,
}

/// A rule of the policy file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RuleSummary {
    /// The site.
    pub site: String,
    /// What it allows.
    pub allow: Vec<String>,
    /// What it asks about.
    pub ask: Vec<String>,
    /// What it denies.
    pub deny: Vec<String>,
}

/// The clients of one tab.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TabDriver {
    /// The tab's target.
    pub target: String,
    /// Names of clients.
    pub who: Vec<String>,
    /// What the tab group of the first client stands for: its name, or one chat of the agent.
    pub group: String,
}

/// What the policy allows in guarded sessions at one URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UrlAccess {
    /// The URL.
    pub url: String,
    /// Reading the page.
    pub read: Access,
    /// Acting on the page.
    pub act: Access,
}

/// Whether agents have a capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Every agent has it.
    Allowed,
    /// Some agents or sessions have it; the others ask.
    Some,
    /// Agents ask first.
    Asks,
    /// No agent gets it.
    Denied,
}

/// A refused action.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Refusal {
    /// When, in seconds since 1970.
    pub when: u64,
    /// The agent's name.
    pub agent: String,
    /// The client with its program and process.
    pub who: String,
    /// The session.
    pub session: String,
    /// The action.
    pub action: String,
    /// Why.
    pub message: String,
}

/// The JSON schema of [`Notification`], with its parts in `$defs`.
#[must_use]
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Notification).into()
}
