//! Scripts: one sandboxed process for each client of a session, one run at a time.

mod cdp;
mod events;
mod idle;
mod outcome;
mod process;
mod received;
mod run;
mod skills;
mod stream;
mod table;
mod view;

pub(crate) use table::Scripts;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;
use tabwire_api::api::{ExecuteLine, ExecuteRequest, ExecuteResult};
use tabwire_api::{ErrorCode, Failure};
use tabwire_script::limits::{CODE_BYTES, EXECUTE_TIMEOUT, MODULE_BYTES, RUN_TIMEOUT};
use tabwire_script::message::{Run, Skill};
use tokio::sync::mpsc;

use crate::audit::entry::AuditEntry;
use crate::daemon::Daemon;
use crate::http::caller::Caller;
use crate::script::run::{RunEnd, RunRequest};
use crate::script::skills::Skills;
use crate::script::table::{ChildKey, Slot};

/// The name of code that is not a file, in errors.
const SNIPPET_NAME: &str = "execute";

impl Daemon {
    /// Runs a script. Lines of its console go to `lines`; a closed receiver cancels the run.
    pub(crate) async fn execute(
        self: &Arc<Self>,
        mut request: ExecuteRequest,
        caller: &Caller,
        lines: mpsc::Sender<ExecuteLine>,
    ) -> Result<ExecuteResult, Failure> {
        request.request.run = Some(run_name());
        let logged =
            json!({"bytes": request.code.len(), "hash": code_hash(&request.code), "file": request.is_file});
        let entry = AuditEntry::of_script(&self.audit, "execute", &request.request, caller, &logged);
        let outcome = self.execute_unlogged(request, caller, lines).await;
        // The message of a script's error can hold page text, so the row has its code alone.
        let logged = outcome.as_ref().err().map(|failure| Failure::new(failure.code, "The script failed."));
        let notices = entry.finish(logged.as_ref()).await;
        outcome.map(|mut result| {
            result.notices.extend(notices);
            result
        })
    }

    async fn execute_unlogged(
        self: &Arc<Self>,
        request: ExecuteRequest,
        caller: &Caller,
        lines: mpsc::Sender<ExecuteLine>,
    ) -> Result<ExecuteResult, Failure> {
        check_size(&request)?;
        let timeout = run_timeout(&request);
        let key = if request.is_file { self.scripts.unique_key() } else { ChildKey::of(&request.request) };
        let slot = self.scripts.obtain(&key)?;
        let ended = self.execute_in(&slot, request, caller, timeout, &lines).await;
        if matches!(key, ChildKey::File(_)) {
            self.scripts.remove(&key);
        }
        self.scripts.start_sweep(self);
        ended
    }

    async fn execute_in(
        self: &Arc<Self>,
        slot: &Arc<Slot>,
        request: ExecuteRequest,
        caller: &Caller,
        timeout: Option<Duration>,
        lines: &mpsc::Sender<ExecuteLine>,
    ) -> Result<ExecuteResult, Failure> {
        let mut turn = slot.take_turn().await?;
        let notice = slot.take_notice();
        let (process, is_new) = turn.process(&self.config, &self.tasks)?;
        let mut template = request.request;
        // The timeout is that of the run. Calls have their own.
        template.timeout_ms = None;
        let request_of_run = RunRequest {
            daemon: self,
            caller,
            template,
            timeout,
            lines,
            slot,
            images: Mutex::default(),
            known_tabs: Mutex::default(),
            known_frames: Mutex::default(),
            contexts: process.contexts(),
            cdp: process.cdp(),
            is_idle: false,
        };
        let (modules, skills) = self.with_skills(&request.code, request.modules);
        let run = Run {
            id: self.scripts.next_run(),
            code: request.code,
            name: request.name.unwrap_or_else(|| SNIPPET_NAME.to_owned()),
            is_file: request.is_file,
            args: request.args,
            modules,
            state: if is_new { slot.state() } else { None },
            tab: request_of_run.template.tab.map(|tab| tab.to_string()),
            tabs: json!(request_of_run.tabs().await),
            actions: tabwire_engine::ACTIONS.iter().map(|action| action.name.to_owned()).collect(),
            skills,
        };
        let (template, is_file) = (request_of_run.template.clone(), request.is_file);
        let end = run::run(process, run, request_of_run).await;
        let (notices, listens) = (process.rest(), process.listens() && !is_file);
        if let RunEnd::Done(done) = &end {
            slot.set_state(done.state.clone());
        }
        let has_lost = end.has_lost_process();
        turn.end(has_lost);
        slot.used(Instant::now());
        slot.set_listening(listens && !has_lost);
        if listens && !has_lost {
            self.serve_idle_script(slot, template, caller.clone());
        }
        outcome::result_of(end, slot.state().is_some()).map(|mut result| {
            result.notices.extend(notice.into_iter().chain(notices));
            result
        })
    }

    /// The files that came with a run and those of the skills that its code names, and the list of all skills.
    fn with_skills(
        &self,
        code: &str,
        given: BTreeMap<String, String>,
    ) -> (BTreeMap<String, String>, Vec<Skill>) {
        let skills = Skills::of(&self.config.paths.config, &self.config.skills);
        let mut modules = skills.modules_of(std::iter::once(code).chain(given.values().map(String::as_str)));
        modules.extend(given);
        (modules, skills.list(code.contains("help(")))
    }

    /// Ends the process of a client's scripts: variables and `state` are lost, tabs stay.
    pub(crate) fn reset_script(&self, request: &tabwire_api::api::ActionRequest) -> bool {
        self.scripts.remove(&ChildKey::of(request))
    }
}

fn check_size(request: &ExecuteRequest) -> Result<(), Failure> {
    let modules: usize = request.modules.values().map(String::len).sum();
    let too_large = |what: &str, most: usize| {
        Failure::new(ErrorCode::BadArgs, format!("The {what} is larger than {most} bytes."))
    };
    if request.code.len() > CODE_BYTES {
        return Err(too_large("code", CODE_BYTES));
    }
    if modules > MODULE_BYTES {
        return Err(too_large("code of the imported files", MODULE_BYTES));
    }
    Ok(())
}

/// How long the run may take; none for a file with the timeout 0.
fn run_timeout(request: &ExecuteRequest) -> Option<Duration> {
    let asked = request.request.timeout_ms.map(Duration::from_millis);
    match asked {
        Some(Duration::ZERO) if request.is_file => None,
        Some(Duration::ZERO) => Some(RUN_TIMEOUT),
        Some(time) if request.is_file => Some(time),
        Some(time) => Some(time.min(RUN_TIMEOUT)),
        None => Some(if request.is_file { RUN_TIMEOUT } else { EXECUTE_TIMEOUT }),
    }
}

/// The name of a run in the audit log, which its calls carry.
fn run_name() -> String {
    let mut bytes = [0; 5];
    // Without randomness, runs share a name in the log; nothing else depends on it.
    let _ = getrandom::fill(&mut bytes);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The first digits of the code's SHA-1, so that equal runs are recognised in the log.
fn code_hash(code: &str) -> String {
    sha1_smol::Sha1::from(code).digest().to_string()[..12].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_run_has_defaults_and_bounds() {
        let seconds = |asked: Option<u64>, is_file: bool| {
            let mut request = ExecuteRequest { is_file, ..ExecuteRequest::default() };
            request.request.timeout_ms = asked.map(|seconds| seconds * 1_000);
            run_timeout(&request).map(|time| time.as_secs())
        };
        assert_eq!(seconds(None, false), Some(30));
        assert_eq!(seconds(Some(5), false), Some(5));
        // `execute` is never without a limit.
        assert_eq!((seconds(Some(0), false), seconds(Some(3_600), false)), (Some(600), Some(600)));
        assert_eq!(
            (seconds(None, true), seconds(Some(3_600), true), seconds(Some(0), true)),
            (Some(600), Some(3_600), None)
        );
    }

    #[test]
    fn code_and_imported_files_have_sizes() {
        let check = |code: usize, module: usize| {
            let modules = BTreeMap::from([("a.ts".to_owned(), " ".repeat(module))]);
            check_size(&ExecuteRequest { code: " ".repeat(code), modules, ..ExecuteRequest::default() })
        };
        assert!(check(CODE_BYTES, MODULE_BYTES).is_ok());
        assert!(check(CODE_BYTES + 1, 0).is_err_and(|failure| failure.message.contains("code is larger")));
        assert!(check(0, MODULE_BYTES + 1).is_err_and(|failure| failure.message.contains("imported files")));
    }
}
