//! Scripts for new documents, isolated worlds and bindings.

use serde_json::{Value, json};
use tabwire_api::CdpSessionId;
use tabwire_cdp::ProtocolError;

use crate::browser::{EmulatedBrowser, Reply};
use crate::protocol::message::{BidiError, flag, text};

/// Separates the parts of a channel's name.
const PART: char = '\u{1}';

impl EmulatedBrowser {
    pub(in crate::browser) fn create_world(&mut self, tab: &str, params: &Value, reply: Reply) {
        let frame = text(params, "frameId");
        if self.contexts.tab_of(frame).is_none_or(|found| found.id != tab) {
            return self.fail(reply, &ProtocolError::chrome(-32000, "No frame for given id found"));
        }
        let name = match text(params, "worldName") {
            "" => "__unnamed",
            name => name,
        };
        let command = json!({
            "expression": "0", "target": {"context": frame, "sandbox": name}, "awaitPromise": false,
        });
        let (context, sandbox) = (frame.to_owned(), name.to_owned());
        let then = move |browser: &mut Self, outcome: Result<Value, BidiError>| match outcome {
            Ok(outcome) => {
                let realm = json!({
                    "type": "window", "realm": outcome.get("realm"), "context": context, "sandbox": sandbox,
                    "origin": browser.realms.main_of(&context).map(|realm| realm.origin.clone()),
                });
                // The event comes before the response; this is for a browser that sends it later.
                browser.realm_created(&realm);
                match browser.realms.find_by_id(text(&outcome, "realm")).map(|realm| realm.number) {
                    Some(number) => browser.succeed(reply, json!({"executionContextId": number})),
                    None => {
                        browser
                            .fail(reply, &ProtocolError::chrome(-32000, "Could not create isolated world"));
                    }
                }
            }
            Err(error) if error.is_document_gone() => {
                browser.fail(reply, &ProtocolError::chrome(-32000, "No frame for given id found"));
            }
            Err(error) => browser.fail(reply, &error.to_script_error()),
        };
        self.send_for(Some(frame), None, "script.evaluate", command, Box::new(then));
    }

    pub(in crate::browser) fn add_script(
        &mut self,
        tab: &str,
        session: &CdpSessionId,
        params: &Value,
        reply: Reply,
    ) {
        let source = text(params, "source");
        let world = text(params, "worldName").to_owned();
        // A line comment at the end of the source must not hide the brace.
        let mut command = json!({"functionDeclaration": format!("() => {{{source}\n}}"), "contexts": [tab]});
        if !world.is_empty() {
            command["sandbox"] = json!(world);
        }
        if flag(params, "runImmediately") {
            for context in self.contexts.subtree(tab) {
                let mut target = json!({"context": context});
                if !world.is_empty() {
                    target["sandbox"] = json!(world);
                }
                let now = json!({"expression": source, "target": target, "awaitPromise": false});
                self.post("script.evaluate", now);
            }
        }
        let identifier = self.next_number().to_string();
        let Some(entry) = self.sessions.find_mut(Some(session)) else { return };
        entry.scripts.insert(identifier.clone(), None);
        let session = session.clone();
        let then = move |browser: &mut Self, outcome: Result<Value, BidiError>| match outcome {
            Ok(added) => {
                let script = text(&added, "script").to_owned();
                let entry = browser.sessions.find_mut(Some(&session));
                match entry.and_then(|entry| entry.scripts.get_mut(&identifier)) {
                    Some(known) => *known = Some(script),
                    // It was removed, or its session ended, meanwhile.
                    None => browser.post("script.removePreloadScript", json!({"script": script})),
                }
                browser.succeed(reply, json!({"identifier": identifier}));
            }
            Err(error) => browser.fail(reply, &error.to_protocol()),
        };
        self.send("script.addPreloadScript", command, Box::new(then));
    }

    pub(in crate::browser) fn remove_script(
        &mut self,
        session: &CdpSessionId,
        identifier: &str,
        reply: Reply,
    ) {
        let entry = self.sessions.find_mut(Some(session));
        match entry.and_then(|entry| entry.scripts.remove(identifier)) {
            Some(Some(script)) => {
                self.send_acknowledged("script.removePreloadScript", json!({"script": script}), reply);
            }
            Some(None) => self.succeed(reply, "{}"),
            None => self.fail(reply, &ProtocolError::chrome(-32000, "Script not found")),
        }
    }

    /// A function in the page that sends an event to the client: a preload script with a channel.
    pub(in crate::browser) fn add_binding(
        &mut self,
        tab: &str,
        session: &CdpSessionId,
        params: &Value,
        reply: Reply,
    ) {
        let name = text(params, "name").to_owned();
        let world = text(params, "executionContextName").to_owned();
        let Some(entry) = self.sessions.find_mut(Some(session)) else { return };
        if !entry.bindings.insert(name.clone()) {
            return self.succeed(reply, "{}");
        }
        let channel = format!("{}{PART}{name}", session.as_str());
        let member = Value::from(name.as_str());
        let function = format!("(send) => {{ globalThis[{member}] = (payload) => send(String(payload)); }}");
        let arguments = json!([{"type": "channel", "value": {"channel": channel}}]);
        for context in self.contexts.subtree(tab) {
            let mut target = json!({"context": context});
            if !world.is_empty() {
                target["sandbox"] = json!(world);
            }
            let now = json!({
                "functionDeclaration": function, "arguments": arguments, "target": target, "awaitPromise": false,
            });
            self.post("script.callFunction", now);
        }
        let mut command = json!({"functionDeclaration": function, "arguments": arguments, "contexts": [tab]});
        if !world.is_empty() {
            command["sandbox"] = json!(world);
        }
        let session = session.clone();
        let then = move |browser: &mut Self, outcome: Result<Value, BidiError>| {
            if let Ok(added) = &outcome {
                let script = text(added, "script").to_owned();
                match browser.sessions.find_mut(Some(&session)) {
                    Some(entry) => drop(entry.scripts.insert(format!("binding {name}"), Some(script))),
                    None => browser.post("script.removePreloadScript", json!({"script": script})),
                }
            }
            browser.acknowledge(reply, outcome);
        };
        self.send("script.addPreloadScript", command, Box::new(then));
    }

    pub(in crate::browser) fn remove_binding(&mut self, session: &CdpSessionId, name: &str, reply: Reply) {
        let Some(entry) = self.sessions.find_mut(Some(session)) else { return };
        entry.bindings.remove(name);
        match entry.scripts.remove(&format!("binding {name}")).flatten() {
            Some(script) => {
                self.send_acknowledged("script.removePreloadScript", json!({"script": script}), reply);
            }
            None => self.succeed(reply, "{}"),
        }
    }

    pub(in crate::browser) fn binding_called(&mut self, params: &Value) {
        let Some((session, name)) = text(params, "channel").split_once(PART) else { return };
        let session = CdpSessionId::new(session);
        let is_enabled = self
            .sessions
            .find(Some(&session))
            .is_some_and(|found| found.domains.contains("Runtime") && found.bindings.contains(name));
        let realm = params.pointer("/source/realm").and_then(Value::as_str).unwrap_or_default();
        let number = self.realms.find_by_id(realm).map(|realm| realm.number).unwrap_or_default();
        let payload = params.pointer("/data/value").and_then(Value::as_str).unwrap_or_default();
        if is_enabled {
            let event = json!({"name": name, "payload": payload, "executionContextId": number});
            self.send_event(Some(&session), "Runtime.bindingCalled", &event);
        }
    }
}
