//! Grants and denials that the user gave, each with an id and a term.

use serde::{Deserialize, Serialize};

use crate::capability::{Capabilities, Capability};
use crate::limits::GRANT_ENTRIES;
use crate::page_url::PageUrl;
use crate::session_agents::AgentScope;
use crate::site::Site;

/// The id of a grant or denial, such as `g3`. Ids are never reused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GrantId(String);

impl GrantId {
    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for GrantId {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.pad(&self.0)
    }
}

/// How long a grant holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GrantTerm {
    /// Until it is revoked.
    Always,
    /// Until a Unix time in seconds.
    Until(u64),
    /// Until the session stops.
    Session(String),
}

/// What an entry does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum EntryKind {
    /// Grants capabilities.
    Grant {
        /// The capabilities.
        capabilities: Capabilities,
        /// How long.
        term: GrantTerm,
    },
    /// Denies everything on the site and overrides grants.
    Deny,
}

/// One grant or denial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GrantEntry {
    /// The id.
    pub id: GrantId,
    /// Where it holds.
    pub site: Site,
    /// Grant or denial.
    #[serde(flatten)]
    pub kind: EntryKind,
    /// Unix time in seconds.
    pub given_at: u64,
    /// Who or what gave it.
    pub given_by: String,
    /// The agent that it holds for, by its name; without one it holds for every agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// Whom a grant must hold for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Holder<'a> {
    pub(crate) now: u64,
    pub(crate) session: Option<&'a str>,
    pub(crate) agent: AgentScope<'a>,
}

impl GrantEntry {
    /// Whether it holds at a time, in a session, for an agent.
    #[must_use]
    pub(crate) fn holds(&self, holder: &Holder<'_>) -> bool {
        let Holder { now, session, agent } = *holder;
        if self.agent.as_deref().is_some_and(|name| !agent.includes(session, name)) {
            return false;
        }
        match &self.kind {
            EntryKind::Deny | EntryKind::Grant { term: GrantTerm::Always, .. } => true,
            EntryKind::Grant { term: GrantTerm::Until(end), .. } => now < *end,
            EntryKind::Grant { term: GrantTerm::Session(name), .. } => session == Some(name.as_str()),
        }
    }
}

/// All grants and denials.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GrantList {
    /// The number of the next entry.
    next: u64,
    entries: Vec<GrantEntry>,
}

/// Why the list cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GrantListError {
    /// The stored list is invalid.
    #[error("line {line}: {what}")]
    Unreadable {
        /// The line of the error.
        line: usize,
        /// The error.
        what: String,
    },
    /// The list is full.
    #[error("the list already has {GRANT_ENTRIES} grants and denials; revoke some")]
    Full,
}

impl GrantList {
    /// Parses the output of [`GrantList::to_json`].
    ///
    /// # Errors
    /// When the text is invalid.
    pub fn from_json(text: &str) -> Result<Self, GrantListError> {
        serde_json::from_str(text)
            .map_err(|error| GrantListError::Unreadable { line: error.line(), what: error.to_string() })
    }

    /// Serialises the list.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// All entries, oldest first.
    #[must_use]
    pub fn entries(&self) -> &[GrantEntry] {
        &self.entries
    }

    /// Whether a grant holds for one agent only.
    #[must_use]
    pub fn names_agents(&self) -> bool {
        self.entries.iter().any(|entry| entry.agent.is_some())
    }

    /// Adds a grant or denial for every agent. It replaces one of the same kind for the same site.
    ///
    /// # Errors
    /// When the list is full.
    pub fn add(
        &mut self,
        site: Site,
        kind: EntryKind,
        given_at: u64,
        given_by: &str,
    ) -> Result<GrantEntry, GrantListError> {
        self.add_for(None, site, kind, given_at, given_by)
    }

    /// Adds capabilities to the grant with the same site, term and agent, or makes that grant.
    ///
    /// # Errors
    /// When the list is full.
    pub fn extend(
        &mut self,
        agent: Option<&str>,
        site: Site,
        (capabilities, term): (Capabilities, GrantTerm),
        given_at: u64,
        given_by: &str,
    ) -> Result<GrantEntry, GrantListError> {
        let same = self.entries.iter().find_map(|entry| match &entry.kind {
            EntryKind::Grant { capabilities, term: held }
                if entry.site == site && *held == term && entry.agent.as_deref() == agent =>
            {
                Some(*capabilities)
            }
            _ => None,
        });
        let capabilities = same.unwrap_or(Capabilities::NONE).and(capabilities);
        self.add_for(agent, site, EntryKind::Grant { capabilities, term }, given_at, given_by)
    }

    /// Adds a grant for one agent, or for all. It replaces one of the same kind for the same site and agent.
    ///
    /// # Errors
    /// When the list is full.
    pub fn add_for(
        &mut self,
        agent: Option<&str>,
        site: Site,
        kind: EntryKind,
        given_at: u64,
        given_by: &str,
    ) -> Result<GrantEntry, GrantListError> {
        let is_replaced = |entry: &GrantEntry| {
            entry.site == site && entry.agent.as_deref() == agent && is_same_kind(&entry.kind, &kind)
        };
        self.entries.retain(|entry| !is_replaced(entry));
        if self.entries.len() >= GRANT_ENTRIES {
            return Err(GrantListError::Full);
        }
        self.next += 1;
        let letter = if kind == EntryKind::Deny { 'd' } else { 'g' };
        let id = GrantId(format!("{letter}{}", self.next));
        let (given_by, agent) = (given_by.to_owned(), agent.map(str::to_owned));
        let entry = GrantEntry { id, site, kind, given_at, given_by, agent };
        self.entries.push(entry.clone());
        Ok(entry)
    }

    /// Removes entries by id or site and returns them.
    pub fn revoke(&mut self, which: &str) -> Vec<GrantEntry> {
        let sites = [Site::parse(which).ok(), Site::parse_denied(which).ok()];
        let is_match = |entry: &GrantEntry| {
            entry.id.as_str() == which || sites.iter().flatten().any(|site| *site == entry.site)
        };
        let (gone, kept) = self.entries.drain(..).partition(is_match);
        self.entries = kept;
        gone
    }

    /// Removes expired grants and those of a session that has ended; returns whether there were any.
    pub fn remove_expired(&mut self, now: u64, ended: Option<&str>) -> bool {
        let before = self.entries.len();
        self.entries.retain(|entry| match &entry.kind {
            EntryKind::Grant { term: GrantTerm::Until(end), .. } => now < *end,
            EntryKind::Grant { term: GrantTerm::Session(name), .. } => ended != Some(name.as_str()),
            _ => true,
        });
        self.entries.len() != before
    }

    /// The denial that covers a URL.
    pub(crate) fn find_denial(&self, url: &PageUrl) -> Option<&GrantEntry> {
        self.entries.iter().find(|entry| entry.kind == EntryKind::Deny && entry.site.forbids(url))
    }

    /// The grant that allows a capability at a URL.
    pub(crate) fn find_grant(
        &self,
        url: &PageUrl,
        capability: Capability,
        holder: &Holder<'_>,
    ) -> Option<&GrantEntry> {
        self.entries.iter().find(|entry| match &entry.kind {
            EntryKind::Grant { capabilities, .. } => {
                capabilities.with_reading().has(capability) && entry.holds(holder) && entry.site.grants(url)
            }
            EntryKind::Deny => false,
        })
    }
}

/// Grants with different terms are separate entries: an hour's grant must not replace a permanent one.
fn is_same_kind(one: &EntryKind, other: &EntryKind) -> bool {
    match (one, other) {
        (EntryKind::Deny, EntryKind::Deny) => true,
        (EntryKind::Grant { term: one, .. }, EntryKind::Grant { term: other, .. }) => match (one, other) {
            (GrantTerm::Session(one), GrantTerm::Session(other)) => one == other,
            _ => std::mem::discriminant(one) == std::mem::discriminant(other),
        },
        _ => false,
    }
}
