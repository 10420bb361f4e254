//! `offline`: turns a tab's network off or on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::Failure;
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::{Action, Effect, Example, ToolGroup, ToolOptions};
use crate::network::{Conditions, NetworkState};

/// Turn the tab's network off or on.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Offline {
    /// Whether the tab is offline.
    #[arg(value_enum, default_value_t)]
    #[serde(default)]
    state: Switch,
}

/// What to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Switch {
    /// The tab has no network.
    On,
    /// The tab has its network again.
    Off,
    /// Report the state.
    #[default]
    Show,
}

impl Action for Offline {
    const NAME: &'static str = "offline";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire offline on", "Cut the tab off from the network."),
        Example::new("tabwire offline off", "Connect it again."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Network);
    type Output = NetworkState;

    fn needs(&self) -> Needs {
        Needs::tab(Capability::Act)
    }

    async fn run(self, context: &Context) -> Result<NetworkState, Failure> {
        let page = context.page().await?;
        let now = page.unless_blocked(async { Ok(page.network().settings().conditions) }).await?;
        if self.state == Switch::Show {
            return Ok(now.into());
        }
        let conditions = Conditions { offline: self.state == Switch::On, ..now };
        page.apply_conditions(conditions, context.deadline).await?;
        Ok(conditions.into())
    }
}
