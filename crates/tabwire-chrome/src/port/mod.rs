//! Port mode: the launcher connects to a debugging port with HTTP discovery and WebSockets. A lost browser is restarted
//! at the next request.

mod active_port;
mod connection;
mod discovery;
mod http_request;
mod link;
mod page_connection;
mod replay_state;
mod server;

use std::os::fd::OwnedFd;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use tabwire_api::{ErrorCode, Failure};
use tabwire_browser::DebuggingPipe;
use tabwire_cdp::TaskGroup;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use self::active_port::ActivePort;
use self::server::{Finish, PortServer};
use super::frame_log::FrameLog;
use super::plan::Plan;
use crate::ShimEnvironment;
use crate::limits::END_TIMEOUT;

/// How long the browser may take to respond to a command of the shim.
const BROWSER_TIMEOUT: Duration = Duration::from_secs(15);

/// Time for the tasks of the server to stop.
const TASKS_TIMEOUT: Duration = Duration::from_millis(500);

/// Serves the launcher until it closes its browser or exits, or a recovery fails.
///
/// # Errors
/// When no port is free, the browser cannot be started, or a recovery fails.
pub(super) fn run(
    plan: Plan,
    pipe: Option<DebuggingPipe>,
    frames: Option<FrameLog>,
    environment: &ShimEnvironment,
) -> Result<ExitCode, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .max_blocking_threads(8)
        .enable_all()
        .build()
        .map_err(|error| port_failure("no runtime", &error))?;
    let parent = watch_parent();
    let paths = environment.paths.clone();
    let done = runtime.block_on(async move {
        let listener = bind(plan.port.unwrap_or(0)).await?;
        let port = listener.local_addr().map(|address| address.port()).unwrap_or_default();
        let tasks = TaskGroup::new();
        let server = PortServer::open(plan, pipe, frames, paths, port, tasks.clone()).await?;
        let _active_port = ActivePort::write(&server);
        announce(&server);
        tasks.start("port", discovery::serve(Arc::clone(&server), listener));
        let finish = wait_for_end(&server, parent).await?;
        server.close(END_TIMEOUT).await;
        tasks.shutdown(TASKS_TIMEOUT).await;
        Ok::<_, Failure>(finish)
    });
    // A blocking thread may still wait for the launcher to exit.
    runtime.shutdown_background();
    match done? {
        Finish::Done => Ok(ExitCode::SUCCESS),
        Finish::Failed(failure) => Err(failure),
    }
}

async fn wait_for_end(server: &PortServer, parent: Option<OwnedFd>) -> Result<Finish, Failure> {
    let listen = |kind| signal(kind).map_err(|error| port_failure("no signal handler", &error));
    let mut terminate = listen(SignalKind::terminate())?;
    let mut interrupt = listen(SignalKind::interrupt())?;
    let mut hangup = listen(SignalKind::hangup())?;
    let (finish, why) = tokio::select! {
        finish = server.finished() => {
            let why = finish.reason();
            (finish, why)
        }
        _ = terminate.recv() => (Finish::Done, "SIGTERM".to_owned()),
        _ = interrupt.recv() => (Finish::Done, "SIGINT".to_owned()),
        _ = hangup.recv() => (Finish::Done, "SIGHUP".to_owned()),
        () = launcher_exited(server, parent) => (Finish::Done, "the launcher has exited".to_owned()),
    };
    crate::log::closing(&why);
    Ok(finish)
}

/// Waits until the launcher has exited and no client is connected: after that, nothing would ever end the shim.
async fn launcher_exited(server: &PortServer, parent: Option<OwnedFd>) {
    let Some(parent) = parent else { return std::future::pending().await };
    let watching = tokio::task::spawn_blocking(move || {
        let mut fds = [PollFd::new(&parent, PollFlags::IN)];
        while poll(&mut fds, None) == Err(Errno::INTR) {}
    });
    match watching.await {
        Ok(()) => server.no_clients().await,
        Err(_) => std::future::pending().await,
    }
}

/// A descriptor that is readable when the parent process exits; `None` when it has exited already.
#[cfg(target_os = "linux")]
fn watch_parent() -> Option<OwnedFd> {
    let parent = rustix::process::getppid().filter(|parent| !parent.is_init())?;
    rustix::process::pidfd_open(parent, rustix::process::PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn watch_parent() -> Option<OwnedFd> {
    None
}

/// Listens on the port. Chromium goes on without its debugging port when another process has it, and so does the
/// shim: on any free port, which it prints.
async fn bind(port: u16) -> Result<TcpListener, Failure> {
    match TcpListener::bind(("127.0.0.1", port)).await {
        Ok(listener) => Ok(listener),
        Err(error) if port != 0 => {
            note_busy_port(port, &error);
            bind_any().await
        }
        Err(error) => Err(no_port(port, &error)),
    }
}

async fn bind_any() -> Result<TcpListener, Failure> {
    TcpListener::bind(("127.0.0.1", 0)).await.map_err(|error| no_port(0, &error))
}

#[expect(clippy::print_stderr, reason = "launchers show what Chrome prints to stderr")]
fn note_busy_port(port: u16, error: &std::io::Error) {
    tracing::warn!(port, %error, "the debugging port is taken; using another one");
    eprintln!("note: Cannot listen on 127.0.0.1:{port} ({error}); another free port is used.");
}

fn no_port(port: u16, error: &std::io::Error) -> Failure {
    Failure::new(ErrorCode::Busy, format!("Listening on 127.0.0.1:{port} failed: {error}."))
        .with_remedy("Use another port, or 0 for any free one.")
}

/// Prints the line that launchers wait for.
#[expect(clippy::print_stderr, reason = "launchers read this line from stderr")]
fn announce(server: &PortServer) {
    eprintln!("\nDevTools listening on {}", server.websocket(&server.authority()));
}

fn port_failure(reason: &str, error: &std::io::Error) -> Failure {
    Failure::new(ErrorCode::Internal, format!("The debugging port cannot be served: {reason}: {error}."))
}
