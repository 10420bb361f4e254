//! A Tabwire of its own: a home directory, the built program, ended on drop.

use std::path::Path;
use std::process::{Command, Output};

pub struct TabwireWorld {
    home: tempfile::TempDir,
}

impl TabwireWorld {
    pub fn new() -> Self {
        Self { home: tempfile::Builder::new().prefix("tw").tempdir_in("/tmp").expect("a directory") }
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tabwire"));
        command.args(arguments).env("TABWIRE_HOME", self.home.path()).env("TABWIRE_PORT", "0");
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        let output = self.command(arguments).output().expect("tabwire runs");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        output
    }

    pub fn text(&self, arguments: &[&str]) -> String {
        String::from_utf8_lossy(&self.run(arguments).stdout).trim().to_owned()
    }

    pub fn status(&self) -> serde_json::Value {
        serde_json::from_str(&self.text(&["status", "--json"])).expect("a status")
    }

    pub fn home(&self) -> &Path {
        self.home.path()
    }
}

impl Drop for TabwireWorld {
    fn drop(&mut self) {
        let _ = self.command(&["daemon", "stop"]).output();
    }
}
