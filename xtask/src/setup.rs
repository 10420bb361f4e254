//! `cargo xtask setup`: installs the missing programs and packages that the tests need.

mod browser_clients;
pub(crate) mod cargo_deny;
mod debian_roots;
mod free_space;
mod geckodriver;
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

/// Which tests the packages are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TestSize {
    /// Those of every run.
    Short,
    /// Those of `--full`, too.
    Full,
}

/// Reads `--yes` and `--full` from the command line.
pub(crate) fn read_arguments(arguments: &[String]) -> Result<(Consent, TestSize), Error> {
    let (mut consent, mut size) = (Consent::from_environment(), TestSize::Short);
    for argument in arguments {
        match argument.as_str() {
            "--yes" | "-y" => consent = Consent::Given,
            "--full" => size = TestSize::Full,
            other => {
                return Err(Error::Usage(format!("`setup` takes only `--yes` and `--full`, not `{other}`")));
            }
        }
    }
    Ok((consent, size))
}

/// Whether `CI` is set.
pub(crate) fn is_continuous_integration() -> bool {
    std::env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false")
}

/// Installs everything that the tests of this size need.
pub(crate) fn run(repository: &Repository, consent: Consent, size: TestSize) -> Result<(), Error> {
    build_requirements(repository, consent)?;
    client_packages(repository, size)
}

/// Installs what a build needs.
pub(crate) fn build_requirements(repository: &Repository, consent: Consent) -> Result<(), Error> {
    free_space::check(repository)?;
    system_packages::provide(repository, consent)?;
    nextest::provide(repository, consent)?;
    // Fetch now, so that the build steps need no network.
    Step::cargo("crates", &["fetch", "--quiet"]).run(repository.root())
}

/// Installs the Node and Python packages that tests of this size run, and Java, Ruby, Nix and geckodriver for full ones. No
/// build needs them.
pub(crate) fn client_packages(repository: &Repository, size: TestSize) -> Result<(), Error> {
    if size == TestSize::Full {
        system_packages::provide_for_full_tests(repository)?;
    }
    browser_clients::provide(repository, size)?;
    python_clients::provide(repository, size)?;
    if size == TestSize::Full {
        geckodriver::provide(repository)?;
        debian_roots::provide(repository)?;
    }
    Ok(())
}

/// Prints one line about a requirement.
fn report(requirement: &str, outcome: &str) {
    eprintln!("setup: {requirement}: {outcome}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_yes_and_full_are_accepted_as_arguments() {
        let read =
            |words: &[&str]| read_arguments(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert_eq!(read(&["--yes"]).unwrap(), (Consent::Given, TestSize::Short));
        assert_eq!(read(&["--full", "-y"]).unwrap(), (Consent::Given, TestSize::Full));
        assert!(Consent::Given.allows("unused"));
        assert_eq!(read(&["--force"]).unwrap_err().exit_code(), 2);
    }
}
