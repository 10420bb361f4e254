//! Whether evidence is gathered, where it goes, and what was last seen of each tab. Knows nothing of pages.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tabwire_wire::{ErrorCode, Failure, TargetId};

use crate::files::{FileKind, Files, Folder, NewFile};
use crate::limits::EVIDENCE_TABS;
use crate::redaction::Redaction;
use crate::snapshot::SnapshotMemory;
use crate::time_stamp::TimeStamp;

/// Whether evidence is gathered of every action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Gathering {
    /// Only of those that ask for it.
    #[default]
    Off,
    /// Of all.
    On,
    /// Of none for now, except those that ask for it.
    Paused,
}

/// The evidence of one browser's actions.
#[derive(Debug, Default)]
pub(crate) struct EvidenceBook {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    gathering: Gathering,
    place: Option<Place>,
    tabs: HashMap<TargetId, TabEvidence>,
    redaction: Redaction,
}

/// Where evidence goes.
#[derive(Debug)]
struct Place {
    folder: Arc<dyn Folder>,
    index: NewFile,
    sets: u32,
}

/// What was last seen of a tab.
#[derive(Debug, Default)]
pub(crate) struct TabEvidence {
    pub(crate) memory: SnapshotMemory,
    /// The number of the last console line that was written down.
    pub(crate) console: u64,
}

/// How things stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    pub(crate) gathering: Gathering,
    pub(crate) directory: Option<PathBuf>,
    pub(crate) sets: u32,
}

/// Where one action's evidence goes.
#[derive(Clone, Debug)]
pub(crate) struct Set {
    pub(crate) folder: Arc<dyn Folder>,
    pub(crate) number: u32,
}

impl EvidenceBook {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether evidence of an action is wanted, be it that the action itself asks for it.
    pub(crate) fn wants(&self, is_asked: bool) -> bool {
        is_asked || self.state().gathering == Gathering::On
    }

    /// How things stand.
    pub(crate) fn standing(&self) -> Standing {
        let state = self.state();
        Standing {
            gathering: state.gathering,
            directory: state.place.as_ref().map(|place| place.folder.path()),
            sets: state.place.as_ref().map_or(0, |place| place.sets),
        }
    }

    /// Begins to gather evidence of every action, in a directory of its own.
    pub(crate) fn turn_on(&self, files: &dyn Files, wish: Option<&Path>) -> Result<(), Failure> {
        let place = Place::make(files, wish)?;
        let mut state = self.state();
        state.place = Some(place);
        state.gathering = Gathering::On;
        Ok(())
    }

    /// Gathers no more, or only pauses, or goes on.
    pub(crate) fn set(&self, gathering: Gathering) {
        let mut state = self.state();
        state.gathering = gathering;
        if gathering == Gathering::Off {
            state.place = None;
            state.tabs.clear();
        }
    }

    /// Makes room for the next set.
    pub(crate) fn next_set(&self, files: &dyn Files) -> Result<Set, Failure> {
        let mut state = self.state();
        if state.place.is_none() {
            state.place = Some(Place::make(files, None)?);
        }
        let Some(place) = state.place.as_mut() else { return Err(no_place()) };
        place.sets += 1;
        Ok(Set { folder: Arc::clone(&place.folder), number: place.sets })
    }

    /// Writes a line of the index.
    pub(crate) fn note(&self, line: &Value) -> Result<(), Failure> {
        match self.state().place.as_mut() {
            Some(place) => place.index.add(format!("{line}\n").as_bytes()),
            None => Err(no_place()),
        }
    }

    /// Whether the tab has been looked at.
    pub(crate) fn knows(&self, tab: &TargetId) -> bool {
        self.state().tabs.contains_key(tab)
    }

    /// What was last seen of a tab; to be given back.
    pub(crate) fn take_tab(&self, tab: &TargetId) -> TabEvidence {
        self.state().tabs.remove(tab).unwrap_or_default()
    }

    /// Remembers what was seen of a tab.
    pub(crate) fn keep_tab(&self, tab: &TargetId, seen: TabEvidence) {
        let mut state = self.state();
        if state.tabs.len() >= EVIDENCE_TABS {
            // The next evidence of each tab has its whole snapshot then.
            state.tabs.clear();
        }
        state.tabs.insert(tab.clone(), seen);
    }

    /// Does something with the secrets that have been met.
    pub(crate) fn with_redaction<T>(&self, work: impl FnOnce(&mut Redaction) -> T) -> T {
        work(&mut self.state().redaction)
    }
}

impl Place {
    fn make(files: &dyn Files, wish: Option<&Path>) -> Result<Self, Failure> {
        let mut bytes = [0_u8; 2];
        // Without randomness two of the same second share a directory, and the second is refused.
        let _ = getrandom::fill(&mut bytes);
        let name = format!("{}-{:04x}", TimeStamp::now().short(), u16::from_ne_bytes(bytes));
        let folder = files.make_folder(FileKind::Capture, wish, &name)?;
        let index = folder.create("index.jsonl").map_err(|failure| {
            failure.with_hint("There may be evidence in that directory already; name another one.")
        })?;
        Ok(Self { folder, index, sets: 0 })
    }
}

fn no_place() -> Failure {
    Failure::new(ErrorCode::NotActionable, "Capturing was turned off in the meantime.")
}
