//! Table: what clients send to a page before they use it. None of it needs the page at once, so it can be kept until
//! the page is needed, and a tab that is only known costs no debugger.

use serde_json::Value;

const INIT_ONLY: &[&str] = &[
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

/// Whether a command only sets something up.
pub(crate) fn is_setup(method: &str) -> bool {
    INIT_ONLY.binary_search(&method).is_ok()
}

/// Whether a command can wait until the page is needed for something else.
pub(crate) fn can_wait(method: &str, params: &Value, main_frame: &str) -> bool {
    if !is_setup(method) {
        return false;
    }
    match method {
        // Libraries make this world in the main frame when they connect. Who makes another one is about to use it.
        "Page.createIsolatedWorld" => {
            params.get("grantUniveralAccess") == Some(&Value::Bool(true))
                && params.get("frameId").and_then(Value::as_str) == Some(main_frame)
        }
        // A script that is to run now needs the page now.
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
    fn the_table_is_sorted_and_has_exceptions() {
        assert!(INIT_ONLY.is_sorted());
        assert!(can_wait("Network.enable", &Value::Null, "F"));
        assert!(can_wait("Runtime.enable", &Value::Null, "F"));
        assert!(!can_wait("Runtime.evaluate", &Value::Null, "F"));
        let world = |frame: &str| json!({"grantUniveralAccess": true, "frameId": frame});
        assert!(can_wait("Page.createIsolatedWorld", &world("F"), "F"));
        assert!(!can_wait("Page.createIsolatedWorld", &world("below"), "F"));
        assert!(!can_wait("Page.createIsolatedWorld", &json!({"worldName": "a", "frameId": "F"}), "F"));
        assert!(!can_wait("Page.addScriptToEvaluateOnNewDocument", &json!({"runImmediately": true}), "F"));
    }
}
