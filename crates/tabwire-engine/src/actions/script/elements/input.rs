//! `input`: keys and mouse events of a script, one after the other. The script holds keys and buttons itself.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure};
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::input::element::Point;
use crate::input::keyboard::script_key_events;
use crate::input::mouse::{Modifier, Mouse, MouseButton, modifier_bits, pressure};
use crate::page::Page;

/// Events of one call.
const MOST_EVENTS: usize = 1_000;

/// Send keys and mouse events.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Input {
    /// The events, as a JSON list.
    #[schemars(extend("x-carries" = "text", "x-secret" = "keys"))]
    events: String,
}

/// One event.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum InputEvent {
    KeyDown {
        key: String,
        #[serde(default)]
        modifiers: Vec<Modifier>,
        #[serde(default)]
        repeat: bool,
    },
    KeyUp {
        key: String,
        #[serde(default)]
        modifiers: Vec<Modifier>,
    },
    /// Inserts a text without key events.
    Insert { text: String },
    /// Presses the key of each character, or inserts the character.
    Type {
        text: String,
        #[serde(default)]
        modifiers: Vec<Modifier>,
    },
    Move {
        x: f64,
        y: f64,
        #[serde(default)]
        modifiers: Vec<Modifier>,
    },
    Down {
        button: MouseButton,
        count: u8,
        #[serde(default)]
        modifiers: Vec<Modifier>,
    },
    Up {
        button: MouseButton,
        count: u8,
        #[serde(default)]
        modifiers: Vec<Modifier>,
    },
    Wheel {
        x: f64,
        y: f64,
        #[serde(default)]
        modifiers: Vec<Modifier>,
    },
}

/// The position of the mouse after the events.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct InputResult {
    /// From the left.
    x: f64,
    /// From the top.
    y: f64,
}

impl Action for Input {
    const NAME: &'static str = "input";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] = &[];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Execute);
    type Output = InputResult;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Act)
    }

    async fn run(self, context: &Context) -> Result<InputResult, Failure> {
        let events: Vec<InputEvent> = serde_json::from_str(&self.events)
            .map_err(|error| Failure::new(ErrorCode::BadArgs, format!("`events` is not valid: {error}.")))?;
        if events.len() > MOST_EVENTS {
            let message = format!("A call has at most {MOST_EVENTS} events.");
            return Err(Failure::new(ErrorCode::BadArgs, message).with_remedy("Send them in parts."));
        }
        let page = context.page().await?;
        let mut mouse = page.lock_input(context.deadline).await?;
        for event in &events {
            event.send(context, &page, &mut mouse).await?;
        }
        Ok(InputResult { x: mouse.point.x, y: mouse.point.y })
    }
}

impl InputEvent {
    /// Sends the event and waits until the page has handled it. The policy judges the frame that has the focus, or the
    /// one at the point, before each event.
    async fn send(&self, context: &Context, page: &Page, mouse: &mut Mouse) -> Result<(), Failure> {
        let deadline = context.deadline;
        match self {
            Self::KeyDown { key, modifiers, repeat } => {
                page.check_focus(deadline).await?;
                let [mut down, _] = script_key_events(key, modifier_bits(modifiers))?;
                down["autoRepeat"] = json!(repeat);
                key_event(page, context, &down).await
            }
            Self::KeyUp { key, modifiers } => {
                let [_, up] = script_key_events(key, modifier_bits(modifiers))?;
                key_event(page, context, &up).await
            }
            Self::Insert { text } => insert(page, context, text).await,
            Self::Type { text, modifiers } => type_text(page, context, text, modifier_bits(modifiers)).await,
            Self::Move { x, y, modifiers } => {
                let point = Point { x: *x, y: *y };
                page.check_point(point, deadline).await?;
                page.wait_all(vec![page.begin_move(mouse, point, modifier_bits(modifiers), deadline)]).await
            }
            Self::Down { button, count, modifiers } => {
                page.check_point(mouse.point, deadline).await?;
                mouse.buttons |= button.bit();
                button_event(page, context, "mousePressed", *mouse, *button, *count, modifier_bits(modifiers))
                    .await
            }
            Self::Up { button, count, modifiers } => {
                page.check_point(mouse.point, deadline).await?;
                mouse.buttons &= !button.bit();
                button_event(
                    page,
                    context,
                    "mouseReleased",
                    *mouse,
                    *button,
                    *count,
                    modifier_bits(modifiers),
                )
                .await
            }
            Self::Wheel { x, y, modifiers } => {
                page.check_point(mouse.point, deadline).await?;
                let by = Point { x: *x, y: *y };
                page.wait_all(vec![page.begin_wheel(*mouse, by, modifier_bits(modifiers), deadline)]).await
            }
        }
    }
}

async fn key_event(page: &Page, context: &Context, event: &Value) -> Result<(), Failure> {
    page.wait_all(page.begin_keys(std::slice::from_ref(event), context.deadline)).await
}

async fn insert(page: &Page, context: &Context, text: &str) -> Result<(), Failure> {
    page.check_focus(context.deadline).await?;
    let inserted = page.begin("Input.insertText", &json!({"text": text}), context.deadline);
    page.wait_all(vec![inserted]).await
}

async fn type_text(page: &Page, context: &Context, text: &str, held: u8) -> Result<(), Failure> {
    for letter in text.chars() {
        let key = match letter {
            '\n' | '\r' => "Enter".to_owned(),
            letter => letter.to_string(),
        };
        match script_key_events(&key, held) {
            Ok(events) => {
                page.check_focus(context.deadline).await?;
                page.wait_all(page.begin_keys(&events, context.deadline)).await?;
            }
            Err(_) => insert(page, context, &letter.to_string()).await?,
        }
    }
    Ok(())
}

async fn button_event(
    page: &Page,
    context: &Context,
    kind: &str,
    mouse: Mouse,
    button: MouseButton,
    count: u8,
    modifiers: u8,
) -> Result<(), Failure> {
    let params = json!({
        "type": kind, "x": mouse.point.x, "y": mouse.point.y, "modifiers": modifiers, "button": button.name(),
        "buttons": mouse.buttons, "clickCount": count, "force": pressure(mouse.buttons),
    });
    let sent = page.begin("Input.dispatchMouseEvent", &params, context.deadline);
    page.wait_all(vec![sent]).await
}

impl Render for InputResult {
    fn render(&self) -> String {
        format!("{},{}", self.x, self.y)
    }
}
