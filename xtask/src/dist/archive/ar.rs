//! Writes `ar` archives: the outer format of Debian packages.

use super::Timestamp;

/// Packs files in the given order, which Debian's format fixes.
pub(in super::super) fn ar(members: &[(&str, &[u8])], time: Timestamp) -> Vec<u8> {
    let mut archive = b"!<arch>\n".to_vec();
    for (name, bytes) in members {
        let header = format!("{name:<16}{:<12}0     0     100644  {:<10}`\n", time.0, bytes.len());
        archive.extend(header.as_bytes());
        archive.extend(*bytes);
        // Members begin at even positions.
        if bytes.len() % 2 == 1 {
            archive.push(b'\n');
        }
    }
    archive
}
