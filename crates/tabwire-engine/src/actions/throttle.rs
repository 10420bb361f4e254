//! `throttle`: limits the speed of a tab's network.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::{Action, Effect, Example, ToolGroup, ToolOptions};
use crate::network::{Conditions, NetworkState, Pace};

/// Limit the speed of the tab's network with a preset or with numbers; without either, report the limits.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Throttle {
    /// The preset.
    #[arg(value_enum)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    preset: Option<Preset>,
    /// Milliseconds to add to every response.
    #[arg(long, value_name = "MS")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    latency: Option<f64>,
    /// The maximum download rate in kbit/s.
    #[arg(long, value_name = "KBIT")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    download: Option<f64>,
    /// The maximum upload rate in kbit/s.
    #[arg(long, value_name = "KBIT")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    upload: Option<f64>,
}

/// A preset for a common network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
pub(crate) enum Preset {
    /// 400 kbit/s both ways, 2 s more for every response.
    #[serde(rename = "slow-3g")]
    #[value(name = "slow-3g")]
    Slow3g,
    /// 1.6 Mbit/s in, 0.75 Mbit/s out, 0.56 s more for every response.
    #[serde(rename = "fast-3g")]
    #[value(name = "fast-3g")]
    Fast3g,
    /// 9 Mbit/s in, 1.5 Mbit/s out, 0.17 s more for every response.
    #[serde(rename = "4g")]
    #[value(name = "4g")]
    FourG,
    /// No limit.
    #[serde(rename = "off")]
    Off,
}

impl Preset {
    const fn pace(self) -> Option<Pace> {
        let (latency, download, upload) = match self {
            Self::Slow3g => (2_000.0, 400.0, 400.0),
            Self::Fast3g => (562.5, 1_600.0, 750.0),
            Self::FourG => (170.0, 9_000.0, 1_500.0),
            Self::Off => return None,
        };
        Some(Pace { latency, download: Some(download), upload: Some(upload) })
    }
}

impl Action for Throttle {
    const NAME: &'static str = "throttle";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire throttle slow-3g", "Emulate a slow network."),
        Example::new("tabwire throttle --latency 200 --download 2000", "Set latency and download rate."),
        Example::new("tabwire throttle off", "Remove the limit."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Network);
    type Output = NetworkState;

    fn needs(&self) -> Needs {
        Needs::tab(Capability::Act)
    }

    async fn run(self, context: &Context) -> Result<NetworkState, Failure> {
        let pace = self.to_pace()?;
        let page = context.page().await?;
        let now = page.unless_blocked(async { Ok(page.network().settings().conditions) }).await?;
        let Some(pace) = pace else { return Ok(now.into()) };
        let conditions = Conditions { pace, ..now };
        page.apply_conditions(conditions, context.deadline).await?;
        Ok(conditions.into())
    }
}

impl Throttle {
    /// The requested limits; the outer none means only to report the present ones.
    fn to_pace(&self) -> Result<Option<Option<Pace>>, Failure> {
        let bad = |message: &str| {
            Failure::new(ErrorCode::BadArgs, message).with_remedy(Remedy::new(
                "Presets are slow-3g, fast-3g, 4g and off. Otherwise give {}, {} or {}.",
                [Step::argument("latency"), Step::argument("download"), Step::argument("upload")],
            ))
        };
        let given = [self.latency, self.download, self.upload];
        if given.iter().all(Option::is_none) {
            return Ok(self.preset.map(Preset::pace));
        }
        if self.preset.is_some() {
            return Err(bad("A preset and numbers exclude each other."));
        }
        let is_rate = |rate: &f64| rate.is_finite() && *rate > 0.0;
        if !self.download.iter().chain(&self.upload).all(is_rate) {
            return Err(bad("A rate must be above 0; `offline` turns the network off."));
        }
        let latency = self.latency.unwrap_or(0.0);
        if !(0.0..=600_000.0).contains(&latency) {
            return Err(bad("`latency` must be 0 to 600000 milliseconds."));
        }
        Ok(Some(Some(Pace { latency, download: self.download, upload: self.upload })))
    }
}
