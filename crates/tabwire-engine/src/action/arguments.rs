//! Arguments of actions on an element at a point: modifiers, position, force; and an optional target.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure, Remedy, Step};

use crate::input::element::TargetArguments;
use crate::input::mouse::{Modifier, modifier_bits};

/// How to point at an element.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct PointingArguments {
    /// A key to hold; may be repeated.
    #[arg(long = "modifier", value_enum, value_name = "KEY")]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modifiers: Vec<Modifier>,
    /// The point in the element, from its top left: X,Y.
    #[arg(long, value_name = "X,Y", value_parser = crate::actions::parse_position)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<(f64, f64)>,
    /// Do not wait until the element is stable, enabled and uncovered. The topmost element at the point gets the event.
    #[arg(long)]
    #[serde(default)]
    pub force: bool,
}

impl PointingArguments {
    /// The page agent's argument. With `guard` the agent blocks the press if another element would receive it.
    pub(crate) fn request(&self, guard: bool) -> Value {
        let mut request = json!({"guard": guard && !self.force, "force": self.force});
        if let Some((x, y)) = self.position {
            request["position"] = json!({"x": x, "y": y});
        }
        request
    }

    /// The modifiers as CDP's bit field.
    pub(crate) fn bits(&self) -> u8 {
        modifier_bits(&self.modifiers)
    }
}

/// An optional target element.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct OptionalTarget {
    /// The element: a ref (e12), a CSS selector, or text=, role=, label=, placeholder=, title=, testid=, xpath=.
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
    /// The target, if one is given.
    pub(crate) fn given(&self) -> Result<Option<TargetArguments>, Failure> {
        match (&self.target, self.nth) {
            (Some(target), nth) => Ok(Some(TargetArguments { target: target.clone(), nth })),
            (None, None) => Ok(None),
            (None, Some(_)) => Err(Failure::new(ErrorCode::BadArgs, "`nth` needs a target.")
                .with_remedy(Remedy::new("Give a target, or leave {} out.", [Step::argument("nth")]))),
        }
    }
}
