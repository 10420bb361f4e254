//! Commands of input, read from CDP.

use serde_json::Value;

use crate::browser::input::keys::{key_value, modifier_bit};
use crate::protocol::message::{number, text};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Mouse {
        event: Mouse,
        x: f64,
        y: f64,
        modifiers: u64,
    },
    /// `modifiers` are those that the event has; `modifier` is the key's own.
    Key {
        is_down: bool,
        value: String,
        modifier: u64,
        modifiers: u64,
    },
    Text(String),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Mouse {
    Move,
    Down(u64),
    Up(u64),
    Wheel(f64, f64),
    TouchDown,
    TouchMove,
    TouchUp,
}

impl Kind {
    /// Whether a page acts on it. Moves and releases only say where mouse and keys are.
    pub(super) const fn acts(&self) -> bool {
        match self {
            Self::Mouse { event, .. } => {
                matches!(event, Mouse::Down(_) | Mouse::TouchDown | Mouse::Wheel(..))
            }
            Self::Key { is_down, .. } => *is_down,
            Self::Text(_) => true,
        }
    }

    /// Whether two commands can be in one chain.
    pub(super) fn joins(&self, next: &Self, has_frames: bool) -> bool {
        match (self, next) {
            // The end of a touch has no point.
            (Self::Mouse { .. }, Self::Mouse { event: Mouse::TouchUp, .. }) => true,
            (Self::Mouse { x, y, .. }, Self::Mouse { x: next_x, y: next_y, .. }) => {
                !has_frames || x == next_x && y == next_y
            }
            (Self::Key { .. }, Self::Key { .. }) => true,
            _ => false,
        }
    }
}

pub(super) fn read_mouse(params: &Value) -> Result<Kind, String> {
    let point = |name: &str| number(params, name).unwrap_or_default();
    let button = match text(params, "button") {
        "left" => 0,
        "middle" => 1,
        "right" => 2,
        "back" => 3,
        "forward" => 4,
        _ => 0,
    };
    let event = match text(params, "type") {
        "mouseMoved" => Mouse::Move,
        "mousePressed" => Mouse::Down(button),
        "mouseReleased" => Mouse::Up(button),
        "mouseWheel" => Mouse::Wheel(point("deltaX"), point("deltaY")),
        other => return Err(format!("unknown type {other:?}")),
    };
    let modifiers = params.get("modifiers").and_then(Value::as_u64).unwrap_or_default();
    Ok(Kind::Mouse { event, x: point("x"), y: point("y"), modifiers })
}

/// A touch of one finger.
pub(super) fn read_touch(params: &Value) -> Result<Kind, String> {
    let points = params.get("touchPoints").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if points.len() > 1 {
        return Err("Firefox takes one finger at a time over WebDriver BiDi".to_owned());
    }
    let event = match text(params, "type") {
        "touchStart" => Mouse::TouchDown,
        "touchMove" => Mouse::TouchMove,
        "touchEnd" | "touchCancel" => Mouse::TouchUp,
        other => return Err(format!("unknown type {other:?}")),
    };
    let part = |name: &str| points.first().and_then(|point| number(point, name)).unwrap_or_default();
    let modifiers = params.get("modifiers").and_then(Value::as_u64).unwrap_or_default();
    Ok(Kind::Mouse { event, x: part("x"), y: part("y"), modifiers })
}

pub(super) fn read_key(params: &Value) -> Result<Kind, String> {
    let is_down = match text(params, "type") {
        "keyDown" | "rawKeyDown" => true,
        "keyUp" => false,
        // The text of a key comes with its `keyDown`.
        "char" => return Ok(Kind::Text(text(params, "text").to_owned())),
        other => return Err(format!("unknown type {other:?}")),
    };
    let key = text(params, "key");
    let location = params.get("location").and_then(Value::as_u64).unwrap_or_default();
    match key_value(key, location) {
        Some(value) => {
            let modifiers = params.get("modifiers").and_then(Value::as_u64).unwrap_or_default();
            Ok(Kind::Key { is_down, value, modifier: modifier_bit(key), modifiers })
        }
        None => Err(format!("Firefox has no key {key:?}")),
    }
}
