//! The Python packages of the client tests, each folder in a virtual environment. The product needs no Python.

use std::path::Path;
use std::time::SystemTime;

use super::{TestSize, report};
use crate::error::Error;
use crate::repository::Repository;
use crate::step::Step;

/// The folders that lock packages in `requirements.txt`, with what they are and the tests that need them. Those of full
/// tests only are hundreds of megabytes.
const FOLDERS: [(&str, &str, TestSize); 6] = [
    ("MCP clients in Python", "tests/mcp/python", TestSize::Short),
    ("nodriver", "tests/packages/nodriver", TestSize::Short),
    ("zendriver", "tests/packages/zendriver", TestSize::Short),
    ("browser-use", "tests/packages/browser-use", TestSize::Full),
    ("crawl4ai", "tests/packages/crawl4ai", TestSize::Full),
    ("linters in Python", "tests/validators", TestSize::Full),
];

/// Written after a complete installation.
const INSTALLED: &str = ".venv/installed";

/// Installs the locked packages of this size when they are missing or older than the lock file.
pub(super) fn provide(repository: &Repository, size: TestSize) -> Result<(), Error> {
    let mut wanted = FOLDERS.into_iter().filter(|(_, _, needed)| size == TestSize::Full || *needed == size);
    wanted.try_for_each(|(what, folder, _)| provide_in(repository, what, folder))
}

fn provide_in(repository: &Repository, what: &'static str, place: &str) -> Result<(), Error> {
    let folder = repository.path(place);
    let locked = find_modified(&folder.join("requirements.txt"));
    let installed = find_modified(&folder.join(INSTALLED));
    if installed.is_some() && installed >= locked {
        report(what, "installed");
        return Ok(());
    }
    Step::new(what, "python3", &["-m", "venv", "--clear", ".venv"]).run(&folder)?;
    // The hashes of the lock file decide what is installed, whichever host it comes from.
    let install = ["install", "--quiet", "--require-hashes", "--requirement", "requirements.txt"];
    let pip = folder.join(".venv/bin/pip").display().to_string();
    Step::new(what, &pip, &install).run(&folder)?;
    Step::new(what, "touch", &[INSTALLED]).run(&folder)?;
    report(what, &format!("installed from {place}/requirements.txt"));
    Ok(())
}

fn find_modified(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).ok()?.modified().ok()
}
