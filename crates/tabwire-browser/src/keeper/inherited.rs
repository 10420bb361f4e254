//! Keeps descriptors that this process inherited from reaching the browser.

use std::fs;
use std::os::fd::{BorrowedFd, RawFd};

use rustix::io::FdFlags;

/// The directory that lists the open descriptors of this process.
#[cfg(target_os = "linux")]
const LISTING: &str = "/proc/self/fd";
#[cfg(not(target_os = "linux"))]
const LISTING: &str = "/dev/fd";

/// The first descriptor that is not a standard stream.
const FIRST: RawFd = 3;

/// Marks every inherited descriptor to be closed in the browser.
///
/// The process that started this one may have leaked files, sockets or locks, which a
/// web browser must not receive. Call it before this process opens descriptors and
/// starts threads.
#[expect(unsafe_code, reason = "an inherited descriptor has no owner to borrow it from")]
pub(super) fn keep_from_children() {
    let Ok(listing) = fs::read_dir(LISTING) else { return };
    for entry in listing.flatten() {
        let number = entry.file_name().to_str().and_then(|name| name.parse::<RawFd>().ok());
        if let Some(number) = number.filter(|number| *number >= FIRST) {
            // SAFETY: the system has just listed the number as open, this
            // process has one thread, and nothing is closed in this loop: even
            // the listing's own descriptor stays open until it ends.
            let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
            let _ = rustix::io::fcntl_setfd(descriptor, FdFlags::CLOEXEC);
        }
    }
}
