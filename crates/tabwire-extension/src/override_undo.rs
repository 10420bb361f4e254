//! Table: what a client changes about a page, and the command that takes it back.
//!
//! A browser undoes a session's overrides when the session ends. Ours is one session for all clients, so when one of
//! them leaves, its own are undone by hand.

const UNDO: &[(&str, &str, &str)] = &[
    ("Emulation.setCPUThrottlingRate", "Emulation.setCPUThrottlingRate", r#"{"rate":1}"#),
    ("Emulation.setDefaultBackgroundColorOverride", "Emulation.setDefaultBackgroundColorOverride", "{}"),
    ("Emulation.setDeviceMetricsOverride", "Emulation.clearDeviceMetricsOverride", "{}"),
    ("Emulation.setEmulatedMedia", "Emulation.setEmulatedMedia", r#"{"media":"","features":[]}"#),
    // Driven tabs have it on, whether or not a client asked for it.
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

/// The command that takes back what a method did, with its parameters.
pub(crate) fn undo_of(method: &str) -> Option<(&'static str, &'static str)> {
    UNDO.iter().find(|(done, ..)| *done == method).map(|(_, undo, params)| (*undo, *params))
}

/// Whether a method takes back what another did, by a name of its own.
pub(crate) fn is_undo_of(method: &str, done: &str) -> bool {
    method != done && undo_of(done).is_some_and(|(undo, _)| undo == method)
}

/// Whether a method takes anything back.
pub(crate) fn is_any_undo(method: &str) -> bool {
    UNDO.iter().any(|(_, undo, _)| *undo == method)
}
