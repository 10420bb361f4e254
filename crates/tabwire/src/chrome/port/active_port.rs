//! The file in a profile directory that says where its browser listens. Ours is removed with us; another's is left
//! alone.

use std::path::PathBuf;

use tabwire_browser::atomic_file;

use super::steward::Steward;
use crate::chrome::lifecycle::Found;

/// What Chrome calls the file.
const NAME: &str = "DevToolsActivePort";

/// The file, as long as we listen.
#[derive(Debug)]
pub(super) struct ActivePort {
    path: PathBuf,
    content: String,
}

impl ActivePort {
    /// Writes the file, unless a browser that ran before has one of its own, or there is no profile directory.
    pub(super) fn write(steward: &Steward) -> Option<Self> {
        let directory = steward.profile()?;
        let path = directory.join(NAME);
        if steward.found() == Found::Attached && path.exists() {
            return None;
        }
        let content = format!("{}\n{}", steward.port(), steward.path());
        // A launcher that needs it will say so.
        atomic_file::write(&path, content.as_bytes()).ok()?;
        Some(Self { path, content })
    }
}

impl Drop for ActivePort {
    fn drop(&mut self) {
        let is_ours = std::fs::read_to_string(&self.path).is_ok_and(|content| content == self.content);
        if is_ours {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
