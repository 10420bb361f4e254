//! Puts a file out of the way that cannot be used. Nothing is deleted, nothing is written over.

use std::fs;
use std::path::{Path, PathBuf};

use tabwire_browser::PrivateDir;
use tabwire_wire::{ErrorCode, Failure};

/// The directory, beside what it is taken from.
pub(super) const ASIDE: &str = "set-aside";

/// How many names are tried.
const NAMES: u32 = 1000;

/// Moves a file into `set-aside` below a directory of ours on the same disk; says where it is now.
pub(super) fn set_aside(home: &Path, file: &Path, name: &str) -> Result<PathBuf, Failure> {
    let directory = PrivateDir::create(&home.join(ASIDE))?;
    let candidate = |number: u32| directory.path().join(format!("{name}-{number}"));
    let free = (1..=NAMES).map(candidate).find(|path| path.symlink_metadata().is_err());
    let to = free.ok_or_else(|| {
        let message = format!("{} is full of files of that name.", directory.path().display());
        Failure::new(ErrorCode::Internal, message).with_hint("Remove what is not needed there.")
    })?;
    fs::rename(file, &to).map_err(|error| {
        Failure::new(ErrorCode::Internal, format!("{} could not be moved: {error}.", file.display()))
    })?;
    Ok(to)
}
