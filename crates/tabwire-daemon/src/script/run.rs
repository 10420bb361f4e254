//! One run of a script: its calls become actions, and its end is waited for, within its time.

use std::collections::{HashSet, VecDeque};
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
use tabwire_script::limits::{CANCEL_GRACE, IMAGES, LINE_BYTES};
use tabwire_script::message::{Call, Cancel, Done, FromChild, Image, Response, Run, ToChild, to_line};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::daemon::Daemon;
use crate::http::caller::Caller;
use crate::script::cdp::CdpSessions;
use crate::script::events::{Events, ScriptContexts};
use crate::script::process::{ProcessLost, ScriptInput, ScriptOutput, ScriptProcess, send};
use crate::script::received::Received;
use crate::script::table::Slot;
use crate::script::view::{FrameLine, TabLine};

/// How often the time that passes while the user is asked is added to the deadline.
const APPROVAL_TICK: Duration = Duration::from_millis(250);

/// The action whose command the daemon sends itself.
const CDP_COMMAND: &str = "cdp_command";

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
    /// The frames that the script knows, of the tab of its last call.
    pub(crate) known_frames: Mutex<Vec<FrameLine>>,
    /// Browser contexts that the script has made.
    pub(crate) contexts: ScriptContexts,
    /// CDP sessions that the script has opened.
    pub(crate) cdp: CdpSessions,
    /// Whether the script only listens, between two runs.
    pub(crate) is_idle: bool,
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

/// Runs code in a process until it ends, its time is over, or the client leaves.
pub(crate) async fn run(process: &mut ScriptProcess, run: Run, request: RunRequest<'_>) -> RunEnd {
    let id = run.id;
    let (input, output, events) = process.split();
    events.attach(&request).await;
    if send(input, &ToChild::Run(Box::new(run))).await.is_err() {
        return RunEnd::Lost;
    }
    let serving = serve(Some(id), &request, input, output, events);
    let (reason, is_timeout) = tokio::select! {
        end = serving => return end.map_or(RunEnd::Lost, RunEnd::Done),
        stopped = stopped(&request) => stopped,
    };
    // Actions that were under way are dropped with `serving`.
    let cancel = ToChild::Cancel(Cancel { run: id, reason: reason.clone() });
    let cancelling = async {
        send(input, &cancel).await?;
        wait_for_end(output, events, id).await
    };
    let ended = tokio::time::timeout(CANCEL_GRACE, cancelling).await;
    let done = ended.ok().and_then(Result::ok);
    RunEnd::Cancelled { reason, is_timeout, is_killed: done.is_none(), ends: done.unwrap_or_default() }
}

/// Handles the messages of a run until its end; without a run, those of a script that only listens.
pub(crate) async fn serve(
    id: Option<u64>,
    request: &RunRequest<'_>,
    input: &ScriptInput,
    output: &mut ScriptOutput,
    events: &mut Events,
) -> Result<Box<Done>, ProcessLost> {
    let mut received = Received::default();
    let mut calls = FuturesUnordered::new();
    let mut outgoing: VecDeque<ToChild> = VecDeque::new();
    loop {
        let message = tokio::select! {
            Some(response) = calls.next(), if !calls.is_empty() => {
                events.flush(request, &mut outgoing).await;
                outgoing.push_back(response);
                continue;
            }
            room = input.reserve(), if !outgoing.is_empty() => {
                send_next(&mut outgoing, room.map_err(|_| ProcessLost)?);
                continue;
            }
            incoming = events.next() => {
                events.deliver(incoming, request, &mut outgoing).await;
                continue;
            }
            message = output.next() => message?,
        };
        if id.is_none() && calls.is_empty() {
            // Between two runs only what happens at once is bounded.
            received = Received::default();
        }
        received.count(id, calls.len(), &message).map_err(|reason| {
            tracing::warn!(reason, "a script's process was ended");
            ProcessLost
        })?;
        match message {
            FromChild::Done(done) => return Ok(done),
            FromChild::Listen(listen) => {
                events.set(&listen);
                events.attach(request).await;
            }
            FromChild::Console(line) => {
                let _ = request.lines.send(ExecuteLine::Console { level: line.level, text: line.text }).await;
            }
            FromChild::Image(image) => show_image(request, &received, image).await,
            FromChild::Call(call) => {
                request.make_ready(&call).await;
                events.attach(request).await;
                if let Some(tab) = request.tab_of(&call) {
                    events.use_tab(tab);
                }
                let refused = prepare_route(&call, request, events).err();
                calls.push(respond(request, call, refused));
            }
            FromChild::Ready => {}
        }
    }
}

/// Sends the next message. One that is too long is an event; the script does without it.
fn send_next(outgoing: &mut VecDeque<ToChild>, room: mpsc::Permit<'_, Vec<u8>>) {
    if let Some(line) = outgoing.pop_front().and_then(|message| to_line(&message).ok()) {
        room.send(line);
    }
}

/// Shows an image to the client. A process may name any file, so only screenshots of this run are shown.
async fn show_image(request: &RunRequest<'_>, received: &Received, image: Image) {
    if received.exceeds_images_now() {
        let text = format!("A run shows at most {IMAGES} images; the rest is not shown.");
        let _ = request.lines.send(ExecuteLine::Console { level: "warn".to_owned(), text }).await;
    } else if received.shows_image() && request.images().contains(&image.path) {
        let _ = request.lines.send(ExecuteLine::Image { path: image.path }).await;
    }
}

/// Runs the action of a call and returns its result.
async fn respond(request: &RunRequest<'_>, call: Call, refused: Option<Failure>) -> ToChild {
    let id = call.id;
    let acted = match refused {
        Some(failure) => Err(failure),
        None => act(request, call).await,
    };
    let response = match acted {
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
    ToChild::Response(response)
}

/// Checks a decision about a paused request, or sets the patterns of the script's routes before the browser gets them.
fn prepare_route(call: &Call, request: &RunRequest<'_>, events: &mut Events) -> Result<(), Failure> {
    let member = |name: &str| call.params.get(name);
    match call.action.as_str() {
        "route_decision" => {
            let question = member("question").and_then(Value::as_u64).unwrap_or_default();
            if events.take_question(question) {
                return Ok(());
            }
            Err(Failure::new(ErrorCode::NotActionable, "Route is already handled!"))
        }
        "route_handlers" => {
            let patterns = member("patterns").and_then(Value::as_array).into_iter().flatten();
            let patterns = patterns.filter_map(Value::as_str).map(str::to_owned).collect();
            let tab = call.tab.as_deref().and_then(|tab| tab.parse().ok()).or(request.template.tab);
            events.set_patterns(tab, patterns, member("all") == Some(&Value::Bool(true)));
            Ok(())
        }
        _ => Ok(()),
    }
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
    /// The frames of the tab, when they differ from those of the last result.
    #[serde(skip_serializing_if = "Option::is_none")]
    frames: Option<Vec<FrameLine>>,
}

/// Runs a call as any other action of the client: the same policy, audit log and masking.
async fn act(request: &RunRequest<'_>, call: Call) -> Result<CallResult, Failure> {
    if !ACTIONS.iter().chain(SCRIPT_ACTIONS).any(|action| action.name == call.action) {
        let message =
            format!("Scripts have no action `{}`.", call.action.chars().take(40).collect::<String>());
        return Err(Failure::new(ErrorCode::UnknownMethod, message));
    }
    request.check_idle(&call.action)?;
    let context = request.check_context(&call)?;
    let tab = match call.tab {
        Some(tab) => {
            Some(tab.parse().map_err(|_| Failure::new(ErrorCode::BadArgs, "The call names no valid tab."))?)
        }
        None => request.template.tab,
    };
    let is_cdp = call.action == CDP_COMMAND;
    let cdp_params = is_cdp.then(|| call.params.clone());
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
    let result = match &cdp_params {
        // The action has judged and logged the command.
        Some(params) => request.cdp.run(request, tab, params, call.timeout_ms).await?,
        None => text.map_or(result, Value::String),
    };
    if let Some(path) = result.get("path").and_then(Value::as_str).filter(|_| is_screenshot(&call.action)) {
        request.images().insert(path.to_owned());
    }
    request.note_context(&call.action, context, &result);
    request.sync_events(tab).await;
    let (tabs, frames) = (request.changed_tabs().await, request.changed_frames(tab).await);
    Ok(CallResult { result, tab: tab.map(|tab| tab.to_string()), tabs, frames })
}

/// Whether an action writes an image that the script can show.
fn is_screenshot(action: &str) -> bool {
    matches!(action, "screenshot" | "script_screenshot")
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

/// Waits until the run has ended. Of all other messages, only what the script still listens to counts. Returns whether
/// the process ends too.
async fn wait_for_end(output: &mut ScriptOutput, events: &mut Events, id: u64) -> Result<bool, ProcessLost> {
    loop {
        match output.next().await? {
            FromChild::Done(done) if done.run == id => return Ok(done.ends),
            FromChild::Listen(listen) => events.set(&listen),
            _ => {}
        }
    }
}
