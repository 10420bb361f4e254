//! Whether our directories and files are ours alone: owner, mode, no links.
//!
//! Goes into the directories that Tabwire itself fills, never into a browser's profile.

use std::fs::{self, Metadata};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use super::Visit;
use super::aside::ASIDE;
use super::finding::Finding;
use crate::limits::DOCTOR_ENTRIES;

const OTHERS: u32 = 0o077;
const OTHERS_WRITE: u32 = 0o022;
const STICKY: u32 = 0o1000;

/// Directories of ours whose entries are looked at too; `sessions` has one for each project.
const ENTERED: [&str; 5] = ["browsers", "profiles", "sessions", "logs", ASIDE];

/// What is looked at by a check of its own.
const ELSEWHERE: [&str; 2] = ["vault.key", "daemon.sock"];

/// What makes a place unfit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Link,
    OtherKind,
    OtherOwner,
    OthersWrite,
    OthersRead,
    ReplaceableByOthers,
}

/// One of the four directories.
struct Place<'a> {
    code: &'static str,
    path: &'a Path,
    /// The user's own directory, that may be a link to somewhere else.
    is_users: bool,
}

pub(super) fn check(visit: &Visit<'_>) -> Vec<Finding> {
    let paths = visit.paths();
    let place = |code, path, is_users| Place { code, path, is_users };
    [
        place("runtime-directory", &paths.runtime, false),
        place("state-directory", &paths.state, false),
        place("data-directory", &paths.data, false),
        place("config-directory", &paths.config, true),
    ]
    .iter()
    .flat_map(|place| place.check(visit.fix))
    .collect()
}

impl Place<'_> {
    fn check(&self, fix: bool) -> Vec<Finding> {
        if self.path.symlink_metadata().is_err() {
            return vec![Finding::ok(
                self.code,
                format!("{} is made when it is needed.", self.path.display()),
            )];
        }
        let mut findings = Vec::new();
        let root = self.find_fault(self.path);
        if let Some(fault) = root.or_else(|| replaceable(self.path).filter(|_| !self.is_users)) {
            findings.push(self.tell(self.path, fault, fix));
        }
        // What is behind a link, or in a directory of somebody else, is not ours to judge.
        if matches!(root, None | Some(Fault::OthersRead | Fault::OthersWrite)) {
            let inside = entries_below(self.path);
            let faulty = inside.iter().filter_map(|path| Some((path, self.find_fault(path)?)));
            findings.extend(faulty.map(|(path, fault)| self.tell(path, fault, fix)));
        }
        if findings.is_empty() {
            findings.push(Finding::ok(self.code, format!("{} is private.", self.path.display())));
        }
        findings
    }

    fn find_fault(&self, path: &Path) -> Option<Fault> {
        let data = if self.is_users { path.metadata() } else { path.symlink_metadata() }.ok()?;
        let kind = data.file_type();
        if kind.is_symlink() {
            return Some(Fault::Link);
        }
        // A socket cannot be reached but through its directory.
        if kind.is_socket() && path != self.path {
            return None;
        }
        if !data.is_dir() && (path == self.path || !data.is_file()) {
            return Some(Fault::OtherKind);
        }
        fault_of(&data)
    }

    fn tell(&self, path: &Path, fault: Fault, fix: bool) -> Finding {
        let shown = path.display();
        let (right, letters) = if path.is_dir() { (0o700, "700") } else { (0o600, "600") };
        let close = format!("Run `chmod {letters} {shown}`, or `tabwire doctor --fix`.");
        let finding = match fault {
            Fault::Link => Finding::wrong(
                self.code,
                format!("{shown} is a symbolic link, which somebody else may have made."),
                format!("Look where it leads, then remove it: `rm {shown}`."),
            ),
            Fault::OtherKind => Finding::wrong(
                self.code,
                format!("{shown} is neither a directory nor a file of ours."),
                format!("Look at it, then move it away: `mv {shown} {shown}.old`."),
            ),
            Fault::OtherOwner => Finding::wrong(
                self.code,
                format!("{shown} belongs to another user."),
                format!(
                    "Take it over (`chown -R \"$(id -u)\" {shown}`), or set TABWIRE_HOME to a directory of yours."
                ),
            ),
            Fault::ReplaceableByOthers => Finding::wrong(
                self.code,
                format!("Other users can replace {shown} through the directory it is in."),
                format!("Run `chmod go-w` on {}.", path.parent().unwrap_or(path).display()),
            ),
            Fault::OthersWrite => {
                Finding::wrong(self.code, format!("Other users can write in {shown}."), close)
            }
            Fault::OthersRead => Finding::warning(self.code, format!("Other users can read {shown}."), close),
        };
        let is_mode = matches!(fault, Fault::OthersWrite | Fault::OthersRead);
        if !fix || !is_mode {
            return finding;
        }
        if fault == Fault::OthersWrite && path.is_dir() && !holds_only_ours(path) {
            let finding = finding.with_hint(format!(
                "Look through {shown}, remove what is not yours, then run `chmod 700 {shown}`."
            ));
            return finding.not_mended("there are files of others or links in it");
        }
        finding.after(close_to_others(path, right, self.is_users), "it was closed to them")
    }
}

fn fault_of(data: &Metadata) -> Option<Fault> {
    if data.uid() != rustix::process::geteuid().as_raw() {
        Some(Fault::OtherOwner)
    } else if data.mode() & OTHERS_WRITE != 0 {
        Some(Fault::OthersWrite)
    } else if data.mode() & OTHERS != 0 {
        Some(Fault::OthersRead)
    } else {
        None
    }
}

/// What is wrong with a file of ours that holds a secret, if anything is.
pub(super) fn is_open_to_others(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|data| data.is_symlink() || fault_of(&data).is_some())
}

fn replaceable(path: &Path) -> Option<Fault> {
    let data = path.parent()?.metadata().ok()?;
    let is_trusted = data.uid() == rustix::process::geteuid().as_raw() || data.uid() == 0;
    let is_writable = data.mode() & OTHERS_WRITE != 0 && data.mode() & STICKY == 0;
    (!is_trusted || is_writable).then_some(Fault::ReplaceableByOthers)
}

fn entries_below(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(place) = open.pop() {
        for entry in fs::read_dir(&place).into_iter().flatten().flatten() {
            if found.len() >= DOCTOR_ENTRIES {
                return found;
            }
            let (path, name) = (entry.path(), entry.file_name());
            if place == root && ELSEWHERE.iter().any(|other| name == *other) {
                continue;
            }
            let is_entered = place == root && ENTERED.iter().any(|entered| name == *entered);
            let is_project = place.file_name().is_some_and(|above| above == "sessions");
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) && (is_entered || is_project) {
                open.push(path.clone());
            }
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Whether nobody else has put anything into a directory that was open.
fn holds_only_ours(directory: &Path) -> bool {
    let user = rustix::process::geteuid().as_raw();
    fs::read_dir(directory).into_iter().flatten().all(|entry| {
        entry
            .and_then(|entry| entry.path().symlink_metadata())
            .is_ok_and(|data| data.uid() == user && !data.is_symlink())
    })
}

/// Sets the mode of what is there, if it is ours and no link has come in between.
pub(super) fn close_to_others(path: &Path, mode: u32, follow: bool) -> std::io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let flags = if follow { flags } else { flags | OFlags::NOFOLLOW };
    let opened = rustix::fs::open(path, flags, Mode::empty())?;
    if rustix::fs::fstat(&opened)?.st_uid != rustix::process::geteuid().as_raw() {
        return Err(std::io::ErrorKind::PermissionDenied.into());
    }
    Ok(rustix::fs::fchmod(&opened, Mode::from_raw_mode(mode))?)
}
