//! The two file descriptors of `--remote-debugging-pipe`: the browser reads from 3 and writes to 4.

use std::os::fd::{BorrowedFd, FromRawFd as _, OwnedFd, RawFd};

use rustix::io::FdFlags;

/// Where a browser reads commands.
const COMMANDS_AT: RawFd = 3;
/// Where a browser writes answers and events.
const ANSWERS_AT: RawFd = 4;

/// The pipe that a launcher gave this process in the belief that it is a browser.
#[derive(Debug)]
pub struct DebuggingPipe {
    /// Commands of the launcher's.
    pub commands: OwnedFd,
    /// Answers and events for it.
    pub answers: OwnedFd,
}

impl DebuggingPipe {
    /// Takes descriptors 3 and 4 over, if both were given; neither is passed on to programs that are started.
    ///
    /// To be called once, before this process opens anything of its own.
    #[must_use]
    pub fn take() -> Option<Self> {
        if !was_given(COMMANDS_AT) || !was_given(ANSWERS_AT) {
            return None;
        }
        Some(Self { commands: own(COMMANDS_AT), answers: own(ANSWERS_AT) })
    }
}

/// Whether a descriptor is open; if so it is kept from programs that are started.
#[expect(unsafe_code, reason = "an inherited descriptor has no owner to borrow it from")]
fn was_given(number: RawFd) -> bool {
    // SAFETY: only asked about and marked; a number that is not open is an error and nothing else.
    let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
    rustix::io::fcntl_getfd(descriptor).is_ok()
        && rustix::io::fcntl_setfd(descriptor, FdFlags::CLOEXEC).is_ok()
}

#[expect(unsafe_code, reason = "an inherited descriptor has no owner until it is taken")]
fn own(number: RawFd) -> OwnedFd {
    // SAFETY: the descriptor is open, and was before this process opened anything, so that nobody here owns it.
    unsafe { OwnedFd::from_raw_fd(number) }
}
