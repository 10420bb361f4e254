//! The client of a connection: its process, and the program that the process runs.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use http::{HeaderMap, header};
use tabwire_audit::{ClientInfo, Transport};
use tabwire_engine::plain_line;

use crate::limits::CLIENT_NAME_BYTES;

/// The process name of our own CLI. The client is then the process that ran the CLI.
const OWN_PROGRAM: &str = "tabwire";

/// The client of a connection. Its program is looked up on demand, because that reads several files of `/proc`.
#[derive(Clone, Debug)]
pub(crate) struct Caller(Arc<Peer>);

#[derive(Debug)]
struct Peer {
    pid: Option<i32>,
    transport: Transport,
    found: OnceLock<ClientInfo>,
}

impl Caller {
    /// A client on the unix socket.
    pub(crate) fn at_socket(pid: Option<i32>) -> Self {
        Self(Arc::new(Peer { pid, transport: Transport::Socket, found: OnceLock::new() }))
    }

    /// A client on the port. The kernel does not report its process.
    pub(crate) fn at_port() -> Self {
        Self(Arc::new(Peer { pid: None, transport: Transport::Port, found: OnceLock::new() }))
    }

    /// Looks up the process and program, once.
    pub(crate) fn identify(&self) -> &ClientInfo {
        let Peer { pid, transport, found } = &*self.0;
        found.get_or_init(|| {
            let unknown = ClientInfo { pid: *pid, transport: *transport, ..ClientInfo::default() };
            let Some(process) = pid.and_then(find_process) else { return unknown };
            let asking = if process.program == OWN_PROGRAM {
                find_parent(process.pid).and_then(find_process).unwrap_or(process)
            } else {
                process
            };
            ClientInfo { pid: Some(asking.pid), program: Some(asking.program), ..unknown }
        })
    }

    /// The client with the name it gives itself, else the product of its User-Agent.
    pub(crate) fn named(&self, name: Option<&str>, headers: Option<&HeaderMap>) -> ClientInfo {
        let agent = headers.and_then(|headers| headers.get(header::USER_AGENT)?.to_str().ok());
        // Only the product: the rest of a User-Agent describes the machine.
        let product = agent.and_then(|agent| agent.split_whitespace().next());
        ClientInfo { name: name.or(product).and_then(clean_name), ..self.identify().clone() }
    }

    /// Name, program and process, for messages.
    pub(crate) fn label(&self, name: Option<&str>) -> String {
        let ClientInfo { name, pid, program, .. } = self.named(name, None);
        let name = name.as_deref().or(program.as_deref()).unwrap_or("unknown client");
        match (&program, pid) {
            (Some(program), Some(pid)) => format!("{name} ({program}, process {pid})"),
            _ => name.to_owned(),
        }
    }
}

/// A name of printable characters and bounded length, or none.
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

fn proc_file(pid: i32, name: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/{name}"))
}

fn find_process(pid: i32) -> Option<Process> {
    let program = std::fs::read_to_string(proc_file(pid, "comm")).ok()?;
    Some(Process { pid, program: clean_name(&program)? })
}

fn find_parent(pid: i32) -> Option<i32> {
    let status = std::fs::read_to_string(proc_file(pid, "stat")).ok()?;
    // The program's name is in parentheses and may contain parentheses itself.
    let (_, rest) = status.rsplit_once(')')?;
    let parent = rest.split_whitespace().nth(1)?.parse().ok()?;
    (parent > 1).then_some(parent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_has_a_process_and_the_name_it_gives() {
        let own = std::process::id().cast_signed();
        let caller = Caller::at_socket(Some(own));
        let client_info = caller.named(Some(" my\u{7} agent "), None);
        assert_eq!(
            (client_info.name.as_deref(), client_info.pid, client_info.transport),
            (Some("my agent"), Some(own), Transport::Socket)
        );
        assert!(client_info.program.is_some_and(|program| !program.is_empty()));
        assert_eq!(find_parent(own), Some(std::os::unix::process::parent_id().cast_signed()));
        let gone = Caller::at_socket(Some(i32::MAX)).named(None, None);
        assert_eq!((gone.pid, gone.program), (Some(i32::MAX), None));
        let mut headers = HeaderMap::new();
        headers.insert(header::USER_AGENT, "Playwright/1.60 (x64; ubuntu 24.04)".parse().expect("a header"));
        let client_info = Caller::at_port().named(None, Some(&headers));
        assert_eq!(
            (client_info.name.as_deref(), client_info.transport),
            (Some("Playwright/1.60"), Transport::Port)
        );
        assert_eq!(clean_name(&"ä".repeat(500)).map(|name| name.len()), Some(CLIENT_NAME_BYTES));
    }
}
