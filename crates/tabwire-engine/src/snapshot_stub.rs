//! Stand-in until the snapshot module is here.
#[path = "snapshot/limits.rs"]
mod limits;
#[path = "snapshot/ref_table.rs"]
mod ref_table;
pub(crate) use ref_table::{DocumentName, ElementHandle, ElementKey, ElementRef, RefMeaning, RefTable};

#[derive(Debug, Default)]
pub(crate) struct SnapshotMemory;
