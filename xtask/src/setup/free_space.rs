//! Checks the free disk space before a long build starts.

use super::report;
use crate::error::Error;
use crate::repository::Repository;
use crate::step::find_output;

/// Free space needed when everything is built already, in KiB.
const RESERVE: u64 = 1 << 20;

/// Space that a clean build, the lints and the tests take, in KiB.
const WHOLE_BUILD: u64 = 7 << 20;

/// Fails when the disk is too full for the build.
pub(super) fn check(repository: &Repository) -> Result<(), Error> {
    let listing = find_output("df", &["-Pk", "."], repository.root());
    let Some(free) = listing.as_deref().and_then(free_kibibytes) else {
        report("disk", "cannot read the free space; continuing");
        return Ok(());
    };
    let built = repository.root().join("target/debug/deps").is_dir();
    let needed = if built { RESERVE } else { WHOLE_BUILD };
    if free >= needed {
        report("disk", &format!("{} free", in_gibibytes(free)));
        return Ok(());
    }
    Err(Error::NeedsUser {
        what: format!("{} free on this disk, {} needed", in_gibibytes(free), in_gibibytes(needed)),
        hint: "Free some space, for example with `cargo clean` in other checkouts, and run it again"
            .to_owned(),
    })
}

/// The fourth column of what POSIX `df -Pk` prints below its headings.
fn free_kibibytes(listing: &str) -> Option<u64> {
    listing.lines().nth(1)?.split_whitespace().nth(3)?.parse().ok()
}

fn in_gibibytes(kibibytes: u64) -> String {
    let tenths = kibibytes * 10 / (1 << 20);
    format!("{}.{} GiB", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_space_is_read_from_the_fourth_column() {
        let listing = "Filesystem 1024-blocks Used Available Capacity Mounted on\n/dev/a 100 60 40 60% /\n";
        assert_eq!(free_kibibytes(listing), Some(40));
        assert_eq!(free_kibibytes("df: error\n"), None);
        assert_eq!(in_gibibytes(2_202_009), "2.0 GiB");
    }
}
