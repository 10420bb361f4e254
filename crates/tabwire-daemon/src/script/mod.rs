//! Scripts: one sandboxed process for each client of a session, one run at a time.

mod outcome;
mod process;
mod run;
mod stream;
mod table;

pub(crate) use table::Scripts;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;
use tabwire_api::api::{ExecuteLine, ExecuteRequest, ExecuteResult};
use tabwire_api::{ErrorCode, Failure};
use tabwire_script::limits::{CODE_BYTES, EXECUTE_TIMEOUT, MODULE_BYTES, RUN_TIMEOUT};
use tabwire_script::message::Run;
use tokio::sync::mpsc;

use crate::audit::entry::AuditEntry;
use crate::daemon::Daemon;
use crate::http::caller::Caller;
use crate::script::run::{RunEnd, RunRequest};
use crate::script::table::{ChildKey, Slot};

/// The name of code that is not a file, in errors.
const SNIPPET_NAME: &str = "execute";

impl Daemon {
    /// Runs a script. Lines of its console go to `lines`; a closed receiver cancels the run.
    pub(crate) async fn execute(
        self: &Arc<Self>,
        request: ExecuteRequest,
        caller: &Caller,
        lines: mpsc::Sender<ExecuteLine>,
    ) -> Result<ExecuteResult, Failure> {
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
        slot: &Slot,
        request: ExecuteRequest,
        caller: &Caller,
        timeout: Option<Duration>,
        lines: &mpsc::Sender<ExecuteLine>,
    ) -> Result<ExecuteResult, Failure> {
        let mut turn = slot.take_turn().await?;
        let (process, is_new) = turn.process(&self.config)?;
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
        };
        let run = Run {
            id: self.scripts.next_run(),
            code: request.code,
            name: request.name.unwrap_or_else(|| SNIPPET_NAME.to_owned()),
            is_file: request.is_file,
            args: request.args,
            modules: request.modules,
            state: if is_new { slot.state() } else { None },
            tab: request_of_run.template.tab.map(|tab| tab.to_string()),
            tabs: json!(request_of_run.tabs().await),
            actions: tabwire_engine::ACTIONS.iter().map(|action| action.name.to_owned()).collect(),
        };
        let end = run::run(process, run, request_of_run).await;
        if let RunEnd::Done(done) = &end {
            slot.set_state(done.state.clone());
        }
        turn.end(end.has_lost_process());
        slot.used(Instant::now());
        outcome::result_of(end, slot.state().is_some())
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

/// The first digits of the code's SHA-1, so that equal runs are recognised in the log.
fn code_hash(code: &str) -> String {
    sha1_smol::Sha1::from(code).digest().to_string()[..12].to_owned()
}
