//! A log sink that never blocks its writer. A line that cannot be written at once is dropped and counted, and the count is
//! reported (F42).

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::log::file::LogFile;

/// Longest log line to a pipe. A pipe that polls as writable takes at least this much (`PIPE_BUF`) without
/// blocking.
const LOG_LINE_BYTES: usize = 4_000;

/// Lines that this process has dropped.
static LOST: AtomicU64 = AtomicU64::new(0);

/// How many log lines this process has dropped.
#[must_use]
pub fn lost_log_lines() -> u64 {
    LOST.load(Ordering::Relaxed)
}

/// The destination of lines.
#[derive(Debug)]
enum Destination {
    /// A file. A full disk fails at once.
    File(LogFile),
    /// A pipe or terminal, whose reader may have stopped.
    Pipe(Box<dyn Pipe>),
}

/// A writer that may be full.
trait Pipe: Write + AsFd + Send + std::fmt::Debug {}

impl<T: Write + AsFd + Send + std::fmt::Debug> Pipe for T {}

#[derive(Debug)]
struct Sink {
    destination: Destination,
    /// Dropped lines that are not reported yet.
    unreported: u64,
}

/// A log that several threads write to.
#[derive(Clone, Debug)]
pub struct LogSink(Arc<Mutex<Sink>>);

impl LogSink {
    /// Writes to a file.
    #[must_use]
    pub fn to_file(file: LogFile) -> Self {
        Self::new(Destination::File(file))
    }

    /// Writes to this process's stderr, or to anything else that may be full.
    #[must_use]
    pub fn to_pipe(pipe: impl Write + AsFd + Send + std::fmt::Debug + 'static) -> Self {
        Self::new(Destination::Pipe(Box::new(pipe)))
    }

    fn new(destination: Destination) -> Self {
        Self(Arc::new(Mutex::new(Sink { destination, unreported: 0 })))
    }
}

impl Sink {
    fn take(&mut self, line: &[u8]) -> io::Result<()> {
        if self.unreported > 0 {
            let report = format!("{} log lines were dropped here\n", self.unreported);
            self.put(report.as_bytes())?;
            self.unreported = 0;
        }
        self.put(line)
    }

    fn put(&mut self, line: &[u8]) -> io::Result<()> {
        match &mut self.destination {
            Destination::File(file) => file.write_all(line),
            Destination::Pipe(pipe) => {
                if !has_room(pipe.as_fd()) {
                    return Err(io::ErrorKind::WouldBlock.into());
                }
                // A writable pipe takes this much without blocking.
                match line.get(..LOG_LINE_BYTES) {
                    Some(part) => pipe.write_all(part).and_then(|()| pipe.write_all(b"\n")),
                    None => pipe.write_all(line),
                }
            }
        }
    }
}

/// Whether a line can be written without waiting.
fn has_room(fd: std::os::fd::BorrowedFd<'_>) -> bool {
    let mut watched = [PollFd::from_borrowed_fd(fd, PollFlags::OUT)];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut watched, Some(&at_once)).is_ok() && watched[0].revents().contains(PollFlags::OUT)
}

impl Write for LogSink {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut sink = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if sink.take(line).is_err() {
            sink.unreported += 1;
            LOST.fetch_add(1, Ordering::Relaxed);
        }
        // The caller cannot do anything about a dropped line.
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Read;

    use super::*;

    /// Logs a line as tracing does: in one write, with its newline. That neither fails nor blocks.
    fn log_line(log: &mut LogSink, line: &str) {
        log.write_all(format!("{line}\n").as_bytes()).expect("it never fails");
    }

    #[test]
    fn f42_a_full_pipe_drops_lines_and_reports_them() {
        let (mut reader, writer) = io::pipe().expect("a pipe");
        let mut log = LogSink::to_pipe(writer);
        for number in 0..10_000 {
            log_line(&mut log, &format!("line {number} without a reader"));
        }
        let lost = log.0.lock().expect("not poisoned").unreported;
        assert!(lost > 5_000, "{lost}");
        let mut read = vec![0_u8; 1024 * 1024];
        let count = reader.read(&mut read).expect("it is full");
        let kept = read[..count].iter().filter(|byte| **byte == b'\n').count() as u64;
        log_line(&mut log, "there is room");
        let count = reader.read(&mut read).expect("something");
        let received = String::from_utf8_lossy(&read[..count]).into_owned();
        assert_eq!(received, format!("{lost} log lines were dropped here\nthere is room\n"));
        assert_eq!(kept + lost, 10_000, "each line is there or counted");
        log_line(&mut log, &"x".repeat(100_000));
        drop(reader);
        log_line(&mut log, "the reader is gone");
    }

    #[test]
    fn f42_a_full_disk_drops_lines() {
        let full = File::options().write(true).open("/dev/full").expect("there");
        let mut log = LogSink::to_pipe(full);
        let before = lost_log_lines();
        log_line(&mut log, "no space is left");
        assert!(lost_log_lines() > before);
    }
}
