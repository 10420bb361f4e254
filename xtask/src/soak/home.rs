//! The directory, commands and processes of the soak test.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::process::{Process, signal};
use super::sample::Sample;
use crate::error::Error;

/// A command that takes longer hangs.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(100);

/// Time limit for processes to end after `session stop --all`.
const IDLE_TIMEOUT: Duration = Duration::from_secs(40);

const POLL: Duration = Duration::from_millis(10);

/// `TABWIRE_HOME` of the soak test.
pub(super) struct Home {
    path: PathBuf,
    program: PathBuf,
}

impl Home {
    /// Creates a temporary directory for this program.
    pub(super) fn create(program: PathBuf) -> Result<Home, Error> {
        let path = std::env::temp_dir().join(format!("tw-soak-{}", std::process::id()));
        for part in ["user", "tmp"] {
            let directory = path.join(part);
            fs::create_dir_all(&directory).map_err(|source| Error::file(directory, source))?;
        }
        Ok(Home { path, program })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn processes(&self) -> Vec<Process> {
        Process::all_of(&self.path)
    }

    /// Runs a command and waits for its end.
    pub(super) fn run(&self, words: &[&str]) -> Result<(), Error> {
        self.run_until(words, |_| ())
    }

    /// Runs a command and calls `meanwhile` with its pid.
    pub(super) fn run_until(&self, words: &[&str], meanwhile: impl FnOnce(u32)) -> Result<(), Error> {
        let output = self.path.join("output");
        let file = fs::File::create(&output).map_err(|source| Error::file(&output, source))?;
        let mut child =
            self.command(words).stdout(file).stderr(Stdio::null()).spawn().map_err(|source| {
                Error::CannotStart { program: self.program.display().to_string(), source }
            })?;
        meanwhile(child.id());
        let until = Instant::now() + COMMAND_TIMEOUT;
        while !matches!(child.try_wait(), Ok(Some(_))) {
            if Instant::now() > until {
                let _ = child.kill();
                return Err(self.failure(words, "hangs"));
            }
            std::thread::sleep(POLL);
        }
        let printed = fs::read_to_string(&output).unwrap_or_default();
        let failure = serde_json::from_str::<Value>(&printed).unwrap_or_default();
        match failure.pointer("/error/code").and_then(Value::as_str) {
            Some("INTERNAL") => Err(self.failure(words, &format!("reports INTERNAL: {printed}"))),
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

    fn failure(&self, words: &[&str], what: &str) -> Error {
        let home = self.path.display();
        Error::SoakFailed(format!("`tabwire {}` {what}\nIts files are left in {home}.", words.join(" ")))
    }

    /// Stops every session and measures the idle daemon.
    pub(super) fn measure_idle(&self, start: Instant, counts: bool) -> Result<Sample, Error> {
        self.run(&["--json", "session", "stop", "--all"])?;
        self.run(&["--json", "daemon", "start"])?;
        let until = Instant::now() + IDLE_TIMEOUT;
        let daemon = loop {
            let (left, profiles) = (self.processes(), self.profiles());
            match left.as_slice() {
                [only] if only.command.contains("daemon run") && profiles == 0 => break only.pid,
                _ if Instant::now() > until => {
                    let words = ["session", "stop", "--all"];
                    return Err(self.failure(&words, &format!("leaves {profiles} profiles and {left:#?}")));
                }
                _ => std::thread::sleep(POLL),
            }
        };
        self.remove_temporary_files();
        let sample = Sample::take(start.elapsed(), daemon, &self.path, counts);
        println!("{sample}");
        Ok(sample)
    }

    /// The number of profiles and browser descriptors. The daemon sweeps those of killed browsers.
    fn profiles(&self) -> usize {
        let count =
            |part: &str| fs::read_dir(self.path.join("runtime").join(part)).map_or(0, Iterator::count);
        count("profiles") + count("browsers")
    }

    /// Removes the temporary files that killed browsers leave.
    fn remove_temporary_files(&self) {
        for entry in fs::read_dir(self.path.join("tmp")).into_iter().flatten().flatten() {
            let _ = fs::remove_dir_all(entry.path());
            let _ = fs::remove_file(entry.path());
        }
    }

    /// Stops the daemon and kills every process that is left.
    pub(super) fn end(&self) {
        let _ = self.command(&["daemon", "stop"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
        for process in self.processes() {
            signal(process.pid, "KILL");
        }
    }

    /// Removes the directory. After a failure it stays for inspection.
    pub(super) fn remove(&self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}
