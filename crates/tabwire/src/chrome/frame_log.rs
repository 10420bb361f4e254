//! Every frame between clients and the browser, written down for whoever looks for a fault. Off unless a directory is
//! named: frames hold what pages hold, secrets included. Knows nothing of what they mean.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime};

use rustix::fs::{Mode, OFlags};
use serde_json::json;
use serde_json::value::RawValue;
use tabwire_browser::{PrivateDir, new_instance_id};
use tabwire_wire::{ErrorCode, Failure};

use crate::limits::{CHROME_FRAME_FILES, CHROME_FRAMES_BYTES};

/// What the files' names begin and end with.
const BEGINNING: &str = "tabwire-frames-";
const ENDING: &str = ".jsonl";

/// Where the frames of one stand-in are written.
#[derive(Clone, Debug)]
pub(super) struct FrameLog {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    path: PathBuf,
    start: Instant,
    clients: AtomicU64,
    page: Mutex<Page>,
}

/// The file, and how much may still be written.
#[derive(Debug)]
struct Page {
    file: Option<File>,
    left: usize,
}

/// The frames of one client.
#[derive(Clone, Debug)]
pub(super) struct ClientFrames {
    log: FrameLog,
    number: u64,
}

impl FrameLog {
    /// Makes a new file in a directory that only its owner can look into, and removes the oldest of many.
    ///
    /// # Errors
    /// When others can look into the directory, or nothing can be written there.
    pub(super) fn open(directory: &Path) -> Result<Self, Failure> {
        Self::with_room(directory, CHROME_FRAMES_BYTES)
    }

    fn with_room(directory: &Path, left: usize) -> Result<Self, Failure> {
        let place = PrivateDir::create(directory).map_err(|error| unusable(&error))?;
        remove_surplus(place.path());
        let path = place.path().join(format!("{BEGINNING}{}{ENDING}", new_instance_id()?));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file =
            rustix::fs::open(&path, flags, Mode::RUSR | Mode::WUSR).map_err(|error| unusable(&error))?;
        let page = Mutex::new(Page { file: Some(File::from(file)), left });
        let shared = Shared { path, start: Instant::now(), clients: AtomicU64::new(0), page };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// The file.
    pub(super) fn path(&self) -> &Path {
        &self.shared.path
    }

    /// Numbers a client.
    pub(super) fn client(&self) -> ClientFrames {
        let number = self.shared.clients.fetch_add(1, Ordering::SeqCst) + 1;
        ClientFrames { log: self.clone(), number }
    }

    fn write(&self, line: &[u8]) {
        let mut page = self.shared.page.lock().unwrap_or_else(PoisonError::into_inner);
        let Page { file, left } = &mut *page;
        let Some(open) = file else { return };
        let is_room = line.len() <= *left;
        *left = left.saturating_sub(line.len());
        let end: &[u8] = b"{\"end\":\"the file is as long as it may be\"}\n";
        let written = open.write_all(if is_room { line } else { end });
        if written.is_err() || !is_room {
            // A log that cannot be written is no reason to stop what it is about.
            *file = None;
        }
    }
}

impl ClientFrames {
    /// A frame of the client's.
    pub(super) fn asked(&self, frame: &[u8]) {
        self.note("client", frame);
    }

    /// A frame for the client.
    pub(super) fn told(&self, frame: &[u8]) {
        self.note("browser", frame);
    }

    fn note(&self, from: &str, frame: &[u8]) {
        let milliseconds = u64::try_from(self.log.shared.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        let mut line = json!({"ms": milliseconds, "client": self.number, "from": from}).to_string();
        line.truncate(line.len().saturating_sub(1));
        let mut line = line.into_bytes();
        line.extend_from_slice(b",\"frame\":");
        if serde_json::from_slice::<&RawValue>(frame).is_ok() {
            // Between a document's parts a line's end means no more than a space.
            line.extend(frame.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }));
        } else {
            line.extend_from_slice(json!(String::from_utf8_lossy(frame)).to_string().as_bytes());
        }
        line.extend_from_slice(b"}\n");
        self.log.write(&line);
    }
}

/// Leaves room for one more file.
fn remove_surplus(directory: &Path) {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let ours = entries.filter(|entry| {
        entry.file_name().to_str().is_some_and(|name| name.starts_with(BEGINNING) && name.ends_with(ENDING))
    });
    let mut files: Vec<(SystemTime, PathBuf)> =
        ours.filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()))).collect();
    files.sort();
    let surplus = (files.len() + 1).saturating_sub(CHROME_FRAME_FILES);
    for (_, path) in files.into_iter().take(surplus) {
        // One that stays is removed the next time.
        let _ = std::fs::remove_file(path);
    }
}

fn unusable(error: &impl std::fmt::Display) -> Failure {
    let message =
        format!("TABWIRE_CHROME_FRAMES cannot be used: {}.", error.to_string().trim_end_matches('.'));
    Failure::new(ErrorCode::BadArgs, message)
        .with_hint("Set it to a directory of your own that nobody else can write in, or not at all.")
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
    fn frames_are_written_as_they_are_with_who_said_them() {
        let home = tempfile::tempdir().unwrap();
        let log = FrameLog::open(&home.path().join("frames")).unwrap();
        let (one, other) = (log.client(), log.client());
        one.asked(b"{\"id\":1,\n \"method\":\"A.b\"}");
        other.told(b"{\"id\":1.0,\"result\":{}}");
        one.told(b"no \xff json");
        let told = lines(&log);
        let of = |at: usize| (told[at]["client"].clone(), told[at]["from"].clone());
        assert_eq!(of(0), (json!(1), json!("client")));
        assert_eq!(of(1), (json!(2), json!("browser")));
        assert_eq!(told[0]["frame"], json!({"id": 1, "method": "A.b"}));
        assert_eq!(told[2]["frame"], "no \u{fffd} json");
        let text = std::fs::read_to_string(log.path()).unwrap();
        assert!(text.contains("\"id\":1.0,"), "not read and written again: {text}");
    }

    #[test]
    fn only_its_owner_can_read_it_and_a_directory_of_everybodys_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let directory = home.path().join("frames");
        let log = FrameLog::open(&directory).unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&directory), mode(log.path())), (0o700, 0o600));
        std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o777)).unwrap();
        let refused = FrameLog::open(&directory).unwrap_err();
        assert!(refused.message.contains("TABWIRE_CHROME_FRAMES") && refused.hint.is_some(), "{refused:?}");
    }

    #[test]
    fn a_file_and_their_number_are_bounded_and_the_end_is_said() {
        let home = tempfile::tempdir().unwrap();
        let log = FrameLog::with_room(home.path(), 100).unwrap();
        let client = log.client();
        for _ in 0..10 {
            client.asked(b"{\"id\":1,\"method\":\"A.b\"}");
        }
        let told = lines(&log);
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[1]["end"].is_string());
        for _ in 0..CHROME_FRAME_FILES + 3 {
            FrameLog::open(home.path()).unwrap();
        }
        assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), CHROME_FRAME_FILES);
    }
}
