//! The two file descriptors of `--remote-debugging-pipe`: the browser reads from 3 and writes to 4.

use std::os::fd::{BorrowedFd, FromRawFd as _, OwnedFd, RawFd};

use rustix::io::FdFlags;

/// The descriptor from which a browser reads commands.
const COMMANDS_AT: RawFd = 3;
/// The descriptor to which a browser writes responses and events.
const RESPONSES_AT: RawFd = 4;

/// The debugging pipe that a launcher gave to this process, which runs in place of a browser.
#[derive(Debug)]
pub struct DebuggingPipe {
    /// Commands from the launcher.
    pub commands: OwnedFd,
    /// Responses and events to the launcher.
    pub responses: OwnedFd,
}

impl DebuggingPipe {
    /// Takes over descriptors 3 and 4 if both are open. Child processes do not inherit them.
    ///
    /// Call it once, before this process opens any descriptor.
    #[must_use]
    pub fn take() -> Option<Self> {
        if !was_given(COMMANDS_AT) || !was_given(RESPONSES_AT) {
            return None;
        }
        Some(Self { commands: own(COMMANDS_AT), responses: own(RESPONSES_AT) })
    }
}

/// Whether a descriptor is open. If so, marks it close-on-exec.
#[expect(unsafe_code, reason = "an inherited descriptor has no owner to borrow it from")]
fn was_given(number: RawFd) -> bool {
    // SAFETY: only its flags are read and set. A number that is not open gives an error.
    let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
    rustix::io::fcntl_getfd(descriptor).is_ok()
        && rustix::io::fcntl_setfd(descriptor, FdFlags::CLOEXEC).is_ok()
}

#[expect(unsafe_code, reason = "an inherited descriptor has no owner until it is taken")]
fn own(number: RawFd) -> OwnedFd {
    // SAFETY: the descriptor is open, and was before this process opened any, so it has no other owner here.
    unsafe { OwnedFd::from_raw_fd(number) }
}
