//! Which client works in which tab of a session, and which tabs are leased to one client.
//!
//! A lease expires by the monotonic clock, so a change of the wall clock does not affect it.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use tabwire_api::{ClientName, ErrorCode, Failure, Remedy, Step, TabId};

use crate::limits::LEASE_MAX;

/// Named clients of a session whose tabs are remembered.
const CLIENTS_REMEMBERED: usize = 256;

/// The lease of a tab by one client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lease {
    pub(crate) owner: ClientName,
    until: Instant,
}

/// Leases and current tabs in a session record, for the next daemon.
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
    /// When it expires, in milliseconds since 1970: a monotonic clock does not outlive a reboot.
    until: u64,
}

/// A lease as the API returns it.
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

/// Leases and current tabs of a session's clients.
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

    /// Removes closed tabs.
    pub(crate) fn retain(&self, is_open: impl Fn(TabId) -> bool) {
        let mut tables = self.tables();
        tables.leases.retain(|tab, _| is_open(*tab));
        tables.places.retain(|_, tab| is_open(*tab));
    }

    /// Whether there are no leases and no current tabs.
    pub(crate) fn is_empty(&self) -> bool {
        let tables = self.tables();
        tables.leases.is_empty() && tables.places.is_empty()
    }

    /// Fails if the tab is leased to another client.
    pub(crate) fn check(&self, tab: TabId, client: Option<&ClientName>) -> Result<(), Failure> {
        match self.tables().leases.get(&tab) {
            Some(lease) if lease.owner != name_of(client) => Err(leased(tab, lease)),
            _ => Ok(()),
        }
    }

    /// Leases a tab to a client, or renews its lease.
    pub(crate) fn lease(
        &self,
        tab: TabId,
        client: &ClientName,
        length: Duration,
    ) -> Result<LeaseView, Failure> {
        self.check(tab, Some(client))?;
        let length = length.min(LEASE_MAX);
        let mut tables = self.tables();
        let lease = Lease { owner: client.clone(), until: Instant::now() + length };
        tables.leases.insert(tab, lease);
        tables.set_tab(client, tab);
        Ok(LeaseView { tab, owner: client.clone(), seconds_left: length.as_secs() })
    }

    /// Ends a lease. That of another client only with `force`.
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

    /// Leases a popup of a leased tab to the same owner.
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

    /// The tab for a client: its current one, else one that no other client uses; `None` when there is none.
    pub(crate) fn tab_for(
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

    /// The current tab of a client, if it has one.
    pub(crate) fn find_tab(&self, client: &ClientName) -> Option<TabId> {
        self.tables().places.get(client).copied()
    }

    /// Removes the leases and the current tab of a client.
    pub(crate) fn forget(&self, client: &ClientName) {
        let mut tables = self.tables();
        tables.places.remove(client);
        tables.leases.retain(|_, lease| lease.owner != *client);
    }

    /// Sets the current tab of a client; whether that changed.
    pub(crate) fn set_tab(&self, client: &ClientName, tab: TabId) -> bool {
        self.tables().set_tab(client, tab)
    }

    /// Sets the current tab of a client to the one that a result names, if any.
    pub(crate) fn follow_to(&self, client: &ClientName, result: &serde_json::Value) {
        let named = result.get("tab").and_then(serde_json::Value::as_str);
        if let Some(tab) = named.and_then(|tab| tab.parse().ok()) {
            self.set_tab(client, tab);
        }
    }

    /// The leases and current tabs for the next daemon.
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

    /// Restores what an earlier daemon saved. If the wall clock was set back, a lease is cut to the maximum.
    pub(crate) fn resume(&self, saved: SavedLeases) {
        let (now, today) = (Instant::now(), milliseconds_since_1970());
        let mut tables = self.tables();
        for SavedLease { tab, owner, until } in saved.leases {
            let left = Duration::from_millis(until.saturating_sub(today)).min(LEASE_MAX);
            if !left.is_zero() {
                tables.leases.insert(tab, Lease { owner, until: now + left });
            }
        }
        for (client, tab) in saved.places {
            tables.set_tab(&client, tab);
        }
    }

    /// Takes over the leases of the session under its old name.
    pub(crate) fn take_from(&self, other: &Self) {
        let taken = std::mem::take(&mut *other.tables());
        *self.tables() = taken;
    }
}

impl Tables {
    fn set_tab(&mut self, client: &ClientName, tab: TabId) -> bool {
        let is_kept = self.places.len() < CLIENTS_REMEMBERED || self.places.contains_key(client);
        is_kept && self.places.insert(client.clone(), tab) != Some(tab)
    }
}

fn milliseconds_since_1970() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}

/// The name of a client; `terminal` for one without a name.
pub(crate) fn name_of(client: Option<&ClientName>) -> ClientName {
    client.cloned().unwrap_or_else(ClientName::terminal)
}

fn leased(tab: TabId, lease: &Lease) -> Failure {
    let left = lease.until.saturating_duration_since(Instant::now()).as_secs();
    let message = format!("Tab {tab} is leased to {} for another {left} s.", lease.owner);
    Failure::new(ErrorCode::Busy, message)
        .with_remedy(Remedy::new(
            "Open another tab with {}, or wait until the lease ends.",
            [Step::action("tab_new")],
        ))
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
    fn a_lease_excludes_other_clients_until_it_expires() {
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
    fn saved_leases_are_restored_without_the_expired_ones() {
        let (table, next) = (LeaseTable::default(), LeaseTable::default());
        let (anna, ben) = (client("anna"), client("ben"));
        table.lease(tab(1), &anna, MINUTE).expect("free");
        table.set_tab(&ben, tab(2));
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
        assert!(longest <= Some(LEASE_MAX.as_secs()), "{longest:?}");
        assert_eq!(next.tab_for(Some(&ben), None, &[tab(1), tab(2)]), Some(tab(2)));
    }

    #[test]
    fn a_client_never_gets_the_tab_of_another() {
        let table = LeaseTable::default();
        let (anna, ben) = (client("anna"), client("ben"));
        let open = [tab(1), tab(2)];
        assert_eq!(table.tab_for(Some(&anna), Some(tab(1)), &open), Some(tab(1)));
        table.set_tab(&anna, tab(1));
        assert_eq!(table.tab_for(Some(&ben), Some(tab(1)), &open), Some(tab(2)));
        table.set_tab(&ben, tab(2));
        assert_eq!(table.tab_for(Some(&client("cleo")), Some(tab(1)), &open), None);
        assert_eq!(
            table.tab_for(None, Some(tab(1)), &open),
            Some(tab(1)),
            "a person at the terminal may look"
        );
        table.lease(tab(1), &anna, MINUTE).expect("hers");
        assert_eq!(table.tab_for(None, Some(tab(1)), &open), Some(tab(2)), "but not into a leased one");
        table.retain(|open| open != tab(1));
        assert_eq!(table.tab_for(Some(&anna), None, &[tab(2)]), None);
    }
}
