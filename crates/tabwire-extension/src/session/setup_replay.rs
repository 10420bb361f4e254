//! The setup commands of a CDP session on a tab, in order, so that they can be replayed when the debugger attaches.

use serde_json::Value;

use crate::browser::page_command::Command;
use crate::session::override_undo::{is_any_undo, is_undo_of, undo_of};

/// Setup commands that a session may leave for an unattached tab; one more attaches the debugger.
const SETUP_COMMANDS: usize = 256;

/// One setup command.
#[derive(Clone, Debug)]
pub(crate) struct SetupCommand {
    /// A later command with the same key replaces this one.
    key: String,
    pub(crate) command: Command,
    /// The id of a script for new documents.
    pub(crate) script: Option<String>,
    /// The name of the isolated world to create.
    pub(crate) world: Option<String>,
}

/// The setup that is in force.
#[derive(Clone, Debug, Default)]
pub(crate) struct SetupReplay(Vec<SetupCommand>);

/// Commands without an undo that are replayed as well.
const ALSO_REPLAYED: [&str; 6] = [
    "Emulation.setAutomationOverride",
    "Network.emulateNetworkConditions",
    "Network.setBlockedURLs",
    "Page.setFontFamilies",
    "Page.setLifecycleEventsEnabled",
    "Page.setPrerenderingAllowed",
];

impl SetupReplay {
    pub(crate) fn entries(&self) -> &[SetupCommand] {
        &self.0
    }

    pub(crate) fn is_full(&self) -> bool {
        self.0.len() >= SETUP_COMMANDS
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.0.iter().any(|setup| setup.key == key)
    }

    /// Names of the isolated worlds in the main frame.
    pub(crate) fn contexts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|setup| setup.world.as_deref())
    }

    /// Whether a command changes the setup; most do not.
    pub(crate) fn is_setup_change(method: &str) -> bool {
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
            || ALSO_REPLAYED.contains(&method)
    }

    /// Records a command that was forwarded or got its response here.
    pub(crate) fn record(&mut self, command: &Command, params: &Value, script: Option<&str>) {
        let method = command.method.as_str();
        if let Some(domain) = method.strip_suffix(".disable") {
            return self.remove(&format!("{domain}.enable"));
        }
        let text = |name: &str| params.get(name).and_then(Value::as_str).unwrap_or_default();
        match method {
            "Page.removeScriptToEvaluateOnNewDocument" => {
                return self.remove(&format!("script {}", text("identifier")));
            }
            "Runtime.removeBinding" => return self.remove(&format!("binding {}", text("name"))),
            _ => {}
        }
        self.0.retain(|setup| !is_undo_of(method, &setup.command.method));
        let key = match method {
            "Page.addScriptToEvaluateOnNewDocument" => format!("script {}", script.unwrap_or_default()),
            "Runtime.addBinding" => format!("binding {}", text("name")),
            "Page.createIsolatedWorld" => format!("world {} {}", text("frameId"), text("worldName")),
            // These end when the debugger detaches, and clients expect them to stay ended.
            "Page.startScreencast" | "Tracing.start" => return,
            _ if method.ends_with(".enable") || method == "Target.setAutoAttach" => method.to_owned(),
            _ if undo_of(method).is_some() || ALSO_REPLAYED.contains(&method) => method.to_owned(),
            _ => return,
        };
        self.remove(&key);
        if !self.is_full() {
            let world = (method == "Page.createIsolatedWorld").then(|| text("worldName").to_owned());
            self.0.push(SetupCommand {
                key,
                command: command.clone(),
                script: script.map(str::to_owned),
                world,
            });
        }
    }

    fn remove(&mut self, key: &str) {
        self.0.retain(|setup| setup.key != key);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn recorded(commands: &[(&str, Value)]) -> Vec<String> {
        let mut setup_replay = SetupReplay::default();
        for (method, params) in commands {
            setup_replay.record(&Command::new(method, &params.to_string()), params, Some("s1"));
        }
        setup_replay.entries().iter().map(|setup| setup.command.method.clone()).collect()
    }

    #[test]
    fn setup_is_recorded_and_undo_removes_it() {
        let none = || json!({});
        assert_eq!(recorded(&[("Page.enable", none()), ("Runtime.evaluate", none())]), ["Page.enable"]);
        assert_eq!(recorded(&[("Page.enable", none()), ("Page.disable", none())]), Vec::<String>::new());
        let metrics = ["Emulation.setDeviceMetricsOverride", "Emulation.clearDeviceMetricsOverride"];
        assert_eq!(recorded(&metrics.map(|method| (method, none()))), Vec::<String>::new());
        let again = [("A.enable", none()), ("B.enable", none()), ("A.enable", json!({"x": 1}))];
        assert_eq!(recorded(&again), ["B.enable", "A.enable"], "the newest counts");
        let script = ("Page.addScriptToEvaluateOnNewDocument", json!({"source": ""}));
        let gone = ("Page.removeScriptToEvaluateOnNewDocument", json!({"identifier": "s1"}));
        assert_eq!(recorded(&[script, gone]), Vec::<String>::new());
    }

    #[test]
    fn the_number_of_commands_is_bounded() {
        let mut setup_replay = SetupReplay::default();
        for number in 0..SETUP_COMMANDS + 5 {
            let params = json!({"name": number.to_string()});
            setup_replay.record(&Command::new("Runtime.addBinding", &params.to_string()), &params, None);
        }
        assert!(setup_replay.is_full());
        assert_eq!(setup_replay.entries().len(), SETUP_COMMANDS);
    }
}
