//! Execution contexts that a client received before the debugger was attached to its tab.
//!
//! Clients wait for a page's contexts before they send anything else, so an unattached tab reports the contexts that it is
//! certain to have: the page's default one and the isolated worlds that the client created. Each has an id that Chrome
//! never uses. When the debugger attaches, each is matched with Chrome's context, and ids are translated from then on, in
//! commands and in events.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// The first synthetic id. Chrome counts from 1 in each process and never gets this far.
pub(crate) const FIRST_SYNTHETIC: i64 = 1_900_000_000;

/// The first digits of the first hundred thousand synthetic ids, to skip other commands without parsing.
const ID_PREFIX: &str = "19000";

#[derive(Clone, Debug)]
struct SyntheticContext {
    frame: String,
    /// The name of an isolated world; none for the page's default context.
    name: Option<String>,
    /// Whether `Runtime.executionContextCreated` was sent.
    is_reported: bool,
    /// Chrome's context, once it is known.
    real: Option<RealContext>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct RealContext {
    number: i64,
    unique: String,
}

/// The synthetic contexts of one CDP session, by id.
#[derive(Clone, Debug, Default)]
pub(crate) struct SyntheticContexts(BTreeMap<i64, SyntheticContext>);

/// The parameters of a command with Chrome's context ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Translation {
    /// They name no synthetic context.
    Unchanged,
    Params(String),
    /// Chrome has not reported the context yet.
    Unmatched,
    /// The context is gone.
    Gone,
}

impl SyntheticContexts {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Removes contexts that Chrome does not have.
    pub(crate) fn remove_unmatched(&mut self) {
        self.0.retain(|_, world| world.real.is_some());
    }

    /// Returns the id of a context; creates the context if it is new.
    pub(crate) fn get_or_create(&mut self, next: &mut i64, frame: &str, name: Option<&str>) -> i64 {
        let same = |world: &SyntheticContext| world.frame == frame && world.name.as_deref() == name;
        if let Some((number, _)) = self.0.iter().find(|(_, world)| same(world)) {
            return *number;
        }
        *next += 1;
        let number = FIRST_SYNTHETIC + *next;
        let name = name.map(str::to_owned);
        self.0.insert(
            number,
            SyntheticContext { frame: frame.to_owned(), name, is_reported: false, real: None },
        );
        number
    }

    /// Parameters of `Runtime.executionContextCreated` for contexts that were not reported yet.
    pub(crate) fn take_unreported(&mut self, origin: &str) -> Vec<String> {
        let unreported = self.0.iter_mut().filter(|(_, world)| !world.is_reported);
        unreported
            .map(|(number, world)| {
                world.is_reported = true;
                let kind = if world.name.is_some() { "isolated" } else { "default" };
                let context = json!({
                    "id": number, "origin": origin, "name": world.name.as_deref().unwrap_or_default(),
                    "uniqueId": unique_id_of(*number),
                    "auxData": {"isDefault": world.name.is_none(), "type": kind, "frameId": world.frame},
                });
                json!({"context": context}).to_string()
            })
            .collect()
    }

    /// Matches a context that Chrome reports; says whether the client knows it already.
    pub(crate) fn match_real(&mut self, context: &Value) -> bool {
        let aux = |field: &str| context.pointer(&format!("/auxData/{field}"));
        let frame = aux("frameId").and_then(Value::as_str);
        let is_default = aux("isDefault").and_then(Value::as_bool).unwrap_or(false);
        let name = context.get("name").and_then(Value::as_str).filter(|_| !is_default);
        let (Some(frame), Some(number)) = (frame, context.get("id").and_then(Value::as_i64)) else {
            return false;
        };
        let unique = context.get("uniqueId").and_then(Value::as_str).unwrap_or_default().to_owned();
        let real = RealContext { number, unique };
        let fits = |world: &&mut SyntheticContext| world.frame == frame && world.name.as_deref() == name;
        let Some(world) = self.0.values_mut().find(fits) else { return false };
        match &world.real {
            None => {
                world.real = Some(real);
                world.is_reported
            }
            Some(known) if known.number == real.number => {
                world.real = Some(real);
                world.is_reported
            }
            Some(_) => false,
        }
    }

    /// Matches an isolated world by the response to its creation, for sessions without `Runtime.enable`.
    pub(crate) fn set_real(&mut self, number: i64, real: i64) {
        if let Some(world) = self.0.get_mut(&number).filter(|world| world.real.is_none()) {
            world.real = Some(RealContext { number: real, unique: String::new() });
        }
    }

    fn synthetic_id_of(&self, real: i64) -> Option<i64> {
        let is_it = |world: &SyntheticContext| world.real.as_ref().is_some_and(|known| known.number == real);
        self.0.iter().find(|(_, world)| is_it(world)).map(|(number, _)| *number)
    }

    /// Translates the context id in an event; none when the id is not a matched one.
    pub(crate) fn translate_event(&mut self, method: &str, params: &Value) -> Option<String> {
        let pointer = match method {
            "Runtime.exceptionThrown" => "/exceptionDetails/executionContextId",
            _ => "/executionContextId",
        };
        let real = params.pointer(pointer).and_then(Value::as_i64)?;
        let number = self.synthetic_id_of(real)?;
        let mut params = params.clone();
        if let Some(slot) = params.pointer_mut(pointer) {
            *slot = Value::from(number);
        }
        if let Some(slot) = params.get_mut("executionContextUniqueId") {
            *slot = Value::from(unique_id_of(number));
        }
        if method == "Runtime.executionContextDestroyed" {
            self.0.remove(&number);
        }
        Some(params.to_string())
    }

    /// Translates context ids in the parameters of a command.
    pub(crate) fn translate_command(&self, params: &str) -> Translation {
        if !params.contains("ontextId\"") || !params.contains(ID_PREFIX) {
            return Translation::Unchanged;
        }
        let mut read = tabwire_cdp::lenient_json::read(params.as_bytes());
        let mut is_changed = false;
        for field in ["contextId", "executionContextId", "uniqueContextId"] {
            let Some(slot) = read.get_mut(field) else { continue };
            let named = slot.as_i64().or_else(|| slot.as_str().and_then(context_id_of));
            let Some(number) = named.filter(|number| *number >= FIRST_SYNTHETIC) else { continue };
            match self.0.get(&number).map(|world| &world.real) {
                None => return Translation::Gone,
                Some(None) => return Translation::Unmatched,
                Some(Some(real)) if slot.is_string() => *slot = Value::from(real.unique.as_str()),
                Some(Some(real)) => *slot = Value::from(real.number),
            }
            is_changed = true;
        }
        if is_changed { Translation::Params(read.to_string()) } else { Translation::Unchanged }
    }
}

fn unique_id_of(number: i64) -> String {
    format!("tabwire.{number}")
}

fn context_id_of(unique: &str) -> Option<i64> {
    unique.strip_prefix("tabwire.")?.parse().ok()
}

/// Events with a context id.
pub(crate) fn refers_to_context(method: &str) -> bool {
    matches!(
        method,
        "Runtime.executionContextDestroyed"
            | "Runtime.bindingCalled"
            | "Runtime.consoleAPICalled"
            | "Runtime.exceptionThrown"
            | "Runtime.inspectRequested"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(id: i64, frame: &str, name: &str, is_default: bool) -> Value {
        let aux = json!({"frameId": frame, "isDefault": is_default});
        json!({"id": id, "uniqueId": format!("u{id}"), "name": name, "auxData": aux})
    }

    #[test]
    fn ids_are_translated_both_ways() {
        let (mut contexts, mut next) = (SyntheticContexts::default(), 0);
        let page = contexts.get_or_create(&mut next, "F", None);
        let own = contexts.get_or_create(&mut next, "F", Some("w"));
        assert_eq!(contexts.get_or_create(&mut next, "F", Some("w")), own, "created once");
        assert_eq!(contexts.take_unreported("https://a.example").len(), 2);
        assert_eq!(contexts.take_unreported("https://a.example").len(), 0);
        let command = json!({"contextId": page}).to_string();
        assert_eq!(contexts.translate_command(&command), Translation::Unmatched);
        assert!(!contexts.match_real(&reported(7, "other", "", true)), "another frame's");
        assert!(contexts.match_real(&reported(7, "F", "", true)));
        assert!(contexts.match_real(&reported(8, "F", "w", false)));
        assert!(!contexts.match_real(&reported(9, "F", "w", false)), "a second one is new");
        assert_eq!(
            contexts.translate_command(&command),
            Translation::Params(json!({"contextId": 7}).to_string())
        );
        let unique = json!({"uniqueContextId": unique_id_of(own)}).to_string();
        assert_eq!(
            contexts.translate_command(&unique),
            Translation::Params(json!({"uniqueContextId": "u8"}).to_string())
        );
        assert_eq!(contexts.translate_command(r#"{"contextId":7}"#), Translation::Unchanged);

        let called = contexts.translate_event("Runtime.bindingCalled", &json!({"executionContextId": 8}));
        assert_eq!(called, Some(json!({"executionContextId": own}).to_string()));
        let ended = json!({"executionContextId": 8, "executionContextUniqueId": "u8"});
        let ended =
            contexts.translate_event("Runtime.executionContextDestroyed", &ended).expect("it is ours");
        assert!(ended.contains(&unique_id_of(own)));
        assert_eq!(contexts.translate_command(&unique), Translation::Gone);
    }
}
