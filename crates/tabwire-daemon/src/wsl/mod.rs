//! Hosts on which browsers of Chrome shims run: this system, or the Windows around WSL.

pub(crate) mod host;
pub(crate) mod local;
pub(crate) mod powershell;
pub(crate) mod protocol;
pub(crate) mod windows;
