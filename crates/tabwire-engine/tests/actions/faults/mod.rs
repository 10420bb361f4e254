//! Pages that misbehave, and tabs by the hundred.

pub(crate) mod churn;
pub(crate) mod page_faults;
