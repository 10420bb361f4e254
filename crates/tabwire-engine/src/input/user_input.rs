//! Mouse, touch and keyboard of the user in a live view, as CDP commands. Texts are neither logged nor kept.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::input::mouse::pressure;

/// The largest distance from the top left corner that is passed on.
const FARTHEST: f64 = 100_000.0;

/// Fingers at once.
const FINGERS: usize = 10;

/// One input of the user. Positions are in CSS pixels of the viewport; `modifiers` and `buttons` are bit masks of CDP.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum UserInput {
    /// The mouse moves, or a button goes down or up.
    Mouse {
        /// What happens.
        what: MouseEvent,
        /// From the left.
        x: f64,
        /// From the top.
        y: f64,
        /// The button that changes.
        button: Button,
        /// The buttons that are held.
        buttons: u8,
        /// The clicks in a row.
        clicks: u8,
        /// The modifier keys that are held.
        modifiers: u8,
    },
    /// The wheel turns.
    Wheel {
        /// From the left.
        x: f64,
        /// From the top.
        y: f64,
        /// To the right.
        dx: f64,
        /// Down.
        dy: f64,
        /// The modifier keys that are held.
        modifiers: u8,
    },
    /// Fingers touch, move or leave.
    Touch {
        /// What happens.
        what: TouchEvent,
        /// The fingers that touch.
        points: Vec<Finger>,
        /// The modifier keys that are held.
        modifiers: u8,
    },
    /// A key goes down or up.
    Key {
        /// Whether it goes down.
        is_down: bool,
        /// The key, as `KeyboardEvent.key` names it.
        key: String,
        /// The physical key.
        code: String,
        /// The key's number on Windows.
        key_code: u16,
        /// The text that it types; empty for none.
        text: String,
        /// Left, right or number pad.
        location: u8,
        /// Whether it is held.
        repeat: bool,
        /// The modifier keys that are held.
        modifiers: u8,
    },
    /// Text of a paste or of a finished composition.
    Text {
        /// The text.
        text: String,
    },
    /// The text of a composition that is not finished.
    Compose {
        /// The text.
        text: String,
    },
}

/// What a mouse does.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
pub enum MouseEvent {
    /// It moves.
    #[serde(rename = "mouseMoved")]
    Move,
    /// A button goes down.
    #[serde(rename = "mousePressed")]
    Press,
    /// A button goes up.
    #[serde(rename = "mouseReleased")]
    Release,
}

/// What fingers do.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
pub enum TouchEvent {
    /// One touches.
    #[serde(rename = "touchStart")]
    Start,
    /// One moves.
    #[serde(rename = "touchMove")]
    Move,
    /// One leaves.
    #[serde(rename = "touchEnd")]
    End,
    /// The system ends the touch.
    #[serde(rename = "touchCancel")]
    Cancel,
}

/// A mouse button.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Button {
    /// None.
    None,
    /// The primary one.
    Left,
    /// The wheel.
    Middle,
    /// The secondary one.
    Right,
    /// The thumb's.
    Back,
    /// The thumb's other one.
    Forward,
}

/// One finger.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Finger {
    /// From the left.
    pub x: f64,
    /// From the top.
    pub y: f64,
    /// Which finger.
    pub id: u16,
}

impl UserInput {
    /// The CDP command; none for an input with a position that is not a number.
    pub(crate) fn command(&self) -> Option<(&'static str, Value)> {
        Some(match self {
            Self::Mouse { what, x, y, button, buttons, clicks, modifiers } => {
                let (x, y) = place(*x, *y)?;
                let params = json!({
                    "type": what, "x": x, "y": y, "button": button, "buttons": buttons, "clickCount": clicks,
                    "modifiers": modifiers, "force": pressure(*buttons),
                });
                ("Input.dispatchMouseEvent", params)
            }
            Self::Wheel { x, y, dx, dy, modifiers } => {
                let ((x, y), (dx, dy)) = (place(*x, *y)?, place(*dx, *dy)?);
                let params = json!({"type": "mouseWheel", "x": x, "y": y, "deltaX": dx, "deltaY": dy, "modifiers": modifiers});
                ("Input.dispatchMouseEvent", params)
            }
            Self::Touch { what, points, modifiers } => {
                let fingers: Vec<Value> = points
                    .iter()
                    .take(FINGERS)
                    .filter_map(|finger| {
                        let (x, y) = place(finger.x, finger.y)?;
                        Some(json!({"x": x, "y": y, "id": finger.id, "force": 1}))
                    })
                    .collect();
                let params = json!({"type": what, "touchPoints": fingers, "modifiers": modifiers});
                ("Input.dispatchTouchEvent", params)
            }
            Self::Key { .. } => ("Input.dispatchKeyEvent", self.key_event()),
            Self::Text { text } => ("Input.insertText", json!({"text": text})),
            Self::Compose { text } => {
                // CDP counts UTF-16 units, as JavaScript does.
                let end = text.encode_utf16().count();
                let params = json!({"text": text, "selectionStart": end, "selectionEnd": end});
                ("Input.imeSetComposition", params)
            }
        })
    }

    fn key_event(&self) -> Value {
        let Self::Key { is_down, key, code, key_code, text, location, repeat, modifiers } = self else {
            return Value::Null;
        };
        let what = match (is_down, text.is_empty()) {
            (false, _) => "keyUp",
            // A key without text must not be `keyDown`: Chrome would type its name.
            (true, true) => "rawKeyDown",
            (true, false) => "keyDown",
        };
        let mut event = json!({
            "type": what, "key": key, "code": code, "windowsVirtualKeyCode": key_code, "autoRepeat": repeat,
            "location": location, "isKeypad": *location == 3, "modifiers": modifiers,
        });
        if *is_down && !text.is_empty() {
            event["text"] = json!(text);
        }
        event
    }
}

fn place(x: f64, y: f64) -> Option<(f64, f64)> {
    let is_number = x.is_finite() && y.is_finite();
    is_number.then(|| (x.clamp(-FARTHEST, FARTHEST), y.clamp(-FARTHEST, FARTHEST)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(&'static str, Value)> {
        serde_json::from_str::<UserInput>(text).ok()?.command()
    }

    #[test]
    fn inputs_become_commands_and_others_are_refused() {
        let (method, params) = read(
            r#"{"kind":"mouse","what":"mousePressed","x":1e9,"y":2,"button":"left","buttons":1,"clicks":1,"modifiers":8}"#,
        )
        .expect("a press");
        assert_eq!((method, &params["type"]), ("Input.dispatchMouseEvent", &json!("mousePressed")));
        assert_eq!((&params["x"], &params["button"]), (&json!(FARTHEST), &json!("left")));
        let key = |is_down: bool, text: &str| {
            let event = json!({"kind": "key", "is_down": is_down, "key": "a", "code": "KeyA", "key_code": 65,
                "text": text, "location": 0, "repeat": false, "modifiers": 0});
            read(&event.to_string()).expect("a key").1
        };
        assert_eq!(
            (key(true, "a")["type"].clone(), key(true, "a")["text"].clone()),
            (json!("keyDown"), json!("a"))
        );
        assert_eq!(key(true, "")["type"], "rawKeyDown");
        assert!(key(false, "a").get("text").is_none());
        let composed = read(r#"{"kind":"compose","text":"né"}"#).expect("a composition");
        assert_eq!((composed.0, &composed.1["selectionEnd"]), ("Input.imeSetComposition", &json!(2)));
        let touch = r#"{"kind":"touch","what":"touchStart","points":[{"x":1,"y":2,"id":0}],"modifiers":0}"#;
        assert_eq!(read(touch).expect("a touch").1["touchPoints"][0]["y"], 2.0);
        for wrong in [
            r#"{"kind":"text"}"#,
            r#"{"kind":"text","text":"a","more":1}"#,
            r#"{"kind":"wheel","x":null,"y":0,"dx":0,"dy":0,"modifiers":0}"#,
            r#"{"kind":"command","method":"Runtime.evaluate"}"#,
        ] {
            assert!(read(wrong).is_none(), "{wrong}");
        }
    }
}
