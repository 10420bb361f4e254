//! The Node packages of the client tests. The product needs no Node.

use std::path::Path;
use std::time::SystemTime;

use super::{TestSize, report};
use crate::error::Error;
use crate::repository::Repository;
use crate::step::Step;

/// No install scripts: they would download browsers the tests do not use.
const INSTALL: &[&str] = &["ci", "--ignore-scripts", "--no-audit", "--no-fund"];

/// The adapters bring second copies of their agents as optional packages.
const INSTALL_WITHOUT_OPTIONAL: &[&str] =
    &["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--omit=optional"];

/// The folders that lock packages, with what they are, how they are installed and the tests that need them. Those of
/// full tests only are about a gigabyte.
const FOLDERS: [(&str, &str, &[&str], TestSize); 10] = [
    ("browser clients", "tests/clients", INSTALL, TestSize::Short),
    ("MCP clients", "tests/mcp", INSTALL, TestSize::Short),
    ("type checker", "web", INSTALL, TestSize::Short),
    ("Selenium", "tests/packages/selenium", INSTALL, TestSize::Short),
    ("WebdriverIO", "tests/packages/webdriverio", INSTALL, TestSize::Short),
    ("Stagehand", "tests/packages/stagehand", INSTALL, TestSize::Short),
    ("agents", "tests/agents", INSTALL, TestSize::Full),
    ("agents for chats", "tests/chat-agents", INSTALL_WITHOUT_OPTIONAL, TestSize::Full),
    ("Selenium server", "tests/grid", INSTALL, TestSize::Full),
    ("linters in Node", "tests/validators", INSTALL, TestSize::Full),
];

/// Installs the locked packages of this size when they are missing or older than the lock file.
pub(super) fn provide(repository: &Repository, size: TestSize) -> Result<(), Error> {
    let mut wanted = FOLDERS.into_iter().filter(|(.., needed)| size == TestSize::Full || *needed == size);
    wanted.try_for_each(|(what, folder, arguments, _)| provide_in(repository, what, folder, arguments))
}

fn provide_in(
    repository: &Repository,
    what: &'static str,
    place: &str,
    arguments: &[&str],
) -> Result<(), Error> {
    let folder = repository.path(place);
    let Some(locked) = find_modified(&folder.join("package-lock.json")) else {
        report(what, &format!("none are locked in {place}"));
        return Ok(());
    };
    if !is_stale(locked, find_modified(&folder.join("node_modules/.package-lock.json"))) {
        report(what, "installed");
        return Ok(());
    }
    Step::new(what, "npm", arguments).run(&folder)?;
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
