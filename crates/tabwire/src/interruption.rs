//! Ctrl-C while a command waits for the daemon: one line on what that means, then the end that shells expect.
//!
//! Only asked for once a command takes long enough to be interrupted by a person. Knows nothing of what is waited for.
#![expect(clippy::print_stderr, reason = "what is told goes to stderr")]

use std::io::{IsTerminal, Read};
use std::os::unix::net::UnixStream;
use std::sync::Once;

use signal_hook::consts::SIGINT;

/// What is told.
const TOLD: &str = "Interrupted: the command was called off; the session and its browser go on.";

/// From now on an interrupt is told of before it ends this process. It ends by the signal: shells make 130 of that, and
/// leave the loop or script that the command was in.
pub(crate) fn tell_of_interrupts() {
    static WATCHING: Once = Once::new();
    WATCHING.call_once(|| {
        // Without either an interrupt ends us just so.
        let Ok((mut heard, told)) = UnixStream::pair() else { return };
        if signal_hook::low_level::pipe::register(SIGINT, told).is_err() {
            return;
        }
        std::thread::spawn(move || {
            if heard.read_exact(&mut [0]).is_ok() {
                // Takes away a progress line.
                let wipe = if std::io::stderr().is_terminal() { "\r\x1b[K" } else { "" };
                eprintln!("{wipe}{TOLD}");
                // It does not come back from this one.
                let _ = signal_hook::low_level::emulate_default_handler(SIGINT);
            }
        });
    });
}
