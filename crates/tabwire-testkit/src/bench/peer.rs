//! agent-browser for comparison, if it is installed (`npm ci` in `benches/peers`). Ends it on drop.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::bare_browser::FLAGS;

/// agent-browser with its own home directory.
#[derive(Debug)]
pub struct Peer {
    program: PathBuf,
    browser: PathBuf,
    home: tempfile::TempDir,
}

impl Peer {
    /// The peer below `benches/peers`, with this browser; `None` if it is not installed.
    #[must_use]
    pub fn find(benches: &Path, browser: &Path) -> Option<Self> {
        let root = benches.join("peers/node_modules/agent-browser/bin");
        let program =
            std::fs::read_dir(root).ok()?.flatten().map(|entry| entry.path()).find(|path| {
                path.file_name().is_some_and(|name| name.to_string_lossy().contains("linux-x64"))
            })?;
        let mut mode = std::fs::metadata(&program).ok()?.permissions();
        std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o755);
        std::fs::set_permissions(&program, mode).ok()?;
        Some(Self { program, browser: browser.to_owned(), home: tempfile::tempdir().ok()? })
    }

    /// A command of the peer, not run yet.
    #[must_use]
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(arguments)
            .env("HOME", self.home.path())
            .env("AGENT_BROWSER_EXECUTABLE_PATH", &self.browser)
            .env("AGENT_BROWSER_ARGS", flags());
        command
    }

    /// The output of a command of the peer.
    ///
    /// # Panics
    /// When it fails.
    #[must_use]
    pub fn text(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().expect("the peer runs");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }
}

/// The flags in the peer's format. They are separated by commas, so that only one of several features can be passed:
/// the last one, which costs the most time.
fn flags() -> String {
    let one = |flag: &&str| match (flag.split_once('='), flag.rsplit_once(',')) {
        (Some((name, _)), Some((_, last))) => format!("{name}={last}"),
        _ => (*flag).to_owned(),
    };
    FLAGS.iter().map(one).collect::<Vec<_>>().join(",")
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.command(&["close"]).output();
    }
}
