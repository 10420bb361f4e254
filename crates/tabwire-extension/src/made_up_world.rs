//! Worlds of scripts that a client was told of before the debugger was on its tab.
//!
//! Clients wait for a page's worlds before they ask for anything, so an untouched tab is said to have the worlds it is
//! sure to have: the page's own, and those that the client asked for. Each has a number that no browser gives. When the
//! debugger goes on, the browser's worlds take their places, and from then on numbers are exchanged on the way: in what
//! the client asks, and in what it is told.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// The first number that is made up. The browser counts from one in each process and does not get here.
pub(crate) const FIRST_MADE_UP: i64 = 1_900_000_000;

/// What the first hundred thousand made-up numbers begin with, to pass others by without reading them.
const MARK: &str = "19000";

/// A world as a client knows it.
#[derive(Clone, Debug)]
struct World {
    frame: String,
    /// Its name; none for the page's own.
    name: Option<String>,
    /// Whether the client was told of it.
    is_told: bool,
    /// The browser's own, once it is known.
    real: Option<RealWorld>,
}

/// A world as the browser names it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RealWorld {
    number: i64,
    unique: String,
}

/// The made-up worlds of one cdp session, by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct MadeUpWorlds(BTreeMap<i64, World>);

/// A command with the browser's numbers in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Exchanged {
    /// It names no made-up world.
    AsItIs,
    /// Its parameters, as the browser is to get them.
    Params(String),
    /// The browser has not told of the world yet.
    NotYet,
    /// There is no such world any more.
    Gone,
}

impl MadeUpWorlds {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Forgets those that the browser does not have.
    pub(crate) fn forget_unreal(&mut self) {
        self.0.retain(|_, world| world.real.is_some());
    }

    /// Makes a world up, unless it was made up before; gives its number.
    pub(crate) fn make(&mut self, next: &mut i64, frame: &str, name: Option<&str>) -> i64 {
        let same = |world: &World| world.frame == frame && world.name.as_deref() == name;
        if let Some((number, _)) = self.0.iter().find(|(_, world)| same(world)) {
            return *number;
        }
        *next += 1;
        let number = FIRST_MADE_UP + *next;
        let name = name.map(str::to_owned);
        self.0.insert(number, World { frame: frame.to_owned(), name, is_told: false, real: None });
        number
    }

    /// The news of worlds that the client was not told of yet, as a browser would tell them.
    pub(crate) fn take_news(&mut self, origin: &str) -> Vec<String> {
        let untold = self.0.iter_mut().filter(|(_, world)| !world.is_told);
        untold
            .map(|(number, world)| {
                world.is_told = true;
                let kind = if world.name.is_some() { "isolated" } else { "default" };
                let context = json!({
                    "id": number, "origin": origin, "name": world.name.as_deref().unwrap_or_default(),
                    "uniqueId": unique_of(*number),
                    "auxData": {"isDefault": world.name.is_none(), "type": kind, "frameId": world.frame},
                });
                json!({"context": context}).to_string()
            })
            .collect()
    }

    /// The browser tells of a world; says whether it takes the place of a made-up one, which its client knows already.
    pub(crate) fn take_place(&mut self, context: &Value) -> bool {
        let aux = |field: &str| context.pointer(&format!("/auxData/{field}"));
        let frame = aux("frameId").and_then(Value::as_str);
        let is_default = aux("isDefault").and_then(Value::as_bool).unwrap_or(false);
        let name = context.get("name").and_then(Value::as_str).filter(|_| !is_default);
        let (Some(frame), Some(number)) = (frame, context.get("id").and_then(Value::as_i64)) else {
            return false;
        };
        let unique = context.get("uniqueId").and_then(Value::as_str).unwrap_or_default().to_owned();
        let real = RealWorld { number, unique };
        let fits = |world: &&mut World| world.frame == frame && world.name.as_deref() == name;
        let Some(world) = self.0.values_mut().find(fits) else { return false };
        match &world.real {
            None => {
                world.real = Some(real);
                world.is_told
            }
            Some(known) if known.number == real.number => {
                world.real = Some(real);
                world.is_told
            }
            Some(_) => false,
        }
    }

    /// The browser's answer to the making of a world names it, for those who hear of no worlds.
    pub(crate) fn name_real(&mut self, number: i64, real: i64) {
        if let Some(world) = self.0.get_mut(&number).filter(|world| world.real.is_none()) {
            world.real = Some(RealWorld { number: real, unique: String::new() });
        }
    }

    /// Whether the client would be told of a world by its made-up number.
    fn made_up_of(&self, real: i64) -> Option<i64> {
        let is_it = |world: &World| world.real.as_ref().is_some_and(|known| known.number == real);
        self.0.iter().find(|(_, world)| is_it(world)).map(|(number, _)| *number)
    }

    /// An event as the client is to be told it; none when nothing is to be exchanged.
    pub(crate) fn tell_of(&mut self, method: &str, params: &Value) -> Option<String> {
        let pointer = match method {
            "Runtime.exceptionThrown" => "/exceptionDetails/executionContextId",
            _ => "/executionContextId",
        };
        let real = params.pointer(pointer).and_then(Value::as_i64)?;
        let number = self.made_up_of(real)?;
        let mut params = params.clone();
        if let Some(slot) = params.pointer_mut(pointer) {
            *slot = Value::from(number);
        }
        if let Some(slot) = params.get_mut("executionContextUniqueId") {
            *slot = Value::from(unique_of(number));
        }
        if method == "Runtime.executionContextDestroyed" {
            self.0.remove(&number);
        }
        Some(params.to_string())
    }

    /// Puts the browser's numbers into a command.
    pub(crate) fn exchange(&self, params: &str) -> Exchanged {
        if !params.contains("ontextId\"") || !params.contains(MARK) {
            return Exchanged::AsItIs;
        }
        let mut read = tabwire_cdp::lenient_json::read(params.as_bytes());
        let mut is_changed = false;
        for field in ["contextId", "executionContextId", "uniqueContextId"] {
            let Some(slot) = read.get_mut(field) else { continue };
            let named = slot.as_i64().or_else(|| slot.as_str().and_then(number_of));
            let Some(number) = named.filter(|number| *number >= FIRST_MADE_UP) else { continue };
            match self.0.get(&number).map(|world| &world.real) {
                None => return Exchanged::Gone,
                Some(None) => return Exchanged::NotYet,
                Some(Some(real)) if slot.is_string() => *slot = Value::from(real.unique.as_str()),
                Some(Some(real)) => *slot = Value::from(real.number),
            }
            is_changed = true;
        }
        if is_changed { Exchanged::Params(read.to_string()) } else { Exchanged::AsItIs }
    }
}

/// What stands for a world where clients name it by text.
fn unique_of(number: i64) -> String {
    format!("tabwire.{number}")
}

fn number_of(unique: &str) -> Option<i64> {
    unique.strip_prefix("tabwire.")?.parse().ok()
}

/// Events that name a world.
pub(crate) fn names_a_world(method: &str) -> bool {
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

    fn told(id: i64, frame: &str, name: &str, is_default: bool) -> Value {
        let aux = json!({"frameId": frame, "isDefault": is_default});
        json!({"id": id, "uniqueId": format!("u{id}"), "name": name, "auxData": aux})
    }

    #[test]
    fn numbers_are_exchanged_both_ways() {
        let (mut worlds, mut next) = (MadeUpWorlds::default(), 0);
        let page = worlds.make(&mut next, "F", None);
        let own = worlds.make(&mut next, "F", Some("w"));
        assert_eq!(worlds.make(&mut next, "F", Some("w")), own, "made up once");
        assert_eq!(worlds.take_news("https://a.example").len(), 2);
        assert_eq!(worlds.take_news("https://a.example").len(), 0);
        let asked = json!({"contextId": page}).to_string();
        assert_eq!(worlds.exchange(&asked), Exchanged::NotYet);
        assert!(!worlds.take_place(&told(7, "other", "", true)), "another frame's");
        assert!(worlds.take_place(&told(7, "F", "", true)));
        assert!(worlds.take_place(&told(8, "F", "w", false)));
        assert!(!worlds.take_place(&told(9, "F", "w", false)), "a second one is news");
        assert_eq!(worlds.exchange(&asked), Exchanged::Params(json!({"contextId": 7}).to_string()));
        let unique = json!({"uniqueContextId": unique_of(own)}).to_string();
        assert_eq!(worlds.exchange(&unique), Exchanged::Params(json!({"uniqueContextId": "u8"}).to_string()));
        assert_eq!(worlds.exchange(r#"{"contextId":7}"#), Exchanged::AsItIs);

        let called = worlds.tell_of("Runtime.bindingCalled", &json!({"executionContextId": 8}));
        assert_eq!(called, Some(json!({"executionContextId": own}).to_string()));
        let ended = json!({"executionContextId": 8, "executionContextUniqueId": "u8"});
        let ended = worlds.tell_of("Runtime.executionContextDestroyed", &ended).expect("it is ours");
        assert!(ended.contains(&unique_of(own)));
        assert_eq!(worlds.exchange(&unique), Exchanged::Gone);
    }
}
