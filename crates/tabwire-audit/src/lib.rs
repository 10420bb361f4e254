//! The audit log: one SQLite row per request, with client, tab, origin, policy decision, result and duration.
//!
//! Types decide which values can reach the file: a [`Summary`], an [`Origin`] or a [`SafeMessage`].

mod audit_log;
mod columns;
mod csv;
mod entry;
mod error;
pub mod limits;
mod origin;
mod quarantine;
mod reader;
mod row;
mod safe_file;
mod safe_message;
mod schema;
mod store;
mod summary;
mod visibility;

pub use audit_log::{Acknowledge, AuditLog};
pub use csv::{csv_heading, csv_line};
pub use entry::{ClientInfo, Entry, Outcome, Ruling, Transport, Verdict};
pub use error::{AuditError, FileFault};
pub use origin::{Origin, safe_address};
pub use quarantine::{Quarantined, quarantine};
pub use reader::{Filter, Reader, parse_moment};
pub use row::{Row, RowClient, RowNumber, RowSession};
pub use safe_message::SafeMessage;
pub use store::Bounds;
pub use summary::Summary;
pub use tabwire_api::LogVisibility;
