//! The keeper (`tabwire keep`): one process that owns one browser.
//!
//! It starts the browser, gives its pipe to the client that holds the claim, reads and
//! discards the pipe's output while there is no holder, ends the browser after the linger
//! time and removes its files. Of CDP it parses only the first response.

mod browser_process;
pub mod client;
mod connection;
mod control_message;
pub(crate) mod descriptor;
mod inherited;
mod keep_request;
pub(crate) mod marionette;
mod serve;
mod signals;
mod start;
mod stderr_ring;

use std::io::{Read, Write};
use std::path::Path;

pub use control_message::{BidiSession, ControlRequest, ControlResponse, KeeperState};
pub use keep_request::{KeepOutcome, KeepRequest};

use crate::error::BrowserError;

/// Keeps one browser from its start to its end.
///
/// Reads one [`KeepRequest`] from `input` (the process's stdin), writes one line
/// with the [`KeepOutcome`] to `output` (its stdout), then closes stdin, stdout and
/// stderr and serves until the browser is gone. Call it in a process of its own with
/// one thread: it takes over signals, the session and the standard streams.
///
/// # Errors
/// When the browser could not be started. The outcome is written then, too.
pub fn run(input: impl Read, mut output: impl Write) -> Result<(), BrowserError> {
    inherited::keep_from_children();
    let started = signals::Signals::register()
        .and_then(|signals| Ok((KeepRequest::read(input)?, signals)))
        .and_then(|(request, signals)| start::start(request, signals));
    let (keeper, outcome) = match started {
        Ok((keeper, descriptor)) => (Ok(keeper), KeepOutcome::Ok(Box::new(descriptor))),
        Err(error) => {
            let failure = tabwire_api::Failure::from(error);
            (Err(failure.clone()), KeepOutcome::Failed(failure))
        }
    };
    // The process that requested the browser may have ended. Then the linger time applies, as for any unclaimed
    // browser.
    let _ = outcome.write(&mut output);
    drop(output);
    let keeper = keeper?;
    let _ = redirect_standard_streams();
    keeper.serve();
    Ok(())
}

fn redirect_standard_streams() -> Result<(), BrowserError> {
    let path = Path::new("/dev/null");
    let wrong = |errno: rustix::io::Errno| BrowserError::system("open", path, errno);
    let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::CLOEXEC;
    let null = rustix::fs::open(path, flags, rustix::fs::Mode::empty()).map_err(wrong)?;
    // Closed descriptors 0 to 2 would be given to the next files that are opened, and messages for stderr
    // would be written there.
    rustix::stdio::dup2_stdin(&null).map_err(wrong)?;
    rustix::stdio::dup2_stdout(&null).map_err(wrong)?;
    rustix::stdio::dup2_stderr(&null).map_err(wrong)
}
