//! Table: commands that override page state, and the commands that undo them.
//!
//! Chrome undoes the overrides of a session when the session ends. Here all clients share one session, so the overrides
//! of a client that leaves are undone one by one.

const UNDO: &[(&str, &str, &str)] = &[
    ("Emulation.setCPUThrottlingRate", "Emulation.setCPUThrottlingRate", r#"{"rate":1}"#),
    ("Emulation.setDefaultBackgroundColorOverride", "Emulation.setDefaultBackgroundColorOverride", "{}"),
    ("Emulation.setDeviceMetricsOverride", "Emulation.clearDeviceMetricsOverride", "{}"),
    ("Emulation.setEmulatedMedia", "Emulation.setEmulatedMedia", r#"{"media":"","features":[]}"#),
    // The extension enables it on every attached tab.
    ("Emulation.setFocusEmulationEnabled", "Emulation.setFocusEmulationEnabled", r#"{"enabled":true}"#),
    ("Emulation.setGeolocationOverride", "Emulation.clearGeolocationOverride", "{}"),
    ("Emulation.setLocaleOverride", "Emulation.setLocaleOverride", "{}"),
    ("Emulation.setScriptExecutionDisabled", "Emulation.setScriptExecutionDisabled", r#"{"value":false}"#),
    ("Emulation.setTimezoneOverride", "Emulation.setTimezoneOverride", r#"{"timezoneId":""}"#),
    ("Emulation.setTouchEmulationEnabled", "Emulation.setTouchEmulationEnabled", r#"{"enabled":false}"#),
    ("Emulation.setUserAgentOverride", "Emulation.setUserAgentOverride", r#"{"userAgent":""}"#),
    ("Input.setInterceptDrags", "Input.setInterceptDrags", r#"{"enabled":false}"#),
    ("Network.setBypassServiceWorker", "Network.setBypassServiceWorker", r#"{"bypass":false}"#),
    ("Network.setCacheDisabled", "Network.setCacheDisabled", r#"{"cacheDisabled":false}"#),
    ("Network.setExtraHTTPHeaders", "Network.setExtraHTTPHeaders", r#"{"headers":{}}"#),
    ("Page.setBypassCSP", "Page.setBypassCSP", r#"{"enabled":false}"#),
    ("Page.setInterceptFileChooserDialog", "Page.setInterceptFileChooserDialog", r#"{"enabled":false}"#),
    ("Page.startScreencast", "Page.stopScreencast", "{}"),
    ("Tracing.start", "Tracing.end", "{}"),
];

/// The command that undoes a method, with its parameters.
pub(crate) fn undo_of(method: &str) -> Option<(&'static str, &'static str)> {
    UNDO.iter().find(|(done, ..)| *done == method).map(|(_, undo, params)| (*undo, *params))
}

/// Whether a method undoes another one, under a different name.
pub(crate) fn is_undo_of(method: &str, done: &str) -> bool {
    method != done && undo_of(done).is_some_and(|(undo, _)| undo == method)
}

/// Whether a method undoes any other.
pub(crate) fn is_any_undo(method: &str) -> bool {
    UNDO.iter().any(|(_, undo, _)| *undo == method)
}
