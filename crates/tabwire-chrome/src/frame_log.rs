//! Writes every frame between clients and the browser to a file, for debugging (`TABWIRE_CHROME_FRAMES`). Off by
//! default: frames contain page content, secrets included.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime};

use rustix::fs::{Mode, OFlags};
use serde_json::json;
use serde_json::value::RawValue;
use tabwire_api::{ErrorCode, Failure};
use tabwire_browser::{PrivateDir, new_instance_id};

use crate::limits::FRAME_LOG_BYTES;

/// Frame logs in one directory; the oldest are removed.
const FRAME_LOG_FILES: usize = 16;

/// Names of the files: prefix, random id, suffix.
const FILE_PREFIX: &str = "tabwire-frames-";
const FILE_SUFFIX: &str = ".jsonl";

/// The frame file of one shim.
#[derive(Clone, Debug)]
pub(super) struct FrameLog {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    path: PathBuf,
    start: Instant,
    clients: AtomicU64,
    output: Mutex<Output>,
}

/// The file, and the bytes left until the limit. The file is `None` after a failed write or at the limit.
#[derive(Debug)]
struct Output {
    file: Option<File>,
    left: usize,
}

/// Writes the frames of one client.
#[derive(Clone, Debug)]
pub(super) struct ClientFrames {
    log: FrameLog,
    number: u64,
}

impl FrameLog {
    /// Creates a file in a directory that only its owner can access, and removes the oldest files there.
    ///
    /// # Errors
    /// When the directory is accessible to others, or is not writable.
    pub(super) fn open(directory: &Path) -> Result<Self, Failure> {
        Self::with_capacity(directory, FRAME_LOG_BYTES)
    }

    fn with_capacity(directory: &Path, left: usize) -> Result<Self, Failure> {
        let directory = PrivateDir::create(directory).map_err(|error| unusable(&error))?;
        remove_oldest(directory.path());
        let path = directory.path().join(format!("{FILE_PREFIX}{}{FILE_SUFFIX}", new_instance_id()?));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file =
            rustix::fs::open(&path, flags, Mode::RUSR | Mode::WUSR).map_err(|error| unusable(&error))?;
        let output = Mutex::new(Output { file: Some(File::from(file)), left });
        let shared = Shared { path, start: Instant::now(), clients: AtomicU64::new(0), output };
        Ok(Self { shared: Arc::new(shared) })
    }

    pub(super) fn path(&self) -> &Path {
        &self.shared.path
    }

    /// A writer for one more client, with the next number.
    pub(super) fn client(&self) -> ClientFrames {
        let number = self.shared.clients.fetch_add(1, Ordering::SeqCst) + 1;
        ClientFrames { log: self.clone(), number }
    }

    fn write(&self, line: &[u8]) {
        let mut output = self.shared.output.lock().unwrap_or_else(PoisonError::into_inner);
        let Output { file, left } = &mut *output;
        let Some(open) = file else { return };
        let fits = line.len() <= *left;
        *left = left.saturating_sub(line.len());
        let end: &[u8] = b"{\"end\":\"size limit reached\"}\n";
        let written = open.write_all(if fits { line } else { end });
        if written.is_err() || !fits {
            // A failing log must not end the connection.
            *file = None;
        }
    }
}

impl ClientFrames {
    pub(super) fn log_client(&self, frame: &[u8]) {
        self.write("client", frame);
    }

    pub(super) fn log_browser(&self, frame: &[u8]) {
        self.write("browser", frame);
    }

    fn write(&self, from: &str, frame: &[u8]) {
        let milliseconds = u64::try_from(self.log.shared.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        let mut line = json!({"ms": milliseconds, "client": self.number, "from": from}).to_string();
        line.truncate(line.len().saturating_sub(1));
        let mut line = line.into_bytes();
        line.extend_from_slice(b",\"frame\":");
        if serde_json::from_slice::<&RawValue>(frame).is_ok() {
            // Raw line breaks in valid JSON are whitespace between tokens; a space keeps one frame on one line.
            line.extend(frame.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }));
        } else {
            line.extend_from_slice(json!(String::from_utf8_lossy(frame)).to_string().as_bytes());
        }
        line.extend_from_slice(b"}\n");
        self.log.write(&line);
    }
}

/// Removes the oldest files, so that one more fits the limit.
fn remove_oldest(directory: &Path) {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let ours = entries.filter(|entry| {
        entry
            .file_name()
            .to_str()
            .is_some_and(|name| name.starts_with(FILE_PREFIX) && name.ends_with(FILE_SUFFIX))
    });
    let mut files: Vec<(SystemTime, PathBuf)> =
        ours.filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()))).collect();
    files.sort();
    let surplus = (files.len() + 1).saturating_sub(FRAME_LOG_FILES);
    for (_, path) in files.into_iter().take(surplus) {
        // A file that cannot be removed now is removed by a later run.
        let _ = std::fs::remove_file(path);
    }
}

fn unusable(error: &impl std::fmt::Display) -> Failure {
    let message =
        format!("TABWIRE_CHROME_FRAMES cannot be used: {}.", error.to_string().trim_end_matches('.'));
    Failure::new(ErrorCode::BadArgs, message)
        .with_remedy("Set it to a directory that only you can access, or unset it.")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn lines(log: &FrameLog) -> Vec<serde_json::Value> {
        let text = std::fs::read_to_string(log.path()).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn frames_are_written_unchanged_with_their_sender() {
        let home = tempfile::tempdir().unwrap();
        let log = FrameLog::open(&home.path().join("frames")).unwrap();
        let (one, other) = (log.client(), log.client());
        one.log_client(b"{\"id\":1,\n \"method\":\"A.b\"}");
        other.log_browser(b"{\"id\":1.0,\"result\":{}}");
        one.log_browser(b"no \xff json");
        let written = lines(&log);
        let of = |at: usize| (written[at]["client"].clone(), written[at]["from"].clone());
        assert_eq!(of(0), (json!(1), json!("client")));
        assert_eq!(of(1), (json!(2), json!("browser")));
        assert_eq!(written[0]["frame"], json!({"id": 1, "method": "A.b"}));
        assert_eq!(written[2]["frame"], "no \u{fffd} json");
        let text = std::fs::read_to_string(log.path()).unwrap();
        assert!(text.contains("\"id\":1.0,"), "frames must not be reserialized: {text}");
    }

    #[test]
    fn files_are_private_and_a_shared_directory_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let directory = home.path().join("frames");
        let log = FrameLog::open(&directory).unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&directory), mode(log.path())), (0o700, 0o600));
        std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o777)).unwrap();
        let refused = FrameLog::open(&directory).unwrap_err();
        assert!(refused.message.contains("TABWIRE_CHROME_FRAMES") && refused.remedy.is_some(), "{refused:?}");
    }

    #[test]
    fn file_size_and_number_of_files_are_bounded() {
        let home = tempfile::tempdir().unwrap();
        let log = FrameLog::with_capacity(home.path(), 100).unwrap();
        let client = log.client();
        for _ in 0..10 {
            client.log_client(b"{\"id\":1,\"method\":\"A.b\"}");
        }
        let written = lines(&log);
        assert_eq!(written.len(), 2, "{written:?}");
        assert!(written[1]["end"].is_string());
        for _ in 0..FRAME_LOG_FILES + 3 {
            FrameLog::open(home.path()).unwrap();
        }
        assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), FRAME_LOG_FILES);
    }
}
