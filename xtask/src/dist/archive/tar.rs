//! Writes ustar archives, compressed with gzip.

use std::io::Write;

use flate2::{Compression, GzBuilder};

use super::{Entry, Timestamp, folders, sorted};

const BLOCK: usize = 512;

/// Longest name without a prefix, and longest prefix.
const NAME_BYTES: usize = 100;
const PREFIX_BYTES: usize = 155;

/// Packs files, with entries for their folders.
pub(in super::super) fn tar_gz(entries: Vec<Entry>, time: Timestamp, level: u32) -> Vec<u8> {
    let mut encoder = GzBuilder::new().mtime(0).write(Vec::new(), Compression::new(level));
    // Writing into memory cannot fail.
    let mut write = |bytes: &[u8]| encoder.write_all(bytes).expect("memory takes every byte");
    for folder in folders(&entries) {
        write(&header(&format!("{folder}/"), 0o755, 0, b'5', time));
    }
    for entry in sorted(entries) {
        write(&header(&entry.path, entry.mode, entry.bytes.len(), b'0', time));
        write(&entry.bytes);
        write(&[0; BLOCK][..(BLOCK - entry.bytes.len() % BLOCK) % BLOCK]);
    }
    write(&[0; 2 * BLOCK]);
    encoder.finish().expect("memory takes every byte")
}

fn header(path: &str, mode: u32, size: usize, kind: u8, time: Timestamp) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    let (prefix, name) = split_path(path);
    let mut put = |at: usize, bytes: &[u8]| block[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, name.as_bytes());
    put(100, format!("{mode:07o}").as_bytes());
    put(108, b"0000000");
    put(116, b"0000000");
    put(124, format!("{size:011o}").as_bytes());
    put(136, format!("{:011o}", time.0).as_bytes());
    put(148, b"        ");
    put(156, &[kind]);
    put(257, b"ustar\x0000");
    put(265, b"root");
    put(297, b"root");
    put(345, prefix.as_bytes());
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    block
}

/// Splits a long path at a slash, so that both parts fit.
fn split_path(path: &str) -> (&str, &str) {
    if path.len() <= NAME_BYTES {
        return ("", path);
    }
    let fits = |at: &usize| *at <= PREFIX_BYTES && path.len() - at - 1 <= NAME_BYTES;
    let at = path.match_indices('/').map(|(at, _)| at).find(fits);
    let at = at.unwrap_or_else(|| panic!("`{path}` is too long for an archive"));
    (&path[..at], &path[at + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_paths_are_split_at_a_slash() {
        assert_eq!(split_path("a/b"), ("", "a/b"));
        let (folder, file) = ("f".repeat(90), "n".repeat(60));
        assert_eq!(split_path(&format!("{folder}/{file}")), (folder.as_str(), file.as_str()));
    }

    #[test]
    fn tar_reads_what_is_written() {
        let directory = tempfile::tempdir().unwrap();
        let entries =
            vec![Entry::program("p/bin/run", *b"#!/bin/sh\n"), Entry::text("p/text", &"x".repeat(513))];
        let file = directory.path().join("a.tar.gz");
        std::fs::write(&file, tar_gz(entries, Timestamp(1_700_000_000), 6)).unwrap();
        let listing =
            std::process::Command::new("tar").arg("tzvf").arg(&file).env("TZ", "UTC").output().unwrap();
        let listing = String::from_utf8(listing.stdout).unwrap();
        let lines: Vec<Vec<&str>> = listing.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines.len(), 4, "{listing}");
        assert_eq!(lines[2], ["-rwxr-xr-x", "root/root", "10", "2023-11-14", "22:13", "p/bin/run"]);
        assert_eq!(lines[3][2], "513", "{listing}");
    }
}
