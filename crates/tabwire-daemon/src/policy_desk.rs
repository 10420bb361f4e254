//! The policy in force: the user's file, and the grants that are kept over restarts. Decides nothing itself.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{SystemTime, UNIX_EPOCH};

use tabwire_browser::{Ownership, atomic_file};
use tabwire_engine::{Containment, DownloadRule, FramePolicy, UrlRule};
use tabwire_mux::SharedGuard;
use tabwire_policy::{
    Address, Capability, Decision, Ledger, LedgerFault, Pass, PolicyFile, Profile, Question, Rulebook, Site,
};
use tabwire_wire::{ErrorCode, Failure, SessionKey};
use tokio::sync::watch;

use crate::command_guard::{CommandGuard, GuardedClient};
use crate::frame_check::frame_refusal;
use crate::limits::{POLICY_BYTES, POLICY_LOOK};
use crate::paths::Paths;

/// The policy in force.
#[derive(Debug)]
pub(crate) struct PolicyDesk {
    rulebook: RwLock<Arc<Rulebook>>,
    policy_file: PathBuf,
    ledger_file: PathBuf,
    /// Whether nothing was denied anywhere, so that open sessions need no guard.
    denies_nothing: AtomicBool,
    /// The user's file as it was last read. Held while anything is changed, so that the newest is what stays.
    changing: Mutex<FileState>,
    /// Counts changes of what was granted and denied. One-time permissions are none.
    revision: AtomicU64,
    /// Counts changes, for those who wait for one.
    changes: watch::Sender<u64>,
}

impl PolicyDesk {
    /// Reads the policy and the grants. What is not there is empty; what cannot be used is an error (T24).
    pub(crate) fn open(paths: &Paths) -> Result<Self, Failure> {
        let (policy_file, ledger_file) = (paths.policy(), paths.grants());
        // Looked at before it is read: what is changed in between is read once more.
        let state = FileState::of(&policy_file);
        let file = match read(&policy_file, Trust::FollowLinks)? {
            Some(text) => PolicyFile::read(&text).map_err(|fault| unusable(&policy_file, &fault))?,
            None => PolicyFile::default(),
        };
        let ledger = match read(&ledger_file, Trust::OwnFile)? {
            Some(text) => Ledger::read(&text).map_err(|fault| unusable(&ledger_file, &fault))?,
            None => Ledger::default(),
        };
        let rulebook = Rulebook { file, ledger, ..Rulebook::default() };
        let denies_nothing = AtomicBool::new(rulebook.denies_nothing());
        let rulebook = RwLock::new(Arc::new(rulebook));
        let (changing, changes) = (Mutex::new(state), watch::Sender::new(0));
        let revision = AtomicU64::new(1);
        Ok(Self { rulebook, policy_file, ledger_file, denies_nothing, changing, revision, changes })
    }

    /// Takes the user's file up again if it was changed since it was read. One that cannot be used, or is gone, denies
    /// everything until it is mended: half a policy is never taken for none (T24).
    pub(crate) fn refresh(&self) {
        let mut known = self.changing();
        let state = FileState::of(&self.policy_file);
        if *known == state {
            return;
        }
        let mut rulebook = Rulebook::clone(&self.rulebook());
        match self.read_again() {
            Ok(file) => (rulebook.file, rulebook.fault) = (file, None),
            Err(failure) => rulebook.fault = Some(failure.message),
        }
        tracing::info!(fault = rulebook.fault, "policy.toml has changed");
        *known = state;
        self.revision.fetch_add(1, Ordering::Relaxed);
        self.put_in_force(rulebook);
    }

    /// Follows the user's file for as long as the daemon runs, for clients that ask for nothing but pass by.
    pub(crate) async fn follow(self: Arc<Self>) {
        loop {
            tokio::time::sleep(POLICY_LOOK).await;
            self.refresh();
        }
    }

    fn read_again(&self) -> Result<PolicyFile, Failure> {
        let gone = || {
            unusable(&self.policy_file, &"it was there and is gone; `tabwire daemon stop` begins without it")
        };
        let text = read(&self.policy_file, Trust::FollowLinks)?.ok_or_else(gone)?;
        if text.trim().is_empty() && !self.rulebook().file.rules.is_empty() {
            return Err(unusable(&self.policy_file, &"line 1: its rules are gone and nothing is left"));
        }
        PolicyFile::read(&text).map_err(|fault| unusable(&self.policy_file, &fault))
    }

    /// Everything that is ruled now.
    pub(crate) fn rulebook(&self) -> Arc<Rulebook> {
        Arc::clone(&self.rulebook.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether nothing was denied anywhere.
    pub(crate) fn denies_nothing(&self) -> bool {
        self.denies_nothing.load(Ordering::Acquire)
    }

    /// The guard of one client's commands in a session.
    pub(crate) fn guard(
        self: &Arc<Self>,
        client: GuardedClient,
        profile: Profile,
        session: &SessionKey,
        browser: Ownership,
    ) -> SharedGuard {
        let (desk, session, is_launched) = (Arc::clone(self), session.to_string(), browser.may_close());
        SharedGuard(Arc::new(CommandGuard::new(desk, client, profile, session, is_launched)))
    }

    /// What may be done with the frames, requests and console lines of a session's pages. Follows every change.
    pub(crate) fn frame_policy(self: &Arc<Self>, profile: Profile, session: &SessionKey) -> FramePolicy {
        let (desk, session) = (Arc::clone(self), session.to_string());
        let idle_desk = Arc::clone(self);
        let is_idle = move || profile == Profile::Open && idle_desk.denies_nothing();
        FramePolicy::new(is_idle, move |address, capability| {
            let session = Some(session.as_str());
            let question = Question { profile, address, capability, session, now: now() };
            match desk.rulebook().decide(&question) {
                Decision::Allow { .. } => Ok(()),
                decision => Err(frame_refusal(&decision, address, capability)),
            }
        })
    }

    /// Which downloads happen in a session: those from, or begun on, sites that may have files written.
    pub(crate) fn download_rule(self: &Arc<Self>, profile: Profile, session: &SessionKey) -> DownloadRule {
        let (desk, session) = (Arc::clone(self), session.to_string());
        DownloadRule::new(move |address, page| {
            let rulebook = desk.rulebook();
            let may = |url: &str| {
                let (address, session) = (Address::read(url), Some(session.as_str()));
                let capability = Capability::Download;
                rulebook
                    .decide(&Question { profile, address: &address, capability, session, now: now() })
                    .is_allowed()
            };
            may(address) || page.is_some_and(may)
        })
    }

    /// Whether a page of a session may be sent to an address, by what it or the page that opened it shows: where may be
    /// read. Whether a link leads to a page or to a file shows only when it was followed, and files come from anywhere.
    pub(crate) fn may_be_sent(
        &self,
        profile: Profile,
        session: &str,
        url: &str,
        shown: Option<&str>,
    ) -> bool {
        let rulebook = self.rulebook();
        let may = |url: &str, capability: Capability| {
            let (address, session) = (Address::read(url), Some(session));
            let question = Question { profile, address: &address, capability, session, now: now() };
            rulebook.decide(&question).is_allowed()
        };
        may(url, Capability::Read) || shown.is_some_and(|shown| may(shown, Capability::Download))
    }

    /// What pages of a session may reach by ways that show them nothing, and where they may go: what may be read.
    pub(crate) fn containment(self: &Arc<Self>, profile: Profile, session: &SessionKey) -> Containment {
        let (desk, name) = (Arc::clone(self), session.to_string());
        let reach = move |url: &str| desk.may_be_sent(profile, &name, url, None);
        let (desk, name) = (Arc::clone(self), session.to_string());
        let destination = move |url: &str, shown: Option<&str>| desk.may_be_sent(profile, &name, url, shown);
        let (desk, name) = (Arc::clone(self), session.to_string());
        let reaches = move || {
            let sites = desk.rulebook().readable_sites(now(), Some(&name));
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
        Containment::new(reach, destination, reaches)
    }

    /// Where the user's file is.
    pub(crate) fn policy_file(&self) -> &Path {
        &self.policy_file
    }

    /// Changes what is granted and denied; in force when it is written down, and not before.
    pub(crate) fn change<T>(
        &self,
        change: impl FnOnce(&mut Ledger, u64) -> Result<T, LedgerFault>,
    ) -> Result<T, Failure> {
        let _changing = self.changing();
        let mut rulebook = Rulebook::clone(&self.rulebook());
        let time = now();
        rulebook.ledger.forget_over(time, None);
        let changed = change(&mut rulebook.ledger, time).map_err(|fault| {
            Failure::new(ErrorCode::Busy, format!("Nothing was changed: {fault}."))
                .with_hint("Run `tabwire grants list` to see them.")
        })?;
        atomic_file::write(&self.ledger_file, rulebook.ledger.write().as_bytes())?;
        self.revision.fetch_add(1, Ordering::Relaxed);
        self.put_in_force(rulebook);
        Ok(changed)
    }

    /// Allows something this one time: until what is returned is dropped.
    pub(crate) fn pass(self: &Arc<Self>, site: Site, capability: Capability, session: &str) -> PassInHand {
        let _changing = self.changing();
        let mut rulebook = Rulebook::clone(&self.rulebook());
        let number = rulebook.passes.iter().map(|pass| pass.number).max().unwrap_or_default() + 1;
        rulebook.passes.push(Pass { number, site, capability, session: session.to_owned() });
        self.put_in_force(rulebook);
        PassInHand { desk: Arc::clone(self), number }
    }

    fn changing(&self) -> MutexGuard<'_, FileState> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put_in_force(&self, rulebook: Rulebook) {
        self.denies_nothing.store(rulebook.denies_nothing(), Ordering::Release);
        *self.rulebook.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(rulebook);
        self.changes.send_modify(|count| *count += 1);
    }

    /// A number that changes whenever something is granted, denied or taken back.
    pub(crate) fn revision(&self) -> u64 {
        self.revision.load(Ordering::Relaxed)
    }

    /// Tells when something else is ruled.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// A session has ended, and what was granted for it.
    pub(crate) fn session_ended(&self, session: &SessionKey) {
        let name = session.to_string();
        if !self.rulebook().ledger.clone().forget_over(0, Some(&name)) {
            return;
        }
        let forgotten = self.change(|ledger, time| Ok(ledger.forget_over(time, Some(&name))));
        if let Err(failure) = forgotten {
            tracing::warn!(%failure, session = name, "grants of a session that has ended are still there");
        }
    }
}

/// What tells one writing of a file from the next.
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
                changed: (found.ctime(), found.ctime_nsec()),
            },
            Err(_) => Self::Missing,
        }
    }
}

/// A permission for one action, over when it is dropped.
#[derive(Debug)]
pub(crate) struct PassInHand {
    desk: Arc<PolicyDesk>,
    number: u64,
}

impl Drop for PassInHand {
    fn drop(&mut self) {
        let _changing = self.desk.changing();
        let mut rulebook = Rulebook::clone(&self.desk.rulebook());
        rulebook.passes.retain(|pass| pass.number != self.number);
        self.desk.put_in_force(rulebook);
    }
}

/// Now, in seconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map(|time| time.as_secs()).unwrap_or_default()
}

/// How far a file is trusted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trust {
    /// The user's own, wherever they keep it.
    FollowLinks,
    /// Written by us alone.
    OwnFile,
}

/// A file's text; none when there is no file.
fn read(path: &Path, trust: Trust) -> Result<Option<String>, Failure> {
    use std::os::unix::fs::MetadataExt as _;
    let found = match trust {
        Trust::FollowLinks => std::fs::metadata(path),
        Trust::OwnFile => std::fs::symlink_metadata(path),
    };
    let found = match found {
        Ok(found) => found,
        // A link to nothing is a policy that somebody wanted.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !path.is_symlink() => return Ok(None),
        Err(error) => return Err(unusable(path, &error)),
    };
    let own = [0, rustix::process::geteuid().as_raw()];
    if !own.contains(&found.uid()) || found.mode() & 0o022 != 0 {
        return Err(unusable(path, &"others than you may change it"));
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
    Failure::new(ErrorCode::PolicyDenied, message)
        .with_hint("Nothing is done without it. Mend the file, or move it away to begin without one.")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use tabwire_policy::{Capabilities, Site, Stance, Term};

    use super::*;

    fn world() -> (tempfile::TempDir, Paths) {
        let home = tempfile::tempdir().expect("a directory");
        let paths = Paths::below(home.path());
        for directory in [&paths.config, &paths.state] {
            std::fs::create_dir_all(directory).expect("a directory");
        }
        (home, paths)
    }

    #[test]
    fn t24_a_policy_that_cannot_be_used_is_never_taken_for_none() {
        let (_home, paths) = world();
        assert!(PolicyDesk::open(&paths).is_ok(), "no file is no policy");
        let refused = |why: &str| {
            let failure = PolicyDesk::open(&paths).expect_err(why);
            assert_eq!(failure.code, ErrorCode::PolicyDenied);
            failure.message
        };
        std::fs::write(paths.policy(), "\n\nallow = 1").expect("written");
        assert!(refused("broken").contains("policy.toml cannot be used: line 3:"));
        std::fs::write(paths.policy(), [0xff, 0xfe]).expect("written");
        refused("no text");
        std::fs::write(paths.policy(), "").expect("written");
        assert!(PolicyDesk::open(&paths).is_ok(), "an empty file says nothing");
        std::fs::set_permissions(paths.policy(), std::fs::Permissions::from_mode(0o666)).expect("opened");
        assert!(refused("open to others").contains("may change it"));
        std::fs::remove_file(paths.policy()).expect("gone");
        std::fs::create_dir(paths.policy()).expect("in the way");
        refused("a directory");
        std::fs::remove_dir(paths.policy()).expect("gone");
        std::os::unix::fs::symlink("nowhere", paths.policy()).expect("a link");
        refused("a link to nothing");
        std::fs::remove_file(paths.policy()).expect("gone");
        std::fs::write(paths.grants(), "{\"next\": 1}").expect("written");
        assert!(refused("half a ledger").contains("grants.json cannot be used: line 1:"));
    }

    #[test]
    fn grants_are_there_after_a_restart_and_closed_to_others() {
        let (_home, paths) = world();
        let desk = PolicyDesk::open(&paths).expect("a desk");
        let site = Site::read("https://a.test").expect("a site");
        for term in [Term::Always, Term::Session("default".to_owned()), Term::Until(1)] {
            let stance = Stance::Grant { capabilities: Capabilities::EVERYTHING, term };
            desk.change(|ledger, time| ledger.add(site.clone(), stance, time, "a test")).expect("granted");
        }
        let again = PolicyDesk::open(&paths).expect("a desk");
        assert_eq!(again.rulebook(), desk.rulebook());
        let mode = std::fs::metadata(paths.grants()).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        again.session_ended(&SessionKey::default());
        let left = again.rulebook().ledger.entries().len();
        assert_eq!(left, 1, "what is over goes with what belonged to the session");
    }
}
