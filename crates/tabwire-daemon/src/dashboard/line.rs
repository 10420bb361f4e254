//! The websocket of one dashboard: the key first, then the state as it changes and the events of the audit log as they
//! come, and the user's decisions.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bytes::BytesMut;
use http::Request;
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tabwire_api::api::SessionStatus;
use tabwire_api::{ErrorCode, Failure, VERSION};
use tabwire_audit::{Filter, RowNumber};
use tabwire_cdp::websocket::{ByteStream, serve};
use tabwire_cdp::{CloseFrame, FrameSink, FrameSource, ReceivedFrame};
use tabwire_extension::notification::{DecidedQuestion, Grant, PolicySummary, Question};
use tabwire_extension::user_message::UserMessage;

use crate::audit::events::{EventRequest, LogEvent, OpenLog};
use crate::control::{Hold, Scope};
use crate::daemon::Daemon;
use crate::dashboard::memory::BrowserMemory;
use crate::dashboard::request::{Requests, ShownRow};
use crate::endpoint::cdp::{accept_key, switching};
use crate::extension::notifications::{NotificationSources, decided, granted, question, summary};
use crate::http::server::HttpResponse;
use crate::limits::HANDSHAKE_DEADLINE;
use crate::trail::Trail;

/// Largest message of a page.
const MESSAGE_BYTES: usize = 64 * 1024;

/// Rows that a page gets at first.
const FIRST_ROWS: u32 = 200;

/// The state is compared this often, for changes that no event reports.
const REFRESH: Duration = Duration::from_secs(3);

/// After actions the status of sessions is requested this often at most.
const STATUS_EVERY: Duration = Duration::from_secs(1);

/// Several changes at once are sent together.
const GATHER: Duration = Duration::from_millis(50);

/// How the decisions of a dashboard are named.
pub(super) const PLACE: &str = "the dashboard";

/// The first message of a page.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "LineOpening")]
pub(super) struct Opening {
    key: String,
    /// The last row that the page has.
    after: Option<i64>,
}

/// What a dashboard shows beside rows.
#[derive(Serialize, JsonSchema)]
pub(super) struct DashboardState {
    version: &'static str,
    pid: u32,
    port: u16,
    /// When the daemon started, in milliseconds since 1970.
    started: u64,
    lost_log_lines: u64,
    sessions: Vec<SessionStatus>,
    approvals: Vec<Question>,
    decided: Vec<DecidedQuestion>,
    grants: Vec<Grant>,
    policy: PolicySummary,
    /// Whose actions are paused or stopped.
    holds: Vec<(Scope, Hold)>,
}

/// Upgrades to a websocket. Everything else waits for the key.
pub(super) fn accept(daemon: &Arc<Daemon>, mut request: Request<Incoming>) -> Result<HttpResponse, Failure> {
    let accept = accept_key(&request)?;
    let (daemon, peer) = (Arc::clone(daemon), daemon.extensions.unauthenticated().enter());
    let upgrade = hyper::upgrade::on(&mut request);
    let tasks = daemon.tasks.clone();
    tasks.start("dashboard", async move {
        let upgraded = match upgrade.await {
            Ok(upgraded) => upgraded,
            Err(error) => return tracing::debug!(%error, "a websocket upgrade failed"),
        };
        let stream: Box<dyn ByteStream> = Box::new(TokioIo::new(upgraded));
        let (mut source, sink) = serve(stream, MESSAGE_BYTES);
        let opening = tokio::select! {
            read = tokio::time::timeout(HANDSHAKE_DEADLINE, read_opening(&mut source)) => read.ok().flatten(),
            () = peer.replaced() => None,
        };
        let known = match opening {
            Some(opening) => {
                daemon.dashboards.connect(&opening.key, Instant::now()).map(|_| opening).map_err(Some)
            }
            None => Err(None),
        };
        let opening = match known {
            Ok(opening) => opening,
            Err(failure) => return refuse(sink, failure.as_ref()).await,
        };
        peer.authenticated();
        let Opening { key, after } = opening;
        let started = milliseconds_since_1970().saturating_sub(milliseconds(daemon.since.elapsed()));
        let line = Line {
            daemon: Arc::clone(&daemon),
            key: key.clone(),
            sink,
            started,
            sent: String::new(),
            log_fault: None,
            memory: BrowserMemory::default(),
        };
        line.run(source, after).await;
        daemon.dashboards.disconnect(&key, Instant::now());
    });
    Ok(switching(accept))
}

fn milliseconds_since_1970() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, milliseconds)
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Sends a page the reason why it gets nothing. A message, because a page cannot distinguish every close frame from a broken connection. A
/// key that is valid is not refused: the page may try again.
pub(super) async fn refuse(mut sink: FrameSink, failure: Option<&Failure>) {
    let is_busy = failure.is_some_and(|failure| failure.code == ErrorCode::Busy);
    let message: &[u8] = if is_busy { br#"{"type":"busy"}"# } else { br#"{"type":"refused"}"# };
    sink.enqueue(BytesMut::from(message));
    let _ = tokio::time::timeout(HANDSHAKE_DEADLINE, sink.flush()).await;
    sink.close_with(CloseFrame::Gone(if is_busy { "too many connections" } else { "the key is not valid" }));
}

async fn read_opening(source: &mut FrameSource) -> Option<Opening> {
    match source.next().await {
        Ok(Some(ReceivedFrame::Frame(frame))) => serde_json::from_slice(&frame).ok(),
        _ => None,
    }
}

struct Line {
    daemon: Arc<Daemon>,
    key: String,
    sink: FrameSink,
    /// When the daemon started, in milliseconds since 1970.
    started: u64,
    /// The state as last sent.
    sent: String,
    /// Why the log cannot be read, as last sent.
    log_fault: Option<String>,
    memory: BrowserMemory,
}

impl Line {
    async fn run(mut self, mut source: FrameSource, after: Option<i64>) {
        let mut commits = self.daemon.audit.commits();
        let mut approvals = self.daemon.approvals.changes();
        let mut policy = self.daemon.policy.changes();
        let mut control = self.daemon.policy.control.changes();
        let (requests, mut responses) = Requests::new(&self.daemon);
        // The user of a dashboard can be asked.
        let _attendance = self.daemon.approvals.watch();
        let filter = Filter { after: after.map(RowNumber), ..Filter::default() };
        let mut log = Some(OpenLog::new(
            self.daemon.config.paths.audit_log(),
            EventRequest { filter, last: FIRST_ROWS },
        ));
        let (mut state_due, mut has_rows) = (tokio::time::Instant::now(), true);
        loop {
            let now = tokio::time::Instant::now();
            if !self.daemon.dashboards.is_valid(&self.key, Instant::now()) {
                return self.sink.close_with(CloseFrame::Done);
            }
            if state_due <= now {
                state_due = now + REFRESH;
                if self.send_state().await.is_none() {
                    return self.sink.close_with(CloseFrame::Done);
                }
            }
            if std::mem::take(&mut has_rows) {
                commits.mark_unchanged();
                let Some(read) = self.send_rows(log).await else {
                    return self.sink.close_with(CloseFrame::Done);
                };
                log = Some(read);
            }
            tokio::select! {
                frame = source.next() => match frame {
                    Ok(Some(ReceivedFrame::Frame(frame))) => {
                        if !requests.take(&frame).await {
                            self.take(&frame).await;
                        }
                    }
                    _ => return,
                },
                Some(response) = responses.recv() => {
                    if self.send(&response).await.is_none() {
                        return self.sink.close_with(CloseFrame::Done);
                    }
                }
                _ = commits.changed() => {
                    tokio::time::sleep(GATHER).await;
                    has_rows = true;
                    // An action may have changed a session. Its status is requested from the browsers, so not for each.
                    state_due = state_due.min(tokio::time::Instant::now() + STATUS_EVERY);
                }
                _ = approvals.changed() => state_due = now,
                _ = policy.changed() => state_due = now,
                _ = control.changed() => state_due = state_due.min(now + STATUS_EVERY),
                () = tokio::time::sleep_until(state_due) => has_rows = true,
            }
        }
    }

    /// Sends the state if it has changed.
    async fn send_state(&mut self) -> Option<()> {
        let policy = self.daemon.policy.rulebook();
        let mut status = self.daemon.status().await;
        self.memory.fill(&mut status.sessions, &self.daemon.tasks);
        let state = DashboardState {
            version: VERSION,
            pid: status.pid,
            port: status.port,
            started: self.started,
            lost_log_lines: status.lost_log_lines,
            sessions: status.sessions,
            approvals: self.daemon.approvals.pending(None).into_iter().map(question).collect(),
            decided: self.daemon.approvals.decided().into_iter().map(decided).collect(),
            grants: granted(&policy),
            policy: summary(&policy, self.daemon.policy.policy_file().display().to_string()),
            holds: self.daemon.policy.control.holds(),
        };
        let text = json!({"type": "state", "state": state}).to_string();
        if text == self.sent {
            return Some(());
        }
        self.sent.clone_from(&text);
        self.send(&text).await
    }

    /// Sends the events that the page does not have.
    async fn send_rows(&mut self, log: Option<OpenLog>) -> Option<OpenLog> {
        let mut log = log?;
        loop {
            let trail = Arc::clone(&self.daemon.trail);
            let read = tokio::task::spawn_blocking(move || {
                let messages = log.next_events().map(|events| line_messages(events, &trail));
                (log, messages)
            });
            let (back, messages) = read.await.ok()?;
            log = back;
            let messages = match messages {
                Ok(messages) => messages,
                // The page shows it, and the log may be readable again.
                Err(error) => {
                    self.report_log(Some(error.to_string())).await?;
                    return Some(log);
                }
            };
            self.report_log(None).await?;
            if messages.is_empty() {
                return Some(log);
            }
            for message in messages {
                self.send(&message).await?;
            }
        }
    }

    /// Sends why the log cannot be read, if that has changed.
    async fn report_log(&mut self, fault: Option<String>) -> Option<()> {
        if fault == self.log_fault {
            return Some(());
        }
        self.log_fault.clone_from(&fault);
        self.send(&json!({"type": "log", "fault": fault}).to_string()).await
    }

    async fn send(&mut self, text: &str) -> Option<()> {
        self.sink.enqueue(BytesMut::from(text.as_bytes()));
        // A page that does not read for so long is gone.
        tokio::time::timeout(HANDSHAKE_DEADLINE, self.sink.flush()).await.ok()?.ok()
    }

    /// Applies a decision of the user. What cannot be read is ignored.
    async fn take(&self, frame: &[u8]) {
        let Ok(word) = serde_json::from_slice::<UserMessage>(frame) else { return };
        let Daemon { approvals, policy, audit, .. } = &*self.daemon;
        // A failure is in the audit log, which the page shows.
        drop(NotificationSources::new(approvals, policy, audit).decide(word, PLACE).await);
    }
}

/// The messages for the page: rows that follow each other go together.
fn line_messages(events: Vec<LogEvent>, trail: &Trail) -> Vec<String> {
    let mut messages = Vec::new();
    let mut rows = Vec::new();
    for event in events {
        match event {
            LogEvent::Entry(row) => rows.push(ShownRow::new(*row, trail)),
            // They come before rows.
            LogEvent::Gap { .. } | LogEvent::Reset => messages.push(json!(event).to_string()),
        }
    }
    if !rows.is_empty() {
        messages.push(json!({"type": "entries", "rows": rows}).to_string());
    }
    messages
}
