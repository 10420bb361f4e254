//! Which client works in which tab of a session, and which tabs are leased to one of them alone.
//!
//! A lease ends by itself. Time is passed in as a duration from now; the table has no clock of its own but the
//! monotonic one, so a machine that slept ends no lease early and none late by the wall clock.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use tabwire_wire::{ClientName, ErrorCode, Failure, TabId};

use crate::limits::{CLIENTS_REMEMBERED, LEASE_LONGEST};

/// A tab that one client has for itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lease {
    pub(crate) owner: ClientName,
    until: Instant,
}

/// Leases and places as a session's record has them, for the next daemon.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct SavedLeases {
    leases: Vec<SavedLease>,
    /// The tab each named client works in.
    places: Vec<(ClientName, TabId)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SavedLease {
    tab: TabId,
    owner: ClientName,
    /// When it ends, in milliseconds since 1970: the next daemon has another monotonic clock.
    until: u64,
}

/// A lease as it is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct LeaseView {
    pub(crate) tab: TabId,
    pub(crate) owner: ClientName,
    pub(crate) seconds_left: u64,
}

#[derive(Debug, Default)]
struct Tables {
    leases: HashMap<TabId, Lease>,
    /// The tab each named client works in.
    places: HashMap<ClientName, TabId>,
}

/// Leases and places of a session's clients.
#[derive(Debug, Default)]
pub(crate) struct LeaseTable {
    tables: Mutex<Tables>,
}

impl LeaseTable {
    fn tables(&self) -> MutexGuard<'_, Tables> {
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        tables.leases.retain(|_, lease| lease.until > now);
        tables
    }

    /// Forgets tabs that are gone.
    pub(crate) fn retain(&self, is_open: impl Fn(TabId) -> bool) {
        let mut tables = self.tables();
        tables.leases.retain(|tab, _| is_open(*tab));
        tables.places.retain(|_, tab| is_open(*tab));
    }

    /// Whether no tab is leased and no client has a place.
    pub(crate) fn is_empty(&self) -> bool {
        let tables = self.tables();
        tables.leases.is_empty() && tables.places.is_empty()
    }

    /// Refuses a client a tab that is leased to another.
    pub(crate) fn check(&self, tab: TabId, client: Option<&ClientName>) -> Result<(), Failure> {
        match self.tables().leases.get(&tab) {
            Some(lease) if lease.owner != name_of(client) => Err(leased(tab, lease)),
            _ => Ok(()),
        }
    }

    /// Leases a tab to a client, anew if it has it already.
    pub(crate) fn lease(
        &self,
        tab: TabId,
        client: &ClientName,
        length: Duration,
    ) -> Result<LeaseView, Failure> {
        self.check(tab, Some(client))?;
        let length = length.min(LEASE_LONGEST);
        let mut tables = self.tables();
        let lease = Lease { owner: client.clone(), until: Instant::now() + length };
        tables.leases.insert(tab, lease);
        tables.take_place(client, tab);
        Ok(LeaseView { tab, owner: client.clone(), seconds_left: length.as_secs() })
    }

    /// Ends a lease; of another's only by force.
    pub(crate) fn release(
        &self,
        tab: TabId,
        client: Option<&ClientName>,
        force: bool,
    ) -> Result<bool, Failure> {
        if !force {
            self.check(tab, client)?;
        }
        Ok(self.tables().leases.remove(&tab).is_some())
    }

    /// A popup of a leased tab is its owner's too.
    pub(crate) fn follow(&self, opener: TabId, popup: TabId) {
        let mut tables = self.tables();
        if let Some(lease) = tables.leases.get(&opener).cloned() {
            tables.leases.entry(popup).or_insert(lease);
        }
    }

    pub(crate) fn list(&self) -> Vec<LeaseView> {
        let now = Instant::now();
        let tables = self.tables();
        let view = |(tab, lease): (&TabId, &Lease)| LeaseView {
            tab: *tab,
            owner: lease.owner.clone(),
            seconds_left: lease.until.saturating_duration_since(now).as_secs(),
        };
        let mut list: Vec<LeaseView> = tables.leases.iter().map(view).collect();
        list.sort_unstable_by_key(|lease| lease.tab.number);
        list
    }

    /// The tab a client works in: its own, else one that nobody else works in; nothing when there is none.
    pub(crate) fn place_of(
        &self,
        client: Option<&ClientName>,
        current: Option<TabId>,
        open: &[TabId],
    ) -> Option<TabId> {
        let tables = self.tables();
        if let Some(place) =
            client.and_then(|client| tables.places.get(client)).filter(|tab| open.contains(tab))
        {
            return Some(*place);
        }
        let name = name_of(client);
        let is_anothers = |tab: &TabId| {
            let leased = tables.leases.get(tab).is_some_and(|lease| lease.owner != name);
            let used = client.is_some()
                && tables.places.iter().any(|(user, place)| place == tab && Some(user) != client);
            leased || used
        };
        current.into_iter().chain(open.iter().copied()).find(|tab| !is_anothers(tab))
    }

    /// The tab that a client works in, if it has one.
    pub(crate) fn find_place(&self, client: &ClientName) -> Option<TabId> {
        self.tables().places.get(client).copied()
    }

    /// Ends everything that a client has here.
    pub(crate) fn forget(&self, client: &ClientName) {
        let mut tables = self.tables();
        tables.places.remove(client);
        tables.leases.retain(|_, lease| lease.owner != *client);
    }

    /// Notes the tab a client works in from now on; says whether that is news.
    pub(crate) fn take_place(&self, client: &ClientName, tab: TabId) -> bool {
        self.tables().take_place(client, tab)
    }

    /// Notes that a client works from now on in the tab that a result names, if it names one.
    pub(crate) fn follow_to(&self, client: &ClientName, result: &serde_json::Value) {
        let named = result.get("tab").and_then(serde_json::Value::as_str);
        if let Some(tab) = named.and_then(|tab| tab.parse().ok()) {
            self.take_place(client, tab);
        }
    }

    /// What the next daemon has to know.
    pub(crate) fn saved(&self) -> SavedLeases {
        let (now, today) = (Instant::now(), milliseconds_since_1970());
        let tables = self.tables();
        let lease = |(tab, lease): (&TabId, &Lease)| {
            let left = lease.until.saturating_duration_since(now).as_millis();
            let until = today.saturating_add(u64::try_from(left).unwrap_or(u64::MAX));
            SavedLease { tab: *tab, owner: lease.owner.clone(), until }
        };
        let mut leases: Vec<SavedLease> = tables.leases.iter().map(lease).collect();
        leases.sort_unstable_by_key(|lease| lease.tab.number);
        let mut places: Vec<_> = tables.places.iter().map(|(client, tab)| (client.clone(), *tab)).collect();
        places.sort_unstable_by_key(|(_, tab)| tab.number);
        SavedLeases { leases, places }
    }

    /// Takes up what an earlier daemon had saved. A clock that was set back makes no lease longer than the longest.
    pub(crate) fn resume(&self, saved: SavedLeases) {
        let (now, today) = (Instant::now(), milliseconds_since_1970());
        let mut tables = self.tables();
        for SavedLease { tab, owner, until } in saved.leases {
            let left = Duration::from_millis(until.saturating_sub(today)).min(LEASE_LONGEST);
            if !left.is_zero() {
                tables.leases.insert(tab, Lease { owner, until: now + left });
            }
        }
        for (client, tab) in saved.places {
            tables.take_place(&client, tab);
        }
    }

    /// Takes over what a session of another name had.
    pub(crate) fn take_from(&self, other: &Self) {
        let taken = std::mem::take(&mut *other.tables());
        *self.tables() = taken;
    }
}

impl Tables {
    fn take_place(&mut self, client: &ClientName, tab: TabId) -> bool {
        let is_kept = self.places.len() < CLIENTS_REMEMBERED || self.places.contains_key(client);
        is_kept && self.places.insert(client.clone(), tab) != Some(tab)
    }
}

fn milliseconds_since_1970() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}

/// Who a caller is, also one that gave no name.
pub(crate) fn name_of(client: Option<&ClientName>) -> ClientName {
    client.cloned().unwrap_or_else(ClientName::terminal)
}

fn leased(tab: TabId, lease: &Lease) -> Failure {
    let left = lease.until.saturating_duration_since(Instant::now()).as_secs();
    let message = format!("Tab {tab} is leased to {} for another {left} s.", lease.owner);
    Failure::new(ErrorCode::Busy, message)
        .with_hint("Use another tab (`tabwire tab-new`), or wait until the lease ends.")
        .with_details(serde_json::json!({"owner": lease.owner, "seconds_left": left}))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tab(number: u32) -> TabId {
        format!("pipe:1:{number}").parse().expect("a tab")
    }

    fn client(name: &str) -> ClientName {
        ClientName::new(name).expect("a name")
    }

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn a_leased_tab_is_its_owners_alone_until_it_ends() {
        let table = LeaseTable::default();
        let (anna, ben) = (client("anna"), client("ben"));
        table.lease(tab(1), &anna, MINUTE).expect("free");
        assert!(table.check(tab(1), Some(&anna)).is_ok());
        for other in [Some(&ben), None] {
            let failure = table.check(tab(1), other).expect_err("anna's");
            assert_eq!(failure.code, ErrorCode::Busy);
            assert!(failure.message.contains("anna"), "{failure}");
        }
        assert!(table.lease(tab(1), &ben, MINUTE).is_err());
        assert!(table.release(tab(1), Some(&ben), false).is_err());
        assert_eq!(table.release(tab(1), Some(&anna), false), Ok(true));
        table.lease(tab(1), &anna, Duration::ZERO).expect("free");
        assert!(table.check(tab(1), Some(&ben)).is_ok(), "it has ended");
    }

    #[test]
    fn popups_follow_their_opener() {
        let table = LeaseTable::default();
        table.lease(tab(1), &client("anna"), MINUTE).expect("free");
        table.follow(tab(1), tab(2));
        table.follow(tab(3), tab(4));
        assert_eq!(table.list().iter().map(|lease| lease.tab).collect::<Vec<_>>(), [tab(1), tab(2)]);
    }

    #[test]
    fn leases_and_places_outlive_a_daemon_and_no_lease_its_time() {
        let (table, next) = (LeaseTable::default(), LeaseTable::default());
        let (anna, ben) = (client("anna"), client("ben"));
        table.lease(tab(1), &anna, MINUTE).expect("free");
        table.take_place(&ben, tab(2));
        let text = serde_json::to_string(&table.saved()).expect("written");
        let mut saved: SavedLeases = serde_json::from_str(&text).expect("read");
        saved.leases.push(SavedLease {
            tab: tab(3),
            owner: ben.clone(),
            until: milliseconds_since_1970() - 1,
        });
        saved.leases.push(SavedLease { tab: tab(4), owner: ben.clone(), until: u64::MAX });
        next.resume(saved);
        assert!(next.check(tab(1), Some(&ben)).is_err() && next.check(tab(1), Some(&anna)).is_ok());
        assert!(next.list().iter().all(|lease| lease.tab != tab(3)), "it had ended");
        let longest = next.list().into_iter().map(|lease| lease.seconds_left).max();
        assert!(longest <= Some(LEASE_LONGEST.as_secs()), "{longest:?}");
        assert_eq!(next.place_of(Some(&ben), None, &[tab(1), tab(2)]), Some(tab(2)));
    }

    #[test]
    fn nobody_lands_on_anothers_tab() {
        let table = LeaseTable::default();
        let (anna, ben) = (client("anna"), client("ben"));
        let open = [tab(1), tab(2)];
        assert_eq!(table.place_of(Some(&anna), Some(tab(1)), &open), Some(tab(1)));
        table.take_place(&anna, tab(1));
        assert_eq!(table.place_of(Some(&ben), Some(tab(1)), &open), Some(tab(2)));
        table.take_place(&ben, tab(2));
        assert_eq!(table.place_of(Some(&client("cleo")), Some(tab(1)), &open), None);
        assert_eq!(
            table.place_of(None, Some(tab(1)), &open),
            Some(tab(1)),
            "a person at the terminal may look"
        );
        table.lease(tab(1), &anna, MINUTE).expect("hers");
        assert_eq!(table.place_of(None, Some(tab(1)), &open), Some(tab(2)), "but not into a leased one");
        table.retain(|open| open != tab(1));
        assert_eq!(table.place_of(Some(&anna), None, &[tab(2)]), None);
    }
}
