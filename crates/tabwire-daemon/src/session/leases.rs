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

/// Tabs with an owner above which closed ones are forgotten.
const OWNED_TABS: usize = 256;

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
    /// The tabs that named clients opened.
    owners: Vec<(TabId, ClientName)>,
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
    /// The named client that opened a tab, or the tab whose page opened it.
    owners: HashMap<TabId, ClientName>,
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

    /// Ends the leases of closed tabs. Which client a closed tab belonged to stays known while there is room: a browser of the
    /// user can hide a tab for a time.
    pub(crate) fn retain(&self, is_open: impl Fn(TabId) -> bool) {
        let mut tables = self.tables();
        tables.leases.retain(|tab, _| is_open(*tab));
        if tables.owners.len() > OWNED_TABS {
            tables.owners.retain(|tab, _| is_open(*tab));
        }
        if tables.places.len() >= CLIENTS_REMEMBERED {
            tables.places.retain(|_, tab| is_open(*tab));
        }
    }

    /// Whether there are no leases, no current tabs and no tabs of named clients.
    pub(crate) fn is_empty(&self) -> bool {
        let tables = self.tables();
        tables.leases.is_empty() && tables.places.is_empty() && tables.owners.is_empty()
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

    /// Gives a popup to the client that has its opener: its lease, and its owner.
    pub(crate) fn follow(&self, opener: TabId, popup: TabId) {
        let mut tables = self.tables();
        if let Some(owner) = tables.owners.get(&opener).cloned() {
            tables.owners.entry(popup).or_insert(owner);
        }
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

    /// The tab for a client; `None` when it has to open one.
    ///
    /// A named client gets its current tab, else the newest one that it opened. The terminal gets the tab that was selected
    /// there, else one of the session's own (`own`) that no named client opened. No client gets a tab leased to another.
    pub(crate) fn tab_for(
        &self,
        client: Option<&ClientName>,
        selected: Option<TabId>,
        open: &[TabId],
        own: &[TabId],
    ) -> Option<TabId> {
        let tables = self.tables();
        let name = name_of(client);
        let is_free = |tab: &TabId| tables.leases.get(tab).is_none_or(|lease| lease.owner == name);
        let Some(client) = client else {
            let unowned = own.iter().filter(|tab| !tables.owners.contains_key(tab)).copied();
            return selected.into_iter().chain(unowned).find(is_free);
        };
        let place = tables.places.get(client).copied();
        let opened = tables.owned_by(client).into_iter().rev();
        place.into_iter().chain(opened).find(|tab| open.contains(tab) && is_free(tab))
    }

    /// Records that a client opened a tab.
    pub(crate) fn own(&self, client: &ClientName, tab: TabId) {
        self.tables().owners.insert(tab, client.clone());
    }

    /// The tabs that a client opened, the newest last.
    pub(crate) fn owned_by(&self, client: &ClientName) -> Vec<TabId> {
        self.tables().owned_by(client)
    }

    /// Whether a named client works in a tab or has leased it.
    pub(crate) fn is_used(&self, tab: TabId) -> bool {
        let tables = self.tables();
        tables.leases.contains_key(&tab) || tables.places.values().any(|place| *place == tab)
    }

    /// The client that opened a tab.
    pub(crate) fn find_owner(&self, tab: TabId) -> Option<ClientName> {
        self.tables().owners.get(&tab).cloned()
    }

    /// The current tab of a client, if it has one.
    pub(crate) fn find_tab(&self, client: &ClientName) -> Option<TabId> {
        self.tables().places.get(client).copied()
    }

    /// Removes the leases, the current tab and the opened tabs of a client.
    pub(crate) fn forget(&self, client: &ClientName) {
        let mut tables = self.tables();
        tables.places.remove(client);
        tables.leases.retain(|_, lease| lease.owner != *client);
        tables.owners.retain(|_, owner| owner != client);
    }

    /// Sets the current tab of a client; whether that changed.
    pub(crate) fn set_tab(&self, client: &ClientName, tab: TabId) -> bool {
        self.tables().set_tab(client, tab)
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
        let mut owners: Vec<_> = tables.owners.iter().map(|(tab, client)| (*tab, client.clone())).collect();
        owners.sort_unstable_by_key(|(tab, _)| tab.number);
        SavedLeases { leases, places, owners }
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
        tables.owners.extend(saved.owners);
    }

    /// Takes over the leases of the session under its old name.
    pub(crate) fn take_from(&self, other: &Self) {
        let taken = std::mem::take(&mut *other.tables());
        *self.tables() = taken;
    }
}

impl Tables {
    fn owned_by(&self, client: &ClientName) -> Vec<TabId> {
        let own = self.owners.iter().filter(|(_, owner)| *owner == client);
        let mut tabs: Vec<TabId> = own.map(|(tab, _)| *tab).collect();
        tabs.sort_unstable_by_key(|tab| tab.number);
        tabs
    }

    fn set_tab(&mut self, client: &ClientName, tab: TabId) -> bool {
        let is_kept = self.places.len() < CLIENTS_REMEMBERED || self.places.contains_key(client);
        is_kept && self.places.insert(client.clone(), tab) != Some(tab)
    }
}

pub(crate) fn milliseconds_since_1970() -> u64 {
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
        table.own(&ben, tab(2));
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
        assert_eq!(next.tab_for(Some(&ben), None, &[tab(1), tab(2)], &[]), Some(tab(2)));
        assert_eq!(next.owned_by(&ben), [tab(2)]);
    }

    #[test]
    fn a_client_gets_only_tabs_that_it_opened_or_selected() {
        let table = LeaseTable::default();
        let (anna, ben) = (client("anna"), client("ben"));
        let open = [tab(1), tab(2), tab(3)];
        let get = |client: Option<&ClientName>, selected| table.tab_for(client, selected, &open, &open);
        assert_eq!(get(Some(&anna), Some(tab(1))), None, "the terminal's tab is not hers");
        table.own(&anna, tab(2));
        assert_eq!(get(Some(&anna), None), Some(tab(2)));
        table.set_tab(&anna, tab(1));
        assert_eq!(get(Some(&anna), None), Some(tab(1)), "she selected it");
        assert_eq!(get(Some(&ben), Some(tab(1))), None);
        assert_eq!(get(None, None), Some(tab(1)), "no named client opened it");
        table.own(&ben, tab(1));
        assert_eq!(get(None, None), Some(tab(3)));
        assert_eq!(get(None, Some(tab(2))), Some(tab(2)), "selected at the terminal");
        table.lease(tab(2), &ben, MINUTE).expect("free");
        assert_eq!(get(None, Some(tab(2))), Some(tab(3)), "a leased tab is not used");
        let left = [tab(2), tab(3)];
        let found = table.tab_for(Some(&anna), None, &left, &left);
        assert_eq!(found, None, "hers is leased, and the selected one is closed");
    }

    #[test]
    fn popups_belong_to_the_client_of_their_opener() {
        let table = LeaseTable::default();
        let anna = client("anna");
        table.own(&anna, tab(1));
        table.follow(tab(1), tab(2));
        assert_eq!(table.owned_by(&anna), [tab(1), tab(2)]);
        table.forget(&anna);
        assert!(table.is_empty());
    }
}
