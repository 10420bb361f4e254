//! Finds leftovers of dead browsers and keepers: descriptors, sockets, profiles, orphaned browsers, profile locks.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tabwire_api::Failure;
use tabwire_browser::{
    BrowserError, Leftovers, LockState, Orphan, SweepReport, lock_state, remove_stale_lock, sweep,
};

use super::CheckInputs;
use super::MAX_ENTRIES;
use super::finding::{Finding, run, run_fix};
use super::records::quarantine;

/// How long a browser that was ended may hold its profile.
const EXIT_TIMEOUT: Duration = Duration::from_secs(3);

/// Interval at which its profile is polled.
const EXIT_POLL: Duration = Duration::from_millis(50);

pub(super) fn check(inputs: &CheckInputs<'_>) -> Vec<Finding> {
    let runtime = &inputs.paths().runtime;
    let found = Leftovers::look(runtime);
    let mut findings = Vec::new();
    // Orphans first: their profiles cannot be removed while they run.
    findings.extend(found.orphans.iter().map(|orphan| orphaned(orphan, inputs.fix)));
    findings.extend(found.unreadable.iter().map(|path| unreadable(runtime, path, inputs.fix)));
    findings.extend(found.foreign.iter().map(|path| {
        let sentence = format!("{} describes a browser of another Tabwire version.", path.display());
        Finding::warning("browser-descriptor", sentence, "Close it with that version.")
    }));
    findings.push(stale(runtime, &found, inputs.fix));
    findings.extend(profile_locks(&inputs.paths().data.join("profiles"), inputs.fix));
    findings
}

fn orphaned(orphan: &Orphan, fix: bool) -> Finding {
    let pid = orphan.process.pid();
    let sentence = format!("The browser in process {pid} runs without its keeper.");
    let finding = Finding::wrong("orphaned-browser", sentence, run_fix("Run {} to end it."));
    match fix.then(|| orphan.end()) {
        None => finding,
        Some(true) => finding.fixed_by("it was ended"),
        Some(false) => finding
            .not_fixed("it does not exit")
            .with_remedy(run("End it yourself: {}.", &format!("kill -9 {pid}"))),
    }
}

fn unreadable(runtime: &Path, path: &Path, fix: bool) -> Finding {
    let sentence = format!("{} is unreadable, and no keeper responds for it.", path.display());
    let finding = Finding::wrong("browser-descriptor", sentence, run_fix("Run {} to move it to quarantine."));
    if !fix {
        return finding;
    }
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    match quarantine(runtime, path, &name) {
        Ok(to) => finding.fixed_by(&format!("it is now {}", to.display())),
        Err(failure) => finding.not_fixed(failure.message.trim_end_matches('.')),
    }
}

fn stale(runtime: &Path, found: &Leftovers, fix: bool) -> Finding {
    let code = "browsers";
    let running = match found.live {
        0 => "No browser runs".to_owned(),
        1 => "One browser runs".to_owned(),
        many => format!("{many} browsers run"),
    };
    if !found.has_stale() {
        return Finding::ok(code, format!("{running}; dead ones left nothing behind."));
    }
    let sentence = format!(
        "Dead browsers left {} descriptor(s), {} socket(s) and {} profile(s) below {}.",
        found.stale.len(),
        found.sockets.len(),
        found.profiles.len(),
        runtime.display()
    );
    let finding = Finding::wrong(code, sentence, run_fix("Run {} to remove them."));
    if !fix {
        return finding;
    }
    match sweep_until_exit(runtime) {
        Ok(swept) if swept.kept.is_empty() => finding.fixed_by("they were removed"),
        Ok(swept) => {
            let kept: Vec<String> = swept.kept.iter().map(|path| path.display().to_string()).collect();
            let remedy =
                run_fix("Find the process that uses them (`fuser -v DIRECTORY`), then run {} again.");
            finding.not_fixed(&format!("still in use: {}", kept.join(", "))).with_remedy(remedy)
        }
        Err(error) => finding.not_fixed(Failure::from(error).message.trim_end_matches('.')),
    }
}

/// Sweeps, and retries while a browser that was just ended still uses its profile.
fn sweep_until_exit(runtime: &Path) -> Result<SweepReport, BrowserError> {
    let until = Instant::now() + EXIT_TIMEOUT;
    loop {
        let swept = sweep(runtime)?;
        if swept.kept.is_empty() || Instant::now() >= until {
            return Ok(swept);
        }
        std::thread::sleep(EXIT_POLL);
    }
}

fn profile_locks(profiles: &Path, fix: bool) -> Vec<Finding> {
    let entries = std::fs::read_dir(profiles).into_iter().flatten().flatten().take(MAX_ENTRIES);
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths.iter().filter_map(|profile| profile_lock(profile, fix)).collect()
}

fn profile_lock(profile: &Path, fix: bool) -> Option<Finding> {
    let code = "profile-lock";
    let name = profile.file_name()?.to_string_lossy().into_owned();
    match lock_state(profile) {
        LockState::Stale { .. } => {
            let sentence = format!("The profile {name} has the lock of a dead browser.");
            let remedy = run_fix("The next launch removes it, as does {}.");
            let finding = Finding::warning(code, sentence, remedy);
            Some(if fix {
                finding.after(remove_stale_lock(profile).map(|_| ()), "it was removed")
            } else {
                finding
            })
        }
        LockState::Unknown { why } => {
            let sentence = format!("The lock of the profile {name} cannot be checked: {why}.");
            let remedy =
                format!("If no browser uses it, remove {}.", profile.join("SingletonLock").display());
            Some(Finding::warning(code, sentence, remedy))
        }
        LockState::Free | LockState::Live { .. } => None,
    }
}
