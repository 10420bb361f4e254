//! Reproducible archives: entries sorted by path, one time for all, no owner.

mod ar;
mod tar;
mod zip;

pub(super) use ar::ar;
pub(super) use tar::tar_gz;
pub(super) use zip::zip;

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::error::Error;
use crate::repository::Repository;
use crate::step;

/// The mode of a program and of any other file.
pub(super) const PROGRAM: u32 = 0o755;
pub(super) const FILE: u32 = 0o644;

/// A file of an archive.
#[derive(Clone)]
pub(super) struct Entry {
    /// Relative, with `/`.
    pub(super) path: String,
    pub(super) mode: u32,
    pub(super) bytes: Rc<[u8]>,
}

impl Entry {
    /// A file that is no program.
    pub(super) fn file(path: impl Into<String>, bytes: impl Into<Rc<[u8]>>) -> Entry {
        Entry { path: path.into(), mode: FILE, bytes: bytes.into() }
    }

    /// A file of text.
    pub(super) fn text(path: impl Into<String>, text: &str) -> Entry {
        Entry::file(path, text.as_bytes())
    }

    pub(super) fn program(path: impl Into<String>, bytes: impl Into<Rc<[u8]>>) -> Entry {
        Entry { path: path.into(), mode: PROGRAM, bytes: bytes.into() }
    }

    /// The same file in another folder, if it is in `from`.
    pub(super) fn moved(mut self, from: &str, to: &str) -> Entry {
        if let Some(rest) = self.path.strip_prefix(from) {
            self.path = format!("{to}{rest}");
        }
        self
    }

    /// The same file below a folder.
    pub(super) fn below(mut self, folder: &str) -> Entry {
        self.path = format!("{folder}/{}", self.path);
        self
    }
}

/// The time of every entry, in seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Timestamp(pub(super) u64);

impl Timestamp {
    /// `SOURCE_DATE_EPOCH`, else the time of the commit: the same commit gives the same bytes.
    pub(super) fn of_commit(repository: &Repository) -> Result<Timestamp, Error> {
        let variable = std::env::var("SOURCE_DATE_EPOCH").ok();
        let read = || step::find_output("git", &["log", "-1", "--format=%ct"], repository.root());
        let text = variable.or_else(read).unwrap_or_default();
        text.trim().parse().map(Timestamp).map_err(|_| Error::NeedsUser {
            what: "the time of the commit is unknown".to_owned(),
            hint: "Run it in a git checkout, or set SOURCE_DATE_EPOCH.".to_owned(),
        })
    }
}

fn sorted(mut entries: Vec<Entry>) -> Vec<Entry> {
    entries.sort_by(|one, other| one.path.cmp(&other.path));
    entries
}

/// The folders above the entries, parents first.
fn folders(entries: &[Entry]) -> BTreeSet<String> {
    let cut = |path: &str| path.rsplit_once('/').map(|(folder, _)| folder.to_owned());
    let above =
        |entry: &Entry| std::iter::successors(cut(&entry.path), |folder| cut(folder)).collect::<Vec<_>>();
    entries.iter().flat_map(above).filter(|folder| folder != ".").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_the_entries_does_not_change_the_bytes() {
        let entries =
            vec![Entry::text("b/two", "2"), Entry::program("b/a/one", *b"1"), Entry::text("a", "0")];
        let reversed: Vec<Entry> = entries.iter().rev().cloned().collect();
        let time = Timestamp(1_700_000_000);
        assert_eq!(tar_gz(entries.clone(), time, 9), tar_gz(reversed.clone(), time, 9));
        assert_eq!(zip(entries.clone(), time, 9), zip(reversed, time, 9));
        assert_eq!(folders(&entries).into_iter().collect::<Vec<_>>(), ["b", "b/a"]);
    }
}
