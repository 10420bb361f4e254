//! The log file of the daemon, which is rotated by size.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Rotated log files that are kept.
const LOG_FILES: usize = 3;

/// Size at which the log file is rotated.
const LOG_BYTES: u64 = 4 * 1024 * 1024;

/// A log file that several threads write to.
#[derive(Clone, Debug)]
pub struct LogFile(Arc<Mutex<Current>>);

#[derive(Debug)]
struct Current {
    path: PathBuf,
    file: File,
    written: u64,
    ceiling: u64,
}

impl LogFile {
    /// Opens the log for appending.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::with_ceiling(path, LOG_BYTES)
    }

    fn with_ceiling(path: &Path, ceiling: u64) -> io::Result<Self> {
        let file = append(path)?;
        let written = file.metadata()?.len();
        Ok(Self(Arc::new(Mutex::new(Current { path: path.to_owned(), file, written, ceiling }))))
    }
}

fn append(path: &Path) -> io::Result<File> {
    let flags = i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or_default();
    OpenOptions::new().create(true).append(true).mode(0o600).custom_flags(flags).open(path)
}

impl Current {
    fn rotate(&mut self) -> io::Result<()> {
        let numbered = |number: usize| self.path.with_extension(format!("log.{number}"));
        for number in (1..LOG_FILES).rev() {
            let _ = std::fs::rename(numbered(number), numbered(number + 1));
        }
        std::fs::rename(&self.path, numbered(1))?;
        self.file = append(&self.path)?;
        self.written = 0;
        Ok(())
    }
}

impl Write for LogFile {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut current = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if current.written >= current.ceiling {
            // If the rotation fails, the log grows on.
            let _ = current.rotate();
        }
        current.file.write_all(line)?;
        current.written += u64::try_from(line.len()).unwrap_or_default();
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_is_bounded() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("daemon.log");
        let mut log = LogFile::with_ceiling(&path, 1_000).expect("a log");
        for number in 0..1_000 {
            writeln!(log, "line {number} of a log that would be long").expect("written");
        }
        let files: Vec<_> = std::fs::read_dir(directory.path()).expect("a directory").flatten().collect();
        assert_eq!(files.len(), LOG_FILES + 1);
        let total: u64 = files.iter().map(|file| file.metadata().expect("a file").len()).sum();
        assert!(total <= 1_100 * (LOG_FILES as u64 + 1), "{total}");
        let newest = std::fs::read_to_string(&path).expect("the newest");
        assert!(newest.ends_with("line 999 of a log that would be long\n"));
    }
}
