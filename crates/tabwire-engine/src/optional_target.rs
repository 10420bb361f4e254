//! An element that may be named or not. Knows nothing of what stands in for it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_wire::{ErrorCode, Failure};

use crate::element::TargetArguments;

/// Which element is meant, if one is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct OptionalTarget {
    /// The element: a ref (e12), a CSS selector, or text=, role=, label=, placeholder=, testid=, xpath=.
    #[arg(long)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "target"))]
    pub target: Option<String>,
    /// Which of several matches, counted from 1.
    #[arg(long, value_name = "N")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nth: Option<u32>,
}

impl OptionalTarget {
    /// The element that was named.
    pub(crate) fn given(&self) -> Result<Option<TargetArguments>, Failure> {
        match (&self.target, self.nth) {
            (Some(target), nth) => Ok(Some(TargetArguments { target: target.clone(), nth })),
            (None, None) => Ok(None),
            (None, Some(_)) => {
                Err(Failure::new(ErrorCode::BadArgs, "--nth says which match, but of no target.")
                    .with_hint("Give --target too, or leave --nth out."))
            }
        }
    }
}
