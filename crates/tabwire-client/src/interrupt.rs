//! Ctrl-C while a command waits for the daemon: prints what it means, then ends this process by the signal.
#![expect(clippy::print_stderr, reason = "the message goes to stderr")]

use std::io::{IsTerminal, Read};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once};

use signal_hook::consts::SIGINT;

const MESSAGE: &str = "Interrupted: the command was cancelled; the session and its browser keep running.";

/// Whether SIGINT closes connections, instead of ending this process. Never reset: a signal that has closed one must not
/// end the process a moment later.
static CLOSES_CONNECTIONS: AtomicBool = AtomicBool::new(false);

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
            while reader.read_exact(&mut [0]).is_ok() {
                if CLOSES_CONNECTIONS.load(Ordering::SeqCst) {
                    continue;
                }
                let clear_progress = if std::io::stderr().is_terminal() { "\r\x1b[K" } else { "" };
                eprintln!("{clear_progress}{MESSAGE}");
                // Does not return.
                let _ = signal_hook::low_level::emulate_default_handler(SIGINT);
            }
        });
    });
}

/// From now on SIGINT sets a flag and does not end this process.
///
/// # Errors
/// When the system refuses the handler.
pub fn watch_interrupts() -> std::io::Result<Arc<AtomicBool>> {
    let interrupted = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGINT, Arc::clone(&interrupted))?;
    CLOSES_CONNECTIONS.store(true, Ordering::SeqCst);
    Ok(interrupted)
}

/// Closes a connection at the first SIGINT. From then on SIGINT does not end this process.
#[derive(Debug)]
pub(crate) struct ClosedByInterrupt {
    signal: signal_hook::SigId,
    thread: std::thread::JoinHandle<bool>,
}

impl ClosedByInterrupt {
    pub(crate) fn watch(stream: &UnixStream) -> std::io::Result<Self> {
        let (mut reader, writer) = UnixStream::pair()?;
        let stream = stream.try_clone()?;
        let signal = signal_hook::low_level::pipe::register(SIGINT, writer)?;
        CLOSES_CONNECTIONS.store(true, Ordering::SeqCst);
        let thread = std::thread::spawn(move || {
            // Ends with an error when the signal is no longer watched.
            let is_interrupted = reader.read_exact(&mut [0]).is_ok();
            if is_interrupted {
                let _ = stream.shutdown(std::net::Shutdown::Both);
            }
            is_interrupted
        });
        Ok(Self { signal, thread })
    }

    /// Ends the watch. Whether the connection was closed.
    pub(crate) fn end(self) -> bool {
        signal_hook::low_level::unregister(self.signal);
        self.thread.join().unwrap_or_default()
    }
}
