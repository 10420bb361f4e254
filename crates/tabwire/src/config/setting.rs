//! The definition of one setting: name, type, variable, default.

use super::project_rule::ProjectRule;
use super::settings::SETTINGS;

/// Names a setting in code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Session,
    BaseUrl,
    Browser,
    Headed,
    Profile,
    ProfileExtensions,
    Isolation,
    Window,
    Viewport,
    Proxy,
    Upstream,
    Cdp,
    CdpHeaders,
    Grid,
    Capabilities,
    Provider,
    BrowserArgs,
    AllowDangerousBrowserArgs,
    HideAutomation,
    SingleClient,
    GuardedPorts,
    SaveState,
    StatePassphraseFile,
    Trail,
    Policy,
    Capture,
    Timeout,
    Roots,
    Skills,
    Port,
    Linger,
    IdleExit,
    ChatHistory,
    Log,
}

/// The type of a setting's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A session's name.
    SessionName,
    /// An `http` or `https` address.
    WebAddress,
    /// A name, or a path if it contains a slash.
    NameOrPath,
    /// The URL of a browser or a proxy. It may contain a secret, so it is shown in part.
    Endpoint,
    /// True or false.
    Switch,
    /// One of several words, from the most to the least restrictive.
    Choice(&'static [&'static str]),
    /// A width and a height.
    Size,
    /// A duration.
    Time,
    /// A port; 0 is any.
    Port,
    /// Directories.
    Directories,
    /// Flags of the browser.
    Flags,
    /// Headers, whose values are not shown.
    Headers,
}

/// One setting. Parsing, help, schema and reference are derived from it.
#[derive(Debug)]
pub(crate) struct Setting {
    pub(crate) key: Key,
    /// Its name in files.
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// The default, as typed.
    pub(crate) default: Option<&'static str>,
    pub(crate) meaning: &'static str,
    /// The environment variable that sets it.
    pub(crate) variable: Option<&'static str>,
    /// The flag that sets it for one command.
    pub(crate) flag: Option<&'static str>,
    /// Whether a project file may set it.
    pub(crate) project: ProjectRule,
}

impl Key {
    /// Its position in the table.
    pub(crate) const fn index(self) -> usize {
        self as usize
    }

    /// Its definition.
    pub(crate) fn setting(self) -> &'static Setting {
        &SETTINGS[self.index()]
    }
}

/// Finds a setting by its name; `-` equals `_`.
pub(crate) fn find_setting(name: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.name == name || setting.name == name.replace('-', "_"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::value::Value;

    #[test]
    fn the_table_is_ordered_and_its_defaults_are_valid() {
        for (place, setting) in SETTINGS.iter().enumerate() {
            assert_eq!(setting.key.index(), place, "{}", setting.name);
            assert!(setting.meaning.ends_with('.'), "{}", setting.name);
            if let Some(default) = setting.default {
                assert!(Value::from_text(setting.kind, default).is_ok(), "{}", setting.name);
            }
            let variable = format!("TABWIRE_{}", setting.name.to_uppercase());
            assert!(setting.variable.is_none_or(|name| name == variable), "{variable}");
        }
        assert_eq!(find_setting("idle-exit").map(|setting| setting.key), Some(Key::IdleExit));
        assert!(find_setting("idle").is_none());
    }
}
