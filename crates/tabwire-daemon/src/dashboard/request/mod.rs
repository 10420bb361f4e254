//! Requests of a dashboard's page. Each runs beside the line, so that a slow one delays nothing else.

mod clients;
mod files;
mod health;
mod policy;
mod rows;

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure};
use tokio::sync::{Semaphore, mpsc};

pub(super) use self::clients::ShownClient;
use self::clients::{DisconnectRequest, HoldRequest};
use self::files::FileRequest;
use self::policy::{AllowRequest, CheckRequest, DenyRequest};
pub(super) use self::rows::ShownRow;
use self::rows::{ExportRequest, RowsRequest, ScreenshotRequest};
use crate::daemon::Daemon;
use crate::dashboard::live::Command;

/// Requests of one page that run at once. Its page sends no more.
const RUNNING: usize = 6;

/// How long a request may take.
const DEADLINE: Duration = Duration::from_secs(60);

/// A request with the number that its response repeats.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NumberedRequest {
    id: u64,
    request: DashboardRequest,
}

/// The number alone, for the response to a request that cannot be read.
#[derive(Deserialize)]
struct Number {
    id: u64,
}

/// What a page can request.
#[derive(Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "snake_case")]
pub(super) enum DashboardRequest {
    /// Rows of the audit log.
    Rows(RowsRequest),
    /// The names of sessions, clients and kinds in the log.
    RowNames(NoParameters),
    /// The screenshot of one row.
    Screenshot(ScreenshotRequest),
    /// A session as one HTML file.
    Export(ExportRequest),
    PolicyAllow(AllowRequest),
    PolicyDeny(DenyRequest),
    PolicyCheck(CheckRequest),
    /// The text of `policy.toml`.
    PolicyFile(NoParameters),
    Clients(NoParameters),
    ClientDisconnect(DisconnectRequest),
    /// Actions wait.
    Pause(HoldRequest),
    /// Running actions end, and new ones fail.
    Stop(HoldRequest),
    /// Ends a pause or stop.
    Resume(HoldRequest),
    /// Files that sessions have written.
    Files(NoParameters),
    /// A part of one file.
    File(FileRequest),
    /// Sizes and counters of the daemon.
    Health(NoParameters),
    /// What `tabwire doctor` finds.
    Doctor(NoParameters),
}

/// For requests without parameters.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NoParameters {}

/// The response to a request.
#[derive(Serialize)]
#[serde(tag = "type", rename = "response")]
struct Response {
    id: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Value>,
}

impl Response {
    fn text(id: u64, outcome: Result<Value, Failure>) -> String {
        let response = match outcome {
            Ok(result) => Self { id, result: Some(result), error: None },
            Err(failure) => {
                let remedy = failure.hint();
                let error = json!({"code": failure.code, "message": failure.message, "remedy": remedy});
                Self { id, result: None, error: Some(error) }
            }
        };
        json!(response).to_string()
    }
}

/// The requests of one page.
pub(super) struct Requests {
    daemon: Arc<Daemon>,
    permits: Arc<Semaphore>,
    responses: mpsc::Sender<String>,
}

impl Requests {
    /// The requests of a page, and where their responses come out.
    pub(super) fn new(daemon: &Arc<Daemon>) -> (Self, mpsc::Receiver<String>) {
        let (responses, receiver) = mpsc::channel(RUNNING);
        let permits = Arc::new(Semaphore::new(RUNNING));
        (Self { daemon: Arc::clone(daemon), permits, responses }, receiver)
    }

    /// Starts a request. Returns whether the frame was one; its response may be that it is not valid.
    pub(super) async fn take(&self, frame: &[u8]) -> bool {
        let Ok(Number { id }) = serde_json::from_slice(frame) else { return false };
        let refused = match serde_json::from_slice::<NumberedRequest>(frame) {
            Ok(NumberedRequest { id, request }) => match Arc::clone(&self.permits).try_acquire_owned() {
                Ok(permit) => {
                    let (daemon, responses) = (Arc::clone(&self.daemon), self.responses.clone());
                    self.daemon.tasks.start("dashboard-request", async move {
                        let text = Response::text(id, run_in_time(&daemon, request).await);
                        // Before the response, so that the page can send the next one when it has it.
                        drop(permit);
                        // The page may have left.
                        let _ = responses.send(text).await;
                    });
                    return true;
                }
                Err(_) => Failure::new(ErrorCode::Backpressure, format!("{RUNNING} requests run already."))
                    .with_remedy("Wait for one of them."),
            },
            Err(error) => Failure::new(ErrorCode::BadArgs, format!("It is not a valid request: {error}.")),
        };
        // Full only if the page reads nothing; then it misses a refusal.
        let _ = self.responses.try_send(Response::text(id, Err(refused)));
        true
    }
}

async fn run_in_time(daemon: &Arc<Daemon>, request: DashboardRequest) -> Result<Value, Failure> {
    let late = || Failure::new(ErrorCode::Timeout, "The daemon did not respond in time.");
    tokio::time::timeout(DEADLINE, run(daemon, request)).await.map_err(|_| late())?
}

async fn run(daemon: &Arc<Daemon>, request: DashboardRequest) -> Result<Value, Failure> {
    match request {
        DashboardRequest::Rows(request) => rows::rows(daemon, request).await,
        DashboardRequest::RowNames(NoParameters {}) => rows::names(daemon).await,
        DashboardRequest::Screenshot(request) => rows::screenshot(daemon, request).await,
        DashboardRequest::Export(request) => rows::export(daemon, request).await,
        DashboardRequest::PolicyAllow(request) => policy::allow(daemon, request).await,
        DashboardRequest::PolicyDeny(request) => policy::deny(daemon, request).await,
        DashboardRequest::PolicyCheck(request) => policy::check(daemon, request).await,
        DashboardRequest::PolicyFile(NoParameters {}) => policy::file(daemon).await,
        DashboardRequest::Clients(NoParameters {}) => Ok(clients::list(daemon).await),
        DashboardRequest::ClientDisconnect(request) => clients::disconnect(daemon, request).await,
        DashboardRequest::Pause(request) => clients::hold(daemon, request.scope, Command::Pause).await,
        DashboardRequest::Stop(request) => clients::hold(daemon, request.scope, Command::Stop).await,
        DashboardRequest::Resume(request) => clients::hold(daemon, request.scope, Command::Resume).await,
        DashboardRequest::Files(NoParameters {}) => files::list(daemon).await,
        DashboardRequest::File(request) => files::read(daemon, request).await,
        DashboardRequest::Health(NoParameters {}) => Ok(health::health(daemon).await),
        DashboardRequest::Doctor(NoParameters {}) => health::doctor(daemon).await,
    }
}

/// Runs work that blocks on the disk.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
        Err(Failure::new(ErrorCode::Internal, format!("The request was not completed: {error}.")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads(text: &str) -> bool {
        serde_json::from_str::<NumberedRequest>(text).is_ok()
    }

    #[test]
    fn requests_are_known_and_have_no_unknown_members() {
        assert!(reads(r#"{"id": 1, "request": {"name": "rows", "session": "work", "refused": true}}"#));
        assert!(reads(r#"{"id": 1, "request": {"name": "clients"}}"#));
        assert!(reads(r#"{"id": 1, "request": {"name": "pause", "scope": {"agent": "Codex"}}}"#));
        for wrong in [
            r#"{"id": 1, "request": {"name": "rows", "path": "/etc/passwd"}}"#,
            r#"{"id": 1, "request": {"name": "clients", "more": 1}}"#,
            r#"{"id": 1, "request": {"name": "file", "path": "/etc/passwd"}}"#,
            r#"{"id": 1, "request": {"name": "shell"}}"#,
            r#"{"id": 1, "request": {"name": "stop"}}"#,
            r#"{"id": 1, "request": {"name": "stop", "scope": {"agent": "a", "session": "b"}}}"#,
            r#"{"id": 1, "request": {"name": "clients"}, "more": 1}"#,
            r#"{"id": -1, "request": {"name": "clients"}}"#,
            r#"{"request": {"name": "clients"}}"#,
        ] {
            assert!(!reads(wrong), "{wrong}");
        }
    }

    #[test]
    fn an_error_has_its_code_message_and_remedy() {
        let failure = Failure::new(ErrorCode::Busy, "It is taken.").with_remedy("Wait.");
        let response: Value = serde_json::from_str(&Response::text(7, Err(failure))).expect("JSON");
        let error = json!({"code": "BUSY", "message": "It is taken.", "remedy": "Wait."});
        assert_eq!(response, json!({"type": "response", "id": 7, "error": error}));
    }
}
