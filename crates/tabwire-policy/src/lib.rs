//! Policy decisions on URLs, actions and CDP methods. Pure functions: text, rules and the time in, decisions out.

mod capability;
mod cdp_events;
mod cdp_methods;
mod decision;
mod flow;
mod grants;
pub mod limits;
mod needs;
mod page_url;
mod policy;
mod policy_file;
mod session_agents;
mod site;
mod special_host;

pub use capability::{Capabilities, Capability};
pub use cdp_events::EventReach;
pub use cdp_methods::{Effect, MethodRule, Reach};
pub use decision::{ApprovalWait, Decision, Source};
pub use flow::{Flow, FlowTracker};
pub use grants::{EntryKind, GrantEntry, GrantId, GrantList, GrantListError, GrantTerm};
pub use needs::{Need, Needs, ResultCheck, Scope};
pub use page_url::{PageUrl, UrlError, WebUrl};
pub use policy::{AccessRequest, Approval, Policy};
pub use policy_file::{PolicyFile, PolicyFileError, Rule, Unlisted};
pub use session_agents::SessionAgents;
pub use site::{Site, SiteError};
pub use special_host::SpecialHost;
pub use tabwire_api::api::PolicyProfile as Profile;
