//! Permissions of sites.

use serde_json::{Value, json};
use tabwire_cdp::ProtocolError;

use crate::browser::{EmulatedBrowser, Reply};
use crate::protocol::message::{BidiError, text};

/// Permissions that are remembered, to take them back.
const PERMISSIONS: usize = 1_000;

/// Permissions of Chrome that Firefox does not have: it asks the person at each use.
const CLIPBOARD: &[&str] = &["clipboard-read", "clipboard-write"];

impl EmulatedBrowser {
    pub(in crate::browser) fn permission_command(&mut self, method: &str, params: &Value, reply: Reply) {
        let origin = text(params, "origin");
        let mut wanted: Vec<Value> = Vec::new();
        match method {
            "Browser.setPermission" => {
                let name = params.pointer("/permission/name").and_then(Value::as_str).unwrap_or_default();
                wanted.push(json!({"descriptor": {"name": name}, "state": text(params, "setting")}));
            }
            "Browser.grantPermissions" => {
                let names = params.get("permissions").and_then(Value::as_array);
                for name in names.into_iter().flatten().filter_map(Value::as_str) {
                    wanted.push(json!({"descriptor": {"name": name}, "state": "granted"}));
                }
            }
            _ => return self.reset_permissions(params, reply),
        }
        let is_clipboard = |one: &Value| {
            let name = one.pointer("/descriptor/name").and_then(Value::as_str);
            name.is_some_and(|name| CLIPBOARD.contains(&name))
        };
        if wanted.iter().any(is_clipboard) {
            return self.refuse(reply, method);
        }
        if origin.is_empty() {
            let message = "Firefox sets permissions only for an origin.";
            return self.fail(reply, &ProtocolError::invalid_params(message));
        }
        let context = text(params, "browserContextId");
        for one in &mut wanted {
            one["origin"] = json!(origin);
            if !context.is_empty() {
                one["userContext"] = json!(context);
            }
        }
        for one in &wanted {
            if self.permissions.len() < PERMISSIONS {
                self.permissions.push(one.clone());
            }
        }
        self.set_permissions(wanted, reply);
    }

    /// Firefox lists no permissions, so those that were set here are taken back one by one.
    fn reset_permissions(&mut self, params: &Value, reply: Reply) {
        let context = text(params, "browserContextId").to_owned();
        let all = std::mem::take(&mut self.permissions);
        let (mut reset, kept): (Vec<Value>, Vec<Value>) =
            all.into_iter().partition(|one| text(one, "userContext") == context);
        self.permissions = kept;
        for one in &mut reset {
            one["state"] = json!("prompt");
        }
        self.set_permissions(reset, reply);
    }

    fn set_permissions(&mut self, mut wanted: Vec<Value>, reply: Reply) {
        let Some(last) = wanted.pop() else { return self.succeed(reply, "{}") };
        for one in wanted {
            self.post("permissions.setPermission", one);
        }
        let then = move |browser: &mut Self, outcome: Result<Value, BidiError>| {
            browser.acknowledge(reply, outcome);
        };
        self.send("permissions.setPermission", last, Box::new(then));
    }
}
