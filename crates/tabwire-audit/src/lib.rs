//! The audit log: one SQLite row per request, with client, tab, origin, policy decision, result and duration.
//!
//! Types decide which values can reach the file: a [`Summary`], an [`Origin`] or a [`SafeMessage`].

mod audit_log;
mod database;
mod entry;
mod error;
pub mod limits;
mod read;

pub use audit_log::{Acknowledge, AuditLog};
pub use database::quarantine::{Quarantine, quarantine};
pub use database::store::Bounds;
pub use entry::origin::{Origin, safe_address};
pub use entry::safe_message::SafeMessage;
pub use entry::summary::Summary;
pub use entry::{ClientInfo, Entry, Outcome, Ruling, Transport, Verdict};
pub use error::{AuditError, FileFault};
pub use read::csv::{csv_heading, csv_line};
pub use read::reader::{Filter, Reader, parse_moment};
pub use read::row::{Row, RowClient, RowNumber, RowSession};
pub use tabwire_api::LogVisibility;
