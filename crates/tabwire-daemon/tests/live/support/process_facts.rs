//! Facts about a process from `/proc`: memory, processor time, descriptors, listening sockets, command lines.

use std::collections::{BTreeSet, HashSet};
use std::fs;

/// The most memory a process has had resident, in bytes.
pub(crate) fn peak_memory(pid: u32) -> usize {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("a live process");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("a high-water mark");
    let kilobytes: usize =
        line.split_whitespace().nth(1).and_then(|word| word.parse().ok()).expect("a number");
    kilobytes * 1024
}

/// Processor time a process has used, in hundredths of a second.
pub(crate) fn ticks(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("a live process");
    let (_, after_name) = stat.rsplit_once(") ").expect("a name");
    let fields: Vec<&str> = after_name.split(' ').collect();
    [11, 12].iter().map(|at| fields[*at].parse::<u64>().expect("a number")).sum()
}

/// How many descriptors a process has open.
pub(crate) fn descriptors(pid: u32) -> usize {
    fs::read_dir(format!("/proc/{pid}/fd")).map(Iterator::count).unwrap_or_default()
}

/// A process and all its descendants.
pub(crate) fn tree(root: u32) -> BTreeSet<u32> {
    let mut found = BTreeSet::from([root]);
    loop {
        let before = found.len();
        for pid in all_processes() {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            let parent = stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1)?.parse().ok());
            if parent.is_some_and(|parent: u32| found.contains(&parent)) {
                found.insert(pid);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// Every process there is.
pub(crate) fn all_processes() -> Vec<u32> {
    let entries = fs::read_dir("/proc").expect("a proc file system");
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

/// A file of a process below `/proc`; empty when it is gone.
pub(crate) fn proc_file(pid: u32, name: &str) -> Vec<u8> {
    fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default()
}

fn socket_inodes(pid: u32) -> HashSet<String> {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/fd")) else { return HashSet::new() };
    let links = entries.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    links
        .filter_map(|link| Some(link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
        .collect()
}

/// The internet sockets a process listens on or receives datagrams at, as the kernel writes them.
pub(crate) fn internet_listeners(pid: u32) -> Vec<String> {
    let inodes = socket_inodes(pid);
    let mut listeners = Vec::new();
    for table in ["tcp", "tcp6", "udp", "udp6", "raw", "raw6"] {
        let text = fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap_or_default();
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let (Some(address), Some(state), Some(inode)) = (fields.get(1), fields.get(3), fields.get(9))
            else {
                continue;
            };
            // 0A is a listening stream, 07 an unconnected datagram socket.
            if inodes.contains(*inode) && matches!(*state, "0A" | "07") {
                listeners.push(format!("{table} {address}"));
            }
        }
    }
    listeners
}

/// The names of the unix sockets a process listens on.
pub(crate) fn unix_listeners(pid: u32) -> Vec<String> {
    let inodes = socket_inodes(pid);
    let text = fs::read_to_string(format!("/proc/{pid}/net/unix")).unwrap_or_default();
    let mut listeners = Vec::new();
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split_whitespace().collect();
        // 00010000 is the flag of a listening socket.
        if fields.get(3) == Some(&"00010000") && fields.get(6).is_some_and(|inode| inodes.contains(*inode)) {
            listeners.push(fields.get(7).copied().unwrap_or("(nameless)").to_owned());
        }
    }
    listeners
}
