//! Guarded sessions: what the policy refuses to actions, CDP clients and pages.

pub(crate) mod bypass;
pub(crate) mod cdp;
pub(crate) mod cdp_corpus;
pub(crate) mod clients;
pub(crate) mod corpus;
pub(crate) mod files;
pub(crate) mod flow;
pub(crate) mod frames;
pub(crate) mod grants;
pub(crate) mod hard_cases;
pub(crate) mod hostile_agent;
pub(crate) mod hostile_page;
pub(crate) mod needs;
pub(crate) mod network;
pub(crate) mod project;
pub(crate) mod registry;
pub(crate) mod requests;
pub(crate) mod terminal;
pub(crate) mod threats;
