//! Pipe mode: the launcher speaks CDP on descriptors 3 and 4. The daemon gets the descriptors; this process waits.
//!
//! When the browser is lost, this process exits, as Chrome would: its launcher then starts it again.

pub(crate) mod frame_tap;
mod signals;

use std::process::ExitCode;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use tabwire_api::api::{ChromeEnd, ChromeEndReason, ChromeMessage};
use tabwire_api::{ErrorCode, Failure};
use tabwire_browser::DebuggingPipe;

use self::frame_tap::LauncherPipe;
use self::signals::Signals;
use crate::ShimEnvironment;
use crate::daemon_stream::{self, DaemonStream};
use crate::frame_log::FrameLog;
use crate::lifecycle::{BrowserOrigin, LauncherTransport, Lifecycle};
use crate::limits::END_TIMEOUT;
use crate::log;
use crate::plan::Plan;

/// Serves the launcher until it or its browser exits.
///
/// # Errors
/// When there is no browser, or it was lost.
pub(super) fn run(
    plan: &Plan,
    pipe: DebuggingPipe,
    frames: Option<&FrameLog>,
    environment: &ShimEnvironment,
) -> Result<ExitCode, Failure> {
    let signals = Signals::register()?;
    let pipe = LauncherPipe::new(pipe, frames)?;
    let mut life = Lifecycle::new(LauncherTransport::Pipe);
    let (stream, opened) =
        daemon_stream::open(&environment.paths.socket.clone(), &plan.opening, Some(pipe.descriptors()))?;
    let tap = pipe.release();
    life.browser_ready(BrowserOrigin::from_opened(&opened));
    log::opened(plan.mode, None, &life, &opened);
    let end = wait_for_end(stream, &signals)?;
    if let Some(tap) = tap {
        tap.finish();
    }
    life.connection_lost(Instant::now());
    log::ended(&life, &end);
    match end.why {
        ChromeEndReason::ClientLeft | ChromeEndReason::BrowserClosed => Ok(ExitCode::SUCCESS),
        ChromeEndReason::BrowserGone | ChromeEndReason::DaemonEnds => {
            Err(Failure::new(ErrorCode::BrowserGone, end.sentence)
                .with_remedy("Start it again. Most launchers do that at their next operation."))
        }
    }
}

/// Waits for the end. On a signal, notifies the daemon and waits until it has closed or released the browser.
fn wait_for_end(mut stream: DaemonStream, signals: &Signals) -> Result<ChromeEnd, Failure> {
    if wait(&stream, Some(signals), None)? == Wakeup::Signal {
        log::closing("a signal");
        stream.detach();
        let timeout = Timespec::try_from(END_TIMEOUT).ok();
        if wait(&stream, None, timeout.as_ref())? != Wakeup::Daemon {
            return Err(Failure::new(ErrorCode::Timeout, "The daemon did not close the browser in time."));
        }
    }
    match stream.next_message()? {
        Some(ChromeMessage::Ended(end)) => Ok(end),
        Some(_) => Err(Failure::new(ErrorCode::Internal, "The daemon sent an unexpected message.")),
        None => Ok(ChromeEnd {
            why: ChromeEndReason::DaemonEnds,
            sentence: "The daemon exited, and the browser with it.".to_owned(),
        }),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wakeup {
    Daemon,
    Signal,
    Timeout,
}

fn wait(
    stream: &DaemonStream,
    signals: Option<&Signals>,
    timeout: Option<&Timespec>,
) -> Result<Wakeup, Failure> {
    let mut fds = vec![PollFd::from_borrowed_fd(stream.descriptor(), PollFlags::IN)];
    fds.extend(signals.map(|signals| PollFd::from_borrowed_fd(signals.descriptor(), PollFlags::IN)));
    loop {
        // `poll` is never restarted after a signal handler has run (signal(7)), whatever SA_RESTART says.
        match poll(&mut fds, timeout) {
            Ok(0) => return Ok(Wakeup::Timeout),
            Ok(_) => break,
            Err(Errno::INTR) => {}
            Err(error) => {
                let message = format!("Waiting for the daemon failed: {error}.");
                return Err(Failure::new(ErrorCode::Internal, message));
            }
        }
    }
    let is_daemon = fds.first().is_some_and(|fd| !fd.revents().is_empty());
    Ok(if is_daemon { Wakeup::Daemon } else { Wakeup::Signal })
}
