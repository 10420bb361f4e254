//! What dead browsers and keepers left: descriptors, sockets, profiles, browsers without a keeper, profile locks.

use std::path::{Path, PathBuf};
use std::time::Instant;

use tabwire_browser::{
    BrowserError, Leftovers, LockState, Orphan, Swept, lock_state, remove_stale_lock, sweep,
};
use tabwire_wire::Failure;

use super::Visit;
use super::aside::set_aside;
use super::finding::Finding;
use crate::limits::{DOCTOR_ENTRIES, DYING, DYING_LOOK};

pub(super) fn check(visit: &Visit<'_>) -> Vec<Finding> {
    let runtime = &visit.paths().runtime;
    let found = Leftovers::look(runtime);
    let mut findings = Vec::new();
    // Ended first: what they hold cannot be swept.
    findings.extend(found.orphans.iter().map(|orphan| orphaned(orphan, visit.fix)));
    findings.extend(found.unreadable.iter().map(|path| unreadable(runtime, path, visit.fix)));
    findings.extend(found.foreign.iter().map(|path| {
        let sentence =
            format!("{} describes a browser that another version of Tabwire keeps.", path.display());
        Finding::warning("browser-descriptor", sentence, "Close it with that version of Tabwire.")
    }));
    findings.push(stale(runtime, &found, visit.fix));
    findings.extend(profile_locks(&visit.paths().data.join("profiles"), visit.fix));
    findings
}

fn orphaned(orphan: &Orphan, fix: bool) -> Finding {
    let pid = orphan.process.pid();
    let sentence = format!("The browser in process {pid} runs on although its keeper is dead.");
    let finding = Finding::wrong("orphaned-browser", sentence, "Run `tabwire doctor --fix` to end it.");
    match fix.then(|| orphan.end()) {
        None => finding,
        Some(true) => finding.mended("it was ended"),
        Some(false) => finding
            .not_mended("it does not end")
            .with_hint(format!("Look at process {pid}, and end it by hand.")),
    }
}

fn unreadable(runtime: &Path, path: &Path, fix: bool) -> Finding {
    let sentence = format!("{} cannot be read, and nobody answers for it.", path.display());
    let finding =
        Finding::wrong("browser-descriptor", sentence, "Run `tabwire doctor --fix` to set it aside.");
    if !fix {
        return finding;
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    match set_aside(runtime, path, &name) {
        Ok(to) => finding.mended(&format!("it is now {}", to.display())),
        Err(failure) => finding.not_mended(failure.message.trim_end_matches('.')),
    }
}

fn stale(runtime: &Path, found: &Leftovers, fix: bool) -> Finding {
    let code = "browsers";
    let kept = match found.live {
        0 => "No browser is kept".to_owned(),
        1 => "One browser is kept".to_owned(),
        many => format!("{many} browsers are kept"),
    };
    if !found.has_stale() {
        return Finding::ok(code, format!("{kept}, and nothing is left of dead ones."));
    }
    let sentence = format!(
        "Dead browsers left {} descriptor(s), {} socket(s) and {} profile(s) below {}.",
        found.stale.len(),
        found.sockets.len(),
        found.profiles.len(),
        runtime.display()
    );
    let finding = Finding::wrong(code, sentence, "Run `tabwire doctor --fix` to remove them.");
    if !fix {
        return finding;
    }
    match sweep_patiently(runtime) {
        Ok(swept) if swept.kept.is_empty() => finding.mended("they were removed"),
        Ok(swept) => {
            let kept: Vec<String> = swept.kept.iter().map(|path| path.display().to_string()).collect();
            let remedy = "Look who uses them (`fuser -v DIRECTORY`), then run `tabwire doctor --fix` again.";
            finding.not_mended(&format!("still in use: {}", kept.join(", "))).with_hint(remedy)
        }
        Err(error) => finding.not_mended(Failure::from(error).message.trim_end_matches('.')),
    }
}

/// Sweeps, and again while a browser that was just ended still holds its profile.
fn sweep_patiently(runtime: &Path) -> Result<Swept, BrowserError> {
    let until = Instant::now() + DYING;
    loop {
        let swept = sweep(runtime)?;
        if swept.kept.is_empty() || Instant::now() >= until {
            return Ok(swept);
        }
        std::thread::sleep(DYING_LOOK);
    }
}

fn profile_locks(profiles: &Path, fix: bool) -> Vec<Finding> {
    let entries = std::fs::read_dir(profiles).into_iter().flatten().flatten().take(DOCTOR_ENTRIES);
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths.iter().filter_map(|profile| profile_lock(profile, fix)).collect()
}

fn profile_lock(profile: &Path, fix: bool) -> Option<Finding> {
    let code = "profile-lock";
    let name = profile.file_name()?.to_string_lossy().into_owned();
    match lock_state(profile) {
        LockState::Stale { .. } => {
            let sentence = format!("A dead browser left its lock on the profile {name}.");
            let remedy = "The next launch removes it, and so does `tabwire doctor --fix`.";
            let finding = Finding::warning(code, sentence, remedy);
            Some(if fix {
                finding.after(remove_stale_lock(profile).map(|_| ()), "it was removed")
            } else {
                finding
            })
        }
        LockState::Unknown { why } => {
            let sentence = format!("The profile {name} is locked, perhaps by nobody: {why}.");
            let remedy =
                format!("If no browser uses it, remove {}.", profile.join("SingletonLock").display());
            Some(Finding::warning(code, sentence, remedy))
        }
        LockState::Free | LockState::Live { .. } => None,
    }
}
