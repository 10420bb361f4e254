//! Emulation of a device and its environment in one tab, as CDP commands.
//!
//! The commands apply in every process of the page and for all later documents.

pub(crate) mod device;
pub(crate) mod options;
pub(crate) mod user_agent;

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_cdp::{CdpError, Deadline};

use crate::cdp::Setting;
use crate::page::Page;
use crate::page::emulation::user_agent::UserAgent;

/// The size of a page's viewport.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Viewport {
    /// Width in CSS pixels.
    pub(crate) width: u32,
    /// Height in CSS pixels.
    pub(crate) height: u32,
    /// Device pixels per CSS pixel.
    pub(crate) scale: f64,
    /// Whether the page has a mobile layout, which uses its `viewport` meta element.
    pub(crate) mobile: bool,
}

/// A geographic position.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Geolocation {
    /// Degrees north.
    pub(crate) latitude: f64,
    /// Degrees east.
    pub(crate) longitude: f64,
    /// Accuracy in metres.
    pub(crate) accuracy: f64,
}

/// A permission that was granted or denied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct DecidedPermission {
    /// Its name.
    pub(crate) name: String,
    /// The origin it applies to.
    pub(crate) origin: String,
    /// `granted` or `denied`.
    pub(crate) setting: String,
}

/// What is emulated in a page. Empty fields are not emulated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Emulation {
    /// The device that the other values come from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) device: Option<String>,
    /// The size of the viewport.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) viewport: Option<Viewport>,
    /// Whether there is a touch screen.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) touch: bool,
    /// `screen` or `print`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) media: Option<String>,
    /// Values of media features by name, such as `prefers-color-scheme`.
    #[serde(skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub(crate) features: std::collections::BTreeMap<String, String>,
    /// The locale.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) locale: Option<String>,
    /// The time zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) timezone: Option<String>,
    /// The position of the device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) geolocation: Option<Geolocation>,
    /// The user agent.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "only_text")]
    #[schemars(with = "Option<String>")]
    pub(crate) user_agent: Option<UserAgent>,
    /// CPU slowdown factor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cpu_slowdown: Option<f64>,
    /// Granted and denied permissions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) permissions: Vec<DecidedPermission>,
}

fn only_text<S: serde::Serializer>(agent: &Option<UserAgent>, serializer: S) -> Result<S::Ok, S::Error> {
    agent.as_ref().map(|agent| agent.text.as_str()).serialize(serializer)
}

/// How long a page may take to get another size.
const VIEW_TIMEOUT: Duration = Duration::from_millis(500);

/// The command that turns a setting on, or the one that turns it off.
fn setting(key: &str, is_on: bool, on: (&'static str, Value), off: (&'static str, Value)) -> Setting {
    let (method, params) = if is_on { on } else { off };
    Setting { key: format!("emulation:{key}"), method, params, persistent: is_on }
}

impl Emulation {
    /// The commands for all settings, including those that are off, always in the same order.
    fn settings(&self) -> Vec<Setting> {
        let touch = json!({"enabled": self.touch, "maxTouchPoints": 5});
        let features: Vec<Value> =
            self.features.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
        let media = json!({"media": self.media.as_deref().unwrap_or_default(), "features": features});
        let has_media = self.media.is_some() || !self.features.is_empty();
        let timezone = json!({"timezoneId": self.timezone.as_deref().unwrap_or_default()});
        let locale = self.locale.as_ref().map_or_else(|| json!({}), |locale| json!({"locale": locale}));
        let cpu = json!({"rate": self.cpu_slowdown.unwrap_or(1.0)});
        let same = |method: &'static str, params: Value| ((method, params.clone()), (method, params));
        let always = |key: &str, is_on: bool, method: &'static str, params: Value| {
            let (on, off) = same(method, params);
            setting(key, is_on, on, off)
        };
        vec![
            self.viewport_setting(),
            always("touch", self.touch, "Emulation.setTouchEmulationEnabled", touch),
            always("media", has_media, "Emulation.setEmulatedMedia", media),
            always("locale", self.locale.is_some(), "Emulation.setLocaleOverride", locale),
            always("timezone", self.timezone.is_some(), "Emulation.setTimezoneOverride", timezone),
            self.geolocation_setting(),
            self.agent_setting(),
            always("cpu", self.cpu_slowdown.is_some(), "Emulation.setCPUThrottlingRate", cpu),
        ]
    }

    fn viewport_setting(&self) -> Setting {
        let on = self.viewport.map_or(Value::Null, |view| {
            let upright = view.height >= view.width;
            let orientation = if upright {
                json!({"type": "portraitPrimary", "angle": 0})
            } else {
                json!({"type": "landscapePrimary", "angle": if view.mobile { 90 } else { 0 }})
            };
            json!({
                "width": view.width, "height": view.height, "deviceScaleFactor": view.scale, "mobile": view.mobile,
                "screenWidth": view.width, "screenHeight": view.height, "screenOrientation": orientation,
            })
        });
        let on = ("Emulation.setDeviceMetricsOverride", on);
        setting("viewport", self.viewport.is_some(), on, ("Emulation.clearDeviceMetricsOverride", json!({})))
    }

    fn geolocation_setting(&self) -> Setting {
        let on = ("Emulation.setGeolocationOverride", json!(self.geolocation));
        let off = ("Emulation.clearGeolocationOverride", json!({}));
        setting("geolocation", self.geolocation.is_some(), on, off)
    }

    /// User agent and `Accept-Language`, which are one CDP command.
    fn agent_setting(&self) -> Setting {
        let mut params =
            self.user_agent.as_ref().map_or_else(|| json!({"userAgent": ""}), UserAgent::to_params);
        if let Some(locale) = &self.locale {
            // `Emulation.setLocaleOverride` changes `Intl` only. The header and `navigator.languages`
            // follow this.
            params["acceptLanguage"] = json!(locale);
        }
        let is_on = self.user_agent.is_some() || self.locale.is_some();
        setting(
            "agent",
            is_on,
            ("Emulation.setUserAgentOverride", params.clone()),
            ("Emulation.setUserAgentOverride", params),
        )
    }

    /// The commands that change the emulation from `before` to this one.
    fn settings_since(&self, before: &Self) -> Vec<Setting> {
        let (new, old) = (self.settings(), before.settings());
        new.into_iter().zip(old).filter(|(new, old)| new != old).map(|(new, _)| new).collect()
    }
}

impl Page {
    /// Changes the emulation of the page. When Chrome refuses a command, all changes are undone.
    pub(crate) async fn emulate(
        &self,
        before: &Emulation,
        after: &Emulation,
        deadline: Deadline,
    ) -> Result<(), Failure> {
        let settings = after.settings_since(before);
        let replies: Vec<_> =
            settings.iter().map(|setting| self.session().apply_setting(setting, deadline)).collect();
        let mut refused = None;
        self.unless_blocked(async {
            for (reply, setting) in replies.into_iter().zip(&settings) {
                if let Err(error) = reply.await {
                    refused.get_or_insert_with(|| why_refused(error, setting));
                }
            }
            Ok(())
        })
        .await?;
        let Some(failure) = refused else {
            let resizes = before.viewport != after.viewport;
            return if resizes {
                self.wait_for_view(before.viewport, after.viewport, deadline).await
            } else {
                Ok(())
            };
        };
        for setting in before.settings_since(after) {
            // The refused setting was never on, so Chrome may refuse to turn it off too.
            let reply = self.session().apply_setting(&setting, deadline);
            self.unless_blocked(async {
                drop(reply.await);
                Ok(())
            })
            .await?;
        }
        Err(failure)
    }
}

impl Page {
    /// Waits until the page has the size of the viewport. Chrome responds before the page is laid out anew.
    async fn wait_for_view(
        &self,
        before: Option<Viewport>,
        after: Option<Viewport>,
        deadline: Deadline,
    ) -> Result<(), Failure> {
        // A mobile page chooses its own width.
        let width = after.filter(|view| !view.mobile).map(|view| view.width);
        let from = before.filter(|_| after.is_none()).map(|view| view.width);
        let timeout = u64::try_from(VIEW_TIMEOUT.as_millis()).unwrap_or(u64::MAX);
        let argument = json!({"width": width, "from": from, "timeout": timeout});
        // A page that runs no scripts, or that a dialog blocks, has the size too.
        let resized = self.call::<Value>("viewResized", &argument, deadline).await;
        match resized {
            Err(failure) if failure.code == ErrorCode::Timeout => Err(failure),
            _ => Ok(()),
        }
    }
}

fn why_refused(error: CdpError, setting: &Setting) -> Failure {
    let CdpError::Protocol { message, .. } = &error else { return error.into_failure() };
    let message = message.clone();
    let failure = error.into_failure();
    // What the browser cannot do is no fault of the value.
    if failure.code == ErrorCode::UnsupportedHere {
        return failure;
    }
    if message.contains("already in effect") {
        let message = format!("Another tab or client already overrides it: {message}.");
        return Failure::new(ErrorCode::Busy, message).with_remedy(
            "Chrome has one time zone and locale for all pages of a process. Reset the other tab, or use another session.",
        );
    }
    let what = setting.key.trim_start_matches("emulation:");
    Failure::new(ErrorCode::BadArgs, format!("The browser rejects the {what}: {message}."))
        .with_remedy(Remedy::new("Nothing was changed. Check the value; see {}.", [Step::usage("emulate")]))
}

/// Reads `390x844` or `390x844@3`.
pub(crate) fn parse_viewport(text: &str) -> Option<(u32, u32, Option<f64>)> {
    let (size, scale) = match text.split_once('@') {
        Some((size, scale)) => (size, Some(scale.trim().parse().ok()?)),
        None => (text, None),
    };
    let (width, height) = size.split_once(['x', 'X', '×'])?;
    let (width, height) = (width.trim().parse().ok()?, height.trim().parse().ok()?);
    let is_size = |side: u32| (1..=10_000).contains(&side);
    (is_size(width) && is_size(height)).then_some((width, height, scale))
}

/// Reads `52.52,13.405` or `52.52,13.405,100`.
pub(crate) fn parse_geolocation(text: &str) -> Option<Geolocation> {
    let numbers: Vec<f64> = text.split(',').map(|part| part.trim().parse().ok()).collect::<Option<_>>()?;
    let place = match numbers[..] {
        [latitude, longitude] => Geolocation { latitude, longitude, accuracy: 10.0 },
        [latitude, longitude, accuracy] => Geolocation { latitude, longitude, accuracy },
        _ => return None,
    };
    let is_place = (-90.0..=90.0).contains(&place.latitude)
        && (-180.0..=180.0).contains(&place.longitude)
        && (0.0..=1e7).contains(&place.accuracy);
    is_place.then_some(place)
}

/// The requested change of one value.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) enum ValueChange<'a> {
    /// Not given: keep the current value.
    Leave,
    /// `off`: stop emulating it.
    Off,
    /// Emulate this value.
    Set(&'a str),
}

impl<'a> ValueChange<'a> {
    /// Parses an argument.
    pub(crate) fn read(text: Option<&'a str>) -> Self {
        match text {
            None => Self::Leave,
            Some("off") => Self::Off,
            Some(text) => Self::Set(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn viewports_and_positions_are_parsed() {
        assert_eq!(parse_viewport("390x844@3"), Some((390, 844, Some(3.0))));
        assert_eq!(parse_viewport("1280x720"), Some((1280, 720, None)));
        for bad in ["", "390", "0x5", "1x99999", "axb", "1x2@y"] {
            assert_eq!(parse_viewport(bad), None, "{bad}");
        }
        assert_eq!(parse_geolocation("-33.9, 151.2").map(|place| place.accuracy), Some(10.0));
        for bad in ["", "1", "91,0", "0,181", "0,0,-1", "NaN,0", "1,2,3,4"] {
            assert_eq!(parse_geolocation(bad), None, "{bad}");
        }
    }

    #[test]
    fn only_differences_are_sent_and_a_reset_undoes_all() {
        let none = Emulation::default();
        let some = Emulation { timezone: Some("Asia/Tokyo".to_owned()), touch: true, ..none.clone() };
        let keys = |settings: &[Setting]| -> Vec<(String, bool)> {
            settings.iter().map(|setting| (setting.key.clone(), setting.persistent)).collect()
        };
        let set = some.settings_since(&none);
        assert_eq!(
            keys(&set),
            [("emulation:touch".to_owned(), true), ("emulation:timezone".to_owned(), true)]
        );
        let reset = none.settings_since(&some);
        assert!(keys(&reset).iter().all(|(_, lasts)| !lasts) && reset.len() == 2);
        assert!(some.settings_since(&some.clone()).is_empty());
    }
}
