//! What all actions that point at an element take. Knows nothing of what is done there.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::pointer::{Modifier, modifier_bits};

/// How an element is pointed at.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct PointingArguments {
    /// A key to hold; may be repeated.
    #[arg(long = "modifier", value_enum, value_name = "KEY")]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modifiers: Vec<Modifier>,
    /// Where in the element, from its top left: X,Y.
    #[arg(long, value_name = "X,Y", value_parser = crate::actions::parse_position)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<(f64, f64)>,
    /// Do not wait until it is still, enabled and uncovered; whatever is there gets it.
    #[arg(long)]
    #[serde(default)]
    pub force: bool,
}

impl PointingArguments {
    /// The request to the page agent. `guard` lets nothing but the element be pressed.
    pub(crate) fn request(&self, guard: bool) -> Value {
        let mut request = json!({"guard": guard && !self.force, "force": self.force});
        if let Some((x, y)) = self.position {
            request["position"] = json!({"x": x, "y": y});
        }
        request
    }

    /// The protocol's sum of held keys.
    pub(crate) fn bits(&self) -> u8 {
        modifier_bits(&self.modifiers)
    }
}
