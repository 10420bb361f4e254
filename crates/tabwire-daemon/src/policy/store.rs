//! The policy in effect: the user's file, and the grants and denials that survive a restart.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tabwire_api::{ErrorCode, Failure, Remedy, SessionKey, Step};
use tabwire_browser::{Ownership, atomic_file};
use tabwire_engine::{DownloadRule, EgressPolicy, FramePolicy, UrlRule};
use tabwire_mux::SharedGuard;
use tabwire_policy::{
    AccessRequest, Approval, Capability, Decision, GrantList, GrantListError, PageUrl, Policy, PolicyFile,
    Profile, Site,
};
use tokio::sync::watch;

use crate::action::frame_check::frame_refusal;
use crate::control::UserControl;
use crate::paths::Paths;
use crate::policy::cdp_guard::{CommandGuard, GuardedClient};

/// Largest policy file, and largest list of grants.
const POLICY_BYTES: usize = 4 * 1024 * 1024;

/// How often the policy file is checked for changes. Actions check it at once.
const POLICY_POLL: Duration = Duration::from_secs(1);

/// The policy in effect.
#[derive(Debug)]
pub(crate) struct PolicyStore {
    rulebook: RwLock<Arc<Policy>>,
    policy_file: PathBuf,
    ledger_file: PathBuf,
    /// Whether there are no denials, so that open sessions need no guard.
    denies_nothing: AtomicBool,
    /// The state of the user's file when it was last read. Locked during every change.
    changing: Mutex<FileState>,
    /// The port of the daemon; 0 before it listens.
    own_port: AtomicU16,
    /// Counts changes of grants and denials, without one-time grants.
    revision: AtomicU64,
    /// Counts all changes, for watchers.
    changes: watch::Sender<u64>,
    /// What the user holds in the dashboard, which guards check too.
    pub(crate) control: Arc<UserControl>,
}

impl PolicyStore {
    /// Reads the policy and the grants. A missing file is empty; an unusable one is an error (T24).
    pub(crate) fn open(paths: &Paths) -> Result<Self, Failure> {
        let (policy_file, ledger_file) = (paths.policy(), paths.grants());
        // The state is taken before the content: a change in between causes another read.
        let state = FileState::of(&policy_file);
        let file = match read(&policy_file, Trust::FollowLinks)? {
            Some(text) => PolicyFile::parse(&text).map_err(|fault| unusable(&policy_file, &fault))?,
            None => PolicyFile::default(),
        };
        let ledger = match read(&ledger_file, Trust::OwnFile)? {
            Some(text) => GrantList::from_json(&text).map_err(|fault| unusable(&ledger_file, &fault))?,
            None => GrantList::default(),
        };
        let rulebook = Policy { file, grants: ledger, ..Policy::default() };
        let denies_nothing = AtomicBool::new(rulebook.denies_nothing());
        let rulebook = RwLock::new(Arc::new(rulebook));
        let (changing, changes) = (Mutex::new(state), watch::Sender::new(0));
        let revision = AtomicU64::new(1);
        let (own_port, control) = (AtomicU16::new(0), Arc::default());
        Ok(Self {
            rulebook,
            policy_file,
            ledger_file,
            denies_nothing,
            changing,
            own_port,
            revision,
            changes,
            control,
        })
    }

    /// Reads the user's file again if it has changed. An unusable or removed file denies everything until it is fixed: a
    /// partial policy must not count as an empty one (T24).
    pub(crate) fn refresh(&self) {
        let mut known = self.changing();
        let state = FileState::of(&self.policy_file);
        if *known == state {
            return;
        }
        let mut rulebook = Policy::clone(&self.rulebook());
        match self.read_again() {
            Ok(file) => (rulebook.file, rulebook.fault) = (file, None),
            Err(failure) => rulebook.fault = Some(failure.message),
        }
        tracing::info!(fault = rulebook.fault, "policy.toml has changed");
        *known = state;
        self.revision.fetch_add(1, Ordering::Relaxed);
        self.activate(rulebook);
    }

    /// Polls the user's file while the daemon runs, for CDP clients whose commands do not refresh it.
    pub(crate) async fn follow(self: Arc<Self>) {
        loop {
            tokio::time::sleep(POLICY_POLL).await;
            self.refresh();
        }
    }

    fn read_again(&self) -> Result<PolicyFile, Failure> {
        let gone = || {
            unusable(
                &self.policy_file,
                &"the file was removed; `tabwire daemon stop` makes the next daemon start without it",
            )
        };
        let text = read(&self.policy_file, Trust::FollowLinks)?.ok_or_else(gone)?;
        if text.trim().is_empty() && !self.rulebook().file.rules.is_empty() {
            return Err(unusable(&self.policy_file, &"line 1: the file is empty now, and had rules before"));
        }
        PolicyFile::parse(&text).map_err(|fault| unusable(&self.policy_file, &fault))
    }

    /// All rules and grants.
    pub(crate) fn rulebook(&self) -> Arc<Policy> {
        Arc::clone(&self.rulebook.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether there are no denials.
    pub(crate) fn denies_nothing(&self) -> bool {
        self.denies_nothing.load(Ordering::Acquire)
    }

    /// A CDP client of a guarded session needs a `cdp` grant (T19).
    pub(crate) fn admit_cdp_client(&self, session: &SessionKey, profile: Profile) -> Result<(), Failure> {
        let name = session.to_string();
        let rulebook = self.rulebook();
        let is_open = profile == Profile::Open;
        if is_open || rulebook.grants_anywhere(Capability::Cdp, now(), Some(&name)) {
            return Ok(());
        }
        let message = format!("Session {name} is guarded, and no grant allows CDP clients in it.");
        Err(Failure::new(ErrorCode::PolicyDenied, message).with_remedy(Remedy::new(
            "The user can allow it: {} or {}.",
            [Step::command("tabwire allow ORIGIN --cdp"), Step::command("tabwire allow '*' --cdp")],
        )))
    }

    /// The guard on one client's commands in a session.
    pub(crate) fn guard(
        self: &Arc<Self>,
        client: GuardedClient,
        profile: Profile,
        session: &SessionKey,
        browser: Ownership,
    ) -> SharedGuard {
        let (store, session, is_launched) = (Arc::clone(self), session.to_string(), browser.is_launched());
        SharedGuard(Arc::new(CommandGuard::new(store, client, profile, session, is_launched)))
    }

    /// The policy for frames, requests and console lines of a session's pages. Follows every change.
    pub(crate) fn frame_policy(self: &Arc<Self>, profile: Profile, session: &SessionKey) -> FramePolicy {
        let (store, session) = (Arc::clone(self), session.to_string());
        let idle_store = Arc::clone(self);
        let is_idle = move || profile == Profile::Open && idle_store.denies_nothing();
        FramePolicy::new(is_idle, move |address, capability| {
            let session = Some(session.as_str());
            let question = AccessRequest { profile, url: address, capability, session, now: now() };
            match store.rulebook().decide(&question) {
                Decision::Allow { .. } => Ok(()),
                decision => Err(frame_refusal(&decision, address, capability)),
            }
        })
    }

    /// The policy for downloads of a session: allowed from, or started on, sites with the `download` capability.
    pub(crate) fn download_rule(self: &Arc<Self>, profile: Profile, session: &SessionKey) -> DownloadRule {
        let (store, session) = (Arc::clone(self), session.to_string());
        DownloadRule::new(move |address, page| {
            let rulebook = store.rulebook();
            let may = |url: &str| {
                let (address, session) = (PageUrl::parse(url), Some(session.as_str()));
                let capability = Capability::Download;
                rulebook
                    .decide(&AccessRequest { profile, url: &address, capability, session, now: now() })
                    .is_allowed()
            };
            may(address) || page.is_some_and(may)
        })
    }

    /// Whether a page of a session may navigate to a URL: one that may be read, or any URL from a page that may download. A
    /// link may lead to a file on any site, which shows only after it was followed.
    pub(crate) fn may_navigate(
        &self,
        profile: Profile,
        session: &str,
        url: &str,
        shown: Option<&str>,
    ) -> bool {
        let rulebook = self.rulebook();
        let may = |url: &str, capability: Capability| {
            let (address, session) = (PageUrl::parse(url), Some(session));
            let question = AccessRequest { profile, url: &address, capability, session, now: now() };
            rulebook.decide(&question).is_allowed()
        };
        may(url, Capability::Read) || shown.is_some_and(|shown| may(shown, Capability::Download))
    }

    /// The egress policy of a session's pages: requests and navigations to sites that may be read.
    pub(crate) fn containment(self: &Arc<Self>, profile: Profile, session: &SessionKey) -> EgressPolicy {
        let (store, name) = (Arc::clone(self), session.to_string());
        let reach = move |url: &str| store.may_navigate(profile, &name, url, None);
        let (store, name) = (Arc::clone(self), session.to_string());
        let destination =
            move |url: &str, shown: Option<&str>| store.may_navigate(profile, &name, url, shown);
        let (store, name) = (Arc::clone(self), session.to_string());
        let reaches = move || {
            let sites = store.rulebook().readable_sites(now(), Some(&name));
            let rules = |(site, is_read): (Site, bool)| {
                let patterns = if is_read {
                    site.url_pattern().into_iter().collect()
                } else {
                    site.denied_url_patterns()
                };
                patterns.into_iter().map(move |pattern| UrlRule { pattern, is_blocked: !is_read })
            };
            sites.into_iter().flat_map(rules).collect()
        };
        EgressPolicy::new(reach, destination, reaches)
    }

    /// The path of the user's file.
    pub(crate) fn policy_file(&self) -> &Path {
        &self.policy_file
    }

    /// The text of the user's file.
    pub(crate) fn text(&self) -> PolicyText {
        match read(&self.policy_file, Trust::FollowLinks) {
            Ok(Some(text)) => PolicyText::Text(text),
            Ok(None) => PolicyText::None,
            Err(failure) => PolicyText::Unreadable(failure.message),
        }
    }

    /// Changes grants and denials. The change takes effect after it is written.
    pub(crate) fn change<T>(
        &self,
        change: impl FnOnce(&mut GrantList, u64) -> Result<T, GrantListError>,
    ) -> Result<T, Failure> {
        let _changing = self.changing();
        let mut rulebook = Policy::clone(&self.rulebook());
        let time = now();
        rulebook.grants.remove_expired(time, None);
        let changed = change(&mut rulebook.grants, time).map_err(|fault| {
            Failure::new(ErrorCode::Busy, format!("The grants were not changed: {fault}."))
                .with_remedy(Remedy::new("Run {} to see them.", [Step::command("tabwire grants list")]))
        })?;
        atomic_file::write(&self.ledger_file, rulebook.grants.to_json().as_bytes())?;
        self.revision.fetch_add(1, Ordering::Relaxed);
        self.activate(rulebook);
        Ok(changed)
    }

    /// Allows a capability until the returned grant is dropped.
    pub(crate) fn grant_once(
        self: &Arc<Self>,
        site: Site,
        capability: Capability,
        session: &str,
    ) -> OneTimeGrant {
        let _changing = self.changing();
        let mut rulebook = Policy::clone(&self.rulebook());
        let number = rulebook.approvals.iter().map(|pass| pass.number).max().unwrap_or_default() + 1;
        rulebook.approvals.push(Approval { number, site, capability, session: session.to_owned() });
        self.activate(rulebook);
        OneTimeGrant { store: Arc::clone(self), number }
    }

    /// Sets the port of the daemon, whose pages no session may open.
    pub(crate) fn set_own_port(&self, port: u16) {
        let _changing = self.changing();
        let mut rulebook = Policy::clone(&self.rulebook());
        rulebook.own_port = Some(port);
        self.own_port.store(port, Ordering::Relaxed);
        self.activate(rulebook);
    }

    /// Whether a URL is a page of this daemon, the demo page aside. Fast for every other URL.
    pub(crate) fn is_own_page(&self, url: &str) -> bool {
        let port = self.own_port.load(Ordering::Relaxed);
        let url = url.strip_prefix("view-source:").or_else(|| url.strip_prefix("blob:")).unwrap_or(url);
        let authority = url.strip_prefix("http://").and_then(|rest| rest.split(['/', '?', '#']).next());
        let named = authority.and_then(|host| host.rsplit_once(':')?.1.parse::<u16>().ok());
        port != 0 && named == Some(port) && self.rulebook().is_own_page(&PageUrl::parse(url))
    }

    /// Records that an agent uses a session, so that grants for the agent hold for the session's pages.
    pub(crate) fn add_agent(&self, session: &str, agent: &str) {
        if self.rulebook().agents.has(session, agent) {
            return;
        }
        let _changing = self.changing();
        let mut rulebook = Policy::clone(&self.rulebook());
        rulebook.agents.add(session, agent);
        self.activate(rulebook);
    }

    fn remove_agents(&self, session: &str) {
        let _changing = self.changing();
        let mut rulebook = Policy::clone(&self.rulebook());
        if rulebook.agents.remove(session) {
            self.activate(rulebook);
        }
    }

    fn changing(&self) -> MutexGuard<'_, FileState> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn activate(&self, rulebook: Policy) {
        self.denies_nothing.store(rulebook.denies_nothing(), Ordering::Release);
        *self.rulebook.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(rulebook);
        self.changes.send_modify(|count| *count += 1);
    }

    /// A number that changes with every grant, denial and revocation.
    pub(crate) fn revision(&self) -> u64 {
        self.revision.load(Ordering::Relaxed)
    }

    /// Receives a count of all changes.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Removes the grants of an ended session.
    pub(crate) fn session_ended(&self, session: &SessionKey) {
        let name = session.to_string();
        self.remove_agents(&name);
        if !self.rulebook().grants.clone().remove_expired(0, Some(&name)) {
            return;
        }
        let forgotten = self.change(|ledger, time| Ok(ledger.remove_expired(time, Some(&name))));
        if let Err(failure) = forgotten {
            tracing::warn!(%failure, session = name, "the grants of an ended session were not removed");
        }
    }
}

/// The text of the user's policy file.
#[derive(Debug)]
pub(crate) enum PolicyText {
    /// There is no file.
    None,
    /// Why it cannot be read.
    Unreadable(String),
    /// Its text.
    Text(String),
}

/// What changes when a file is rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileState {
    Missing,
    There { inode: u64, size: u64, modified: (i64, i64), changed: (i64, i64) },
}

impl FileState {
    fn of(path: &Path) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        match std::fs::metadata(path) {
            Ok(found) => Self::There {
                inode: found.ino(),
                size: found.size(),
                modified: (found.mtime(), found.mtime_nsec()),
                // Programs can set the time of modification, as `cp -p` does, and cannot set this one.
                changed: (found.ctime(), found.ctime_nsec()),
            },
            Err(_) => Self::Missing,
        }
    }
}

/// A grant for one action, which ends when it is dropped.
#[derive(Debug)]
pub(crate) struct OneTimeGrant {
    store: Arc<PolicyStore>,
    number: u64,
}

impl Drop for OneTimeGrant {
    fn drop(&mut self) {
        let _changing = self.store.changing();
        let mut rulebook = Policy::clone(&self.store.rulebook());
        rulebook.approvals.retain(|pass| pass.number != self.number);
        self.store.activate(rulebook);
    }
}

/// Now, in seconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map(|time| time.as_secs()).unwrap_or_default()
}

/// Whether links are followed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trust {
    /// The user's own file, which may be a link.
    FollowLinks,
    /// A file that only we write.
    OwnFile,
}

/// The text of a file; `None` when there is none.
fn read(path: &Path, trust: Trust) -> Result<Option<String>, Failure> {
    use std::os::unix::fs::MetadataExt as _;
    let found = match trust {
        Trust::FollowLinks => std::fs::metadata(path),
        Trust::OwnFile => std::fs::symlink_metadata(path),
    };
    let found = match found {
        Ok(found) => found,
        // A dangling link is an error: the user wanted a policy.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !path.is_symlink() => return Ok(None),
        Err(error) => return Err(unusable(path, &error)),
    };
    let own = [0, rustix::process::geteuid().as_raw()];
    if !own.contains(&found.uid()) || found.mode() & 0o022 != 0 {
        return Err(unusable(path, &"other users can change it"));
    }
    let real = match trust {
        Trust::FollowLinks => std::fs::canonicalize(path).map_err(|error| unusable(path, &error))?,
        Trust::OwnFile => path.to_owned(),
    };
    let bytes = atomic_file::read(&real, POLICY_BYTES).map_err(|error| unusable(path, &error))?;
    let text = String::from_utf8(bytes).map_err(|error| unusable(path, &error))?;
    Ok(Some(text))
}

fn unusable(path: &Path, why: &dyn std::fmt::Display) -> Failure {
    let message = format!("The policy in {} cannot be used: {why}.", path.display());
    Failure::new(ErrorCode::PolicyDenied, message).with_remedy(
        "Every action is denied until the file is fixed, or moved away to start without a policy.",
    )
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use tabwire_policy::{Capabilities, EntryKind, GrantTerm, Site};

    use super::*;

    fn new_home() -> (tempfile::TempDir, Paths) {
        let home = tempfile::tempdir().expect("a directory");
        let paths = Paths::below(home.path());
        for directory in [&paths.config, &paths.state] {
            std::fs::create_dir_all(directory).expect("a directory");
        }
        (home, paths)
    }

    #[test]
    fn t24_an_unusable_policy_is_not_an_empty_one() {
        let (_home, paths) = new_home();
        assert!(PolicyStore::open(&paths).is_ok(), "a missing file is an empty policy");
        let refused = |why: &str| {
            let failure = PolicyStore::open(&paths).expect_err(why);
            assert_eq!(failure.code, ErrorCode::PolicyDenied);
            failure.message
        };
        std::fs::write(paths.policy(), "\n\nallow = 1").expect("written");
        assert!(refused("broken").contains("policy.toml cannot be used: line 3:"));
        std::fs::write(paths.policy(), [0xff, 0xfe]).expect("written");
        refused("no text");
        std::fs::write(paths.policy(), "").expect("written");
        assert!(PolicyStore::open(&paths).is_ok(), "an empty file is valid");
        std::fs::set_permissions(paths.policy(), std::fs::Permissions::from_mode(0o666)).expect("opened");
        assert!(refused("open to others").contains("can change it"));
        std::fs::remove_file(paths.policy()).expect("gone");
        std::fs::create_dir(paths.policy()).expect("a directory in place of the file");
        refused("a directory");
        std::fs::remove_dir(paths.policy()).expect("gone");
        std::os::unix::fs::symlink("nowhere", paths.policy()).expect("a link");
        refused("a link to nothing");
        std::fs::remove_file(paths.policy()).expect("gone");
        std::fs::write(paths.grants(), "{\"next\": 1}").expect("written");
        assert!(refused("a truncated list").contains("grants.json cannot be used: line 1:"));
    }

    #[test]
    fn grants_survive_a_restart_in_a_private_file() {
        let (_home, paths) = new_home();
        let store = PolicyStore::open(&paths).expect("a store");
        let site = Site::parse("https://a.test").expect("a site");
        for term in [GrantTerm::Always, GrantTerm::Session("default".to_owned()), GrantTerm::Until(1)] {
            let stance = EntryKind::Grant { capabilities: Capabilities::EVERYTHING, term };
            store.change(|ledger, time| ledger.add(site.clone(), stance, time, "a test")).expect("granted");
        }
        let again = PolicyStore::open(&paths).expect("a store");
        assert_eq!(again.rulebook(), store.rulebook());
        let mode = std::fs::metadata(paths.grants()).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        again.session_ended(&SessionKey::default());
        let left = again.rulebook().grants.entries().len();
        assert_eq!(left, 1, "expired grants and grants of the session are removed");
    }
}
