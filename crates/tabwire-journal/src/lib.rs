//! The journal: who asked what, on which tab and origin, decided how, with what result and duration.
//!
//! Kept in SQLite. Knows nothing of HTTP, of the engine, or of where the file comes from. What may be written down
//! is decided by types: values only get in as a [`Summary`], an [`Origin`] or a [`SafeMessage`].

mod bounds;
mod columns;
mod csv_form;
mod entry;
mod error;
mod filter;
mod jotting;
mod journal;
pub mod limits;
mod origin;
mod pad;
mod reader;
mod row;
mod safe_file;
mod safe_message;
mod schema;
mod set_aside;
mod settling;
mod store;
mod summary;
mod telling;
mod writer;

pub use bounds::Bounds;
pub use csv_form::{csv_heading, csv_line};
pub use entry::{Asker, Door, Entry, Outcome, Ruling, Verdict};
pub use error::{FileFault, JournalError};
pub use filter::Filter;
pub use journal::{Acknowledge, Journal};
pub use origin::{Origin, safe_address};
pub use reader::{Reader, parse_moment};
pub use row::{Row, RowAsker, RowNumber, RowSession};
pub use safe_message::SafeMessage;
pub use set_aside::{SetAside, set_aside};
pub use summary::Summary;
pub use telling::Telling;
