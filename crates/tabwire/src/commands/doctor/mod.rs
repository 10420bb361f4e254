//! `doctor`: checks the installation, prints what is wrong and how to fix it, and fixes what is safe with `--fix`.
//!
//! The checks start nothing and change nothing.

mod agents;
mod browser;
mod clock;
mod daemon;
mod directory;
mod finding;
mod leftover;
mod machine;
mod records;
mod sandbox;
mod vault;

use std::process::ExitCode;

use serde_json::{Value, json};
use tabwire_api::Failure;
use tabwire_daemon::Paths;

use self::daemon::DaemonState;
use self::finding::Finding;
use super::Context;

/// Entries of one directory that are checked.
const MAX_ENTRIES: usize = 4096;

#[derive(Clone, Copy, Debug)]
pub(super) struct DoctorOptions {
    pub(super) fix: bool,
    pub(super) launch: bool,
}

/// The inputs of every check.
struct CheckInputs<'a> {
    context: &'a Context<'a>,
    fix: bool,
    /// The daemon's state before the checks.
    daemon: DaemonState,
}

impl CheckInputs<'_> {
    fn paths(&self) -> &Paths {
        &self.context.environment.paths
    }
}

pub(super) fn run(context: &Context<'_>, options: DoctorOptions) -> Result<ExitCode, Failure> {
    let daemon = DaemonState::query(&context.environment.paths.socket());
    let inputs = CheckInputs { context, fix: options.fix, daemon };
    let mut findings = check_all(&inputs);
    if options.launch {
        findings.push(browser::check_launch(context));
    }
    let list: Vec<Value> = findings.iter().map(Finding::to_json).collect();
    let text = || {
        let width = crate::output::table::terminal_width();
        findings.iter().map(|finding| finding.to_text(width)).collect::<Vec<_>>().join("\n")
    };
    context.printer.result(&json!({"findings": list}), text);
    let wrong = findings.iter().filter(|finding| finding.is_wrong()).count();
    if wrong > 0 {
        let next = if options.fix { "" } else { "; `tabwire doctor --fix` fixes what is safe" };
        context.printer.notice(&format!("{wrong} wrong: follow the steps below each{next}"));
    }
    Ok(ExitCode::from(u8::from(wrong > 0)))
}

fn check_all(inputs: &CheckInputs<'_>) -> Vec<Finding> {
    let mut findings = vec![browser::check(inputs), sandbox::check(inputs)];
    findings.extend(
        [machine::shared_memory(), machine::open_files(), directory::check_configuration(inputs)]
            .into_iter()
            .flatten(),
    );
    findings.extend(directory::check(inputs));
    findings.push(machine::socket_path(inputs));
    findings.extend(machine::disk(inputs));
    findings.push(clock::check(inputs));
    findings.extend(daemon::check(inputs));
    findings.push(machine::port(inputs));
    findings.extend(leftover::check(inputs));
    findings.extend(records::check_sessions(inputs));
    findings.push(records::check_audit_log(inputs));
    findings.extend(vault::check(inputs));
    findings.extend(agents::check(inputs));
    findings
}
