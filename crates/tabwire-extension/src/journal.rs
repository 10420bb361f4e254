//! What a cdp session has set up on a tab, in order, so that it can be set up again: when the debugger goes on for the
//! first time, and whenever it goes on anew. Knows nothing of who is to carry it out.

use serde_json::Value;

use crate::limits::JOURNAL_COMMANDS;
use crate::override_undo::{is_any_undo, is_undo_of, undo_of};
use crate::page_command::Command;

/// One thing that was set up.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    /// What a later command of the same kind takes the place of.
    key: String,
    pub(crate) command: Command,
    /// The name that a script for new documents was given.
    pub(crate) script: Option<String>,
    /// The name of the world that is to be made.
    pub(crate) world: Option<String>,
}

/// What is set up now.
#[derive(Clone, Debug, Default)]
pub(crate) struct Journal(Vec<Kept>);

/// State that has no command of its own to take it back, and is set up again all the same.
const ALSO_KEPT: [&str; 6] = [
    "Emulation.setAutomationOverride",
    "Network.emulateNetworkConditions",
    "Network.setBlockedURLs",
    "Page.setFontFamilies",
    "Page.setLifecycleEventsEnabled",
    "Page.setPrerenderingAllowed",
];

impl Journal {
    pub(crate) fn entries(&self) -> &[Kept] {
        &self.0
    }

    pub(crate) fn is_full(&self) -> bool {
        self.0.len() >= JOURNAL_COMMANDS
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.0.iter().any(|kept| kept.key == key)
    }

    /// Names of the worlds in the main frame that are to be made.
    pub(crate) fn worlds(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|kept| kept.world.as_deref())
    }

    /// Whether a command changes what is set up; most do not.
    pub(crate) fn concerns(method: &str) -> bool {
        method.ends_with(".enable")
            || method.ends_with(".disable")
            || matches!(
                method,
                "Page.addScriptToEvaluateOnNewDocument"
                    | "Page.removeScriptToEvaluateOnNewDocument"
                    | "Page.createIsolatedWorld"
                    | "Runtime.addBinding"
                    | "Runtime.removeBinding"
                    | "Target.setAutoAttach"
            )
            || undo_of(method).is_some()
            || is_any_undo(method)
            || ALSO_KEPT.contains(&method)
    }

    /// Notes a command that was answered or passed on.
    pub(crate) fn note(&mut self, command: &Command, params: &Value, script: Option<&str>) {
        let method = command.method.as_str();
        if let Some(domain) = method.strip_suffix(".disable") {
            return self.forget(&format!("{domain}.enable"));
        }
        let text = |name: &str| params.get(name).and_then(Value::as_str).unwrap_or_default();
        match method {
            "Page.removeScriptToEvaluateOnNewDocument" => {
                return self.forget(&format!("script {}", text("identifier")));
            }
            "Runtime.removeBinding" => return self.forget(&format!("binding {}", text("name"))),
            _ => {}
        }
        self.0.retain(|kept| !is_undo_of(method, &kept.command.method));
        let key = match method {
            "Page.addScriptToEvaluateOnNewDocument" => format!("script {}", script.unwrap_or_default()),
            "Runtime.addBinding" => format!("binding {}", text("name")),
            "Page.createIsolatedWorld" => format!("world {} {}", text("frameId"), text("worldName")),
            // What is under way breaks off with the debugger, and is not begun again.
            "Page.startScreencast" | "Tracing.start" => return,
            _ if method.ends_with(".enable") || method == "Target.setAutoAttach" => method.to_owned(),
            _ if undo_of(method).is_some() || ALSO_KEPT.contains(&method) => method.to_owned(),
            _ => return,
        };
        self.forget(&key);
        if !self.is_full() {
            let world = (method == "Page.createIsolatedWorld").then(|| text("worldName").to_owned());
            self.0.push(Kept { key, command: command.clone(), script: script.map(str::to_owned), world });
        }
    }

    fn forget(&mut self, key: &str) {
        self.0.retain(|kept| kept.key != key);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn noted(commands: &[(&str, Value)]) -> Vec<String> {
        let mut journal = Journal::default();
        for (method, params) in commands {
            journal.note(&Command::new(method, &params.to_string()), params, Some("s1"));
        }
        journal.entries().iter().map(|kept| kept.command.method.clone()).collect()
    }

    #[test]
    fn state_is_kept_and_what_takes_it_back_takes_it_out() {
        let none = || json!({});
        assert_eq!(noted(&[("Page.enable", none()), ("Runtime.evaluate", none())]), ["Page.enable"]);
        assert_eq!(noted(&[("Page.enable", none()), ("Page.disable", none())]), Vec::<String>::new());
        let metrics = ["Emulation.setDeviceMetricsOverride", "Emulation.clearDeviceMetricsOverride"];
        assert_eq!(noted(&metrics.map(|method| (method, none()))), Vec::<String>::new());
        let again = [("A.enable", none()), ("B.enable", none()), ("A.enable", json!({"x": 1}))];
        assert_eq!(noted(&again), ["B.enable", "A.enable"], "the newest counts");
        let script = ("Page.addScriptToEvaluateOnNewDocument", json!({"source": ""}));
        let gone = ("Page.removeScriptToEvaluateOnNewDocument", json!({"identifier": "s1"}));
        assert_eq!(noted(&[script, gone]), Vec::<String>::new());
    }

    #[test]
    fn it_is_bounded() {
        let mut journal = Journal::default();
        for number in 0..JOURNAL_COMMANDS + 5 {
            let params = json!({"name": number.to_string()});
            journal.note(&Command::new("Runtime.addBinding", &params.to_string()), &params, None);
        }
        assert!(journal.is_full());
        assert_eq!(journal.entries().len(), JOURNAL_COMMANDS);
    }
}
