//! `emulate`: emulates a device, media features, location and permissions in a tab, and lists what is emulated.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::Failure;
use tabwire_policy::{Capability, Needs, Scope};

use crate::action::context::Context;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::page::emulation::Emulation;
use crate::page::emulation::device::DEVICES;
use crate::page::emulation::options::apply;

/// Emulate a device, media features, locale or location in the tab; without options, list what is emulated.
///
/// Holds for the tab until --reset, across navigations and in frames of other sites. `off` resets one option.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema, clap::Args)]
#[serde(default)]
pub(crate) struct Emulate {
    /// A device, which sets size, touch and user agent, e.g. "iPhone 15"; or off.
    #[arg(long, value_name = "NAME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text"))]
    pub(crate) device: Option<String>,
    /// List the devices.
    #[arg(long)]
    pub(crate) list_devices: bool,
    /// Landscape orientation of the device.
    #[arg(long)]
    pub(crate) landscape: bool,
    /// The viewport size: 390x844, 390x844@3 with a device scale factor, or off.
    #[arg(long, value_name = "WxH")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text", "x-log" = "keyword"))]
    pub(crate) viewport: Option<String>,
    /// Device pixels per CSS pixel.
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) scale: Option<f64>,
    /// Use the mobile layout.
    #[arg(long)]
    pub(crate) mobile: bool,
    /// Touch screen.
    #[arg(long, value_enum)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) touch: Option<Switch>,
    /// prefers-color-scheme: dark, light or off.
    #[arg(long, value_name = "SCHEME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text", "x-log" = "keyword"))]
    pub(crate) color_scheme: Option<String>,
    /// prefers-reduced-motion: reduce, no-preference or off.
    #[arg(long, value_name = "MOTION")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text", "x-log" = "keyword"))]
    pub(crate) reduced_motion: Option<String>,
    /// forced-colors: active, none or off.
    #[arg(long, value_name = "COLORS")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text", "x-log" = "keyword"))]
    pub(crate) forced_colors: Option<String>,
    /// prefers-contrast: more, less, custom, no-preference or off.
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text", "x-log" = "keyword"))]
    pub(crate) contrast: Option<String>,
    /// The media type: screen, print or off.
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text", "x-log" = "keyword"))]
    pub(crate) media: Option<String>,
    /// The locale, e.g. de-DE; or off.
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text", "x-log" = "keyword"))]
    pub(crate) locale: Option<String>,
    /// The time zone, e.g. Asia/Tokyo; or off.
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text", "x-log" = "keyword"))]
    pub(crate) timezone: Option<String>,
    /// The geolocation: LATITUDE,LONGITUDE[,ACCURACY in metres], or off. Pages also need --grant geolocation.
    #[arg(long, value_name = "LAT,LON", allow_hyphen_values = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text"))]
    pub(crate) geolocation: Option<String>,
    /// The user agent, with matching client hints; or off.
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text"))]
    pub(crate) user_agent: Option<String>,
    /// The CPU slowdown factor; 1 is none.
    #[arg(long, value_name = "TIMES")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cpu: Option<f64>,
    /// A permission to grant, e.g. geolocation or clipboard-read; may be repeated.
    #[arg(long, value_name = "PERMISSION")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-carries" = "permission"))]
    pub(crate) grant: Vec<String>,
    /// A permission to deny; may be repeated.
    #[arg(long, value_name = "PERMISSION")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-carries" = "permission"))]
    pub(crate) deny: Vec<String>,
    /// The origin of the permissions; the page's by default.
    #[arg(long, value_name = "URL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "origin"))]
    pub(crate) origin: Option<String>,
    /// Reset every permission that was granted or denied here.
    #[arg(long)]
    pub(crate) reset_permissions: bool,
    /// Reset everything first.
    #[arg(long)]
    pub(crate) reset: bool,
}

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Switch {
    /// On.
    On,
    /// Off.
    Off,
}

/// What is emulated now.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct EmulationResult {
    /// The emulated values.
    #[serde(flatten)]
    emulation: Emulation,
    /// The devices, with `list_devices`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    devices: Vec<DeviceView>,
}

/// A device that can be emulated.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct DeviceView {
    /// Its name.
    name: &'static str,
    /// Width in CSS pixels.
    width: u32,
    /// Height in CSS pixels.
    height: u32,
    /// Device pixels per CSS pixel.
    scale: f64,
}

impl Action for Emulate {
    const NAME: &'static str = "emulate";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire emulate --device \"iPhone 15\"", "Emulate a phone."),
        Example::new(
            "tabwire emulate --viewport 1280x800 --color-scheme dark",
            "Set the viewport size and the colour scheme.",
        ),
        Example::new("tabwire emulate --reset", "Reset all emulation."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Emulate);
    type Output = EmulationResult;

    fn needs(&self) -> Needs {
        // A page with clipboard access reads text that was copied on any site.
        let clipboard = self.grant.iter().any(|permission| permission.starts_with("clipboard"));
        let permissions = !self.grant.is_empty() || !self.deny.is_empty();
        let own_page = permissions && self.origin.is_none();
        Needs::tab(Capability::Act)
            .and_if(own_page, Capability::Act, Scope::Page)
            .at(Capability::Act, self.origin.clone())
            .and_if(clipboard, Capability::Read, Scope::EverySite)
            .and_if(clipboard, Capability::Act, Scope::EverySite)
    }

    async fn run(self, context: &Context) -> Result<EmulationResult, Failure> {
        let page = context.page().await?;
        let emulation = apply(&self, context, &page).await?;
        let view = |device: &crate::page::emulation::device::Device| DeviceView {
            name: device.name,
            width: device.width,
            height: device.height,
            scale: device.scale,
        };
        let devices = if self.list_devices { DEVICES.iter().map(view).collect() } else { Vec::new() };
        Ok(EmulationResult { emulation, devices })
    }
}

impl Render for EmulationResult {
    fn render(&self) -> String {
        let emulation = &self.emulation;
        let mut lines = Vec::new();
        let mut add = |name: &str, value: Option<String>| {
            lines.extend(value.map(|value| format!("{name}: {value}")));
        };
        add("device", emulation.device.clone());
        add(
            "viewport",
            emulation.viewport.map(|view| {
                let mobile = if view.mobile { " mobile" } else { "" };
                format!("{}x{}@{}{mobile}", view.width, view.height, view.scale)
            }),
        );
        add("touch", emulation.touch.then(|| "on".to_owned()));
        add("media", emulation.media.clone());
        for (name, value) in &emulation.features {
            add(name, Some(value.clone()));
        }
        add("locale", emulation.locale.clone());
        add("timezone", emulation.timezone.clone());
        add(
            "geolocation",
            emulation
                .geolocation
                .map(|place| format!("{},{} within {} m", place.latitude, place.longitude, place.accuracy)),
        );
        add("user agent", emulation.user_agent.as_ref().map(|agent| agent.text.clone()));
        add("cpu", emulation.cpu_slowdown.map(|times| format!("{times} times slower")));
        for permission in &emulation.permissions {
            add(&permission.name, Some(format!("{} for {}", permission.setting, permission.origin)));
        }
        if lines.is_empty() && self.devices.is_empty() {
            lines.push("nothing is emulated".to_owned());
        }
        lines.extend(
            self.devices.iter().map(|device| {
                format!("{}  {}x{}@{}", device.name, device.width, device.height, device.scale)
            }),
        );
        lines.join("\n")
    }
}
