//! The memory of a browser's processes. Linux only; unknown on other systems.

use std::fs;

use crate::limits;

/// Bytes of memory that the processes of a group use, with shared pages counted once; `None` if unknown.
#[must_use]
pub fn memory_of_group(group: i32) -> Option<u64> {
    let processes = fs::read_dir("/proc").ok()?.flatten().take(limits::PROCESSES_LOOKED_AT);
    let mut total = None;
    for process in processes {
        let path = process.path();
        let Some(stat) = fs::read_to_string(path.join("stat")).ok() else { continue };
        if group_of(&stat) != Some(group) {
            continue;
        }
        // A process can end while its files are read.
        let Ok(rollup) = fs::read_to_string(path.join("smaps_rollup")) else { continue };
        *total.get_or_insert(0) += proportional_bytes(&rollup).unwrap_or(0);
    }
    total
}

/// The process group in `/proc/PID/stat`. The process name before it can contain any character.
fn group_of(stat: &str) -> Option<i32> {
    stat.rsplit_once(") ")?.1.split(' ').nth(2)?.parse().ok()
}

fn proportional_bytes(rollup: &str) -> Option<u64> {
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    let kibibytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proc_files_are_parsed() {
        assert_eq!(group_of("12 (a) b) S 1 77 77 0"), Some(77));
        assert_eq!(group_of("12"), None);
        assert_eq!(proportional_bytes("x\nRss: 9 kB\nPss:                 348 kB\n"), Some(348 * 1024));
        assert_eq!(proportional_bytes("x"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn own_group_has_memory_and_unknown_group_has_none() {
        let own = rustix::process::getpgrp().as_raw_nonzero().get();
        assert!(memory_of_group(own).is_some_and(|bytes| bytes > 100_000));
        assert_eq!(memory_of_group(i32::MAX), None);
    }
}
