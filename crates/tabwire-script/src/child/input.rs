//! The messages of the daemon, read from standard input. A cancel is seen even while the script computes.

use std::collections::VecDeque;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::stdio::stdin;

use crate::message::{Cancel, LineBuffer, ToChild};

/// Bytes of one read.
const READ_BYTES: usize = 64 * 1024;

/// The messages that have arrived.
#[derive(Debug, Default)]
pub(super) struct Input {
    buffer: LineBuffer,
    messages: VecDeque<ToChild>,
    has_ended: bool,
}

impl Input {
    /// Waits until input arrives or the time is over, and reads it. No time waits without end.
    pub(super) fn wait(&mut self, time: Option<Duration>) {
        if self.has_ended || !self.messages.is_empty() {
            return;
        }
        let timeout = time.and_then(|time| Timespec::try_from(time).ok());
        let descriptor = stdin();
        let mut polled = [PollFd::new(&descriptor, PollFlags::IN)];
        match poll(&mut polled, timeout.as_ref()) {
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => self.read(),
            Err(_) => self.has_ended = true,
        }
    }

    fn read(&mut self) {
        let mut bytes = vec![0; READ_BYTES];
        match rustix::io::read(stdin(), &mut bytes) {
            Ok(0) | Err(_) => self.has_ended = true,
            Ok(count) => {
                if self.buffer.extend(&bytes[..count]).is_err() {
                    self.has_ended = true;
                }
            }
        }
        while let Some(line) = self.buffer.take_line() {
            match serde_json::from_slice(&line) {
                Ok(message) => self.messages.push_back(message),
                // The daemon has another version: nothing can be understood.
                Err(_) => self.has_ended = true,
            }
        }
    }

    pub(super) fn take(&mut self) -> Option<ToChild> {
        self.messages.pop_front()
    }

    /// Whether the daemon has closed its end.
    pub(super) const fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Whether a cancel of the run has arrived.
    pub(super) fn has_cancel(&self, run: u64) -> bool {
        self.messages
            .iter()
            .any(|message| matches!(message, ToChild::Cancel(Cancel { run: of, .. }) if *of == run))
    }
}
