//! Targets: who owns them and which clients see them.

pub(crate) mod crash;
pub(crate) mod discovery;
pub(crate) mod entry;
pub(crate) mod first_page;
pub(crate) mod first_tab;
pub(crate) mod frame_tree;
mod owner_inference;
pub(crate) mod ownership;
pub(crate) mod paused_targets;
pub(crate) mod tab_page_map;
pub(crate) mod table;
pub(crate) mod unannounced_targets;
mod visibility;
