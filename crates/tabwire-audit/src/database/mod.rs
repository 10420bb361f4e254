//! The SQLite file of the audit log: its checks, schema, rows and retention.

pub(crate) mod columns;
pub(crate) mod quarantine;
pub(crate) mod safe_file;
pub(crate) mod schema;
pub(crate) mod store;
