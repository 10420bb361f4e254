//! Starting the daemon on demand, and replacing an older one. The lock file decides races.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tabwire_wire::{ErrorCode, Failure};

use crate::commands::mcp::HANDED_OVER;
use crate::daemon_client::{AskError, PATIENCE, ask, fetch};
use crate::environment::Environment;
use crate::interruption::tell_of_interrupts;
use crate::own_program::own_program;

/// How long a starting daemon is waited for; it may have browsers to take up again.
pub(crate) const START: Duration = Duration::from_secs(30);

/// How long between two looks at a socket that another process is about to remove.
const LOOK: Duration = Duration::from_millis(5);

/// Asks the daemon, starting it first when it does not run and replacing it when it is older.
pub(crate) fn ask_daemon(
    environment: &Environment,
    method: &str,
    path: &str,
    body: Option<&Value>,
    timeout: Duration,
) -> Result<Value, Failure> {
    let socket = environment.paths.socket();
    reach_daemon(&socket, || ask(&socket, method, path, body, timeout))
}

/// The same, with the answer as the text it came as.
pub(crate) fn ask_daemon_text(
    environment: &Environment,
    method: &str,
    path: &str,
    body: Option<&Value>,
    timeout: Duration,
) -> Result<String, Failure> {
    let socket = environment.paths.socket();
    reach_daemon(&socket, || fetch(&socket, method, path, body, timeout.saturating_add(PATIENCE)))
}

/// Tries something with the daemon until one is there that takes it, or the time for that is over.
pub(crate) fn reach_daemon<T>(
    socket: &Path,
    mut attempt: impl FnMut() -> Result<T, AskError>,
) -> Result<T, Failure> {
    let until = Instant::now() + START;
    loop {
        match attempt() {
            Ok(answer) => return Ok(answer),
            Err(AskError::Failed(failure)) => return Err(failure),
            Err(AskError::NotRunning) => start()?,
            Err(AskError::DaemonOlder) => make_room(socket, until),
        }
        if Instant::now() > until {
            return Err(Failure::new(ErrorCode::Timeout, "The daemon did not come up.")
                .with_hint("Run `tabwire daemon logs`, or `tabwire daemon run` to see it start."));
        }
    }
}

/// Starts a daemon and waits until it answers; losing a race to another one is as good.
pub(crate) fn start() -> Result<(), Failure> {
    let failed = |what: &str| {
        Failure::new(ErrorCode::Internal, format!("The daemon could not be started: {what}."))
            .with_hint("Run `tabwire daemon run` to see why.")
    };
    tell_of_interrupts();
    let program = own_program().map_err(|error| failed(&error.to_string()))?;
    let mut daemon = Command::new(program)
        .args(["daemon", "run", "--announce"])
        .env_remove(HANDED_OVER)
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| failed(&error.to_string()))?;
    let stdout = daemon.stdout.take().ok_or_else(|| failed("its output cannot be read"))?;
    let mut line = String::new();
    BufReader::new(stdout).read_line(&mut line).map_err(|error| failed(&error.to_string()))?;
    let outcome: Value = serde_json::from_str(&line).map_err(|_| failed("it ended without a word"))?;
    if let Some(failure) = outcome.get("failed") {
        return Err(
            serde_json::from_value(failure.clone()).unwrap_or_else(|_| failed("it said nothing useful"))
        );
    }
    // Ready, or another one answers already.
    Ok(())
}

/// Has an older daemon make room.
fn make_room(socket: &Path, until: Instant) {
    // An answer is not needed: what counts is that it stops listening.
    let _ = ask(socket, "POST", "/v1/daemon/drain", None, Duration::from_secs(5));
    wait_for_silence(socket, until);
}

fn wait_for_silence(socket: &Path, until: Instant) {
    while Instant::now() < until && socket.exists() {
        std::thread::sleep(LOOK);
    }
}
