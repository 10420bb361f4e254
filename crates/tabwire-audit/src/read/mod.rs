//! Reading the audit log: queries, rows and CSV.

pub(crate) mod csv;
pub(crate) mod reader;
pub(crate) mod row;
