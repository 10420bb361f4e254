//! The Node packages that the compatibility tests drive Tabwire with. The product itself needs no Node.

use std::path::Path;
use std::time::SystemTime;

use super::report;
use crate::repository::Repository;
use crate::step::Step;
use crate::trouble::Trouble;

/// Installs the locked packages when they are missing or older than the lock file.
pub(super) fn provide(repository: &Repository) -> Result<(), Trouble> {
    let folder = repository.path("tests/clients");
    let Some(locked) = find_modified(&folder.join("package-lock.json")) else {
        report("browser clients", "none are locked in tests/clients");
        return Ok(());
    };
    if !is_stale(locked, find_modified(&folder.join("node_modules/.package-lock.json"))) {
        report("browser clients", "there already");
        return Ok(());
    }
    // No install scripts: they would download browsers the tests do not use.
    let arguments = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
    Step::new("browser clients", "npm", &arguments).run(&folder)?;
    report("browser clients", "installed from tests/clients/package-lock.json");
    Ok(())
}

fn find_modified(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).ok()?.modified().ok()
}

fn is_stale(locked: SystemTime, installed: Option<SystemTime>) -> bool {
    installed.is_none_or(|installed| installed < locked)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn packages_are_stale_when_missing_or_older_than_the_lock() {
        let early = SystemTime::UNIX_EPOCH;
        let late = early + Duration::from_secs(1);
        assert!(is_stale(early, None));
        assert!(is_stale(late, Some(early)));
        assert!(!is_stale(early, Some(late)));
        assert!(!is_stale(early, Some(early)));
    }
}
