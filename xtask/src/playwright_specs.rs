//! `cargo xtask playwright-specs`: runs Playwright's own page specs as scripts, and compares with the stock client.
//!
//! The specs are read from a checkout and never copied into the repository. Those that stock Playwright passes are the
//! ones that count; `xtask/playwright-specs/known-failures.txt` lists those that a script fails, each with its reason.

mod known;
mod options;
mod outcome;
mod prepare;
mod report;
mod stock;
mod worker;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use crate::error::Error;
use crate::repository::Repository;
use crate::step::Step;

use known::KnownFailures;
use options::Options;
use outcome::Outcomes;

/// The folder of this command's own files.
const FOLDER: &str = "xtask/playwright-specs";

/// Where everything that a run writes goes.
const OUTPUT: &str = "target/playwright-specs";

/// What the parts of a run share.
struct Setup<'a> {
    repository: &'a Repository,
    options: Options,
    /// The names of the specs, without `.ts`.
    names: Vec<String>,
}

impl Setup<'_> {
    /// A path below the folder of what a run writes.
    fn output(&self, name: &str) -> PathBuf {
        self.repository.path(OUTPUT).join(name)
    }

    /// A file of this command.
    fn own_file(&self, name: &str) -> PathBuf {
        self.repository.path(FOLDER).join(name)
    }
}

/// Runs the specs. Fails when one fails that stock Playwright passes and the list does not name.
pub(crate) fn run(repository: &Repository, arguments: &[String]) -> Result<(), Error> {
    let options = Options::read(arguments)?;
    if !options.is_built {
        Step::cargo("build", &["build", "-p", "tabwire"]).run(repository.root())?;
    }
    let names = prepare::find_specs(&options)?;
    let setup = Setup { repository, options, names };
    for folder in ["prepared", "stock", "run", "files"] {
        let folder = setup.output(folder);
        fs::create_dir_all(&folder).map_err(|source| Error::file(&folder, source))?;
    }
    prepare::write_all(&setup)?;
    let stock = stock::measure(&setup)?;
    let known = KnownFailures::read(repository)?;
    // Tests that stock Playwright fails do not count, and many of them take their whole time.
    let counted: BTreeSet<String> = stock.passed().map(str::to_owned).collect();
    let mut ours = worker::run_all(&setup, &counted)?;
    let again = report::unlisted_failures(&stock, &ours, &known);
    if !again.is_empty() && !setup.options.is_once {
        eprintln!("==> {} unlisted failures run again", again.len());
        ours.update(worker::run_all(&setup, &again)?);
    }
    write_results(&setup, &stock, &ours)?;
    report::print(&setup.options, &stock, &ours, &known)
}

/// Writes each test that counts with its error, for reading.
fn write_results(setup: &Setup<'_>, stock: &Outcomes, ours: &Outcomes) -> Result<(), Error> {
    let path = setup.output("results.jsonl");
    let lines = stock.passed().map(|id| ours.line(id)).collect::<String>();
    fs::write(&path, lines).map_err(|source| Error::file(path, source))
}
