//! Table: what clients send to a page before they use it. None of it needs the page at once, so it can be kept until
//! the page is needed, and a tab that is only known costs no debugger.
//!
//! `Runtime.enable` is not among them: who sends it waits for the page's worlds to be announced, and asks for nothing
//! more.

use serde_json::Value;

const INIT_ONLY: &[&str] = &[
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
    "Runtime.runIfWaitingForDebugger",
    "Target.setAutoAttach",
];

/// Whether a command can wait until the page is needed for something else.
pub(crate) fn can_wait(method: &str, params: &Value) -> bool {
    if INIT_ONLY.binary_search(&method).is_err() {
        return false;
    }
    match method {
        // Libraries make this world when they connect and take it from the event. Who makes another one uses the
        // answer.
        "Page.createIsolatedWorld" => params.get("grantUniveralAccess") == Some(&Value::Bool(true)),
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
        assert!(can_wait("Network.enable", &Value::Null));
        assert!(!can_wait("Runtime.enable", &Value::Null), "its answer is in events");
        assert!(!can_wait("Runtime.evaluate", &Value::Null));
        assert!(can_wait("Page.createIsolatedWorld", &json!({"grantUniveralAccess": true})));
        assert!(!can_wait("Page.createIsolatedWorld", &json!({"worldName": "a"})));
        assert!(!can_wait("Page.addScriptToEvaluateOnNewDocument", &json!({"runImmediately": true})));
    }
}
