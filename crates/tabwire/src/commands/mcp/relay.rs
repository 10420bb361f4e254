//! `tabwire mcp` made small: once it is known what a client wants, the process starts over as one that only copies.
//!
//! Reading a command line touches far more of the program than copying does, and a client stays for hours. What was
//! read is handed over in the environment, which is this user's alone. Knows nothing of what it hands over.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};

use tabwire_wire::{ErrorCode, Failure};

use super::{shim, stream};
use crate::exit;
use crate::printer::{OutputForm, Printer};

/// The one argument of the process that copies.
const RELAY: &str = "relay";

/// Where it finds what was read: the daemon's socket, a line break, the connection's first line.
pub(crate) const HANDED_OVER: &str = "TABWIRE_RELAY";

/// Whether this process is to copy, and nothing else. Seen before anything is parsed.
pub(crate) fn is_relay() -> bool {
    let mut arguments = std::env::args_os().skip(1);
    arguments.next().is_some_and(|first| first == RELAY)
        && arguments.next().is_none()
        && std::env::var_os(HANDED_OVER).is_some()
}

/// Starts this process over; gives the reason when that cannot be.
pub(super) fn become_relay(socket: &Path, opening: &str) -> Failure {
    let failed = |error: &std::io::Error| {
        Failure::new(ErrorCode::Internal, format!("The MCP connection cannot be served: {error}."))
    };
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => return failed(&error),
    };
    let handed_over = [socket.as_os_str().as_bytes(), b"\n", opening.as_bytes()].concat();
    let error = Command::new(program).arg(RELAY).env(HANDED_OVER, OsStr::from_bytes(&handed_over)).exec();
    failed(&error)
}

/// Connects and copies until one side is gone.
pub(crate) fn relay() -> ExitCode {
    let handed_over = std::env::var_os(HANDED_OVER).unwrap_or_default();
    let mut parts = handed_over.as_bytes().splitn(2, |byte| *byte == b'\n');
    let socket = Path::new(OsStr::from_bytes(parts.next().unwrap_or_default()));
    let opening = String::from_utf8_lossy(parts.next().unwrap_or_default());
    match stream::open(socket, &opening).and_then(shim::run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => exit::failed(&failure, &Printer::new(OutputForm::Text, false)),
    }
}
