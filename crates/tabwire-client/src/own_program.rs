//! The path of this program, also after its file was replaced while it runs.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// The kernel's suffix in `/proc/self/exe` after the program's file was replaced or removed.
const DELETED: &[u8] = b" (deleted)";

/// The path of this program, or of the file that replaced it.
///
/// # Errors
/// When the system does not report it.
pub fn own_program() -> io::Result<PathBuf> {
    let path = std::env::current_exe()?;
    if path.exists() {
        return Ok(path);
    }
    let replacement = path.as_os_str().as_bytes().strip_suffix(DELETED);
    let replacement = replacement.map(|path| PathBuf::from(OsStr::from_bytes(path)));
    Ok(replacement.filter(|path| path.exists()).unwrap_or(path))
}
