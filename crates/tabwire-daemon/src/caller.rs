//! Who is at the other end of a connection: the process, and the program it runs.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use http::{HeaderMap, header};
use tabwire_engine::plain_line;
use tabwire_journal::{Asker, Door};

use crate::limits::CLIENT_NAME_BYTES;

/// The name our own program has among processes. It asks for somebody: the process that ran it.
const OWN_PROGRAM: &str = "tabwire";

/// Who is at the other end of a connection. What program that is takes some reads, so it is found out when somebody
/// wants to know, or while there is nothing else to do.
#[derive(Clone, Debug)]
pub(crate) struct Caller(Arc<Peer>);

#[derive(Debug)]
struct Peer {
    pid: Option<i32>,
    door: Door,
    found: OnceLock<Asker>,
}

impl Caller {
    /// Whoever connected to the socket.
    pub(crate) fn at_socket(pid: Option<i32>) -> Self {
        Self(Arc::new(Peer { pid, door: Door::Socket, found: OnceLock::new() }))
    }

    /// Whoever connected to the port; the system does not tell who that is.
    pub(crate) fn at_port() -> Self {
        Self(Arc::new(Peer { pid: None, door: Door::Port, found: OnceLock::new() }))
    }

    /// Finds out who it is, if nobody has yet.
    pub(crate) fn look(&self) -> &Asker {
        let Peer { pid, door, found } = &*self.0;
        found.get_or_init(|| {
            let unknown = Asker { pid: *pid, door: *door, ..Asker::default() };
            let Some(process) = pid.and_then(find_process) else { return unknown };
            let asking = if process.program == OWN_PROGRAM {
                find_parent(process.pid).and_then(find_process).unwrap_or(process)
            } else {
                process
            };
            Asker { pid: Some(asking.pid), program: Some(asking.program), ..unknown }
        })
    }

    /// The caller by the name it gives itself, or else by what it says to be in HTTP.
    pub(crate) fn named(&self, name: Option<&str>, headers: Option<&HeaderMap>) -> Asker {
        let agent = headers.and_then(|headers| headers.get(header::USER_AGENT)?.to_str().ok());
        // Only the product: what follows describes machines.
        let product = agent.and_then(|agent| agent.split_whitespace().next());
        Asker { name: name.or(product).and_then(clean_name), ..self.look().clone() }
    }

    /// Who it is, in a few words.
    pub(crate) fn told(&self, name: Option<&str>) -> String {
        let Asker { name, pid, program, .. } = self.named(name, None);
        let name = name.as_deref().or(program.as_deref()).unwrap_or("somebody");
        match (&program, pid) {
            (Some(program), Some(pid)) => format!("{name} ({program}, process {pid})"),
            _ => name.to_owned(),
        }
    }
}

/// A name of printable letters and bounded length, or none.
fn clean_name(name: &str) -> Option<String> {
    let printable = plain_line(name, CLIENT_NAME_BYTES);
    let mut clean = String::new();
    for letter in printable.chars() {
        if clean.len() + letter.len_utf8() > CLIENT_NAME_BYTES {
            break;
        }
        clean.push(letter);
    }
    let clean = clean.trim().to_owned();
    (!clean.is_empty()).then_some(clean)
}

struct Process {
    pid: i32,
    program: String,
}

fn facts(pid: i32, name: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/{name}"))
}

fn find_process(pid: i32) -> Option<Process> {
    let program = std::fs::read_to_string(facts(pid, "comm")).ok()?;
    Some(Process { pid, program: clean_name(&program)? })
}

fn find_parent(pid: i32) -> Option<i32> {
    let status = std::fs::read_to_string(facts(pid, "stat")).ok()?;
    // The program's name stands in parentheses and may have some itself.
    let (_, rest) = status.rsplit_once(')')?;
    let parent = rest.split_whitespace().nth(1)?.parse().ok()?;
    (parent > 1).then_some(parent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_is_known_by_process_and_by_the_name_it_gives() {
        let own = std::process::id().cast_signed();
        let caller = Caller::at_socket(Some(own));
        let asker = caller.named(Some(" my\u{7} agent "), None);
        assert_eq!(
            (asker.name.as_deref(), asker.pid, asker.door),
            (Some("my agent"), Some(own), Door::Socket)
        );
        assert!(asker.program.is_some_and(|program| !program.is_empty()));
        assert_eq!(find_parent(own), Some(std::os::unix::process::parent_id().cast_signed()));
        let gone = Caller::at_socket(Some(i32::MAX)).named(None, None);
        assert_eq!((gone.pid, gone.program), (Some(i32::MAX), None));
        let mut headers = HeaderMap::new();
        headers.insert(header::USER_AGENT, "Playwright/1.60 (x64; ubuntu 24.04)".parse().expect("a header"));
        let asker = Caller::at_port().named(None, Some(&headers));
        assert_eq!((asker.name.as_deref(), asker.door), (Some("Playwright/1.60"), Door::Port));
        assert_eq!(clean_name(&"ä".repeat(500)).map(|name| name.len()), Some(CLIENT_NAME_BYTES));
    }
}
