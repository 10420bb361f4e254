//! Processes that die, disks that fill up, files that are left behind.

pub(crate) mod browser;
pub(crate) mod daemon;
pub(crate) mod full_disk;
pub(crate) mod leftover;
pub(crate) mod link;
pub(crate) mod random_kills;
pub(crate) mod second_user;
