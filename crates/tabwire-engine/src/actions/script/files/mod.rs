//! Files of scripts: reading and writing, file inputs, downloads, screenshots.

pub(super) mod file;
pub(super) mod script_download;
pub(super) mod script_screenshot;
pub(super) mod set_files;
