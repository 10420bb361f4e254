//! Files of actions: what a request may read and write, and the names that files get.

pub(crate) mod dangerous_extension;
pub(crate) mod listed_files;
pub(crate) mod output_dirs;
pub(crate) mod protected_path;
pub(crate) mod request_files;
pub(crate) mod root_directory;
pub(crate) mod safe_name;
pub(crate) mod written_files;
