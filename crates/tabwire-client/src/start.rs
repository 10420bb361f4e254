//! Starts the daemon on demand and replaces an older one. The daemon's lock file decides races.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tabwire_api::{ErrorCode, Failure, Remedy, Step};

use crate::interrupt::report_interrupts;
use crate::own_program::own_program;
use crate::request::{DAEMON_SLACK, RequestError, request, request_text_within};

/// How long a daemon may take to start; it may have to reconnect to browsers.
pub const START_TIMEOUT: Duration = Duration::from_secs(30);

/// The variable with the state that `tabwire mcp` hands over to the process that replaces it. A daemon must not
/// inherit it.
pub const RELAY_VARIABLE: &str = "TABWIRE_RELAY";

/// Interval at which a socket is polled that another process is about to remove.
const SOCKET_POLL: Duration = Duration::from_millis(5);

/// Time for an older daemon to accept that it must exit.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

/// Sends a request to the daemon. Starts it when it does not run, replaces it when it is older.
///
/// # Errors
/// When the daemon cannot be started, or responds with a failure.
pub fn request_daemon(
    socket: &Path,
    method: &str,
    path: &str,
    body: Option<&Value>,
    timeout: Duration,
) -> Result<Value, Failure> {
    with_daemon(socket, || request(socket, method, path, body, timeout))
}

/// Like [`request_daemon`], without parsing the JSON of the response.
///
/// # Errors
/// When the daemon cannot be started, or responds with a failure.
pub fn request_daemon_text(
    socket: &Path,
    method: &str,
    path: &str,
    body: Option<&Value>,
    timeout: Duration,
) -> Result<String, Failure> {
    let timeout = timeout.saturating_add(DAEMON_SLACK);
    with_daemon(socket, || request_text_within(socket, method, path, body, timeout))
}

/// Retries `attempt` until a daemon of this version serves it; starts or replaces the daemon in between.
///
/// # Errors
/// When the attempt fails, or no daemon serves it within [`START_TIMEOUT`].
pub fn with_daemon<T>(
    socket: &Path,
    mut attempt: impl FnMut() -> Result<T, RequestError>,
) -> Result<T, Failure> {
    let deadline = Instant::now() + START_TIMEOUT;
    loop {
        match attempt() {
            Ok(result) => return Ok(result),
            Err(RequestError::Failed(failure)) => return Err(failure),
            Err(RequestError::NotRunning) => start()?,
            Err(RequestError::DaemonOlder) => stop_older_daemon(socket, deadline),
        }
        if Instant::now() > deadline {
            let steps = [Step::command("tabwire daemon logs"), Step::command("tabwire daemon run")];
            return Err(Failure::new(ErrorCode::Timeout, "The daemon did not start in time.")
                .with_remedy(Remedy::new("Run {}, or {} to watch it start.", steps)));
        }
    }
}

/// Starts a daemon and waits until it is ready. Succeeds too when another process has started one meanwhile.
///
/// # Errors
/// When it cannot be started.
pub fn start() -> Result<(), Failure> {
    let failed = |reason: &str| {
        let remedy = Remedy::new("Run {} to see why.", [Step::command("tabwire daemon run")]);
        Failure::new(ErrorCode::Internal, format!("The daemon could not be started: {reason}."))
            .with_remedy(remedy)
    };
    report_interrupts();
    let program = own_program().map_err(|error| failed(&error.to_string()))?;
    let mut daemon = Command::new(program)
        .args(["daemon", "run", "--announce"])
        .env_remove(RELAY_VARIABLE)
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| failed(&error.to_string()))?;
    let stdout = daemon.stdout.take().ok_or_else(|| failed("its output cannot be read"))?;
    let mut line = String::new();
    BufReader::new(stdout).read_line(&mut line).map_err(|error| failed(&error.to_string()))?;
    let outcome: Value = serde_json::from_str(&line).map_err(|_| failed("it exited without a message"))?;
    // Any other outcome means that a daemon is ready: this one, or one of another process.
    outcome.get("failed").map_or(Ok(()), |failure| {
        Err(serde_json::from_value(failure.clone()).unwrap_or_else(|_| failed("its message is invalid")))
    })
}

fn stop_older_daemon(socket: &Path, deadline: Instant) {
    // Only the end of its socket counts; the response does not matter.
    let _ = request(socket, "POST", "/v1/daemon/drain", None, DRAIN_TIMEOUT);
    while Instant::now() < deadline && socket.exists() {
        std::thread::sleep(SOCKET_POLL);
    }
}
