//! Realms that come and go, as CDP's execution contexts.

use serde_json::{Value, json};
use tabwire_api::CdpSessionId;

use crate::browser::EmulatedBrowser;
use crate::protocol::message::{BidiError, text};
use crate::state::realm::Realm;

impl EmulatedBrowser {
    pub(in crate::browser) fn script_event(&mut self, method: &str, params: &Value) {
        match method {
            "script.realmCreated" => self.realm_created(params),
            "script.realmDestroyed" => self.realm_destroyed(text(params, "realm")),
            "script.message" => self.binding_called(params),
            _ => {}
        }
    }

    pub(in crate::browser) fn realm_created(&mut self, info: &Value) {
        if text(info, "type") != "window" {
            return;
        }
        let sandbox = info.get("sandbox").and_then(Value::as_str).filter(|name| !name.is_empty());
        let added =
            self.realms.add(text(info, "realm"), text(info, "context"), text(info, "origin"), sandbox);
        let Some((realm, true)) = added else { return };
        if realm.is_own() {
            return;
        }
        if let Some(tab) = self.contexts.tab_of(&realm.context).map(|tab| tab.id.clone()) {
            let params = json!({"context": realm.describe()});
            self.tab_event(&tab, "Runtime.executionContextCreated", &params);
        }
    }

    pub(in crate::browser) fn realm_destroyed(&mut self, id: &str) {
        // Before its removal: the commands that wait may look it up.
        self.fail_pending(&BidiError::destroyed(), |pending| pending.realm.as_deref() == Some(id));
        let Some(realm) = self.realms.remove(id).filter(|realm| !realm.is_own()) else { return };
        if let Some(tab) = self.contexts.tab_of(&realm.context).map(|tab| tab.id.clone()) {
            let params = json!({"executionContextId": realm.number, "executionContextUniqueId": realm.id});
            self.tab_event(&tab, "Runtime.executionContextDestroyed", &params);
        }
    }

    /// Reports the realms of a tab to a session that has enabled `Runtime` now.
    pub(in crate::browser) fn report_realms(&mut self, tab: &str, session: &CdpSessionId) {
        let mut known: Vec<Realm> = Vec::new();
        for context in self.contexts.subtree(tab) {
            known.extend(self.realms.in_context(&context).filter(|realm| !realm.is_own()).cloned());
        }
        for realm in known {
            let params = json!({"context": realm.describe()});
            self.send_event(Some(session), "Runtime.executionContextCreated", &params);
        }
    }
}
