//! Private files and directories, random names, and bounded connects to unix sockets.

pub mod atomic_file;
pub(crate) mod private_dir;
pub(crate) mod random_name;
pub(crate) mod stable_digest;
pub(crate) mod unix_socket;
