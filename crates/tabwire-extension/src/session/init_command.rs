//! Table: commands that clients send to a page before they use it. None needs the page at once, so they are recorded, and
//! the debugger is attached only when the page is used.

use serde_json::Value;

const SETUP_METHODS: &[&str] = &[
    "Audits.disable",
    "Audits.enable",
    "CSS.disable",
    "CSS.enable",
    "Console.disable",
    "Console.enable",
    "DOM.disable",
    "DOM.enable",
    "Emulation.setAutomationOverride",
    "Emulation.setDefaultBackgroundColorOverride",
    "Emulation.setDeviceMetricsOverride",
    "Emulation.setEmulatedMedia",
    "Emulation.setFocusEmulationEnabled",
    "Emulation.setGeolocationOverride",
    "Emulation.setLocaleOverride",
    "Emulation.setScriptExecutionDisabled",
    "Emulation.setTimezoneOverride",
    "Emulation.setTouchEmulationEnabled",
    "Emulation.setUserAgentOverride",
    "Inspector.enable",
    "Log.disable",
    "Log.enable",
    "Network.disable",
    "Network.enable",
    "Network.setBypassServiceWorker",
    "Network.setCacheDisabled",
    "Network.setExtraHTTPHeaders",
    "Page.addScriptToEvaluateOnNewDocument",
    "Page.createIsolatedWorld",
    "Page.enable",
    "Page.getFrameTree",
    "Page.removeScriptToEvaluateOnNewDocument",
    "Page.setBypassCSP",
    "Page.setFontFamilies",
    "Page.setInterceptFileChooserDialog",
    "Page.setLifecycleEventsEnabled",
    "Page.setPrerenderingAllowed",
    "Performance.disable",
    "Performance.enable",
    "Runtime.addBinding",
    "Runtime.disable",
    "Runtime.enable",
    "Runtime.runIfWaitingForDebugger",
    "Target.setAutoAttach",
    "WebMCP.disable",
    "WebMCP.enable",
];

/// Whether a command is a setup command.
pub(crate) fn is_setup(method: &str) -> bool {
    SETUP_METHODS.binary_search(&method).is_ok()
}

/// Whether a command can wait until the page is used.
pub(crate) fn can_defer(method: &str, params: &Value, main_frame: &str) -> bool {
    if !is_setup(method) {
        return false;
    }
    match method {
        // Libraries create this world in the main frame when they connect. Any other world is about to be used.
        "Page.createIsolatedWorld" => {
            params.get("grantUniveralAccess") == Some(&Value::Bool(true))
                && params.get("frameId").and_then(Value::as_str) == Some(main_frame)
        }
        // `runImmediately` needs the page now.
        "Page.addScriptToEvaluateOnNewDocument" => {
            params.get("runImmediately").and_then(Value::as_bool) != Some(true)
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn setup_commands_can_wait_with_exceptions() {
        assert!(SETUP_METHODS.is_sorted());
        assert!(can_defer("Network.enable", &Value::Null, "F"));
        assert!(can_defer("Runtime.enable", &Value::Null, "F"));
        assert!(!can_defer("Runtime.evaluate", &Value::Null, "F"));
        let world = |frame: &str| json!({"grantUniveralAccess": true, "frameId": frame});
        assert!(can_defer("Page.createIsolatedWorld", &world("F"), "F"));
        assert!(!can_defer("Page.createIsolatedWorld", &world("below"), "F"));
        assert!(!can_defer("Page.createIsolatedWorld", &json!({"worldName": "a", "frameId": "F"}), "F"));
        assert!(!can_defer("Page.addScriptToEvaluateOnNewDocument", &json!({"runImmediately": true}), "F"));
    }
}
