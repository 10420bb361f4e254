//! Checks that directories and files of Tabwire belong to the user alone: owner, mode, no links. Also checks the
//! configuration files. Does not enter browser profiles.

use super::CheckInputs;
use super::MAX_ENTRIES;
use super::finding::{Finding, run};
use super::records::QUARANTINE;
use crate::cli::GlobalFlags;
use crate::config::{Configuration, user_file};
use rustix::fs::{Mode, OFlags};
use std::fs::{self, Metadata};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use tabwire_api::{Remedy, Step};

const OTHERS: u32 = 0o077;
const OTHERS_WRITE: u32 = 0o022;
const STICKY: u32 = 0o1000;

/// Directories whose entries are checked too; `sessions` has one directory per project.
const ENTERED: [&str; 5] = ["browsers", "profiles", "sessions", "logs", QUARANTINE];

/// Files with their own check.
const CHECKED_ELSEWHERE: [&str; 2] = ["vault.key", "daemon.sock"];

/// Why a file or directory is not safe.
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
struct CheckedDir<'a> {
    code: &'static str,
    path: &'a Path,
    /// The user's configuration directory, which may be a link.
    is_users: bool,
}

pub(super) fn check(inputs: &CheckInputs<'_>) -> Vec<Finding> {
    let paths = inputs.paths();
    let directory = |code, path, is_users| CheckedDir { code, path, is_users };
    [
        directory("runtime-directory", &paths.runtime, false),
        directory("state-directory", &paths.state, false),
        directory("data-directory", &paths.data, false),
        directory("config-directory", &paths.config, true),
    ]
    .iter()
    .flat_map(|directory| directory.check(inputs.fix))
    .collect()
}

impl CheckedDir<'_> {
    fn check(&self, fix: bool) -> Vec<Finding> {
        if self.path.symlink_metadata().is_err() {
            return vec![Finding::ok(self.code, format!("{} does not exist yet.", self.path.display()))];
        }
        let mut findings = Vec::new();
        let root = self.find_fault(self.path);
        if let Some(fault) = root.or_else(|| replaceable(self.path).filter(|_| !self.is_users)) {
            findings.push(self.report(self.path, fault, fix));
        }
        // Entries behind a link or in another user's directory are not checked.
        if matches!(root, None | Some(Fault::OthersRead | Fault::OthersWrite)) {
            let inside = entries_below(self.path);
            let faulty = inside.iter().filter_map(|path| Some((path, self.find_fault(path)?)));
            findings.extend(faulty.map(|(path, fault)| self.report(path, fault, fix)));
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
        // The directory protects its sockets.
        if kind.is_socket() && path != self.path {
            return None;
        }
        if !data.is_dir() && (path == self.path || !data.is_file()) {
            return Some(Fault::OtherKind);
        }
        fault_of(&data)
    }

    fn report(&self, path: &Path, fault: Fault, fix: bool) -> Finding {
        let shown = path.display();
        let mode = if path.is_dir() { 0o700 } else { 0o600 };
        let chmod = Step::command(format!("chmod {mode:o} {shown}"));
        let close = Remedy::new("Run {}, or {}.", [chmod, Step::command("tabwire doctor --fix")]);
        let finding = match fault {
            Fault::Link => Finding::wrong(
                self.code,
                format!("{shown} is a symbolic link, which another user may have created."),
                run("Check its target, then remove it: {}.", &format!("rm {shown}")),
            ),
            Fault::OtherKind => Finding::wrong(
                self.code,
                format!("{shown} is neither a directory nor a regular file."),
                run("Inspect it, then move it away: {}.", &format!("mv {shown} {shown}.old")),
            ),
            Fault::OtherOwner => Finding::wrong(
                self.code,
                format!("{shown} belongs to another user."),
                run(
                    "Change its owner ({}), or set TABWIRE_HOME to your own directory.",
                    &format!("chown -R \"$(id -u)\" {shown}"),
                ),
            ),
            Fault::ReplaceableByOthers => Finding::wrong(
                self.code,
                format!("Other users can replace {shown}: they can write to its parent directory."),
                run("Run {}.", &format!("chmod go-w {}", path.parent().unwrap_or(path).display())),
            ),
            Fault::OthersWrite => {
                Finding::wrong(self.code, format!("Other users can write to {shown}."), close)
            }
            Fault::OthersRead => Finding::warning(self.code, format!("Other users can read {shown}."), close),
        };
        let is_mode = matches!(fault, Fault::OthersWrite | Fault::OthersRead);
        if !fix || !is_mode {
            return finding;
        }
        if fault == Fault::OthersWrite && path.is_dir() && !holds_only_ours(path) {
            let finding = finding.with_remedy(run(
                "Remove the entries that are not yours, then run {}.",
                &format!("chmod 700 {shown}"),
            ));
            return finding.not_fixed("it contains links or files of other users");
        }
        finding.after(close_to_others(path, mode, self.is_users), "its mode was corrected")
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

/// Whether another user can access a file that contains a secret.
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
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            if found.len() >= MAX_ENTRIES {
                return found;
            }
            let (path, name) = (entry.path(), entry.file_name());
            if directory == root && CHECKED_ELSEWHERE.iter().any(|other| name == *other) {
                continue;
            }
            let is_entered = directory == root && ENTERED.iter().any(|entered| name == *entered);
            let is_project = directory.file_name().is_some_and(|above| above == "sessions");
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) && (is_entered || is_project) {
                open.push(path.clone());
            }
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Whether all entries of a directory belong to this user.
fn holds_only_ours(directory: &Path) -> bool {
    let user = rustix::process::geteuid().as_raw();
    fs::read_dir(directory).into_iter().flatten().all(|entry| {
        entry
            .and_then(|entry| entry.path().symlink_metadata())
            .is_ok_and(|data| data.uid() == user && !data.is_symlink())
    })
}

/// Sets the mode of a file or directory of this user. Does not follow a link that was put in its place meanwhile.
pub(super) fn close_to_others(path: &Path, mode: u32, follow: bool) -> std::io::Result<()> {
    // Without `O_NONBLOCK`, the open of a FIFO waits for a writer (fifo(7)).
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let flags = if follow { flags } else { flags | OFlags::NOFOLLOW };
    let opened = rustix::fs::open(path, flags, Mode::empty())?;
    if rustix::fs::fstat(&opened)?.st_uid != rustix::process::geteuid().as_raw() {
        return Err(std::io::ErrorKind::PermissionDenied.into());
    }
    Ok(rustix::fs::fchmod(&opened, Mode::from_raw_mode(mode))?)
}

const CONFIGURATION: &str = "configuration";

pub(super) fn check_configuration(inputs: &CheckInputs<'_>) -> Option<Finding> {
    let environment = inputs.context.environment;
    // Invalid flags have ended the command before.
    let flags = GlobalFlags { global: inputs.context.is_global, ..GlobalFlags::default() };
    Some(match Configuration::load(environment, &flags) {
        Ok(_) => {
            let file = user_file(environment);
            let state = if file.exists() { "is valid" } else { "does not exist; defaults apply" };
            Finding::ok(CONFIGURATION, format!("{} {state}.", file.display()))
        }
        Err(failure) => {
            let check = || run("Correct it, then run {}.", "tabwire config check");
            let remedy = failure.remedy.unwrap_or_else(check);
            Finding::wrong(CONFIGURATION, failure.message, remedy)
        }
    })
}
