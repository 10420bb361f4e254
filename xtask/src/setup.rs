//! `cargo xtask setup`: installs what the tests need and is missing, and says what it did.
//!
//! Each need is one file below; this one decides the order and who is asked.

mod browser_clients;
mod free_space;
mod nextest;
mod system_packages;

use std::io::{IsTerminal, Write};

use crate::repository::Repository;
use crate::step::Step;
use crate::trouble::Trouble;

/// Whether something may be installed without asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Consent {
    /// Yes was said beforehand, or nobody is there to ask.
    Given,
    /// A person at the terminal decides.
    Ask,
}

impl Consent {
    /// Given under CI and without a terminal.
    pub(crate) fn from_surroundings() -> Consent {
        let somebody_there = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        if is_continuous_integration() || !somebody_there { Consent::Given } else { Consent::Ask }
    }

    /// Reads `--yes` from the command line.
    pub(crate) fn from_arguments(arguments: &[String]) -> Result<Consent, Trouble> {
        match arguments {
            [] => Ok(Consent::from_surroundings()),
            [only] if only == "--yes" || only == "-y" => Ok(Consent::Given),
            [other, ..] => Err(Trouble::Usage(format!("`setup` takes only `--yes`, not `{other}`"))),
        }
    }

    /// Asks the question unless consent was given before.
    fn allows(self, question: &str) -> bool {
        if self == Consent::Given {
            return true;
        }
        eprint!("{question} [Y/n] ");
        let mut answer = String::new();
        let flushed = std::io::stderr().flush();
        if flushed.is_err() || std::io::stdin().read_line(&mut answer).is_err() {
            return false;
        }
        matches!(answer.trim().to_lowercase().as_str(), "" | "y" | "yes")
    }
}

/// Tells whether a build server runs us.
pub(crate) fn is_continuous_integration() -> bool {
    std::env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false")
}

/// Brings the machine to where the tests can run.
pub(crate) fn run(repository: &Repository, consent: Consent) -> Result<(), Trouble> {
    free_space::check(repository)?;
    system_packages::provide(repository, consent)?;
    nextest::provide(repository, consent)?;
    // All targets' crates, because the licence check reads every locked package without the network.
    Step::cargo("crates", &["fetch", "--quiet"]).run(repository.root())?;
    browser_clients::provide(repository)
}

/// Tells in one line what became of one need.
fn report(need: &str, outcome: &str) {
    eprintln!("setup: {need}: {outcome}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yes_on_the_command_line_is_consent_and_other_words_are_refused() {
        assert_eq!(Consent::from_arguments(&["--yes".to_owned()]).unwrap(), Consent::Given);
        assert!(Consent::Given.allows("unused"));
        let trouble = Consent::from_arguments(&["--force".to_owned()]).unwrap_err();
        assert_eq!(trouble.exit_code(), 2);
    }
}
