//! The captures of one browser: whether actions are captured, in which directory, and the last state of each tab.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tabwire_api::{ErrorCode, Failure, TargetId};

use crate::files::{FileKind, Files, NewFile, OutputDirectory};
use crate::secrets::redaction::Redaction;
use crate::snapshot::SnapshotMemory;
use crate::timestamp::Timestamp;

/// Tabs whose last snapshot is kept for captures.
const CAPTURE_TABS: usize = 64;

/// Which actions are captured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum CaptureMode {
    /// Only on request.
    #[default]
    Off,
    /// Every action.
    On,
    /// Paused: only on request.
    Paused,
}

/// The captures of one browser's actions.
#[derive(Debug, Default)]
pub(crate) struct CaptureStore {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    mode: CaptureMode,
    directory: Option<CaptureDirectory>,
    tabs: HashMap<TargetId, TabBaseline>,
    redaction: Redaction,
}

/// The directory of captures.
#[derive(Debug)]
struct CaptureDirectory {
    folder: Arc<dyn OutputDirectory>,
    index: NewFile,
    sets: u32,
}

/// The last seen state of a tab.
#[derive(Debug, Default)]
pub(crate) struct TabBaseline {
    pub(crate) memory: SnapshotMemory,
    /// The number of the last console line in a capture.
    pub(crate) console: u64,
}

/// The current state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CaptureStatus {
    pub(crate) mode: CaptureMode,
    pub(crate) directory: Option<PathBuf>,
    pub(crate) sets: u32,
}

/// Directory and number of one action's capture.
#[derive(Clone, Debug)]
pub(crate) struct CaptureSlot {
    pub(crate) folder: Arc<dyn OutputDirectory>,
    pub(crate) number: u32,
}

impl CaptureStore {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether an action is captured: because it requests it, or because all actions are.
    pub(crate) fn wants(&self, is_requested: bool) -> bool {
        is_requested || self.state().mode == CaptureMode::On
    }

    /// The current state.
    pub(crate) fn status(&self) -> CaptureStatus {
        let state = self.state();
        CaptureStatus {
            mode: state.mode,
            directory: state.directory.as_ref().map(|directory| directory.folder.path()),
            sets: state.directory.as_ref().map_or(0, |directory| directory.sets),
        }
    }

    /// Starts to capture every action, in a new directory.
    pub(crate) fn turn_on(&self, files: &dyn Files, requested: Option<&Path>) -> Result<(), Failure> {
        let directory = CaptureDirectory::make(files, requested)?;
        let mut state = self.state();
        state.directory = Some(directory);
        state.mode = CaptureMode::On;
        Ok(())
    }

    /// Stops, pauses or resumes.
    pub(crate) fn set(&self, mode: CaptureMode) {
        let mut state = self.state();
        state.mode = mode;
        if mode == CaptureMode::Off {
            state.directory = None;
            state.tabs.clear();
        }
    }

    /// Allocates the next capture.
    pub(crate) fn next_set(&self, files: &dyn Files) -> Result<CaptureSlot, Failure> {
        let mut state = self.state();
        if state.directory.is_none() {
            state.directory = Some(CaptureDirectory::make(files, None)?);
        }
        let Some(directory) = state.directory.as_mut() else { return Err(no_directory()) };
        directory.sets += 1;
        Ok(CaptureSlot { folder: Arc::clone(&directory.folder), number: directory.sets })
    }

    /// Writes a line of the index.
    pub(crate) fn note(&self, line: &Value) -> Result<(), Failure> {
        match self.state().directory.as_mut() {
            Some(directory) => directory.index.add(format!("{line}\n").as_bytes()),
            None => Err(no_directory()),
        }
    }

    /// Whether the tab has a known state.
    pub(crate) fn has_tab(&self, tab: &TargetId) -> bool {
        self.state().tabs.contains_key(tab)
    }

    /// Takes the last seen state of a tab; the caller returns it.
    pub(crate) fn take_tab(&self, tab: &TargetId) -> TabBaseline {
        self.state().tabs.remove(tab).unwrap_or_default()
    }

    /// Stores the last seen state of a tab.
    pub(crate) fn keep_tab(&self, tab: &TargetId, seen: TabBaseline) {
        let mut state = self.state();
        if state.tabs.len() >= CAPTURE_TABS {
            // The next capture of each tab then contains its whole snapshot.
            state.tabs.clear();
        }
        state.tabs.insert(tab.clone(), seen);
    }

    /// Runs a function with the redaction.
    pub(crate) fn with_redaction<T>(&self, work: impl FnOnce(&mut Redaction) -> T) -> T {
        work(&mut self.state().redaction)
    }
}

impl CaptureDirectory {
    fn make(files: &dyn Files, requested: Option<&Path>) -> Result<Self, Failure> {
        let mut bytes = [0_u8; 2];
        // Without randomness, two starts in one second choose the same directory, and the second one fails.
        let _ = getrandom::fill(&mut bytes);
        let name = format!("{}-{:04x}", Timestamp::now().short(), u16::from_ne_bytes(bytes));
        let folder = files.create_directory(FileKind::Capture, requested, &name)?;
        let index = folder.create("index.jsonl").map_err(|failure| {
            failure.with_remedy("The directory may already have captures; name another one.")
        })?;
        Ok(Self { folder, index, sets: 0 })
    }
}

fn no_directory() -> Failure {
    Failure::new(ErrorCode::NotActionable, "Captures were turned off during the action.")
}
