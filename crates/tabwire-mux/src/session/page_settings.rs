//! The overrides that a CDP session has set on its page, to be repeated after another session on the page is
//! detached.
//!
//! When a session is detached, the browser resets its overrides even if another session has set them too; see
//! docs/cdp/shared-state-between-sessions.md.

use serde_json::Value;

/// Bytes of setting commands kept for each CDP session.
const SETTINGS_BYTES_PER_SESSION: usize = 64 * 1024;

/// Setting commands kept for each CDP session, to be repeated when the browser drops them.
const SETTINGS_PER_SESSION: usize = 64;

/// The settings of one CDP session, oldest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct PageSettings {
    kept: Vec<PageSetting>,
}

/// One setting command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PageSetting {
    /// Its position among all commands.
    pub(crate) order: u64,
    pub(crate) method: &'static str,
    /// Its parameters, unchanged.
    pub(crate) params: Box<str>,
}

/// Setting commands that the browser resets when another session is detached, with the command that clears
/// each.
const SETTERS: &[(&str, Option<&str>)] = &[
    ("Emulation.setEmulatedMedia", None),
    ("Emulation.setDeviceMetricsOverride", Some("Emulation.clearDeviceMetricsOverride")),
    ("Emulation.setGeolocationOverride", Some("Emulation.clearGeolocationOverride")),
    ("Emulation.setTouchEmulationEnabled", None),
    ("Emulation.setFocusEmulationEnabled", None),
    ("Emulation.setCPUThrottlingRate", None),
    ("Emulation.setUserAgentOverride", None),
    ("Network.setUserAgentOverride", None),
    ("Network.emulateNetworkConditions", None),
];

impl PageSettings {
    /// Whether a method sets or clears an override.
    pub(crate) fn concerns(method: &str) -> bool {
        (method.starts_with("Emulation.") || method.starts_with("Network."))
            && SETTERS.iter().any(|(set, clear)| *set == method || *clear == Some(method))
    }

    /// Records a command that was sent.
    pub(crate) fn note(&mut self, order: u64, method: &str, params: &str) {
        let Some((setter, clear)) =
            SETTERS.iter().find(|(set, clear)| *set == method || *clear == Some(method))
        else {
            return;
        };
        // The last one counts: each of these commands replaces the whole setting of its session.
        self.kept.retain(|setting| setting.method != *setter);
        let bytes: usize = self.kept.iter().map(|setting| setting.params.len()).sum();
        let fits = self.kept.len() < SETTINGS_PER_SESSION
            && bytes.saturating_add(params.len()) <= SETTINGS_BYTES_PER_SESSION;
        if *clear != Some(method) && fits && !takes_back(setter, params) {
            self.kept.push(PageSetting { order, method: setter, params: params.into() });
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &PageSetting> {
        self.kept.iter()
    }

    /// The command to send before a repeated setting, because the browser ignores a repetition without a
    /// change.
    pub(crate) fn clear_first(method: &str) -> Option<&'static str> {
        // Otherwise Chromium 156 keeps the other session's scale factor.
        (method == "Emulation.setDeviceMetricsOverride").then_some("Emulation.clearDeviceMetricsOverride")
    }
}

/// Whether these parameters turn the override off.
fn takes_back(method: &str, params: &str) -> bool {
    let Ok(params) = serde_json::from_str::<Value>(params) else { return true };
    let off = |field: &str| params.get(field).and_then(Value::as_bool) != Some(true);
    let blank = |field: &str| params.get(field).and_then(Value::as_str).is_none_or(str::is_empty);
    let at_most = |field: &str, bound: f64| {
        params.get(field).and_then(Value::as_f64).is_none_or(|number| number <= bound)
    };
    match method {
        "Emulation.setEmulatedMedia" => {
            let features = params.get("features").and_then(Value::as_array);
            blank("media") && features.is_none_or(Vec::is_empty)
        }
        "Emulation.setTouchEmulationEnabled" | "Emulation.setFocusEmulationEnabled" => off("enabled"),
        "Emulation.setCPUThrottlingRate" => at_most("rate", 1.0),
        "Emulation.setUserAgentOverride" | "Network.setUserAgentOverride" => blank("userAgent"),
        "Network.emulateNetworkConditions" => {
            off("offline")
                && ["latency", "downloadThroughput", "uploadThroughput"]
                    .iter()
                    .all(|field| at_most(field, 0.0))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(commands: &[(&str, &str)]) -> Vec<(&'static str, String)> {
        let mut settings = PageSettings::default();
        for (order, (method, params)) in (1..).zip(commands) {
            settings.note(order, method, params);
        }
        settings.iter().map(|setting| (setting.method, setting.params.to_string())).collect()
    }

    #[test]
    fn keeps_the_last_command_of_each_method_in_order() {
        let commands = [
            ("Emulation.setEmulatedMedia", r#"{"media":"print"}"#),
            ("Emulation.setTouchEmulationEnabled", r#"{"enabled":true}"#),
            ("Page.enable", "{}"),
            ("Emulation.setEmulatedMedia", r#"{"media":"screen"}"#),
        ];
        let touch = ("Emulation.setTouchEmulationEnabled", r#"{"enabled":true}"#.to_owned());
        assert_eq!(
            kept(&commands),
            [touch, ("Emulation.setEmulatedMedia", r#"{"media":"screen"}"#.to_owned())]
        );
    }

    #[test]
    fn cleared_override_is_dropped() {
        let pairs = [
            ("Emulation.setEmulatedMedia", r#"{"media":"print"}"#, r#"{"media":"","features":[]}"#),
            ("Emulation.setFocusEmulationEnabled", r#"{"enabled":true}"#, r#"{"enabled":false}"#),
            ("Emulation.setCPUThrottlingRate", r#"{"rate":4}"#, r#"{"rate":1}"#),
            ("Emulation.setUserAgentOverride", r#"{"userAgent":"x"}"#, r#"{"userAgent":""}"#),
            (
                "Network.emulateNetworkConditions",
                r#"{"offline":true,"latency":0,"downloadThroughput":-1,"uploadThroughput":-1}"#,
                r#"{"offline":false,"latency":0,"downloadThroughput":-1,"uploadThroughput":-1}"#,
            ),
        ];
        for (method, set, clear) in pairs {
            assert_eq!(kept(&[(method, set)]).len(), 1, "{method}");
            assert!(kept(&[(method, set), (method, clear)]).is_empty(), "{method}");
        }
        let set = ("Emulation.setGeolocationOverride", "{}");
        assert_eq!(kept(&[set]).len(), 1);
        assert!(kept(&[set, ("Emulation.clearGeolocationOverride", "{}")]).is_empty());
    }

    #[test]
    fn oversized_setting_is_dropped_with_the_one_it_replaced() {
        let large = format!(r#"{{"userAgent":"{}"}}"#, "x".repeat(SETTINGS_BYTES_PER_SESSION));
        let small = ("Emulation.setUserAgentOverride", r#"{"userAgent":"x"}"#);
        assert!(kept(&[small, ("Emulation.setUserAgentOverride", &large)]).is_empty());
        assert!(kept(&[("Emulation.setUserAgentOverride", "not json")]).is_empty());
    }
}
