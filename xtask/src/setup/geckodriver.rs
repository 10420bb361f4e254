//! geckodriver, with which a Selenium Grid starts Firefox. Debian has no package of it, and only `cargo xtask test --full`
//! needs it: it compiles for minutes.

use super::{is_continuous_integration, report};
use crate::error::Error;
use crate::repository::Repository;
use crate::step::{Step, succeeds};

/// A version that knows the Firefox of Debian.
const VERSION: &str = "0.37.1";

/// Where it is installed, below `bin`.
const FOLDER: &str = "target/tools";

/// Installs geckodriver unless some version of it is there.
pub(super) fn provide(repository: &Repository) -> Result<(), Error> {
    let installed = repository.path(FOLDER).join("bin/geckodriver").display().to_string();
    if [installed.as_str(), "geckodriver"].iter().any(|program| succeeds(program, &["--version"])) {
        report("geckodriver", "installed");
        return Ok(());
    }
    let arguments = ["install", "geckodriver", "--locked", "--version", VERSION, "--root", FOLDER];
    let step = Step::cargo("geckodriver", &arguments);
    // In CI the output is thrown away: a quick build of a tool that hardly computes.
    let step = if is_continuous_integration() { step.with_arguments(&["--debug".to_owned()]) } else { step };
    step.run(repository.root())
}
