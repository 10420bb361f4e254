//! The agents of chats: which there are, their processes, and what is exchanged with them.

pub(crate) mod outgoing;
pub(crate) mod output;
pub(crate) mod probe;
pub(crate) mod process;
pub(crate) mod table;
