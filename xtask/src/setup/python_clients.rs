//! The Python packages of the client tests, each folder in a virtual environment. The product needs no Python.

use std::path::Path;
use std::time::SystemTime;

use super::report;
use crate::error::Error;
use crate::repository::Repository;
use crate::step::Step;

/// The folders that lock packages in `requirements.txt`, with what they are.
const FOLDERS: [(&str, &str); 1] = [("MCP clients in Python", "tests/mcp/python")];

/// Written after a complete installation.
const INSTALLED: &str = ".venv/installed";

/// Installs the locked packages when they are missing or older than the lock file.
pub(super) fn provide(repository: &Repository) -> Result<(), Error> {
    FOLDERS.into_iter().try_for_each(|(what, folder)| provide_in(repository, what, folder))
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
