//! Lines that the user types while the agent works.

use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// How often the reader looks whether it has to rest.
const POLL: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// Longest line.
const LINE_BYTES: usize = 64 * 1024;

/// Reads standard input while a turn runs. The prompt reads it between turns.
#[derive(Debug)]
pub(super) struct TypedLines {
    lines: Receiver<Option<String>>,
    is_reading: Arc<AtomicBool>,
    /// Held while the thread uses standard input.
    stdin: Arc<Mutex<()>>,
}

impl TypedLines {
    pub(super) fn start() -> Self {
        let (sender, lines) = channel();
        let is_reading = Arc::new(AtomicBool::new(false));
        let stdin = Arc::new(Mutex::new(()));
        let (reads, lock) = (Arc::clone(&is_reading), Arc::clone(&stdin));
        // Ends with the process: a read of standard input cannot be cancelled.
        std::thread::spawn(move || {
            let mut line = Vec::new();
            loop {
                if !reads.load(Ordering::SeqCst) {
                    std::thread::park_timeout(Duration::from_millis(50));
                    continue;
                }
                // Held until the line is sent, so that `pause` leaves no line behind.
                let _held = lock.lock().unwrap_or_else(PoisonError::into_inner);
                let is_reading = reads.load(Ordering::SeqCst);
                let typed = if is_reading { read_some(&mut line) } else { TerminalLine::Nothing };
                let sent = match typed {
                    TerminalLine::Nothing => Ok(()),
                    TerminalLine::Line(text) => sender.send(Some(text)),
                    TerminalLine::End => {
                        let _ = sender.send(None);
                        return;
                    }
                };
                if sent.is_err() {
                    return;
                }
            }
        });
        Self { lines, is_reading, stdin }
    }

    /// Begins to read.
    pub(super) fn resume(&self) {
        self.is_reading.store(true, Ordering::SeqCst);
    }

    /// Ends reading, and waits until standard input is free.
    pub(super) fn pause(&self) {
        self.is_reading.store(false, Ordering::SeqCst);
        drop(self.stdin.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// A line, if the user has typed one; `Some(None)` at the end of the input.
    #[expect(clippy::option_option, reason = "no line yet, and no more lines")]
    pub(super) fn take(&self) -> Option<Option<String>> {
        self.lines.try_recv().ok()
    }
}

enum TerminalLine {
    Nothing,
    Line(String),
    End,
}

/// Waits a moment for input. The terminal gives whole lines.
fn read_some(line: &mut Vec<u8>) -> TerminalLine {
    let stdin = std::io::stdin();
    match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&POLL)) {
        Ok(0) | Err(_) => return TerminalLine::Nothing,
        Ok(_) => {}
    }
    let mut byte = [0];
    // Not buffered: the prompt reads from the same descriptor afterwards.
    loop {
        match rustix::io::read(&stdin, &mut byte) {
            Ok(0) => return TerminalLine::End,
            Ok(_) if byte[0] == b'\n' => {
                let text = String::from_utf8_lossy(line).trim_end_matches('\r').to_owned();
                line.clear();
                return TerminalLine::Line(text);
            }
            Ok(_) if line.len() < LINE_BYTES => line.push(byte[0]),
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => return TerminalLine::Nothing,
            Err(_) => return TerminalLine::End,
        }
    }
}

/// Reads a line of a pipe without its end; none at the end.
pub(super) fn read_piped_line() -> std::io::Result<Option<String>> {
    let mut line = Vec::new();
    let mut stdin = std::io::stdin().lock();
    let mut byte = [0];
    while stdin.read(&mut byte)? > 0 {
        if byte[0] == b'\n' {
            return Ok(Some(String::from_utf8_lossy(&line).trim_end_matches('\r').to_owned()));
        }
        line.push(byte[0]);
    }
    Ok((!line.is_empty()).then(|| String::from_utf8_lossy(&line).into_owned()))
}
