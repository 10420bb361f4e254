//! `doctor`: looks at what Tabwire needs, says what is wrong and what to do, and mends what is safe to mend.
//!
//! Looking starts nothing and changes nothing. Each file below is one check, or a few that are kin.

mod aside;
mod browser;
mod clock;
mod configuration;
mod daemon;
mod directory;
mod finding;
mod journal;
mod launch;
mod leftover;
mod machine;
mod port;
mod record;
mod sandbox;
mod vault;

use std::process::ExitCode;

use serde_json::{Value, json};
use tabwire_daemon::Paths;
use tabwire_wire::Failure;

use self::daemon::Pulse;
use self::finding::Finding;
use super::Context;

/// What is to be done besides looking.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wish {
    /// Mend what is safe to mend.
    pub(super) fix: bool,
    /// Start a browser and use it.
    pub(super) launch: bool,
}

/// What every check is given.
struct Visit<'a> {
    context: &'a Context<'a>,
    /// Whether to mend.
    fix: bool,
    /// How the daemon was at the beginning.
    pulse: Pulse,
}

impl Visit<'_> {
    fn paths(&self) -> &Paths {
        &self.context.environment.paths
    }
}

pub(super) fn run(context: &Context<'_>, wish: Wish) -> Result<ExitCode, Failure> {
    let pulse = Pulse::take(&context.environment.paths.socket());
    let visit = Visit { context, fix: wish.fix, pulse };
    let mut findings = look(&visit);
    if wish.launch {
        findings.push(launch::check(context));
    }
    let told: Vec<Value> = findings.iter().map(Finding::told).collect();
    let described = || findings.iter().map(Finding::described).collect::<Vec<_>>().join("\n");
    context.printer.answer(&json!({"findings": told}), described);
    let wrong = findings.iter().filter(|finding| finding.is_wrong()).count();
    if wrong > 0 {
        let next = if wish.fix { "" } else { ", or run `tabwire doctor --fix` for the safe ones" };
        context.printer.notice(&format!("{wrong} wrong; do what is said below each{next}"));
    }
    Ok(ExitCode::from(u8::from(wrong > 0)))
}

fn look(visit: &Visit<'_>) -> Vec<Finding> {
    let mut findings = vec![browser::check(visit), sandbox::check(visit)];
    findings.extend(
        [machine::shared_memory(), machine::open_files(), configuration::check(visit)].into_iter().flatten(),
    );
    findings.extend(directory::check(visit));
    findings.push(machine::socket_path(visit));
    findings.extend(machine::disk(visit));
    findings.push(clock::check(visit));
    findings.extend(daemon::check(visit));
    findings.push(port::check(visit));
    findings.extend(leftover::check(visit));
    findings.extend(record::check(visit));
    findings.push(journal::check(visit));
    findings.extend(vault::check(visit));
    findings
}
