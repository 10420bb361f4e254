//! A launcher that connects to a port: discovery over HTTP, websockets for CDP, a browser that may go and come back.

mod active_port;
mod client_memory;
mod connection;
mod discovery;
mod http_request;
mod link;
mod page_connection;
mod protocol;
mod protocol_cache;
mod steward;

use std::os::fd::OwnedFd;
use std::process::ExitCode;
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use tabwire_browser::DebuggingPipe;
use tabwire_cdp::TaskGroup;
use tabwire_wire::{ErrorCode, Failure};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use self::active_port::ActivePort;
use self::steward::{Finish, Place, Steward};
use super::frame_log::FrameLog;
use super::plan::Plan;
use crate::environment::Environment;
use crate::limits::CHROME_END_DEADLINE;

/// Serves the launcher until it closes its browser, or goes, or the browser cannot be brought back.
///
/// # Errors
/// When nothing can be listened on, there is no browser, or it is lost for good.
pub(super) fn run(
    plan: Plan,
    pipe: Option<DebuggingPipe>,
    frames: Option<FrameLog>,
    environment: &Environment,
) -> Result<ExitCode, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .max_blocking_threads(8)
        .enable_all()
        .build()
        .map_err(|error| unserved("a runtime cannot be made", &error))?;
    let parent = watch_parent();
    let paths = environment.paths.clone();
    let done = runtime.block_on(async move {
        let listener = bind(plan.port.unwrap_or(0)).await?;
        let port = listener.local_addr().map(|address| address.port()).unwrap_or_default();
        let tasks = TaskGroup::new();
        let steward = Steward::open(plan, pipe, frames, Place { paths, port }, tasks.clone()).await?;
        let _active_port = ActivePort::write(&steward);
        announce(&steward);
        tasks.start("door", discovery::serve(Arc::clone(&steward), listener));
        let finish = wait_for_end(&steward, parent).await?;
        steward.close(CHROME_END_DEADLINE).await;
        tasks.shutdown(std::time::Duration::from_millis(500)).await;
        Ok::<_, Failure>(finish)
    });
    // Somebody may still wait for the end of whoever launched us.
    runtime.shutdown_background();
    match done? {
        Finish::Done => Ok(ExitCode::SUCCESS),
        Finish::Failed(failure) => Err(failure),
    }
}

async fn wait_for_end(steward: &Steward, parent: Option<OwnedFd>) -> Result<Finish, Failure> {
    let listen = |kind| signal(kind).map_err(|error| unserved("signals cannot be listened for", &error));
    let mut terminate = listen(SignalKind::terminate())?;
    let mut interrupt = listen(SignalKind::interrupt())?;
    let mut hangup = listen(SignalKind::hangup())?;
    tokio::select! {
        finish = steward.finished() => Ok(finish),
        _ = terminate.recv() => Ok(Finish::Done),
        _ = interrupt.recv() => Ok(Finish::Done),
        _ = hangup.recv() => Ok(Finish::Done),
        () = abandoned(steward, parent) => Ok(Finish::Done),
    }
}

/// Waits until whoever launched us is gone and nobody is connected: nobody could ever end us then.
async fn abandoned(steward: &Steward, parent: Option<OwnedFd>) {
    let Some(parent) = parent else { return std::future::pending().await };
    let watching = tokio::task::spawn_blocking(move || {
        let mut fds = [PollFd::new(&parent, PollFlags::IN)];
        while poll(&mut fds, None) == Err(Errno::INTR) {}
    });
    match watching.await {
        Ok(()) => steward.deserted().await,
        Err(_) => std::future::pending().await,
    }
}

/// Tells when the process that started us ends; not when that has happened already.
#[cfg(target_os = "linux")]
fn watch_parent() -> Option<OwnedFd> {
    let parent = rustix::process::getppid().filter(|parent| !parent.is_init())?;
    rustix::process::pidfd_open(parent, rustix::process::PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn watch_parent() -> Option<OwnedFd> {
    None
}

async fn bind(port: u16) -> Result<TcpListener, Failure> {
    TcpListener::bind(("127.0.0.1", port)).await.map_err(|error| {
        Failure::new(ErrorCode::Internal, format!("127.0.0.1:{port} cannot be listened on: {error}."))
            .with_hint("Give the launcher another port, or 0 for any that is free.")
    })
}

/// The line that launchers wait for.
#[expect(clippy::print_stderr, reason = "launchers read this line from stderr")]
fn announce(steward: &Steward) {
    eprintln!("\nDevTools listening on {}", steward.websocket(&steward.authority()));
}

fn unserved(what: &str, error: &std::io::Error) -> Failure {
    Failure::new(ErrorCode::Internal, format!("The port cannot be served: {what}: {error}."))
}
