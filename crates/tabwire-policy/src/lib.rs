//! Who may do what, where: pure decisions on addresses, actions and CDP methods.
//!
//! Text, rules and the time go in, decisions come out. Knows nothing of files, sockets, tasks or the engine.

mod address;
mod capability;
mod cdp_events;
mod cdp_methods;
mod decision;
mod flow;
mod ledger;
pub mod limits;
mod needs;
mod policy_file;
mod rulebook;
mod site;
mod special_host;

pub use address::{Address, AddressFault, WebAddress};
pub use capability::{Capabilities, Capability};
pub use cdp_events::EventReach;
pub use cdp_methods::{Effect, MethodRule, Reach};
pub use decision::{Decision, Patience, Source};
pub use flow::{Flow, FlowWatch};
pub use ledger::{Entry, EntryId, Ledger, LedgerFault, Stance, Term};
pub use needs::{Need, Needs, ResultCheck, Scope};
pub use policy_file::{PolicyFile, PolicyFileFault, Rule, Unlisted};
pub use rulebook::{Pass, Question, Rulebook};
pub use site::{Site, SiteFault};
pub use special_host::SpecialHost;
pub use tabwire_wire::api::PolicyProfile as Profile;
