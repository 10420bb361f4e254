//! A session as it is remembered between daemons: its address secret, its options, its tabs' ids.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tabwire_browser::{BrowserError, PrivateDir, atomic_file};
use tabwire_engine::TabBook;
use tabwire_wire::api::SessionOptions;
use tabwire_wire::{BrowserId, SessionName};

use crate::limits::FILE_BYTES;

/// The version of this format; others are not read.
const FORMAT: u32 = 1;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SessionRecord {
    format: u32,
    pub(crate) name: SessionName,
    pub(crate) secret: String,
    pub(crate) options: SessionOptions,
    /// The launched browser it belongs to.
    pub(crate) browser: Option<BrowserId>,
    pub(crate) book: TabBook,
}

impl SessionRecord {
    pub(crate) fn new(
        name: SessionName,
        secret: String,
        options: SessionOptions,
        browser: Option<BrowserId>,
        book: TabBook,
    ) -> Self {
        Self { format: FORMAT, name, secret, options, browser, book }
    }

    fn file(directory: &Path, name: &SessionName) -> PathBuf {
        directory.join(format!("{name}.json"))
    }

    pub(crate) fn write(&self, directory: &Path) -> Result<(), BrowserError> {
        let directory = PrivateDir::create(directory)?;
        let text = serde_json::to_vec(self).unwrap_or_default();
        atomic_file::write(&Self::file(directory.path(), &self.name), &text)
    }

    /// Reads a session's record; `None` when there is none that can be read.
    pub(crate) fn find(directory: &Path, name: &SessionName) -> Option<Self> {
        let text = atomic_file::read(&Self::file(directory, name), FILE_BYTES).ok()?;
        let record: Self = serde_json::from_slice(&text).ok()?;
        (record.format == FORMAT && record.name == *name).then_some(record)
    }

    pub(crate) fn remove(directory: &Path, name: &SessionName) {
        let _ = std::fs::remove_file(Self::file(directory, name));
    }
}
