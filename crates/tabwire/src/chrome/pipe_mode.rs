//! A launcher that speaks on descriptors 3 and 4: they are handed to the daemon, and the rest is waiting.
//!
//! A browser that is lost ends this process, as Chrome's end would, so that its launcher starts it again.

use std::process::ExitCode;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use tabwire_browser::DebuggingPipe;
use tabwire_wire::api::{ChromeEnd, ChromeEndReason, ChromeWord};
use tabwire_wire::{ErrorCode, Failure};

use super::daemon_stream::{self, DaemonStream};
use super::frame_log::FrameLog;
use super::frame_tap::Line;
use super::lifecycle::{Found, Front, Lifecycle};
use super::log;
use super::plan::Plan;
use super::signals::Signals;
use crate::environment::Environment;
use crate::limits::CHROME_END_DEADLINE;

/// Serves the launcher until it or its browser goes.
///
/// # Errors
/// When there is no browser, or it was lost.
pub(super) fn run(
    plan: &Plan,
    pipe: DebuggingPipe,
    frames: Option<&FrameLog>,
    environment: &Environment,
) -> Result<ExitCode, Failure> {
    let signals = Signals::register()?;
    let line = Line::new(pipe, frames)?;
    let mut life = Lifecycle::new(Front::Pipe);
    let (stream, opened) =
        daemon_stream::open(&environment.paths.socket(), &plan.opening, Some(line.descriptors()))?;
    let tap = line.release();
    life.obtained(Found::of(&opened));
    log::opened(plan.mode, None, &life, &opened);
    let end = wait_for_end(stream, &signals)?;
    if let Some(tap) = tap {
        tap.finish();
    }
    life.lost(Instant::now());
    log::ended(&life, &end);
    match end.why {
        ChromeEndReason::ClientLeft | ChromeEndReason::BrowserClosed => Ok(ExitCode::SUCCESS),
        ChromeEndReason::BrowserGone | ChromeEndReason::DaemonEnds => {
            Err(Failure::new(ErrorCode::BrowserGone, end.sentence)
                .with_hint("Start it again: whoever launched it does that with its next operation."))
        }
    }
}

/// Waits until it is over. Asked to end, it says so to the daemon and waits until the browser is cared for.
pub(super) fn wait_for_end(mut stream: DaemonStream, signals: &Signals) -> Result<ChromeEnd, Failure> {
    let is_ended_by_signal = wait(&stream, Some(signals), None)? == Woken::Signal;
    if is_ended_by_signal {
        stream.hang_up();
        let patience = Timespec::try_from(CHROME_END_DEADLINE).ok();
        if wait(&stream, None, patience.as_ref())? != Woken::Daemon {
            return Err(Failure::new(ErrorCode::Timeout, "The daemon did not end the browser in time."));
        }
    }
    match stream.next_word()? {
        Some(ChromeWord::Ended(end)) => Ok(end),
        Some(_) => Err(Failure::new(ErrorCode::Internal, "The daemon said something unexpected.")),
        None => Ok(ChromeEnd {
            why: ChromeEndReason::DaemonEnds,
            sentence: "The daemon is gone, and the browser with it.".to_owned(),
        }),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Woken {
    Daemon,
    Signal,
    Nobody,
}

fn wait(
    stream: &DaemonStream,
    signals: Option<&Signals>,
    patience: Option<&Timespec>,
) -> Result<Woken, Failure> {
    let mut fds = vec![PollFd::from_borrowed_fd(stream.descriptor(), PollFlags::IN)];
    fds.extend(signals.map(|signals| PollFd::from_borrowed_fd(signals.descriptor(), PollFlags::IN)));
    loop {
        match poll(&mut fds, patience) {
            Ok(0) => return Ok(Woken::Nobody),
            Ok(_) => break,
            Err(Errno::INTR) => {}
            Err(error) => {
                let message = format!("The daemon cannot be waited for: {error}.");
                return Err(Failure::new(ErrorCode::Internal, message));
            }
        }
    }
    let is_told = fds.first().is_some_and(|fd| !fd.revents().is_empty());
    Ok(if is_told { Woken::Daemon } else { Woken::Signal })
}
