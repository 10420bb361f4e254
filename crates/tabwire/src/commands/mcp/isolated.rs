//! `mcp --isolated`: runs a daemon in this process, with a temporary directory that is removed when the
//! client exits.

use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use tabwire_api::{ErrorCode, Failure};
use tabwire_browser::{PrivateDir, new_instance_id};
use tabwire_daemon::{Daemon, DaemonConfig, Paths, StartOutcome};

use super::super::Context;
use super::super::daemon::{daemon_config, daemon_runtime};
use super::relay::client_input::ClientInput;
use super::relay::copy::{self, End};
use super::relay::lines::Lines;
use super::relay::pending_calls::PendingCalls;
use super::relay::stream;

/// How long the browser of a killed server keeps running.
const LINGER: Duration = Duration::from_millis(500);

/// How long the daemon in this process may take to stop.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);
use tabwire_client::{RequestError, request_within};

/// A directory that is removed when it is no longer needed.
struct Home(PathBuf);

impl Home {
    fn create() -> Result<Self, Failure> {
        let name = format!("tabwire-mcp-{}", new_instance_id()?);
        let path = std::env::temp_dir().join(name);
        PrivateDir::create(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // An exiting browser may still write files. The rest is small and contains no secrets.
        for _ in 0..20 {
            if std::fs::remove_dir_all(&self.0).is_ok() || !self.0.exists() {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

pub(super) fn run(context: &Context<'_>, opening: &str) -> Result<(), Failure> {
    let home = Home::create()?;
    let paths = Paths::below(&home.0);
    let config = DaemonConfig {
        port: 0,
        linger: Some(LINGER),
        audit_log: false,
        chat_history: false,
        agent_programs: Vec::new(),
        ..daemon_config(context, paths.clone(), Duration::ZERO)?
    };
    let (announce, announced) = mpsc::channel();
    let serving =
        std::thread::Builder::new().name("daemon".to_owned()).spawn(move || serve(config, announce));
    let serving = serving.map_err(|error| no_start(&error.to_string()))?;
    // Ready, or the daemon thread has ended.
    let served = match announced.recv() {
        Ok(()) => serve_client(&paths.socket(), opening),
        Err(_) => Ok(()),
    };
    // The response does not matter: the thread below ends with the daemon.
    let _ = request_within(
        &paths.socket(),
        "POST",
        "/v1/daemon/stop",
        Some(&serde_json::json!({})),
        STOP_TIMEOUT,
    );
    let ended = serving.join().unwrap_or_else(|_| Err(no_start("it panicked")));
    served.and(ended.map(drop))
}

fn serve(config: DaemonConfig, announce: mpsc::Sender<()>) -> Result<StartOutcome, Failure> {
    daemon_runtime()?.block_on(Daemon::run(config, move || {
        // The main thread waits for it.
        let _ = announce.send(());
    }))
}

fn serve_client(socket: &Path, opening: &str) -> Result<(), Failure> {
    match stream::open_at(socket, opening) {
        Ok(stream) => {
            let (client, pending) = (ClientInput::watch(), Arc::new(PendingCalls::default()));
            match copy::run(&stream.socket, &client, &pending, &mut Lines::default())? {
                End::Client => Ok(()),
                End::Daemon => {
                    let ended = no_start("it ended before its client");
                    copy::fail_pending(&pending, &ended);
                    Err(ended)
                }
            }
        }
        Err(RequestError::Failed(failure)) => Err(failure),
        Err(RequestError::NotRunning | RequestError::DaemonOlder) => Err(no_start("it does not respond")),
    }
}

fn no_start(what: &str) -> Failure {
    Failure::new(ErrorCode::Internal, format!("No server could be started in this process: {what}."))
}
