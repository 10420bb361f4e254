//! Nodes: `DOM.describeNode`, `DOM.resolveNode`, `DOM.getFrameOwner`.

use serde_json::{Value, json};
use tabwire_cdp::ProtocolError;

use crate::browser::{Command, EmulatedBrowser, Reply};
use crate::protocol::message::{BidiError, CONTEXT_MISSING, text};
use crate::protocol::remote_value::{ObjectId, to_object};
use crate::protocol::script_text::DESCRIBE;

/// Chrome's message for a node that is gone.
const NO_NODE: &str = "No node with given id found";

impl EmulatedBrowser {
    pub(in crate::browser) fn dom_domain(&mut self, tab: &str, command: &Command, reply: Reply) {
        let params = &command.params;
        match command.method.as_str() {
            "DOM.enable" | "DOM.disable" => self.succeed(reply, "{}"),
            "DOM.describeNode" => self.describe_node(params, reply),
            "DOM.resolveNode" => self.resolve_node(tab, params, reply),
            "DOM.getFrameOwner" => self.frame_owner(tab, text(params, "frameId"), reply),
            "DOM.scrollIntoViewIfNeeded" => self.scroll_into_view(tab, params, reply),
            "DOM.getBoxModel" => self.box_model(tab, params, reply),
            "DOM.getContentQuads" => self.content_quads(tab, params, reply),
            "DOM.setFileInputFiles" => self.set_files(params, reply),
            method => self.refuse(reply, method),
        }
    }

    /// The node that a command names by object or number: its shared id and an execution context.
    pub(in crate::browser) fn find_node(&self, params: &Value) -> Option<(String, i64)> {
        if let Some(id) = params.get("objectId").and_then(Value::as_str) {
            let id = ObjectId::parse(id)?;
            return Some((id.shared?, id.context));
        }
        let node = self.nodes.find(params.get("backendNodeId").and_then(Value::as_i64)?)?;
        Some((node.shared.clone(), node.context))
    }

    fn describe_node(&mut self, params: &Value, reply: Reply) {
        let Some((shared, number)) = self.find_node(params) else {
            return self.fail(reply, &ProtocolError::chrome(-32000, NO_NODE));
        };
        let Some(realm) = self.realms.find(number).cloned() else {
            return self.fail(reply, &ProtocolError::chrome(-32000, CONTEXT_MISSING));
        };
        let command = json!({
            "functionDeclaration": DESCRIBE, "this": {"sharedId": shared}, "target": {"realm": realm.id},
            "awaitPromise": false,
            "serializationOptions": {"maxObjectDepth": 1, "maxDomDepth": 0, "includeShadowTree": "all"},
        });
        let then = move |browser: &mut Self, outcome: Result<Value, BidiError>| match outcome {
            Ok(outcome) => {
                let parts = outcome.pointer("/result/value").cloned().unwrap_or_default();
                let node = browser.describe_parts(&shared, number, &parts);
                browser.succeed(reply, json!({"node": node}));
            }
            Err(error) => browser.fail(reply, &error.to_script_error()),
        };
        self.send_for(Some(&realm.context), Some(&realm.id), "script.callFunction", command, Box::new(then));
    }

    fn describe_parts(&mut self, shared: &str, number: i64, parts: &Value) -> Value {
        let inner = parts.pointer("/0/value").cloned().unwrap_or_default();
        let name = text(&inner, "localName");
        let mut attributes: Vec<Value> = Vec::new();
        for (key, value) in inner.get("attributes").and_then(Value::as_object).into_iter().flatten() {
            attributes.push(json!(key));
            attributes.push(value.clone());
        }
        let mut node = json!({
            "nodeId": 0, "backendNodeId": self.nodes.number_of(shared, number),
            "nodeType": inner.get("nodeType").cloned().unwrap_or(json!(1)),
            "nodeName": name.to_uppercase(), "localName": name,
            "nodeValue": inner.get("nodeValue").cloned().unwrap_or(json!("")),
            "childNodeCount": inner.get("childNodeCount").cloned().unwrap_or(json!(0)),
            "attributes": attributes,
        });
        if let Some(frame) = parts.pointer("/1/value/context").and_then(Value::as_str) {
            node["frameId"] = json!(frame);
        }
        let root = inner.get("shadowRoot").filter(|root| root.is_object());
        if let Some(root) = root {
            let mode = root.pointer("/value/mode").and_then(Value::as_str).unwrap_or("open");
            let id = self.nodes.number_of(text(root, "sharedId"), number);
            node["shadowRoots"] = json!([{
                "nodeId": 0, "backendNodeId": id, "nodeType": 11, "nodeName": "#document-fragment",
                "localName": "", "nodeValue": "", "shadowRootType": mode,
            }]);
        }
        node
    }

    fn resolve_node(&mut self, tab: &str, params: &Value, reply: Reply) {
        let Some((shared, seen_in)) = self.find_node(params) else {
            return self.fail(reply, &ProtocolError::chrome(-32000, NO_NODE));
        };
        let number = params.get("executionContextId").and_then(Value::as_i64);
        let realm = match number {
            Some(number) => self.realms.find(number),
            // The main world of the node's document.
            None => {
                let context = self.realms.find(seen_in).map(|realm| realm.context.as_str());
                context.and_then(|context| self.realms.main_of(context))
            }
        };
        let in_tab = |context: &str| self.contexts.tab_of(context).is_some_and(|found| found.id == tab);
        let Some(realm) = realm.filter(|realm| in_tab(&realm.context)).cloned() else {
            return self.fail(reply, &ProtocolError::chrome(-32000, CONTEXT_MISSING));
        };
        let command = json!({
            "functionDeclaration": "(node) => node", "arguments": [{"sharedId": shared}],
            "target": {"realm": realm.id}, "awaitPromise": false, "resultOwnership": "root",
            "serializationOptions": {"maxObjectDepth": 0, "maxDomDepth": 0},
        });
        let number = realm.number;
        let then = move |browser: &mut Self, outcome: Result<Value, BidiError>| match outcome {
            Ok(outcome) => {
                let value = outcome.get("result").cloned().unwrap_or_default();
                browser.succeed(reply, json!({"object": to_object(&value, number)}));
            }
            Err(error) if error.name == "no such node" => {
                browser.fail(reply, &ProtocolError::chrome(-32000, NO_NODE));
            }
            Err(error) => browser.fail(reply, &error.to_script_error()),
        };
        self.send_for(Some(&realm.context), Some(&realm.id), "script.callFunction", command, Box::new(then));
    }

    fn frame_owner(&mut self, tab: &str, frame: &str, reply: Reply) {
        let found = self
            .contexts
            .find(frame)
            .filter(|_| self.contexts.tab_of(frame).is_some_and(|found| found.id == tab));
        let Some(parent) = found.and_then(|context| context.parent.clone()) else {
            return self
                .fail(reply, &ProtocolError::chrome(-32000, "Frame with the given id was not found."));
        };
        let locate = json!({"context": parent, "locator": {"type": "context", "value": {"context": frame}}});
        let above = parent.clone();
        let then = move |browser: &mut Self, outcome: Result<Value, BidiError>| match outcome {
            Ok(located) => {
                let shared = located.pointer("/nodes/0/sharedId").and_then(Value::as_str);
                let realm = browser.realms.main_of(&above).map(|realm| realm.number);
                match (shared, realm) {
                    (Some(shared), Some(realm)) => {
                        let number = browser.nodes.number_of(shared, realm);
                        browser.succeed(reply, json!({"backendNodeId": number}));
                    }
                    _ => {
                        let message = "Frame with the given id does not belong to the target.";
                        browser.fail(reply, &ProtocolError::chrome(-32000, message));
                    }
                }
            }
            Err(error) => browser.fail(reply, &error.to_script_error()),
        };
        self.send_for(Some(&parent), None, "browsingContext.locateNodes", locate, Box::new(then));
    }
}
