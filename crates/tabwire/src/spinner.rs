//! A line on stderr for anything that takes more than a second, on a terminal only: what is done, and how far it is.
#![expect(clippy::print_stderr, reason = "the spinner is drawn on stderr")]

use std::io::{IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use tabwire_engine::visible_text;

const PATIENCE: Duration = Duration::from_secs(1);
const FRAME: Duration = Duration::from_millis(100);
const FRAMES: &[&str] = &["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// How many frames are drawn between two questions how far it is.
const FRAMES_PER_LOOK: usize = 5;

/// Runs work, and shows a spinner with the label once it takes long.
pub(crate) fn spin<T>(label: &str, enabled: bool, work: impl FnOnce() -> T) -> T {
    spin_with(label, enabled, || None, work)
}

/// The same, with words on how far it is; they are asked for again and again.
pub(crate) fn spin_with<T>(
    label: &str,
    enabled: bool,
    look: impl Fn() -> Option<String> + Send,
    work: impl FnOnce() -> T,
) -> T {
    if !enabled || !std::io::stderr().is_terminal() {
        return work();
    }
    let (done, waiting) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut pause = PATIENCE;
            let mut words = label.to_owned();
            for turn in 0_usize.. {
                if waiting.recv_timeout(pause) != Err(RecvTimeoutError::Timeout) {
                    break;
                }
                pause = FRAME;
                if turn.is_multiple_of(FRAMES_PER_LOOK) {
                    words = visible_text(&look().unwrap_or_else(|| label.to_owned())).into_owned();
                }
                eprint!("\r{} {words}\x1b[K", FRAMES[turn % FRAMES.len()]);
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
