//! One run of a script: its calls become actions, and its end is waited for, within its time.

use std::collections::HashSet;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use tabwire_api::api::{ActionRequest, ActionResponse, ExecuteLine};
use tabwire_api::{ErrorCode, Failure};
use tabwire_engine::{ACTIONS, SCRIPT_ACTIONS};
use tabwire_policy::Needs;
use tabwire_script::limits::{CALLS, CALLS_AT_ONCE, CANCEL_GRACE, CONSOLE_BYTES, LINE_BYTES};
use tabwire_script::message::{Call, Cancel, Done, FromChild, Response, Run, ToChild};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::daemon::Daemon;
use crate::http::caller::Caller;
use crate::script::process::{ProcessLost, ScriptOutput, ScriptProcess, send};
use crate::script::table::Slot;

/// How often the time that passes while the user is asked is added to the deadline.
const APPROVAL_TICK: Duration = Duration::from_millis(250);

/// Stands for no deadline.
const FOREVER: Duration = Duration::from_secs(365 * 24 * 3600);

/// What a run needs of the daemon.
pub(crate) struct RunRequest<'a> {
    pub(crate) daemon: &'a Arc<Daemon>,
    pub(crate) caller: &'a Caller,
    /// The request that every call starts from.
    pub(crate) template: ActionRequest,
    pub(crate) timeout: Option<Duration>,
    pub(crate) lines: &'a mpsc::Sender<ExecuteLine>,
    pub(crate) slot: &'a Slot,
    /// Files that screenshots of this run wrote, which the script may show.
    pub(crate) images: Mutex<HashSet<String>>,
    /// The tabs that the script knows.
    pub(crate) known_tabs: Mutex<Vec<TabLine>>,
}

impl RunRequest<'_> {
    fn images(&self) -> MutexGuard<'_, HashSet<String>> {
        self.images.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How a run ended.
#[derive(Debug)]
pub(crate) enum RunEnd {
    /// The script ended by itself.
    Done(Box<Done>),
    /// The time was over, or the client left.
    Cancelled {
        reason: String,
        is_timeout: bool,
        /// Whether the process had to be killed.
        is_killed: bool,
        /// Whether the process ends by itself.
        ends: bool,
    },
    /// The process ended.
    Lost,
}

impl RunEnd {
    /// Whether the process is gone or about to end. One that was cancelled is not used again if it was interrupted.
    pub(crate) fn has_lost_process(&self) -> bool {
        match self {
            Self::Done(done) => done.ends,
            Self::Lost | Self::Cancelled { is_killed: true, .. } => true,
            Self::Cancelled { ends, .. } => *ends,
        }
    }
}

/// Counts what a process sends, since it may ignore its own limits.
#[derive(Default)]
struct Received {
    calls: u64,
    console_bytes: usize,
}

/// Runs code in a process until it ends, its time is over, or the client leaves.
pub(crate) async fn run(process: &mut ScriptProcess, run: Run, request: RunRequest<'_>) -> RunEnd {
    let id = run.id;
    let (input, output) = process.split();
    if send(input, &ToChild::Run(Box::new(run))).await.is_err() {
        return RunEnd::Lost;
    }
    let (responses, mut queue) = mpsc::channel::<ToChild>(CALLS_AT_ONCE * 2);
    // A task of its own for writing, because a write must not be dropped half way.
    let writing = async {
        while let Some(message) = queue.recv().await {
            if send(input, &message).await.is_err() {
                return;
            }
        }
        std::future::pending::<()>().await;
    };
    let mut writing = pin!(writing);
    let serving = serve(output, id, &request, responses.clone());
    let (reason, is_timeout) = tokio::select! {
        end = serving => return end.map_or(RunEnd::Lost, RunEnd::Done),
        () = &mut writing => return RunEnd::Lost,
        stopped = stopped(&request) => stopped,
    };
    // Actions that were under way are dropped with `serving`.
    let cancel = ToChild::Cancel(Cancel { run: id, reason: reason.clone() });
    let cancelling = async {
        let _ = responses.send(cancel).await;
        wait_for_end(output, id).await
    };
    let ended = tokio::select! {
        ended = tokio::time::timeout(CANCEL_GRACE, cancelling) => ended.ok(),
        () = &mut writing => None,
    };
    let done = ended.and_then(Result::ok);
    RunEnd::Cancelled { reason, is_timeout, is_killed: done.is_none(), ends: done.unwrap_or_default() }
}

/// Handles the messages of a run until its end.
async fn serve(
    output: &mut ScriptOutput,
    id: u64,
    request: &RunRequest<'_>,
    responses: mpsc::Sender<ToChild>,
) -> Result<Box<Done>, ProcessLost> {
    let mut received = Received::default();
    let mut calls = FuturesUnordered::new();
    loop {
        let message = tokio::select! {
            Some(()) = calls.next(), if !calls.is_empty() => continue,
            message = output.next() => message?,
        };
        match message {
            FromChild::Done(done) if done.run == id => return Ok(done),
            FromChild::Console(line) => {
                received.console_bytes += line.text.len();
                // Twice the limit: a process that is not broken stops before.
                if received.console_bytes > CONSOLE_BYTES * 2 {
                    return Err(ProcessLost);
                }
                let _ = request.lines.send(ExecuteLine::Console { level: line.level, text: line.text }).await;
            }
            // A process may name any file, so only screenshots of this run are shown.
            FromChild::Image(image) if request.images().contains(&image.path) => {
                let _ = request.lines.send(ExecuteLine::Image { path: image.path }).await;
            }
            FromChild::Call(call) => {
                received.calls += 1;
                if received.calls > CALLS || calls.len() >= CALLS_AT_ONCE {
                    tracing::warn!("a script's process ignored the limit of calls");
                    return Err(ProcessLost);
                }
                calls.push(respond(request, call, responses.clone()));
            }
            FromChild::Done(_) | FromChild::Ready | FromChild::Image(_) => {}
        }
    }
}

/// Runs the action of a call and sends its result.
async fn respond(request: &RunRequest<'_>, call: Call, responses: mpsc::Sender<ToChild>) {
    let id = call.id;
    let response = match act(request, call).await {
        Ok(response) => Response { id, result: raw(&response), error: None },
        Err(failure) => Response { id, result: None, error: raw(&failure) },
    };
    let size = |part: &Option<Box<RawValue>>| part.as_ref().map_or(0, |part| part.get().len());
    let response = if size(&response.result) + 1024 > LINE_BYTES {
        let message = format!("The result is larger than {LINE_BYTES} bytes.");
        Response { id, result: None, error: raw(&Failure::new(ErrorCode::BadArgs, message)) }
    } else {
        response
    };
    let _ = responses.send(ToChild::Response(response)).await;
}

fn raw(value: &impl Serialize) -> Option<Box<RawValue>> {
    to_raw_value(value).ok()
}

/// What a script gets of a response.
#[derive(Serialize)]
struct CallResult {
    result: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    tab: Option<String>,
    /// The session's tabs with their URLs, when they differ from those of the last result.
    #[serde(skip_serializing_if = "Option::is_none")]
    tabs: Option<Vec<TabLine>>,
}

/// A tab as scripts see it without a call: `page.url()` and `context.pages()` return at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct TabLine {
    tab: String,
    url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    opener: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    current: bool,
}

impl RunRequest<'_> {
    /// The session's tabs now. As in `tabs_list`, a tab that the client may not read shows its site only.
    pub(crate) async fn tabs(&self) -> Vec<TabLine> {
        let Some(session) = self.daemon.sessions.find(&self.template.key()) else { return Vec::new() };
        let Some(live) = session.peek_live().ok().flatten() else { return Vec::new() };
        let Some(list) = ACTIONS.iter().find(|action| action.name == "tabs_list") else { return Vec::new() };
        let chosen = self.template.client.as_ref().and_then(|client| session.leases.find_tab(client));
        let action = (list, Needs::tab_list());
        let check = self.daemon.policy_check(&live, &session, &self.template, action, self.caller.clone());
        let rulebook = check.policy.rulebook();
        let mut lines = Vec::new();
        for info in live.engine.list_tabs() {
            let label = check.label_if_hidden(&rulebook, &live.engine, Some(info.tab)).await;
            lines.push(TabLine {
                tab: info.tab.to_string(),
                url: label.unwrap_or(info.url),
                opener: info.opener.map(|opener| opener.to_string()),
                current: chosen.map_or(info.current, |chosen| chosen == info.tab),
            });
        }
        lines
    }

    /// The session's tabs, if they changed since the last call of this function.
    async fn changed_tabs(&self) -> Option<Vec<TabLine>> {
        let tabs = self.tabs().await;
        let mut known = self.known_tabs.lock().unwrap_or_else(PoisonError::into_inner);
        if *known == tabs {
            return None;
        }
        known.clone_from(&tabs);
        Some(tabs)
    }
}

/// Runs a call as any other action of the client: the same policy, audit log and masking.
async fn act(request: &RunRequest<'_>, call: Call) -> Result<CallResult, Failure> {
    if !ACTIONS.iter().chain(SCRIPT_ACTIONS).any(|action| action.name == call.action) {
        let message =
            format!("Scripts have no action `{}`.", call.action.chars().take(40).collect::<String>());
        return Err(Failure::new(ErrorCode::UnknownMethod, message));
    }
    let tab = match call.tab {
        Some(tab) => {
            Some(tab.parse().map_err(|_| Failure::new(ErrorCode::BadArgs, "The call names no valid tab."))?)
        }
        None => request.template.tab,
    };
    let action = ActionRequest {
        params: call.params,
        tab,
        timeout_ms: call.timeout_ms,
        unsettled: !call.settles,
        text: call.text,
        raw: call.text,
        ..request.template.clone()
    };
    let response = Box::pin(request.daemon.act(&call.action, action, request.caller)).await?;
    let ActionResponse { result, text, tab, .. } = response;
    let result = text.map_or(result, Value::String);
    if let Some(path) = result.get("path").and_then(Value::as_str).filter(|_| call.action == "screenshot") {
        request.images().insert(path.to_owned());
    }
    let tabs = request.changed_tabs().await;
    Ok(CallResult { result, tab: tab.map(|tab| tab.to_string()), tabs })
}

/// Waits until the run has to stop: the client has left, or its time is over. Returns the reason, and whether it is the time.
async fn stopped(request: &RunRequest<'_>) -> (String, bool) {
    let timeout = request.timeout.unwrap_or(FOREVER);
    let mut deadline = Instant::now() + timeout;
    let mut tick = tokio::time::interval(APPROVAL_TICK);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = request.slot.removed() => return ("The script was reset.".to_owned(), false),
            () = request.lines.closed() => return ("The client has left.".to_owned(), false),
            () = tokio::time::sleep_until(deadline) => {
                return (format!("Timeout {}ms exceeded.", timeout.as_millis()), true);
            }
            _ = tick.tick() => {
                // Time spent waiting for an approval does not count.
                if is_waiting_for_approval(request) {
                    deadline += APPROVAL_TICK;
                }
            }
        }
    }
}

fn is_waiting_for_approval(request: &RunRequest<'_>) -> bool {
    let session = request.template.key().to_string();
    let client = request.template.client.as_ref();
    request.daemon.approvals.has_pending(&session, client)
}

/// Drops messages until the run has ended. Returns whether the process ends too.
async fn wait_for_end(output: &mut ScriptOutput, id: u64) -> Result<bool, ProcessLost> {
    loop {
        if let FromChild::Done(done) = output.next().await?
            && done.run == id
        {
            return Ok(done.ends);
        }
    }
}
