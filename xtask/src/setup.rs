//! `cargo xtask setup`: installs the missing programs and packages that the tests need.

mod browser_clients;
mod free_space;
mod nextest;
mod python_clients;
mod system_packages;

use std::io::{IsTerminal, Write};

use crate::error::Error;
use crate::repository::Repository;
use crate::step::Step;

/// Whether to ask before installing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Consent {
    /// Install without asking: `--yes`, CI, or no terminal.
    Given,
    /// Ask the user at the terminal.
    Ask,
}

impl Consent {
    /// `Given` in CI and without a terminal.
    pub(crate) fn from_environment() -> Consent {
        let is_interactive = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        if is_continuous_integration() || !is_interactive { Consent::Given } else { Consent::Ask }
    }

    /// Reads `--yes` from the command line.
    pub(crate) fn from_arguments(arguments: &[String]) -> Result<Consent, Error> {
        match arguments {
            [] => Ok(Consent::from_environment()),
            [only] if only == "--yes" || only == "-y" => Ok(Consent::Given),
            [other, ..] => Err(Error::Usage(format!("`setup` takes only `--yes`, not `{other}`"))),
        }
    }

    /// Asks the question unless consent is given.
    fn allows(self, question: &str) -> bool {
        if self == Consent::Given {
            return true;
        }
        eprint!("{question} [Y/n] ");
        let mut response = String::new();
        let flushed = std::io::stderr().flush();
        if flushed.is_err() || std::io::stdin().read_line(&mut response).is_err() {
            return false;
        }
        matches!(response.trim().to_lowercase().as_str(), "" | "y" | "yes")
    }
}

/// Whether `CI` is set.
pub(crate) fn is_continuous_integration() -> bool {
    std::env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false")
}

/// Installs everything that the tests need.
pub(crate) fn run(repository: &Repository, consent: Consent) -> Result<(), Error> {
    free_space::check(repository)?;
    system_packages::provide(repository, consent)?;
    nextest::provide(repository, consent)?;
    // Fetch now, so that the build steps need no network.
    Step::cargo("crates", &["fetch", "--quiet"]).run(repository.root())?;
    browser_clients::provide(repository)?;
    python_clients::provide(repository)
}

/// Prints one line about a requirement.
fn report(requirement: &str, outcome: &str) {
    eprintln!("setup: {requirement}: {outcome}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_yes_is_accepted_as_an_argument() {
        assert_eq!(Consent::from_arguments(&["--yes".to_owned()]).unwrap(), Consent::Given);
        assert!(Consent::Given.allows("unused"));
        let error = Consent::from_arguments(&["--force".to_owned()]).unwrap_err();
        assert_eq!(error.exit_code(), 2);
    }
}
