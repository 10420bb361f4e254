//! Every action under the policy: grants that it needs, and pages that it must not show.

pub(super) mod corpus;
mod needs;
mod registry;
