//! Writes messages to the daemon, within the limits of a run.

use std::cell::Cell;

use rustix::io::Errno;
use rustix::stdio::stdout;

use crate::limits::{CONSOLE_BYTES, IMAGES, RESULT_CHARACTERS, VALUE_BYTES};
use crate::message::{Call, Console, Done, FromChild, Image, Listen, to_line};

/// The way to the daemon.
#[derive(Debug, Default)]
pub(super) struct Output {
    console_bytes: Cell<usize>,
    images: Cell<usize>,
    dropped: Cell<u64>,
    is_broken: Cell<bool>,
}

impl Output {
    /// Starts the count of a run.
    pub(super) fn begin_run(&self) {
        self.console_bytes.set(0);
        self.images.set(0);
        self.dropped.set(0);
    }

    pub(super) const fn is_broken(&self) -> bool {
        self.is_broken.get()
    }

    pub(super) fn ready(&self) {
        self.send(&FromChild::Ready);
    }

    /// Sends a call; false when it is too long.
    pub(super) fn call(&self, call: Call) -> bool {
        self.send(&FromChild::Call(call))
    }

    pub(super) fn listen(&self, listen: Listen) {
        self.send(&FromChild::Listen(listen));
    }

    /// Sends an image. One more than the limit is sent, so that the daemon tells the client.
    pub(super) fn image(&self, path: String) {
        self.images.set(self.images.get() + 1);
        if self.images.get() <= IMAGES + 1 {
            self.send(&FromChild::Image(Image { path }));
        }
    }

    /// Sends a line of the console. Beyond the limit, bytes are only counted.
    pub(super) fn console(&self, level: String, mut text: String) {
        let left = CONSOLE_BYTES.saturating_sub(self.console_bytes.get());
        // The end of the line counts, so that empty lines have a limit too.
        let size = text.len() + 1;
        if size > left {
            let kept = text.floor_char_boundary(left.saturating_sub(1));
            let dropped = if left == 0 { size } else { text.len() - kept };
            self.dropped.set(self.dropped.get() + u64::try_from(dropped).unwrap_or(u64::MAX));
            text.truncate(kept);
        }
        if left > 0 {
            self.console_bytes.set(self.console_bytes.get() + text.len() + 1);
            self.send(&FromChild::Console(Console { level, text }));
        }
    }

    /// Sends the end of a run. Parts that are too long are shortened or left out.
    pub(super) fn done(&self, mut done: Done) {
        done.dropped_console_bytes = self.dropped.get();
        if let Some(text) = &mut done.text {
            shorten(text);
        }
        if let Some(error) = &mut done.error {
            shorten(&mut error.message);
        }
        let is_large = |value: &serde_json::Value| {
            serde_json::to_vec(value).map_or(true, |bytes| bytes.len() > VALUE_BYTES)
        };
        done.value = done.value.filter(|value| !is_large(value));
        done.state = done.state.filter(|value| !is_large(value));
        self.send(&FromChild::Done(Box::new(done)));
    }

    fn send(&self, message: &FromChild) -> bool {
        let Ok(line) = to_line(message) else { return false };
        let mut rest = line.as_slice();
        while !rest.is_empty() {
            match rustix::io::write(stdout(), rest) {
                Ok(count) => rest = &rest[count..],
                Err(Errno::INTR) => {}
                Err(_) => {
                    self.is_broken.set(true);
                    return false;
                }
            }
        }
        true
    }
}

fn shorten(text: &mut String) {
    if text.len() > RESULT_CHARACTERS {
        let end = text.floor_char_boundary(RESULT_CHARACTERS);
        text.truncate(end);
        text.push('…');
    }
}
