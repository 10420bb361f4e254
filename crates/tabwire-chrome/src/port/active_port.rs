//! `DevToolsActivePort`, the file in a profile directory with the debugging port and path. The shim writes it for its
//! own port and removes it at the end.

use std::path::PathBuf;

use tabwire_browser::atomic_file;

use super::server::PortServer;
use crate::lifecycle::BrowserOrigin;

const NAME: &str = "DevToolsActivePort";

/// The file; removed on drop.
#[derive(Debug)]
pub(super) struct ActivePort {
    path: PathBuf,
    content: String,
}

impl ActivePort {
    /// Writes the file. Does not replace the file of a browser that was running already.
    pub(super) fn write(server: &PortServer) -> Option<Self> {
        let directory = server.profile()?;
        let path = directory.join(NAME);
        if server.origin() == BrowserOrigin::Attached && path.exists() {
            return None;
        }
        let content = format!("{}\n{}", server.port(), server.path());
        // Most launchers read the port from stderr instead; a failure here must not end the shim.
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
