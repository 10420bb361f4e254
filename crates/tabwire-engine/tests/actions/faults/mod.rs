//! Pages that misbehave, and hundreds of tabs.

pub(crate) mod churn;
pub(crate) mod page_faults;
