//! A Tabwire of its own: a home directory, the built program, ended on drop.

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
    /// A fresh world for this program.
    ///
    /// # Panics
    /// When no directory can be made.
    #[must_use]
    pub fn new(program: &str) -> Self {
        let home = tempfile::Builder::new().prefix("tw").tempdir_in("/tmp").expect("a directory");
        Self { program: PathBuf::from(program), home }
    }

    /// A command of this world, not run yet.
    #[must_use]
    pub fn command(&self, arguments: &[&str]) -> Command {
        self.prepare(Command::new(&self.program), arguments)
    }

    /// A command in a session of its own, as launchers start browsers.
    #[must_use]
    pub fn detached_command(&self, arguments: &[&str]) -> Command {
        self.prepare(detached(&self.program), arguments)
    }

    fn prepare(&self, mut command: Command, arguments: &[&str]) -> Command {
        command.args(arguments).env("TABWIRE_HOME", self.home.path()).env("TABWIRE_PORT", "0");
        command
    }

    /// Runs a command to its end.
    ///
    /// # Panics
    /// When it fails.
    pub fn run(&self, arguments: &[&str]) -> Output {
        let output = self.command(arguments).output().expect("tabwire runs");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        output
    }

    /// What a command prints.
    ///
    /// # Panics
    /// When it fails.
    #[must_use]
    pub fn text(&self, arguments: &[&str]) -> String {
        String::from_utf8_lossy(&self.run(arguments).stdout).trim().to_owned()
    }

    /// The world's status.
    ///
    /// # Panics
    /// When there is none.
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
