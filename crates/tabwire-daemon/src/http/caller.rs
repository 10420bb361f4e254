//! The client of a connection: its process, and the program that the process runs.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use http::{HeaderMap, header};
use tabwire_audit::{ClientInfo, Transport};
use tabwire_engine::plain_line;

use crate::http::peer_process;
use crate::limits::CLIENT_NAME_BYTES;

/// The process name of our own CLI. The client is then the process that ran the CLI.
const OWN_PROGRAM: &str = "tabwire";

/// Processes above a client that are searched for an agent.
const ANCESTORS: usize = 12;

/// The client of a connection. Its program is looked up on demand, because that reads several files of `/proc`.
#[derive(Clone, Debug)]
pub(crate) struct Caller(Arc<Peer>);

#[derive(Debug)]
struct Peer {
    pid: OnceLock<Option<i32>>,
    /// The peer's and our address of a connection to the port.
    addresses: Option<(SocketAddr, SocketAddr)>,
    transport: Transport,
    found: OnceLock<ClientInfo>,
}

impl Caller {
    /// A client on the unix socket.
    pub(crate) fn at_socket(pid: Option<i32>) -> Self {
        Self::new(OnceLock::from(pid), None, Transport::Socket)
    }

    /// A client on the port, with its and our address. Its process is unknown until [`Self::find_process`].
    pub(crate) fn at_port(addresses: Option<(SocketAddr, SocketAddr)>) -> Self {
        Self::new(OnceLock::new(), addresses, Transport::Port)
    }

    fn new(
        pid: OnceLock<Option<i32>>,
        addresses: Option<(SocketAddr, SocketAddr)>,
        transport: Transport,
    ) -> Self {
        Self(Arc::new(Peer { pid, addresses, transport, found: OnceLock::new() }))
    }

    /// The client's process, if it can be found. Searches the open files of the user's processes, once.
    pub(crate) async fn find_process(&self) -> Option<u32> {
        let Peer { pid, addresses, .. } = &*self.0;
        if let (None, Some((peer, own))) = (pid.get(), *addresses) {
            let searched = tokio::task::spawn_blocking(move || peer_process::find(peer, own)).await;
            let _ = pid.set(searched.ok().flatten());
        }
        pid.get().copied().flatten().and_then(|pid| u32::try_from(pid).ok())
    }

    /// The process at the other end of the socket.
    pub(crate) fn pid(&self) -> Option<i32> {
        self.0.pid.get().copied().flatten()
    }

    /// Looks up the process and program, once.
    pub(crate) fn identify(&self) -> &ClientInfo {
        let Peer { pid, transport, found, .. } = &*self.0;
        let pid = pid.get().copied().flatten();
        found.get_or_init(|| {
            let unknown = ClientInfo { pid, transport: *transport, ..ClientInfo::default() };
            let Some(process) = pid.and_then(find_process) else { return unknown };
            let asking = if process.program == OWN_PROGRAM {
                find_parent(process.pid).and_then(find_process).unwrap_or(process)
            } else {
                process
            };
            ClientInfo { pid: Some(asking.pid), program: Some(asking.program), ..unknown }
        })
    }

    /// How the client reaches the daemon.
    pub(crate) fn transport(&self) -> Transport {
        self.0.transport
    }

    /// The programs of the client's process and of the processes that started it, the nearest first.
    pub(crate) fn ancestors(&self) -> Vec<String> {
        let processes = std::iter::successors(self.pid(), |pid| find_parent(*pid)).take(ANCESTORS);
        processes.filter_map(find_process).map(|process| process.program).collect()
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
        let client_info = Caller::at_port(None).named(None, Some(&headers));
        assert_eq!(
            (client_info.name.as_deref(), client_info.transport),
            (Some("Playwright/1.60"), Transport::Port)
        );
        assert_eq!(clean_name(&"ä".repeat(500)).map(|name| name.len()), Some(CLIENT_NAME_BYTES));
    }
}
