//! The versions of agents, and whether their users have signed in: asked of their programs, and kept for a while.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use serde::Serialize;
use tabwire_engine::plain_line;
use tokio::io::AsyncReadExt;
use tokio::process::Command;

use crate::chat::agent::table::AgentSpec;

/// How long a program may take.
const TIMEOUT: Duration = Duration::from_secs(8);

/// How long the state of a login is believed.
const SIGN_IN_KEPT: Duration = Duration::from_secs(60);

/// Output that is read, and the longest version.
const OUTPUT_BYTES: u64 = 4 * 1024;
const VERSION_BYTES: usize = 60;

/// Whether the user has signed in to an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SignIn {
    /// Not known before the first message.
    #[default]
    Unknown,
    /// The agent has a login.
    SignedIn,
    /// The user has to sign in.
    Needed,
}

/// What is known of an agent's program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AgentFacts {
    pub(crate) version: Option<String>,
    pub(crate) sign_in: SignIn,
}

/// A program as it was when it was asked.
type Stamp = (PathBuf, Option<SystemTime>, u64);

#[derive(Debug, Default)]
struct Known {
    versions: BTreeMap<Stamp, Option<String>>,
    sign_in: BTreeMap<&'static str, (SignIn, Instant)>,
}

/// What is known of all agents.
#[derive(Debug, Default)]
pub(crate) struct AgentProbes {
    known: Mutex<Known>,
}

impl AgentProbes {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A chat has learned whether the user has signed in.
    pub(in crate::chat) fn signed_in(&self, agent: &AgentSpec, is_signed_in: bool) {
        let state = if is_signed_in { SignIn::SignedIn } else { SignIn::Needed };
        self.known().sign_in.insert(agent.id, (state, Instant::now()));
    }

    /// Asks anew next time: the user says that something has changed.
    pub(in crate::chat) fn forget_sign_in(&self) {
        self.known().sign_in.clear();
    }

    /// Version and login of an agent, by its own program or else the one that speaks the protocol.
    pub(in crate::chat) async fn ask(&self, agent: &AgentSpec, search_path: Option<&OsStr>) -> AgentFacts {
        let own = agent.find_own_program(search_path);
        let Some(program) = own.clone().or_else(|| agent.find_program(search_path)) else {
            return AgentFacts::default();
        };
        let (version, sign_in) = tokio::join!(self.version(&program), self.sign_in(agent, own.as_deref()));
        AgentFacts { version, sign_in }
    }

    async fn version(&self, program: &Path) -> Option<String> {
        let stamp = stamp(program);
        if let Some(known) = self.known().versions.get(&stamp) {
            return known.clone();
        }
        let (_, text) = run(program, &["--version"]).await?;
        let version = find_version(&text);
        self.known().versions.insert(stamp, version.clone());
        version
    }

    async fn sign_in(&self, agent: &AgentSpec, own: Option<&Path>) -> SignIn {
        let known = self.known().sign_in.get(agent.id).copied();
        let (Some(arguments), Some(program)) = (agent.status, own) else {
            return known.map_or(SignIn::Unknown, |(state, _)| state);
        };
        if let Some((state, _)) = known.filter(|(_, since)| since.elapsed() < SIGN_IN_KEPT) {
            return state;
        }
        let Some((succeeded, _)) = run(program, arguments).await else { return SignIn::Unknown };
        self.signed_in(agent, succeeded);
        if succeeded { SignIn::SignedIn } else { SignIn::Needed }
    }
}

fn stamp(program: &Path) -> Stamp {
    let facts = std::fs::metadata(program).ok();
    let modified = facts.as_ref().and_then(|facts| facts.modified().ok());
    (program.to_owned(), modified, facts.map_or(0, |facts| facts.len()))
}

/// Runs a program; its success and output. `None` when it does not start or takes too long, and is killed.
async fn run(program: &Path, arguments: &[&str]) -> Option<(bool, String)> {
    let asked = async {
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .ok()?;
        let mut text = Vec::new();
        let mut output = child.stdout.take()?.take(OUTPUT_BYTES);
        output.read_to_end(&mut text).await.ok()?;
        // A program that prints more is not waited for.
        drop(output);
        let status = child.wait().await.ok()?;
        Some((status.success(), String::from_utf8_lossy(&text).into_owned()))
    };
    tokio::time::timeout(TIMEOUT, asked).await.ok().flatten()
}

/// The first word of the output that begins with a number and has a dot.
fn find_version(text: &str) -> Option<String> {
    let is_version =
        |word: &&str| word.starts_with(|first: char| first.is_ascii_digit()) && word.contains('.');
    let word = text.split_whitespace().map(|word| word.trim_start_matches('v')).find(is_version)?;
    Some(plain_line(word, VERSION_BYTES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_in_what_programs_print() {
        for (text, version) in [
            ("codex-cli 0.166.0\n", Some("0.166.0")),
            ("2.1.325 (Claude Code)", Some("2.1.325")),
            ("v1.18.2", Some("1.18.2")),
            ("usage: gemini", None),
            ("", None),
        ] {
            assert_eq!(find_version(text).as_deref(), version, "{text}");
        }
    }
}
