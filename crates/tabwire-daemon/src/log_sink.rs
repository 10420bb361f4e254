//! Takes log lines and never holds up whoever writes them: what cannot be written at once is lost, counted, and told
//! (F42). Knows nothing of what is logged.

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::limits::LOG_LINE_BYTES;
use crate::log_file::LogFile;

/// Lines that this process has lost; its log is one, whoever writes to it.
static LOST: AtomicU64 = AtomicU64::new(0);

/// How many lines of this process's log were lost.
#[must_use]
pub fn lost_log_lines() -> u64 {
    LOST.load(Ordering::Relaxed)
}

/// Where lines go.
#[derive(Debug)]
enum Place {
    /// A file of ours: a disk may be full, but does not make anybody wait.
    File(LogFile),
    /// Somebody's pipe or terminal, who may have stopped reading.
    Pipe(Box<dyn Pipe>),
}

/// Something that may be full.
trait Pipe: Write + AsFd + Send + std::fmt::Debug {}

impl<T: Write + AsFd + Send + std::fmt::Debug> Pipe for T {}

#[derive(Debug)]
struct Sink {
    place: Place,
    /// Lines lost since that was last told.
    untold: u64,
}

/// A log that several threads write to.
#[derive(Clone, Debug)]
pub struct LogSink(Arc<Mutex<Sink>>);

impl LogSink {
    /// Writes to a file.
    #[must_use]
    pub fn to_file(file: LogFile) -> Self {
        Self::new(Place::File(file))
    }

    /// Writes to this process's stderr, or to anything else that may be full.
    #[must_use]
    pub fn to_pipe(pipe: impl Write + AsFd + Send + std::fmt::Debug + 'static) -> Self {
        Self::new(Place::Pipe(Box::new(pipe)))
    }

    fn new(place: Place) -> Self {
        Self(Arc::new(Mutex::new(Sink { place, untold: 0 })))
    }
}

impl Sink {
    fn take(&mut self, line: &[u8]) -> io::Result<()> {
        if self.untold > 0 {
            let told = format!("{} lines of this log were lost here\n", self.untold);
            self.put(told.as_bytes())?;
            self.untold = 0;
        }
        self.put(line)
    }

    fn put(&mut self, line: &[u8]) -> io::Result<()> {
        match &mut self.place {
            Place::File(file) => file.write_all(line),
            Place::Pipe(pipe) => {
                if !has_room(pipe.as_fd()) {
                    return Err(io::ErrorKind::WouldBlock.into());
                }
                // A pipe that has room has it for so much.
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
            sink.untold += 1;
            LOST.fetch_add(1, Ordering::Relaxed);
        }
        // Whoever logs has better things to do than to hear of it.
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

    /// Logs a line as the tracing library does: at once, with its end. That neither fails nor waits.
    fn say(log: &mut LogSink, line: &str) {
        log.write_all(format!("{line}\n").as_bytes()).expect("it never fails");
    }

    #[test]
    fn f42_a_pipe_that_nobody_reads_holds_up_nobody_and_the_loss_is_told() {
        let (mut reader, writer) = io::pipe().expect("a pipe");
        let mut log = LogSink::to_pipe(writer);
        for number in 0..10_000 {
            say(&mut log, &format!("line {number} that nobody reads"));
        }
        let lost = log.0.lock().expect("not poisoned").untold;
        assert!(lost > 5_000, "{lost}");
        let mut read = vec![0_u8; 1024 * 1024];
        let count = reader.read(&mut read).expect("it is full");
        let kept = read[..count].iter().filter(|byte| **byte == b'\n').count() as u64;
        say(&mut log, "there is room");
        let count = reader.read(&mut read).expect("something");
        let told = String::from_utf8_lossy(&read[..count]).into_owned();
        assert_eq!(told, format!("{lost} lines of this log were lost here\nthere is room\n"));
        assert_eq!(kept + lost, 10_000, "each line is there or counted");
        say(&mut log, &"x".repeat(100_000));
        drop(reader);
        say(&mut log, "nobody will ever read this");
    }

    #[test]
    fn f42_a_full_disk_costs_lines_and_nothing_else() {
        let full = File::options().write(true).open("/dev/full").expect("there");
        let mut log = LogSink::to_pipe(full);
        let before = lost_log_lines();
        say(&mut log, "no space is left");
        assert!(lost_log_lines() > before);
    }
}
