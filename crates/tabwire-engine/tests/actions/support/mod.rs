//! A browser with the fixture site, connections that count or interrupt, files and logins.

pub(crate) mod counting_link;
pub(crate) mod late_link;
pub(crate) mod signalling_link;
pub(crate) mod stage;
pub(crate) mod test_files;
pub(crate) mod test_logins;
