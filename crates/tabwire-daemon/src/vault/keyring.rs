//! The system's keyring, through its command-line program. A secret passes through stdin and stdout, and never as an
//! argument, which every process can read.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long the keyring may take. It may ask its user to unlock it.
const KEYRING_DEADLINE: Duration = Duration::from_secs(30);

/// How often to check whether the program has ended.
const POLL: Duration = Duration::from_millis(10);

/// Longest output that is read.
const OUTPUT_BYTES: u64 = 4096;

/// The service name of our secrets.
const SERVICE: &str = "tabwire";

/// The keyring of this machine, if it has one.
#[derive(Debug)]
pub(super) struct Keyring<'a> {
    path_env: Option<&'a OsStr>,
    /// Distinguishes the vaults of one user.
    account: String,
}

impl<'a> Keyring<'a> {
    pub(super) fn new(path_env: Option<&'a OsStr>, directory: &Path) -> Self {
        Self { path_env, account: format!("vault {}", directory.display()) }
    }

    fn find(&self, program: &str) -> Option<PathBuf> {
        // A relative entry of PATH would depend on the working directory.
        std::env::split_paths(self.path_env?)
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join(program))
            .find(|path| path.is_file())
    }

    /// Stores a secret; whether that worked.
    pub(super) fn store(&self, secret: &str) -> bool {
        let account = self.account.as_str();
        if cfg!(target_os = "macos") {
            // `-i` reads commands from stdin.
            let line = format!("add-generic-password -U -s {SERVICE} -a \"{account}\" -w {secret}\n");
            return !account.contains('"') && self.run("security", &["-i"], line.as_bytes()).is_some();
        }
        let label = "--label=Tabwire: key of saved logins";
        let arguments = ["store", label, "service", SERVICE, "account", account];
        self.run("secret-tool", &arguments, secret.as_bytes()).is_some()
    }

    /// The stored secret.
    pub(super) fn look_up(&self) -> Option<String> {
        let account = self.account.as_str();
        let response = if cfg!(target_os = "macos") {
            self.run("security", &["find-generic-password", "-s", SERVICE, "-a", account, "-w"], b"")
        } else {
            self.run("secret-tool", &["lookup", "service", SERVICE, "account", account], b"")
        };
        response.map(|text| text.trim_end_matches(['\r', '\n']).to_owned()).filter(|text| !text.is_empty())
    }

    /// Removes the secret.
    pub(super) fn remove(&self) {
        let account = self.account.as_str();
        // A leftover key opens nothing: the vault is gone.
        let _ = if cfg!(target_os = "macos") {
            self.run("security", &["delete-generic-password", "-s", SERVICE, "-a", account], b"")
        } else {
            self.run("secret-tool", &["clear", "service", SERVICE, "account", account], b"")
        };
    }

    /// Runs a program; its output, if it succeeded in time.
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
        let mut response = String::new();
        if is_done {
            child.stdout.take()?.take(OUTPUT_BYTES).read_to_string(&mut response).ok()?;
        }
        (is_done && written.is_some_and(|written| written.is_ok())).then_some(response)
    }
}

/// Waits for a program, and kills it when it takes too long; whether it succeeded.
fn wait(child: &mut Child) -> bool {
    let until = Instant::now() + KEYRING_DEADLINE;
    while Instant::now() < until {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) => std::thread::sleep(POLL),
            Err(_) => break,
        }
    }
    let _ = child.kill();
    let _ = child.wait();
    false
}
