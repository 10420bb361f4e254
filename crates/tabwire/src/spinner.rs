//! A spinner on stderr for anything that takes more than a second, on a terminal only.
#![expect(clippy::print_stderr, reason = "the spinner is drawn on stderr")]

use std::io::{IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(1);
const FRAME: Duration = Duration::from_millis(100);
const FRAMES: &[&str] = &["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// Runs work, and shows a spinner with the label once it takes long.
pub(crate) fn spin<T>(label: &str, enabled: bool, work: impl FnOnce() -> T) -> T {
    if !enabled || !std::io::stderr().is_terminal() {
        return work();
    }
    let (done, waiting) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut pause = PATIENCE;
            let mut frames = FRAMES.iter().cycle();
            while waiting.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                pause = FRAME;
                eprint!("\r{} {label}", frames.next().unwrap_or(&""));
                let _ = std::io::stderr().flush();
            }
            if pause == FRAME {
                eprint!("\r\x1b[K");
            }
        });
        let result = work();
        drop(done);
        result
    })
}
