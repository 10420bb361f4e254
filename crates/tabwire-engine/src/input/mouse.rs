//! Mouse input as CDP events, which pages see as trusted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabwire_cdp::{CdpError, Deadline};

use crate::cdp::ResponseFuture;
use crate::input::element::Point;
use crate::page::Page;

/// A mouse button.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MouseButton {
    /// The primary button.
    #[default]
    Left,
    /// The secondary button, for context menus.
    Right,
    /// The wheel button.
    Middle,
}

impl MouseButton {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Right => "right",
            Self::Middle => "middle",
        }
    }

    pub(crate) const fn bit(self) -> u8 {
        match self {
            Self::Left => 1,
            Self::Right => 2,
            Self::Middle => 4,
        }
    }
}

/// A modifier key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Modifier {
    /// Alt, or Option.
    Alt,
    /// Control.
    Control,
    /// Meta: Command or the Windows key.
    Meta,
    /// Shift.
    Shift,
}

/// CDP's bit mask of held modifiers.
pub(crate) fn modifier_bits(modifiers: &[Modifier]) -> u8 {
    modifiers.iter().fold(0, |bits, modifier| {
        bits | match modifier {
            Modifier::Alt => 1,
            Modifier::Control => 2,
            Modifier::Meta => 4,
            Modifier::Shift => 8,
        }
    })
}

/// A click: point, button, modifiers, count.
#[derive(Clone, Debug)]
pub(crate) struct Click {
    pub(crate) point: Point,
    pub(crate) button: MouseButton,
    pub(crate) count: u8,
    /// Whether to click whatever element is at the point.
    pub(crate) forced: bool,
    pub(crate) modifiers: u8,
}

/// The position of the mouse and its held buttons.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Mouse {
    pub(crate) point: Point,
    /// CDP's bit mask of held buttons.
    pub(crate) buttons: u8,
}

impl Mouse {
    /// The button that CDP expects in a move event while buttons are held.
    fn held(self) -> &'static str {
        let all = [MouseButton::Left, MouseButton::Right, MouseButton::Middle];
        all.iter().find(|button| self.buttons & button.bit() != 0).map_or("none", |button| button.name())
    }
}

impl Click {
    /// A plain click.
    pub(crate) const fn at(point: Point) -> Self {
        Self { point, button: MouseButton::Left, count: 1, forced: false, modifiers: 0 }
    }
}

impl Page {
    /// Moves the mouse.
    pub(crate) fn begin_move(
        &self,
        mouse: &mut Mouse,
        to: Point,
        modifiers: u8,
        deadline: Deadline,
    ) -> ResponseFuture<Value, CdpError> {
        mouse.point = to;
        let params = json!({
            "type": "mouseMoved", "x": to.x, "y": to.y, "modifiers": modifiers, "button": mouse.held(),
            "buttons": mouse.buttons, "force": pressure(mouse.buttons),
        });
        self.begin("Input.dispatchMouseEvent", &params, deadline)
    }

    /// Presses a button at the position of the mouse.
    pub(crate) fn begin_press(
        &self,
        mouse: &mut Mouse,
        button: MouseButton,
        modifiers: u8,
        deadline: Deadline,
    ) -> ResponseFuture<Value, CdpError> {
        mouse.buttons |= button.bit();
        self.begin(
            "Input.dispatchMouseEvent",
            &button_event("mousePressed", *mouse, button, modifiers),
            deadline,
        )
    }

    /// Releases a button at the position of the mouse.
    pub(crate) fn begin_release(
        &self,
        mouse: &mut Mouse,
        button: MouseButton,
        modifiers: u8,
        deadline: Deadline,
    ) -> ResponseFuture<Value, CdpError> {
        mouse.buttons &= !button.bit();
        self.begin(
            "Input.dispatchMouseEvent",
            &button_event("mouseReleased", *mouse, button, modifiers),
            deadline,
        )
    }

    /// Turns the wheel at the position of the mouse.
    pub(crate) fn begin_wheel(
        &self,
        mouse: Mouse,
        by: Point,
        modifiers: u8,
        deadline: Deadline,
    ) -> ResponseFuture<Value, CdpError> {
        let params = json!({
            "type": "mouseWheel", "x": mouse.point.x, "y": mouse.point.y, "deltaX": by.x, "deltaY": by.y,
            "modifiers": modifiers, "buttons": mouse.buttons,
        });
        self.begin("Input.dispatchMouseEvent", &params, deadline)
    }

    /// Sends the events of a click as one batch.
    pub(crate) fn begin_click(
        &self,
        click: &Click,
        deadline: Deadline,
    ) -> Vec<ResponseFuture<Value, CdpError>> {
        let event = |kind: &str, buttons: u8, count: u8| {
            json!({
                "type": kind, "x": click.point.x, "y": click.point.y, "modifiers": click.modifiers,
                "button": if kind == "mouseMoved" { "none" } else { click.button.name() },
                "buttons": buttons, "clickCount": count, "force": pressure(buttons),
            })
        };
        let send = |params: Value| self.begin("Input.dispatchMouseEvent", &params, deadline);
        // A real mouse moves to the element before it presses; menus that open on hover depend on it.
        let mut replies = vec![send(event("mouseMoved", 0, 0))];
        for count in 1..=click.count {
            // Chrome does not count clicks of CDP events: `dblclick` fires for the second one with a count of 2.
            replies.push(send(event("mousePressed", click.button.bit(), count)));
            replies.push(send(event("mouseReleased", 0, count)));
        }
        replies
    }
}

fn button_event(kind: &str, mouse: Mouse, button: MouseButton, modifiers: u8) -> Value {
    json!({
        "type": kind, "x": mouse.point.x, "y": mouse.point.y, "modifiers": modifiers, "button": button.name(),
        "buttons": mouse.buttons, "clickCount": 1, "force": pressure(mouse.buttons),
    })
}

/// The pressure that a mouse reports: half while a button is held, as `PointerEvent.pressure` specifies.
pub(crate) const fn pressure(buttons: u8) -> f64 {
    if buttons == 0 { 0.0 } else { 0.5 }
}
