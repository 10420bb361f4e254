//! Ctrl-C while a command waits for the daemon: prints what it means, then ends this process by the signal.
#![expect(clippy::print_stderr, reason = "the message goes to stderr")]

use std::io::{IsTerminal, Read};
use std::os::unix::net::UnixStream;
use std::sync::Once;

use signal_hook::consts::SIGINT;

const MESSAGE: &str = "Interrupted: the command was cancelled; the session and its browser keep running.";

/// From now on, SIGINT prints a message before it ends this process. The process ends by the signal, not by an exit
/// code: shells then leave the surrounding loop or script too.
pub fn report_interrupts() {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        // On failure SIGINT keeps its default action: the process ends without the message.
        let Ok((mut reader, writer)) = UnixStream::pair() else { return };
        if signal_hook::low_level::pipe::register(SIGINT, writer).is_err() {
            return;
        }
        std::thread::spawn(move || {
            if reader.read_exact(&mut [0]).is_ok() {
                let clear_progress = if std::io::stderr().is_terminal() { "\r\x1b[K" } else { "" };
                eprintln!("{clear_progress}{MESSAGE}");
                // Does not return.
                let _ = signal_hook::low_level::emulate_default_handler(SIGINT);
            }
        });
    });
}
