//! `emulate`: makes a tab's page take its device and surroundings for others, and says what is emulated.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::Failure;
use tabwire_policy::{Capability, Needs, Scope};

use crate::action::context::Context;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::page::emulation::Emulation;
use crate::page::emulation::device::DEVICES;
use crate::page::emulation::options::apply;

/// Make the tab look like another device, or as if it were elsewhere; without options, say what is emulated.
///
/// It holds for the tab until --reset, through navigations and in frames of other sites. `off` resets one option.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema, clap::Args)]
#[serde(default)]
pub(crate) struct Emulate {
    /// A device: size, touch and user agent at once, e.g. "iPhone 15"; or off.
    #[arg(long, value_name = "NAME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text"))]
    pub(crate) device: Option<String>,
    /// List the devices.
    #[arg(long)]
    pub(crate) list_devices: bool,
    /// Turn the device on its side.
    #[arg(long)]
    pub(crate) landscape: bool,
    /// The size of the view: 390x844, 390x844@3 with its scale, or off.
    #[arg(long, value_name = "WxH")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text", "x-log" = "keyword"))]
    pub(crate) viewport: Option<String>,
    /// Pixels of the screen per CSS pixel.
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) scale: Option<f64>,
    /// Lay pages out as on a phone.
    #[arg(long)]
    pub(crate) mobile: bool,
    /// Whether there is a touch screen.
    #[arg(long, value_enum)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) touch: Option<Switch>,
    /// Whether pages are asked for dark or light colours: dark, light or off.
    #[arg(long, value_name = "SCHEME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text", "x-log" = "keyword"))]
    pub(crate) color_scheme: Option<String>,
    /// Whether pages are asked to move less: reduce, no-preference or off.
    #[arg(long, value_name = "MOTION")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text", "x-log" = "keyword"))]
    pub(crate) reduced_motion: Option<String>,
    /// Whether colours are forced: active, none or off.
    #[arg(long, value_name = "COLORS")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text", "x-log" = "keyword"))]
    pub(crate) forced_colors: Option<String>,
    /// The contrast pages are asked for: more, less, custom, no-preference or off.
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text", "x-log" = "keyword"))]
    pub(crate) contrast: Option<String>,
    /// What pages are shown on: screen, print or off.
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text", "x-log" = "keyword"))]
    pub(crate) media: Option<String>,
    /// Language and region, e.g. de-DE; or off.
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text", "x-log" = "keyword"))]
    pub(crate) locale: Option<String>,
    /// Time zone, e.g. Asia/Tokyo; or off.
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text", "x-log" = "keyword"))]
    pub(crate) timezone: Option<String>,
    /// Where the device is: LATITUDE,LONGITUDE, with metres of accuracy if wished, or off. Pages also need
    /// --grant geolocation.
    #[arg(long, value_name = "LAT,LON", allow_hyphen_values = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text"))]
    pub(crate) geolocation: Option<String>,
    /// What the browser says it is, with the hints that go with it; or off.
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text"))]
    pub(crate) user_agent: Option<String>,
    /// How many times slower the processor is; 1 is as it is.
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
    /// Whose permissions are meant, if not the page's own.
    #[arg(long, value_name = "URL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "origin"))]
    pub(crate) origin: Option<String>,
    /// Ask again for every permission that was granted or denied here.
    #[arg(long)]
    pub(crate) reset_permissions: bool,
    /// First take everything back.
    #[arg(long)]
    pub(crate) reset: bool,
}

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Switch {
    /// Yes.
    On,
    /// No.
    Off,
}

/// What is emulated now.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Emulated {
    /// What differs from how it really is.
    #[serde(flatten)]
    emulation: Emulation,
    /// The devices there are, when they were asked for.
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
    /// Pixels of the screen per CSS pixel.
    scale: f64,
}

impl Action for Emulate {
    const NAME: &'static str = "emulate";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire emulate --device \"iPhone 15\"", "Be a phone."),
        Example::new("tabwire emulate --viewport 1280x800 --color-scheme dark", "Set size and colours."),
        Example::new("tabwire emulate --reset", "Be an ordinary browser again."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Emulate);
    type Output = Emulated;

    fn needs(&self) -> Needs {
        // A page that may read the clipboard reads what was copied on any site.
        let clipboard = self.grant.iter().any(|permission| permission.starts_with("clipboard"));
        let permissions = !self.grant.is_empty() || !self.deny.is_empty();
        let own_page = permissions && self.origin.is_none();
        Needs::tab(Capability::Act)
            .and_if(own_page, Capability::Act, Scope::Page)
            .at(Capability::Act, self.origin.clone())
            .and_if(clipboard, Capability::Read, Scope::EverySite)
            .and_if(clipboard, Capability::Act, Scope::EverySite)
    }

    async fn run(self, context: &Context) -> Result<Emulated, Failure> {
        let page = context.page().await?;
        let emulation = apply(&self, context, &page).await?;
        let view = |device: &crate::page::emulation::device::Device| DeviceView {
            name: device.name,
            width: device.width,
            height: device.height,
            scale: device.scale,
        };
        let devices = if self.list_devices { DEVICES.iter().map(view).collect() } else { Vec::new() };
        Ok(Emulated { emulation, devices })
    }
}

impl Render for Emulated {
    fn render(&self) -> String {
        let told = &self.emulation;
        let mut lines = Vec::new();
        let mut tell = |name: &str, value: Option<String>| {
            lines.extend(value.map(|value| format!("{name}: {value}")));
        };
        tell("device", told.device.clone());
        tell(
            "viewport",
            told.viewport.map(|view| {
                let mobile = if view.mobile { " mobile" } else { "" };
                format!("{}x{}@{}{mobile}", view.width, view.height, view.scale)
            }),
        );
        tell("touch", told.touch.then(|| "on".to_owned()));
        tell("media", told.media.clone());
        for (name, value) in &told.features {
            tell(name, Some(value.clone()));
        }
        tell("locale", told.locale.clone());
        tell("timezone", told.timezone.clone());
        tell(
            "geolocation",
            told.geolocation
                .map(|place| format!("{},{} within {} m", place.latitude, place.longitude, place.accuracy)),
        );
        tell("user agent", told.user_agent.as_ref().map(|agent| agent.text.clone()));
        tell("cpu", told.cpu_slowdown.map(|times| format!("{times} times slower")));
        for permission in &told.permissions {
            tell(&permission.name, Some(format!("{} for {}", permission.setting, permission.origin)));
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
