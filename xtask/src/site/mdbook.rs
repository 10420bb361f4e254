//! mdBook, which makes the site. It is a tool: nothing of it is linked into the program.

use crate::error::Error;
use crate::repository::Repository;
use crate::setup::is_continuous_integration;
use crate::step::{Step, succeeds};

/// The version that the site was looked at with.
const VERSION: &str = "0.5.4";

/// Where it is installed.
const FOLDER: &str = "target/tools";

/// The program; compiles it for some minutes where it is missing.
pub(crate) fn provide(repository: &Repository) -> Result<String, Error> {
    let installed = repository.path(FOLDER).join("bin/mdbook").display().to_string();
    for program in [installed.clone(), "mdbook".to_owned()] {
        if succeeds(&program, &["--version"]) {
            return Ok(program);
        }
    }
    let arguments = ["install", "mdbook", "--locked", "--version", VERSION, "--root", FOLDER];
    let step = Step::cargo("mdbook", &arguments)
        .with_arguments(&["--no-default-features", "--features", "search"].map(str::to_owned));
    // In CI the output is thrown away: a quick build of a tool that runs for a second.
    let step = if is_continuous_integration() { step.with_arguments(&["--debug".to_owned()]) } else { step };
    step.run(repository.root())?;
    Ok(installed)
}
