//! Where this program is, also after it was replaced by a newer one while it ran. Starts nothing.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// What the system adds to the path of a program whose file was replaced or removed.
const REPLACED: &[u8] = b" (deleted)";

/// The path of this program. When its file was replaced, that of the one that took its place.
///
/// # Errors
/// When the system does not say where the program is.
pub(crate) fn own_program() -> io::Result<PathBuf> {
    let path = std::env::current_exe()?;
    if path.exists() {
        return Ok(path);
    }
    let successor = path.as_os_str().as_bytes().strip_suffix(REPLACED);
    let successor = successor.map(|path| PathBuf::from(OsStr::from_bytes(path)));
    Ok(successor.filter(|path| path.exists()).unwrap_or(path))
}
