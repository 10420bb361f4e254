//! The system's keyring, through the program that comes with it. A secret goes in on standard input and comes out on
//! standard output; it is never an argument, where every process could read it.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::limits::KEYRING_DEADLINE;

/// How often a program that is to end is looked after.
const LOOK: Duration = Duration::from_millis(10);

/// Most that is read of an answer.
const ANSWER_BYTES: u64 = 4096;

/// What secrets of ours are filed under.
const SERVICE: &str = "tabwire";

/// The keyring of this machine, if it has one.
#[derive(Debug)]
pub(super) struct Keyring<'a> {
    path_env: Option<&'a OsStr>,
    /// Tells apart the vaults of one user.
    account: String,
}

impl<'a> Keyring<'a> {
    pub(super) fn new(path_env: Option<&'a OsStr>, directory: &Path) -> Self {
        Self { path_env, account: format!("vault {}", directory.display()) }
    }

    fn find(&self, program: &str) -> Option<PathBuf> {
        // A relative folder would mean another program in another directory.
        std::env::split_paths(self.path_env?)
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join(program))
            .find(|path| path.is_file())
    }

    /// Stores a secret; says whether that worked.
    pub(super) fn store(&self, secret: &str) -> bool {
        let account = self.account.as_str();
        if cfg!(target_os = "macos") {
            // In this mode commands are read from standard input.
            let line = format!("add-generic-password -U -s {SERVICE} -a \"{account}\" -w {secret}\n");
            return !account.contains('"') && self.run("security", &["-i"], line.as_bytes()).is_some();
        }
        let label = "--label=Tabwire: key of saved logins";
        let arguments = ["store", label, "service", SERVICE, "account", account];
        self.run("secret-tool", &arguments, secret.as_bytes()).is_some()
    }

    /// The secret that was stored.
    pub(super) fn look_up(&self) -> Option<String> {
        let account = self.account.as_str();
        let answer = if cfg!(target_os = "macos") {
            self.run("security", &["find-generic-password", "-s", SERVICE, "-a", account, "-w"], b"")
        } else {
            self.run("secret-tool", &["lookup", "service", SERVICE, "account", account], b"")
        };
        answer.map(|text| text.trim_end_matches(['\r', '\n']).to_owned()).filter(|text| !text.is_empty())
    }

    /// Removes the secret.
    pub(super) fn remove(&self) {
        let account = self.account.as_str();
        // What is left of a key opens nothing any more.
        let _ = if cfg!(target_os = "macos") {
            self.run("security", &["delete-generic-password", "-s", SERVICE, "-a", account], b"")
        } else {
            self.run("secret-tool", &["clear", "service", SERVICE, "account", account], b"")
        };
    }

    /// Runs a program to its end; what it wrote, if it succeeded in time.
    fn run(&self, program: &str, arguments: &[&str], input: &[u8]) -> Option<String> {
        let mut child = Command::new(self.find(program)?)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let written = child.stdin.take().map(|mut pipe| pipe.write_all(input));
        let is_done = wait(&mut child);
        let mut answer = String::new();
        if is_done {
            child.stdout.take()?.take(ANSWER_BYTES).read_to_string(&mut answer).ok()?;
        }
        (is_done && written.is_some_and(|written| written.is_ok())).then_some(answer)
    }
}

/// Waits for a program's end, and ends it when it takes too long; says whether it succeeded.
fn wait(child: &mut Child) -> bool {
    let until = Instant::now() + KEYRING_DEADLINE;
    while Instant::now() < until {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) => std::thread::sleep(LOOK),
            Err(_) => break,
        }
    }
    let _ = child.kill();
    let _ = child.wait();
    false
}
