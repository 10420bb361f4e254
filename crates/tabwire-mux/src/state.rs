//! What the mux knows of the browser: the tables of clients, CDP sessions, targets and partitions.
//!
//! The files of each concept add the rules to it: who owns a target, who sees it, who may name it, which partition it is
//! in. The rules read the tables and send nothing.

use crate::client::Clients;
use crate::partition::table::PartitionTable;
use crate::session::table::SessionTable;
use crate::target::table::TargetTable;

/// Clients, CDP sessions, targets and partitions.
#[derive(Debug, Default)]
pub(crate) struct BrowserState {
    pub(crate) clients: Clients,
    pub(crate) sessions: SessionTable,
    pub(crate) targets: TargetTable,
    pub(crate) partitions: PartitionTable,
}
