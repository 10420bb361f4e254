//! What people granted and denied while working: each with an id, a term, and who gave it.

use serde::{Deserialize, Serialize};

use crate::address::Address;
use crate::capability::{Capabilities, Capability};
use crate::limits::LEDGER_ENTRIES;
use crate::site::Site;

/// The id of a grant or denial, such as `g3`; never used twice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EntryId(String);

impl EntryId {
    /// The id as people type it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for EntryId {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.pad(&self.0)
    }
}

/// How long a grant holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Term {
    /// Until it is revoked.
    Always,
    /// Until a time, in seconds since 1970.
    Until(u64),
    /// For one session, until it is stopped.
    Session(String),
}

/// What an entry says of its site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Stance {
    /// These may be done there, for so long.
    Grant {
        /// What may be done.
        capabilities: Capabilities,
        /// How long.
        term: Term,
    },
    /// Nothing may be done there, whatever was granted.
    Deny,
}

/// One grant or denial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Its id.
    pub id: EntryId,
    /// Where it holds.
    pub site: Site,
    /// What it says.
    #[serde(flatten)]
    pub stance: Stance,
    /// When it was given, in seconds since 1970.
    pub given_at: u64,
    /// Who gave it, or how.
    pub given_by: String,
}

impl Entry {
    /// Whether it holds now, in a session.
    #[must_use]
    pub fn holds(&self, now: u64, session: Option<&str>) -> bool {
        match &self.stance {
            Stance::Deny | Stance::Grant { term: Term::Always, .. } => true,
            Stance::Grant { term: Term::Until(end), .. } => now < *end,
            Stance::Grant { term: Term::Session(name), .. } => session == Some(name.as_str()),
        }
    }
}

/// Every grant and denial there is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ledger {
    /// The number of the next entry.
    next: u64,
    entries: Vec<Entry>,
}

/// Why a ledger cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LedgerFault {
    /// What was written down cannot be read.
    #[error("line {line}: {what}")]
    Unreadable {
        /// Where.
        line: usize,
        /// What is wrong there.
        what: String,
    },
    /// There are too many entries already.
    #[error("there are {LEDGER_ENTRIES} grants and denials already; revoke some")]
    Full,
}

impl Ledger {
    /// Reads what [`Ledger::write`] wrote.
    ///
    /// # Errors
    /// When it is anything else.
    pub fn read(text: &str) -> Result<Self, LedgerFault> {
        serde_json::from_str(text)
            .map_err(|error| LedgerFault::Unreadable { line: error.line(), what: error.to_string() })
    }

    /// Writes everything down.
    #[must_use]
    pub fn write(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// Every entry, oldest first.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Adds a grant or denial; one that says the same of the same site is replaced.
    ///
    /// # Errors
    /// When there are too many.
    pub fn add(
        &mut self,
        site: Site,
        stance: Stance,
        given_at: u64,
        given_by: &str,
    ) -> Result<Entry, LedgerFault> {
        self.entries.retain(|entry| entry.site != site || !is_same_kind(&entry.stance, &stance));
        if self.entries.len() >= LEDGER_ENTRIES {
            return Err(LedgerFault::Full);
        }
        self.next += 1;
        let letter = if stance == Stance::Deny { 'd' } else { 'g' };
        let id = EntryId(format!("{letter}{}", self.next));
        let entry = Entry { id, site, stance, given_at, given_by: given_by.to_owned() };
        self.entries.push(entry.clone());
        Ok(entry)
    }

    /// Takes away entries by id or by site; gives those that went.
    pub fn revoke(&mut self, which: &str) -> Vec<Entry> {
        let sites = [Site::read(which).ok(), Site::read_denied(which).ok()];
        let is_meant = |entry: &Entry| {
            entry.id.as_str() == which || sites.iter().flatten().any(|site| *site == entry.site)
        };
        let (gone, kept) = self.entries.drain(..).partition(is_meant);
        self.entries = kept;
        gone
    }

    /// Takes away what holds no more: terms that are over, and those of a session that has ended.
    pub fn forget_over(&mut self, now: u64, ended: Option<&str>) -> bool {
        let before = self.entries.len();
        self.entries.retain(|entry| match &entry.stance {
            Stance::Grant { term: Term::Until(end), .. } => now < *end,
            Stance::Grant { term: Term::Session(name), .. } => ended != Some(name.as_str()),
            _ => true,
        });
        self.entries.len() != before
    }

    /// The denial that holds at an address.
    pub(crate) fn find_denial(&self, address: &Address) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.stance == Stance::Deny && entry.site.forbids(address))
    }

    /// The grant that allows something at an address.
    pub(crate) fn find_grant(
        &self,
        address: &Address,
        capability: Capability,
        now: u64,
        session: Option<&str>,
    ) -> Option<&Entry> {
        self.entries.iter().find(|entry| match &entry.stance {
            Stance::Grant { capabilities, .. } => {
                capabilities.with_reading().has(capability)
                    && entry.holds(now, session)
                    && entry.site.grants(address)
            }
            Stance::Deny => false,
        })
    }
}

/// Grants for different terms stand beside each other; else an hour's grant would end an older, longer one.
fn is_same_kind(one: &Stance, other: &Stance) -> bool {
    match (one, other) {
        (Stance::Deny, Stance::Deny) => true,
        (Stance::Grant { term: one, .. }, Stance::Grant { term: other, .. }) => match (one, other) {
            (Term::Session(one), Term::Session(other)) => one == other,
            _ => std::mem::discriminant(one) == std::mem::discriminant(other),
        },
        _ => false,
    }
}
