//! A progress line on stderr for work that takes more than a second; on a terminal only.
#![expect(clippy::print_stderr, reason = "the spinner is drawn on stderr")]

use std::io::{IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use tabwire_engine::visible_text;

const DELAY: Duration = Duration::from_secs(1);
const FRAME: Duration = Duration::from_millis(100);
const FRAMES: &[&str] = &["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// Frames between two polls of the progress.
const FRAMES_PER_POLL: usize = 5;

/// Runs `work`, and prints what `find` returns once, as soon as there is something, for a user who would see no reason
/// to wait.
pub(crate) fn alert_once<T>(
    find: impl Fn() -> Option<String> + Send,
    print: impl Fn(&str) + Send,
    work: impl FnOnce() -> T,
) -> T {
    let (done, waiting) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while waiting.recv_timeout(DELAY) == Err(RecvTimeoutError::Timeout) {
                if let Some(text) = find() {
                    print(&text);
                    return;
                }
            }
        });
        let result = work();
        drop(done);
        result
    })
}

/// Runs `work`; shows a spinner with the label if it takes long.
pub(crate) fn spin<T>(label: &str, enabled: bool, work: impl FnOnce() -> T) -> T {
    spin_with(label, enabled, || None, work)
}

/// Like [`spin`], with a text that `poll` provides.
pub(crate) fn spin_with<T>(
    label: &str,
    enabled: bool,
    poll: impl Fn() -> Option<String> + Send,
    work: impl FnOnce() -> T,
) -> T {
    if !enabled || !std::io::stderr().is_terminal() {
        return work();
    }
    let (done, waiting) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut pause = DELAY;
            let mut text = label.to_owned();
            for turn in 0_usize.. {
                if waiting.recv_timeout(pause) != Err(RecvTimeoutError::Timeout) {
                    break;
                }
                pause = FRAME;
                if turn.is_multiple_of(FRAMES_PER_POLL) {
                    text = visible_text(&poll().unwrap_or_else(|| label.to_owned())).into_owned();
                }
                eprint!("\r{} {text}\x1b[K", FRAMES[turn % FRAMES.len()]);
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
