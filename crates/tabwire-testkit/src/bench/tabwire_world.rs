//! An isolated Tabwire: a home directory and the built program. Stops its daemon on drop.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::detached::detached;

/// One home directory and the program that uses it.
#[derive(Debug)]
pub struct TabwireWorld {
    program: PathBuf,
    home: tempfile::TempDir,
}

impl TabwireWorld {
    /// A new home directory for this program.
    ///
    /// # Panics
    /// When the directory cannot be created.
    #[must_use]
    pub fn new(program: &str) -> Self {
        let home = tempfile::Builder::new().prefix("tw").tempdir_in("/tmp").expect("a directory");
        Self { program: PathBuf::from(program), home }
    }

    /// A command with this home directory, not run yet.
    #[must_use]
    pub fn command(&self, arguments: &[&str]) -> Command {
        self.prepare(Command::new(&self.program), arguments)
    }

    /// A command in its own session, as launchers start browsers.
    #[must_use]
    pub fn detached_command(&self, arguments: &[&str]) -> Command {
        self.prepare(detached(&self.program), arguments)
    }

    fn prepare(&self, mut command: Command, arguments: &[&str]) -> Command {
        command.args(arguments).env("TABWIRE_HOME", self.home.path()).env("TABWIRE_PORT", "0");
        command
    }

    /// Runs a command and waits for its end.
    ///
    /// # Panics
    /// When it fails.
    pub fn run(&self, arguments: &[&str]) -> Output {
        let output = self.command(arguments).output().expect("tabwire runs");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        output
    }

    /// The output of a command.
    ///
    /// # Panics
    /// When it fails.
    #[must_use]
    pub fn text(&self, arguments: &[&str]) -> String {
        String::from_utf8_lossy(&self.run(arguments).stdout).trim().to_owned()
    }

    /// The daemon's status.
    ///
    /// # Panics
    /// When the daemon has no status.
    #[must_use]
    pub fn status(&self) -> serde_json::Value {
        serde_json::from_str(&self.text(&["status", "--json"])).expect("a status")
    }

    /// The home directory.
    #[must_use]
    pub fn home(&self) -> &Path {
        self.home.path()
    }
}

impl Drop for TabwireWorld {
    fn drop(&mut self) {
        let _ = self.command(&["daemon", "stop"]).output();
    }
}
