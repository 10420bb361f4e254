//! The test runner.

use super::{Consent, report};
use crate::error::Error;
use crate::repository::Repository;
use crate::step::{Step, find_output};

/// The version the configuration in `.config/nextest.toml` was written for.
const VERSION: &str = "0.9.143";

/// Installs cargo-nextest unless some version of it is there.
pub(super) fn provide(repository: &Repository, consent: Consent) -> Result<(), Error> {
    if let Some(output) = find_output("cargo", &["nextest", "--version"], repository.root()) {
        report(
            "cargo-nextest",
            &format!("installed ({})", output.lines().next().unwrap_or("unknown").trim()),
        );
        return Ok(());
    }
    if !consent.allows(&format!("Install cargo-nextest {VERSION} with cargo?")) {
        report("cargo-nextest", "skipped; `cargo xtask test` needs it");
        return Ok(());
    }
    let arguments = ["install", "cargo-nextest", "--locked", "--version", VERSION];
    Step::cargo("cargo-nextest", &arguments).run(repository.root())?;
    report("cargo-nextest", &format!("installed {VERSION}"));
    Ok(())
}
