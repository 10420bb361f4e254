//! Finds the process at the other end of a loopback connection.
//!
//! Linux lists the inode of every socket, and every process lists the inodes of its open files. Files of other users'
//! processes cannot be read, so their processes stay unknown, as all do on other systems.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::fs::MetadataExt;

/// Processes that are searched at most.
const PROCESSES: usize = 8_192;

/// The process whose socket has the address `peer` and is connected to `own`.
pub(crate) fn find(peer: SocketAddr, own: SocketAddr) -> Option<i32> {
    let inode = ["/proc/net/tcp", "/proc/net/tcp6"]
        .iter()
        .filter_map(|table| fs::read_to_string(table).ok())
        .find_map(|table| find_inode(&table, peer, own))?;
    let user = rustix::process::getuid().as_raw();
    let wanted = format!("socket:[{inode}]");
    let processes = fs::read_dir("/proc").ok()?.flatten().take(PROCESSES);
    processes
        // The descriptors of other users' processes cannot be read (proc_pid_fd(5)).
        .filter(|entry| entry.metadata().is_ok_and(|facts| facts.uid() == user))
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .find(|pid| has_file(*pid, &wanted))
}

fn has_file(pid: i32, wanted: &str) -> bool {
    let Ok(files) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    files.flatten().any(|file| {
        fs::read_link(file.path())
            .is_ok_and(|target| target.as_os_str().as_encoded_bytes() == wanted.as_bytes())
    })
}

/// The inode of the socket with these addresses in a table of `/proc/net`.
fn find_inode(table: &str, peer: SocketAddr, own: SocketAddr) -> Option<u64> {
    table.lines().skip(1).find_map(|line| {
        let mut columns = line.split_whitespace().skip(1);
        let is_it = parse_address(columns.next()?)? == peer && parse_address(columns.next()?)? == own;
        let inode: u64 = columns.nth(6)?.parse().ok()?;
        (is_it && inode != 0).then_some(inode)
    })
}

/// Parses `0100007F:9401`: the address in the machine's byte order, the port in hexadecimal.
fn parse_address(text: &str) -> Option<SocketAddr> {
    let (address, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let word =
        |at: usize| u32::from_str_radix(address.get(at * 8..at * 8 + 8)?, 16).ok().map(u32::to_ne_bytes);
    let ip = match address.len() {
        8 => IpAddr::V4(Ipv4Addr::from(word(0)?)),
        32 => {
            let words = [word(0)?, word(1)?, word(2)?, word(3)?];
            let mut bytes = [0; 16];
            for (part, word) in bytes.chunks_exact_mut(4).zip(words) {
                part.copy_from_slice(&word);
            }
            IpAddr::V6(Ipv6Addr::from(bytes)).to_canonical()
        }
        _ => return None,
    };
    Some(SocketAddr::new(ip, port))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn p6_the_process_of_a_loopback_connection_is_found() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let own = listener.local_addr().expect("bound");
        let client = TcpStream::connect(own).expect("it listens");
        let peer = client.local_addr().expect("connected");
        assert_eq!(find(peer, own), Some(std::process::id().cast_signed()));
        let other = SocketAddr::new(peer.ip(), 1);
        assert_eq!(find(other, own), None);
    }

    #[test]
    fn addresses_of_both_tables_are_parsed() {
        let v4 = parse_address("0100007F:9401");
        assert_eq!(v4, Some(SocketAddr::from(([127, 0, 0, 1], 0x9401))));
        assert_eq!(parse_address("0000000000000000FFFF00000100007F:9401"), v4);
        assert_eq!(parse_address("0100007F"), None);
    }
}
