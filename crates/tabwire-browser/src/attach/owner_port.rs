//! Finds the debugging port of the browser that holds a profile's lock. Chromium writes `DevToolsActivePort` only for port
//! 0, so a browser with a port of the user's choice is found by its command line.

use std::path::Path;

use crate::process::identity::ProcessIdentity;
use crate::profile::lock::{LockState, lock_state};

/// Bytes of a command line that are read.
#[cfg(target_os = "linux")]
const COMMAND_BYTES: u64 = 256 * 1024;

/// The port in the command line of the process that holds the lock, if that process listens on it. Another process may
/// have had the port first; Chromium then runs without one.
pub(super) fn find_owner_port(profile: &Path) -> Option<u16> {
    let LockState::Live { owner: Some(owner) } = lock_state(profile) else { return None };
    let port = find_port(&command_line(&owner)?)?;
    (owner.is_alive() && listens(&owner, port)).then_some(port)
}

/// The last debugging port of a command line, as Chromium reads it; `None` for port 0. Chromium separates the arguments of
/// its main process by spaces when it sets its title, else by zeros.
fn find_port(command: &str) -> Option<u16> {
    let words = command.split(['\0', ' ']).skip(1).take_while(|word| *word != "--");
    let ports = words.filter_map(|word| word.strip_prefix("--remote-debugging-port="));
    ports.last()?.parse().ok().filter(|port| *port != 0)
}

#[cfg(target_os = "linux")]
fn command_line(owner: &ProcessIdentity) -> Option<String> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    let file = std::fs::File::open(format!("/proc/{}/cmdline", owner.pid())).ok()?;
    file.take(COMMAND_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Whether a process listens on a TCP port of the loopback address.
#[cfg(target_os = "linux")]
fn listens(owner: &ProcessIdentity, port: u16) -> bool {
    let tables = ["tcp", "tcp6"].map(|name| std::fs::read_to_string(format!("/proc/net/{name}")));
    let sockets: Vec<String> = tables
        .iter()
        .flatten()
        .flat_map(|table| table.lines())
        .filter_map(|line| find_listener(line, port))
        .map(|inode| format!("socket:[{inode}]"))
        .collect();
    let Ok(descriptors) = std::fs::read_dir(format!("/proc/{}/fd", owner.pid())) else { return false };
    let mut links = descriptors.flatten().filter_map(|entry| std::fs::read_link(entry.path()).ok());
    links.any(|link| sockets.iter().any(|socket| link == Path::new(socket)))
}

/// The inode of a listening socket in a line of `/proc/net/tcp`, if it has this port.
#[cfg(target_os = "linux")]
fn find_listener(line: &str, port: u16) -> Option<&str> {
    /// The state TCP_LISTEN of the kernel.
    const LISTEN: &str = "0A";
    let mut words = line.split_whitespace();
    let local = words.nth(1)?;
    let (_, local_port) = local.rsplit_once(':')?;
    let state = words.nth(1)?;
    let inode = words.nth(5)?;
    (state == LISTEN && u16::from_str_radix(local_port, 16) == Ok(port)).then_some(inode)
}

#[cfg(not(target_os = "linux"))]
fn command_line(owner: &ProcessIdentity) -> Option<String> {
    let pid = owner.pid().to_string();
    let output = std::process::Command::new("/bin/ps").args(["-o", "command=", "-p", &pid]).output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The system does not say; discovery then checks that a browser responds.
#[cfg(not(target_os = "linux"))]
fn listens(_owner: &ProcessIdentity, _port: u16) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b2_the_last_port_of_a_command_line_counts() {
        for (command, port) in [
            ("chromium\0--remote-debugging-port=9222\0--no-first-run\0", Some(9222)),
            ("/opt/chrome --type=x --remote-debugging-port=1 --remote-debugging-port=2 about:blank", Some(2)),
            ("chromium\0--remote-debugging-port=0\0", None),
            ("chromium\0--\0--remote-debugging-port=9222\0", None),
            ("chromium\0--headless\0", None),
            ("--remote-debugging-port=9222", None),
        ] {
            assert_eq!(find_port(command), port, "{command:?}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn b2_a_process_listens_only_on_its_own_ports() {
        let own = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = own.local_addr().expect("an address").port();
        let current = ProcessIdentity::current().expect("this process");
        assert!(listens(&current, port));
        let parent = rustix::process::getppid().expect("a parent").as_raw_pid().unsigned_abs();
        let other = ProcessIdentity::of(parent).expect("its identity");
        assert!(!listens(&other, port), "the parent does not listen on it");
        drop(own);
        assert!(!listens(&current, port));
    }
}
