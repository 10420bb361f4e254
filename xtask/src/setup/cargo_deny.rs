//! The check of licences, sources and bans. Only `cargo xtask test --full` installs it: it compiles for minutes.

use super::{Consent, report};
use crate::error::Error;
use crate::repository::Repository;
use crate::step::{Step, succeeds};

/// The version that `deny.toml` was written for.
const VERSION: &str = "0.20.2";

/// Installs cargo-deny unless some version of it is there.
pub(crate) fn provide(repository: &Repository, consent: Consent) -> Result<(), Error> {
    if is_installed() {
        report("cargo-deny", "installed");
        return Ok(());
    }
    if !consent.allows(&format!("Install cargo-deny {VERSION} with cargo? It compiles for some minutes.")) {
        report("cargo-deny", "skipped; licences are not checked");
        return Ok(());
    }
    let arguments = ["install", "cargo-deny", "--locked", "--version", VERSION];
    Step::cargo("cargo-deny", &arguments).run(repository.root())
}

/// Whether `cargo deny` can be run.
pub(crate) fn is_installed() -> bool {
    succeeds("cargo", &["deny", "--version"])
}
