//! A Tabwire of the soak's own: its directory, its commands, its processes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::process::{Process, signal};
use super::sample::Sample;
use crate::trouble::Trouble;

/// How long a command may take before it counts as hanging.
const COMMAND: Duration = Duration::from_secs(100);

/// How long processes may take to be gone after everything was stopped.
const REST: Duration = Duration::from_secs(40);

const LOOK: Duration = Duration::from_millis(10);

/// A directory in which Tabwire lives for the time of the soak.
pub(super) struct Home {
    path: PathBuf,
    program: PathBuf,
}

impl Home {
    /// Makes a fresh one for this program.
    pub(super) fn make(program: PathBuf) -> Result<Home, Trouble> {
        let path = std::env::temp_dir().join(format!("tw-soak-{}", std::process::id()));
        for part in ["user", "tmp"] {
            let directory = path.join(part);
            fs::create_dir_all(&directory).map_err(|source| Trouble::file(directory, source))?;
        }
        Ok(Home { path, program })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn processes(&self) -> Vec<Process> {
        Process::all_of(&self.path)
    }

    /// Runs a command to its end.
    pub(super) fn run(&self, words: &[&str]) -> Result<(), Trouble> {
        self.run_until(words, |_| ())
    }

    /// Runs a command and does something to it on the way.
    pub(super) fn run_until(&self, words: &[&str], meanwhile: impl FnOnce(u32)) -> Result<(), Trouble> {
        let answer = self.path.join("answer");
        let file = fs::File::create(&answer).map_err(|source| Trouble::file(&answer, source))?;
        let mut child =
            self.command(words).stdout(file).stderr(Stdio::null()).spawn().map_err(|source| {
                Trouble::CannotStart { program: self.program.display().to_string(), source }
            })?;
        meanwhile(child.id());
        let until = Instant::now() + COMMAND;
        while !matches!(child.try_wait(), Ok(Some(_))) {
            if Instant::now() > until {
                let _ = child.kill();
                return Err(self.trouble(words, "hangs"));
            }
            std::thread::sleep(LOOK);
        }
        let said = fs::read_to_string(&answer).unwrap_or_default();
        let failure = serde_json::from_str::<Value>(&said).unwrap_or_default();
        match failure.pointer("/error/code").and_then(Value::as_str) {
            Some("INTERNAL") => Err(self.trouble(words, &format!("failed as a bug does: {said}"))),
            _ => Ok(()),
        }
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        for (name, _) in std::env::vars_os() {
            if ["TABWIRE_", "XDG_"].iter().any(|prefix| name.to_string_lossy().starts_with(prefix)) {
                command.env_remove(name);
            }
        }
        command
            .args(words)
            .current_dir(&self.path)
            .env("TABWIRE_HOME", &self.path)
            .env("HOME", self.path.join("user"))
            .env("TMPDIR", self.path.join("tmp"))
            .envs([("TABWIRE_PORT", "0"), ("TABWIRE_LINGER", "5")])
            .stdin(Stdio::null());
        command
    }

    fn trouble(&self, words: &[&str], what: &str) -> Trouble {
        let home = self.path.display();
        Trouble::Soaked(format!("`tabwire {}` {what}\nIts files are left in {home}.", words.join(" ")))
    }

    /// Stops everything and measures what is left.
    pub(super) fn rest(&self, begun: Instant, counts: bool) -> Result<Sample, Trouble> {
        self.run(&["--json", "session", "stop", "--all"])?;
        self.run(&["--json", "daemon", "start"])?;
        let until = Instant::now() + REST;
        let daemon = loop {
            let (left, profiles) = (self.processes(), self.profiles());
            match left.as_slice() {
                [only] if only.command.contains("daemon run") && profiles == 0 => break only.pid,
                _ if Instant::now() > until => {
                    let words = ["session", "stop", "--all"];
                    return Err(self.trouble(&words, &format!("leaves {profiles} profiles and {left:#?}")));
                }
                _ => std::thread::sleep(LOOK),
            }
        };
        self.remove_litter();
        let sample = Sample::take(begun.elapsed(), daemon, &self.path, counts);
        println!("{sample}");
        Ok(sample)
    }

    /// How many browsers' files there are; those of killed ones are swept a moment later.
    fn profiles(&self) -> usize {
        let count =
            |part: &str| fs::read_dir(self.path.join("runtime").join(part)).map_or(0, Iterator::count);
        count("profiles") + count("browsers")
    }

    /// What a killed browser leaves in the directory for temporary files, where nothing says whose it is.
    fn remove_litter(&self) {
        for entry in fs::read_dir(self.path.join("tmp")).into_iter().flatten().flatten() {
            let _ = fs::remove_dir_all(entry.path());
            let _ = fs::remove_file(entry.path());
        }
    }

    /// Ends everything.
    pub(super) fn end(&self) {
        let _ = self.command(&["daemon", "stop"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
        for process in self.processes() {
            signal(process.pid, "KILL");
        }
    }

    /// Removes the directory; after a failure it is left to be looked at.
    pub(super) fn remove(&self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}
