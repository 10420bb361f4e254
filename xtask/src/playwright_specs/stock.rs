//! The baseline: the same specs with the stock client in Node. Each spec is measured once and kept in `target/`.

use std::fs;
use std::process::{Command, Stdio};

use super::Setup;
use super::outcome::Outcomes;
use crate::error::Error;

/// Where the npm packages of the client tests are.
const PACKAGES: &str = "tests/clients";

/// The baseline must not depend on how busy the machine is, so its tests have more time.
const TIME_FACTOR: u64 = 3;

/// The results of the stock client for the chosen specs.
pub(super) fn measure(setup: &Setup<'_>) -> Result<Outcomes, Error> {
    let missing: Vec<&String> = setup.names.iter().filter(|name| !path_of(setup, name).exists()).collect();
    if !missing.is_empty() {
        eprintln!("==> {} specs with the stock client", missing.len());
        run(setup, &missing)?;
    }
    let mut outcomes = Outcomes::default();
    for name in &setup.names {
        outcomes.read(&fs::read_to_string(path_of(setup, name)).unwrap_or_default());
    }
    outcomes.retain_matching(&setup.options.filter);
    Ok(outcomes)
}

fn path_of(setup: &Setup<'_>, name: &str) -> std::path::PathBuf {
    setup.output("stock").join(format!("{name}.jsonl"))
}

/// Runs specs. A file with the results of each is written when it has ended.
fn run(setup: &Setup<'_>, names: &[&String]) -> Result<(), Error> {
    let mut command = Command::new("node");
    command
        .arg(setup.own_file("stock.mjs"))
        .arg(&setup.options.checkout)
        .args(["prepared", "stock", "files"].map(|folder| setup.output(folder)))
        .arg(setup.repository.path(PACKAGES))
        .arg(browser())
        .arg((setup.options.limit * TIME_FACTOR).to_string())
        .arg(setup.options.workers.to_string())
        .args(names)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    let status =
        command.status().map_err(|source| Error::CannotStart { program: "node".to_owned(), source })?;
    if status.success() {
        return Ok(());
    }
    Err(Error::StepFailed { step: "stock client".to_owned(), command: "node stock.mjs".to_owned() })
}

/// The browser of both runs.
pub(super) fn browser() -> String {
    std::env::var("TABWIRE_BROWSER").unwrap_or_else(|_| "/usr/bin/chromium".to_owned())
}
