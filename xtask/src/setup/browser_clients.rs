//! The Node packages of the client tests. The product needs no Node.

use std::path::Path;
use std::time::SystemTime;

use super::report;
use crate::error::Error;
use crate::repository::Repository;
use crate::step::Step;

/// The folders that lock packages, with what they are.
const FOLDERS: [(&str, &str); 2] = [("browser clients", "tests/clients"), ("MCP clients", "tests/mcp")];

/// Installs the locked packages when they are missing or older than the lock file.
pub(super) fn provide(repository: &Repository) -> Result<(), Error> {
    FOLDERS.into_iter().try_for_each(|(what, folder)| provide_in(repository, what, folder))
}

fn provide_in(repository: &Repository, what: &'static str, place: &str) -> Result<(), Error> {
    let folder = repository.path(place);
    let Some(locked) = find_modified(&folder.join("package-lock.json")) else {
        report(what, &format!("none are locked in {place}"));
        return Ok(());
    };
    if !is_stale(locked, find_modified(&folder.join("node_modules/.package-lock.json"))) {
        report(what, "installed");
        return Ok(());
    }
    // No install scripts: they would download browsers the tests do not use.
    let arguments = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
    Step::new(what, "npm", &arguments).run(&folder)?;
    report(what, &format!("installed from {place}/package-lock.json"));
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
