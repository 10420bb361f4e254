//! Chains of input as the actions of BiDi, tick by tick.

use serde_json::{Value, json};

use crate::browser::input::command::{Kind, Mouse};
use crate::browser::input::keys::{SHIFT, modifier_values};
use crate::protocol::message::text;

/// The actions of each source, tick by tick.
#[derive(Debug, Default)]
pub(super) struct Ticks {
    pointer: Vec<Value>,
    keys: Vec<Value>,
    wheel: Vec<Value>,
    touch: Vec<Value>,
    /// A guard that is part of the next tick, if that moves a pointer, and else has a tick of its own.
    guard: Option<Value>,
}

impl Ticks {
    fn push(&mut self, pointer: Option<Value>, key: Option<Value>, wheel: Option<Value>) {
        let pause = || json!({"type": "pause", "duration": 0});
        let moves = |action: &Value| text(action, "type") == "pointerMove";
        let guard = self.guard.take();
        if guard.is_some() && !pointer.as_ref().is_some_and(moves) {
            self.push(None, None, guard);
            return self.push(pointer, key, wheel);
        }
        let wheel = wheel.or(guard);
        self.pointer.push(pointer.unwrap_or_else(pause));
        self.keys.push(key.unwrap_or_else(pause));
        self.wheel.push(wheel.unwrap_or_else(pause));
        self.touch.push(pause());
    }

    /// Begins the chain with a scroll by nothing over an element, which Firefox does not send to the page. It fails when
    /// the element is not in the document that is shown, and then nothing else of the chain happens.
    pub(super) fn guard(&mut self, element: &str) {
        let nothing = json!({
            "type": "scroll", "x": 0, "y": 0, "deltaX": 0, "deltaY": 0, "duration": 0,
            "origin": {"type": "element", "element": {"sharedId": element}},
        });
        self.guard = Some(nothing);
    }

    fn push_touch(&mut self, action: Value) {
        let guard = self.guard.take();
        self.push(None, None, guard);
        if let Some(last) = self.touch.last_mut() {
            *last = action;
        }
    }

    pub(super) fn add(&mut self, kind: &Kind, offset: (f64, f64), held: u64) {
        match kind {
            Kind::Key { is_down, value, modifier, modifiers } => {
                // Shift is part of a character.
                let ignored = if is_character(value) { SHIFT } else { 0 };
                let extra = modifier_values(modifiers & !held & !modifier & !ignored);
                self.key_while(&extra, |ticks| ticks.key(*is_down, value));
            }
            Kind::Mouse { event, x, y, modifiers } => {
                // Modifiers that no key event holds are held for this event.
                let extra = modifier_values(modifiers & !held);
                self.key_while(&extra, |ticks| ticks.mouse(*event, x - offset.0, y - offset.1));
            }
            Kind::Text(_) => {}
        }
    }

    /// Holds modifiers meanwhile.
    fn key_while(&mut self, modifiers: &[char], act: impl FnOnce(&mut Self)) {
        for value in modifiers {
            self.key(true, &value.to_string());
        }
        act(self);
        for value in modifiers.iter().rev() {
            self.key(false, &value.to_string());
        }
    }

    fn key(&mut self, is_down: bool, value: &str) {
        let kind = if is_down { "keyDown" } else { "keyUp" };
        self.push(None, Some(json!({"type": kind, "value": value})), None);
    }

    fn mouse(&mut self, event: Mouse, x: f64, y: f64) {
        let (x, y) = (whole(x), whole(y));
        let to = json!({"type": "pointerMove", "x": x, "y": y, "origin": "viewport", "duration": 0});
        match event {
            Mouse::Move => self.push(Some(to), None, None),
            Mouse::Down(button) => {
                let is_there =
                    self.pointer.iter().rev().find(|one| text(one, "type") == "pointerMove") == Some(&to);
                if !is_there {
                    self.push(Some(to), None, None);
                }
                self.push(Some(json!({"type": "pointerDown", "button": button})), None, None);
            }
            Mouse::Up(button) => self.push(Some(json!({"type": "pointerUp", "button": button})), None, None),
            Mouse::TouchDown => {
                self.push_touch(to);
                self.push_touch(json!({"type": "pointerDown", "button": 0}));
            }
            Mouse::TouchMove => self.push_touch(to),
            Mouse::TouchUp => self.push_touch(json!({"type": "pointerUp", "button": 0})),
            Mouse::Wheel(delta_x, delta_y) => {
                let scroll = json!({
                    "type": "scroll", "x": x, "y": y, "deltaX": whole(delta_x), "deltaY": whole(delta_y),
                    "origin": "viewport", "duration": 0,
                });
                self.push(None, None, Some(scroll));
            }
        }
    }

    /// The sources that do something. The keyboard is always there: it holds the modifiers.
    pub(super) fn into_sources(self) -> Value {
        let acts = |actions: &[Value]| actions.iter().any(|action| text(action, "type") != "pause");
        let mut sources: Vec<Value> = Vec::new();
        if acts(&self.keys) {
            sources.push(json!({"type": "key", "id": "tabwire-keyboard", "actions": self.keys}));
        }
        if acts(&self.pointer) {
            sources.push(json!({
                "type": "pointer", "id": "tabwire-mouse", "parameters": {"pointerType": "mouse"},
                "actions": self.pointer,
            }));
        }
        if acts(&self.touch) {
            sources.push(json!({
                "type": "pointer", "id": "tabwire-finger", "parameters": {"pointerType": "touch"},
                "actions": self.touch,
            }));
        }
        if acts(&self.wheel) {
            sources.push(json!({"type": "wheel", "id": "tabwire-wheel", "actions": self.wheel}));
        }
        json!(sources)
    }
}

/// Whether the value of a key is a character, not one of WebDriver's names for keys.
fn is_character(value: &str) -> bool {
    value.chars().all(|one| !('\u{E000}'..='\u{F8FF}').contains(&one))
}

/// BiDi takes whole pixels for scrolling, and Firefox whole numbers for points.
fn whole(value: f64) -> Value {
    let rounded = format!("{value:.0}");
    rounded.parse::<i64>().map_or(json!(0), |whole| json!(whole))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::browser::input::command::{read_key, read_touch};

    #[test]
    fn a_click_with_a_modifier_holds_the_key() {
        let mut ticks = Ticks::default();
        let event = |event| Kind::Mouse { event, x: 10.4, y: 5.0, modifiers: 8 };
        for kind in [event(Mouse::Move), event(Mouse::Down(0)), event(Mouse::Up(0))] {
            ticks.add(&kind, (0.0, 0.0), 8);
        }
        assert_eq!(ticks.keys.iter().filter(|one| text(one, "type") != "pause").count(), 0);
        assert_eq!(ticks.pointer.len(), 3);
        ticks.add(&event(Mouse::Down(2)), (10.0, 0.0), 0);
        let names: Vec<&str> = ticks.keys.iter().map(|one| text(one, "type")).collect();
        assert_eq!(names, ["pause", "pause", "pause", "keyDown", "pause", "pause", "keyUp"]);
        assert_eq!(ticks.pointer.len(), ticks.wheel.len());
    }

    #[test]
    fn a_key_holds_the_modifiers_that_no_event_holds() {
        let mut ticks = Ticks::default();
        let key = |key: &str, modifiers: u64| {
            read_key(&json!({"type": "keyDown", "key": key, "modifiers": modifiers})).expect("a key")
        };
        ticks.add(&key("a", 2), (0.0, 0.0), 0);
        assert_eq!(ticks.keys.len(), 3, "Control around the key");
        ticks.add(&key("A", 8), (0.0, 0.0), 0);
        ticks.add(&key("Control", 2), (0.0, 0.0), 0);
        ticks.add(&key("b", 2), (0.0, 0.0), 2);
        assert_eq!(ticks.keys.len(), 6, "nothing is held twice");
    }

    #[test]
    fn a_touch_is_a_pointer_of_its_own() {
        let touch = |kind: &str, points: Value| read_touch(&json!({"type": kind, "touchPoints": points}));
        let down = touch("touchStart", json!([{"x": 3, "y": 4}])).expect("a touch");
        let up = touch("touchEnd", json!([])).expect("a touch");
        assert!(down.joins(&up, true));
        let mut ticks = Ticks::default();
        ticks.add(&down, (1.0, 0.0), 0);
        ticks.add(&up, (1.0, 0.0), 0);
        let sources = ticks.into_sources();
        assert_eq!(sources[0]["parameters"]["pointerType"], "touch");
        assert_eq!(sources[0]["actions"][0]["x"], 2);
        assert_eq!(sources.as_array().map(Vec::len), Some(1));
        assert!(touch("touchStart", json!([{}, {}])).is_err());
    }

    #[test]
    fn a_guarded_chain_begins_with_a_scroll_by_nothing() {
        let mut ticks = Ticks::default();
        ticks.guard("root");
        ticks.add(&read_key(&json!({"type": "keyDown", "key": "a"})).expect("a key"), (0.0, 0.0), 0);
        let sources = ticks.into_sources();
        assert_eq!(sources[0]["actions"][0]["type"], "pause", "the key waits for the guard");
        let guard = &sources[1]["actions"][0];
        assert_eq!((&guard["deltaX"], &guard["deltaY"]), (&json!(0), &json!(0)));
        assert_eq!(guard["origin"]["element"]["sharedId"], "root");
        // A press waits for the move before it, and that is checked with the move.
        let mut ticks = Ticks::default();
        ticks.guard("root");
        ticks.add(&Kind::Mouse { event: Mouse::Down(0), x: 1.0, y: 2.0, modifiers: 0 }, (0.0, 0.0), 0);
        let sources = ticks.into_sources();
        let names = |source: usize| -> Vec<String> {
            let actions = sources[source]["actions"].as_array().expect("actions");
            actions.iter().map(|one| text(one, "type").to_owned()).collect()
        };
        assert_eq!(
            (names(0), names(1)),
            (
                vec!["pointerMove".to_owned(), "pointerDown".to_owned()],
                vec!["scroll".to_owned(), "pause".to_owned()],
            )
        );
    }

    #[test]
    fn unknown_keys_are_refused() {
        assert!(read_key(&json!({"type": "keyDown", "key": "F24"})).is_err());
        assert!(read_key(&json!({"type": "keyDown", "key": "a"})).is_ok());
    }
}
