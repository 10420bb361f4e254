//! `Runtime.evaluate` and `Runtime.callFunctionOn`.

use std::collections::VecDeque;

use serde_json::{Value, json};
use tabwire_cdp::ProtocolError;

use crate::browser::{EmulatedBrowser, Reply};
use crate::protocol::async_script::async_forms;
use crate::protocol::message::{BidiError, CONTEXT_MISSING, flag, text};
use crate::protocol::plain_value::{LEVELS, to_plain};
use crate::protocol::remote_value::{
    ObjectId, object_of, to_argument, to_exception, to_object, to_object_by_value,
};
use crate::protocol::script_text::{OWN_PROPERTIES, agent_expression, function_by_value, value_of_handle};
use crate::state::realm::Realm;

/// The start of an expression of the page agent.
const AGENT: &str = "globalThis.tabwire ?";

/// How a value goes to the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Give {
    /// As a handle.
    Handle,
    /// The page's script already made text of it.
    Text,
    /// By value: an object is read with a second command.
    Value,
}

impl EmulatedBrowser {
    /// The realm of a command, in its tab.
    fn find_realm<'a>(&'a self, tab: &'a str, number: Option<i64>) -> Option<&'a Realm> {
        let realm = match number {
            Some(number) => self.realms.find(number)?,
            None => self.realms.main_of(tab)?,
        };
        self.contexts.tab_of(&realm.context).filter(|found| found.id == tab)?;
        Some(realm)
    }

    pub(in crate::browser) fn evaluate(&mut self, tab: &str, params: &Value, reply: Reply) {
        let number = params.get("contextId").and_then(Value::as_i64);
        let Some(realm) = self.find_realm(tab, number).cloned() else {
            return self.fail(reply, &ProtocolError::chrome(-32000, CONTEXT_MISSING));
        };
        let expression = text(params, "expression");
        let by_value = flag(params, "returnByValue");
        let is_agent = by_value && realm.sandbox.is_some() && expression.starts_with(AGENT);
        let give = match (by_value, is_agent) {
            (false, _) => Give::Handle,
            (true, true) => Give::Text,
            (true, false) => Give::Value,
        };
        let sent = if is_agent { agent_expression(expression) } else { expression.to_owned() };
        let ownership = if give == Give::Text { "none" } else { "root" };
        let mut command = json!({
            "expression": sent, "target": {"realm": realm.id}, "awaitPromise": flag(params, "awaitPromise"),
            "resultOwnership": ownership, "serializationOptions": serialization(give),
        });
        if flag(params, "userGesture") {
            command["userActivation"] = json!(true);
        }
        let wraps = flag(params, "replMode") && expression.contains("await");
        let source = expression.to_owned();
        let first = realm.clone();
        let then = move |browser: &mut Self, outcome: Result<Value, BidiError>| {
            if wraps && outcome.as_ref().is_ok_and(was_not_parsed) {
                return browser.evaluate_async(&first, async_forms(&source), give, reply);
            }
            browser.evaluated(&first, give, outcome, reply);
        };
        self.send_for(Some(&realm.context), Some(&realm.id), "script.evaluate", command, Box::new(then));
    }

    /// Evaluates a script with `await` outside of functions, which BiDi does not allow: the first form that can be parsed.
    fn evaluate_async(&mut self, realm: &Realm, mut forms: VecDeque<String>, give: Give, reply: Reply) {
        let command = json!({
            "expression": forms.pop_front(), "target": {"realm": realm.id}, "awaitPromise": true,
            "resultOwnership": "root", "serializationOptions": serialization(give),
        });
        let first = realm.clone();
        let then = move |browser: &mut Self, outcome: Result<Value, BidiError>| {
            if !forms.is_empty() && outcome.as_ref().is_ok_and(was_not_parsed) {
                return browser.evaluate_async(&first, forms, give, reply);
            }
            browser.evaluated(&first, give, outcome, reply);
        };
        self.send_for(Some(&realm.context), Some(&realm.id), "script.evaluate", command, Box::new(then));
    }

    fn evaluated(&mut self, realm: &Realm, give: Give, outcome: Result<Value, BidiError>, reply: Reply) {
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(error) => return self.fail(reply, &error.to_script_error()),
        };
        if let Some(details) = outcome.get("exceptionDetails") {
            let details = to_exception(details, realm.number);
            let exception = details.get("exception").cloned().unwrap_or_default();
            return self.succeed(reply, json!({"result": exception, "exceptionDetails": details}));
        }
        let value = outcome.get("result").cloned().unwrap_or_default();
        let object = match give {
            Give::Text => to_object_by_value(&value, realm.number),
            Give::Handle => to_object(&value, realm.number),
            Give::Value => match (to_plain(&value), text(&value, "handle")) {
                (Some(plain), handle) => {
                    self.disown(realm, handle);
                    object_of(plain)
                }
                (None, "") => to_object(&value, realm.number),
                (None, handle) => return self.read_value(realm, handle.to_owned(), reply),
            },
        };
        self.succeed(reply, json!({"result": object}));
    }

    /// Reads an object by its handle, and releases the handle.
    fn read_value(&mut self, realm: &Realm, handle: String, reply: Reply) {
        let command = json!({
            "functionDeclaration": value_of_handle(), "arguments": [{"handle": handle}],
            "target": {"realm": realm.id}, "awaitPromise": false,
        });
        let first = realm.clone();
        let then = move |browser: &mut Self, outcome: Result<Value, BidiError>| {
            browser.evaluated(&first, Give::Text, outcome, reply);
        };
        self.send_for(Some(&realm.context), Some(&realm.id), "script.callFunction", command, Box::new(then));
        self.disown(realm, &handle);
    }

    fn disown(&mut self, realm: &Realm, handle: &str) {
        if !handle.is_empty() {
            self.post("script.disown", json!({"handles": [handle], "target": {"realm": realm.id}}));
        }
    }

    pub(in crate::browser) fn call_function(&mut self, tab: &str, params: &Value, reply: Reply) {
        let this = match params.get("objectId").and_then(Value::as_str).map(ObjectId::parse) {
            Some(None) => {
                return self.fail(reply, &ProtocolError::invalid_params("Invalid remote object id"));
            }
            Some(Some(id)) => Some(id),
            None => None,
        };
        let number = match &this {
            Some(this) => Some(this.context),
            None => params.get("executionContextId").and_then(Value::as_i64),
        };
        let Some(realm) = self.find_realm(tab, number).cloned() else {
            return self.fail(reply, &ProtocolError::chrome(-32000, CONTEXT_MISSING));
        };
        let by_value = flag(params, "returnByValue");
        let declaration = text(params, "functionDeclaration");
        // A sandbox has a `JSON` of its own, the page's scripts may have changed theirs.
        let give = match (by_value, realm.sandbox.is_some()) {
            (false, _) => Give::Handle,
            (true, true) => Give::Text,
            (true, false) => Give::Value,
        };
        let declaration =
            if give == Give::Text { function_by_value(declaration) } else { declaration.to_owned() };
        let arguments = params.get("arguments").and_then(Value::as_array);
        let arguments: Vec<Value> = arguments.into_iter().flatten().map(to_argument).collect();
        let ownership = if give == Give::Text { "none" } else { "root" };
        let mut command = json!({
            "functionDeclaration": declaration, "arguments": arguments, "target": {"realm": realm.id},
            "awaitPromise": flag(params, "awaitPromise"), "resultOwnership": ownership,
            "serializationOptions": serialization(give),
        });
        if let Some(this) = this {
            command["this"] = this.to_reference();
        }
        if flag(params, "userGesture") {
            command["userActivation"] = json!(true);
        }
        let first = realm.clone();
        let then = move |browser: &mut Self, outcome: Result<Value, BidiError>| {
            browser.evaluated(&first, give, outcome, reply);
        };
        self.send_for(Some(&realm.context), Some(&realm.id), "script.callFunction", command, Box::new(then));
    }

    /// The own properties of an object. BiDi gives no handles for objects in a result, so only values, functions and nodes
    /// can be used further.
    pub(in crate::browser) fn get_properties(&mut self, tab: &str, params: &Value, reply: Reply) {
        let id = params.get("objectId").and_then(Value::as_str).and_then(ObjectId::parse);
        let found =
            id.and_then(|id| self.find_realm(tab, Some(id.context)).cloned().map(|realm| (id, realm)));
        let Some((this, realm)) = found else {
            return self.fail(reply, &ProtocolError::chrome(-32000, CONTEXT_MISSING));
        };
        let command = json!({
            "functionDeclaration": OWN_PROPERTIES, "this": this.to_reference(), "target": {"realm": realm.id},
            "awaitPromise": false, "serializationOptions": {"maxObjectDepth": 2, "maxDomDepth": 0},
        });
        let number = realm.number;
        let then = move |browser: &mut Self, outcome: Result<Value, BidiError>| match outcome {
            Ok(outcome) => {
                let pairs = outcome.pointer("/result/value").and_then(Value::as_array);
                let describe = |pair: &Value| {
                    let part = |path: &str| pair.pointer(path).cloned().unwrap_or_default();
                    json!({
                        "name": part("/value/0/value"), "value": to_object(&part("/value/1"), number),
                        "enumerable": part("/value/2/value"), "configurable": true, "writable": true,
                        "isOwn": true,
                    })
                };
                let properties: Vec<Value> = pairs.into_iter().flatten().map(describe).collect();
                browser.succeed(reply, json!({"result": properties}));
            }
            Err(error) => browser.fail(reply, &error.to_script_error()),
        };
        self.send_for(Some(&realm.context), Some(&realm.id), "script.callFunction", command, Box::new(then));
    }

    pub(in crate::browser) fn release_object(&mut self, params: &Value, reply: Reply) {
        let id = params.get("objectId").and_then(Value::as_str).and_then(ObjectId::parse);
        if let Some(ObjectId { context, handle: Some(handle), .. }) = id
            && let Some(realm) = self.realms.find(context).map(|realm| realm.id.clone())
        {
            self.post("script.disown", json!({"handles": [handle], "target": {"realm": realm}}));
        }
        self.succeed(reply, "{}");
    }

    /// Runs a function of the emulated browser in a document, in a sandbox that no client sees.
    pub(in crate::browser) fn call_own(
        &mut self,
        context: &str,
        function: &str,
        arguments: &Value,
        then: impl FnOnce(&mut Self, Result<Value, BidiError>) + Send + 'static,
    ) {
        let target = json!({"context": context, "sandbox": crate::protocol::script_text::OWN_SANDBOX});
        let command = json!({
            "functionDeclaration": function, "arguments": arguments, "target": target, "awaitPromise": false,
            "serializationOptions": {"maxObjectDepth": 2, "maxDomDepth": 0},
        });
        let read = move |browser: &mut Self, outcome: Result<Value, BidiError>| {
            let value = outcome.map(|outcome| outcome.get("result").cloned().unwrap_or_default());
            then(browser, value);
        };
        self.send_for(Some(context), None, "script.callFunction", command, Box::new(read));
    }
}

fn serialization(give: Give) -> Value {
    let levels = if give == Give::Value { LEVELS } else { 0 };
    json!({"maxObjectDepth": levels, "maxDomDepth": 0})
}

/// Whether a script could not be parsed, so that none of it ran. An error that a script throws has a stack.
fn was_not_parsed(outcome: &Value) -> bool {
    let Some(details) = outcome.get("exceptionDetails") else { return false };
    let frames = details.pointer("/stackTrace/callFrames").and_then(Value::as_array);
    text(details, "text").starts_with("SyntaxError") && frames.is_none_or(Vec::is_empty)
}
