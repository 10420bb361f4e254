//! Keyboard input: chords and text as CDP key events, which pages see as trusted.

use std::time::Duration;

use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure};
use tabwire_cdp::{CdpError, Deadline};

use crate::cdp::ResponseFuture;
use crate::input::keys::{ALIASES, KEYS, Key};
use crate::input::mouse::{Modifier, modifier_bits};
use crate::page::Page;

/// Characters that are typed as one batch.
const KEYS_AT_ONCE: usize = 64;

/// The modifier of editing commands on this system.
pub(crate) const PRIMARY: Modifier =
    if cfg!(target_os = "macos") { Modifier::Meta } else { Modifier::Control };

/// The key of that modifier.
const PRIMARY_KEY: &str = if cfg!(target_os = "macos") { "Meta" } else { "Control" };

const CONTROL_ALT_META: u8 = 1 | 2 | 4;
const SHIFT: u8 = 8;

/// Keys pressed together: `Control+a`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chord {
    modifiers: Vec<Modifier>,
    key: PressedKey,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum PressedKey {
    /// A key of the US keyboard, and whether its shifted character is meant.
    Known(&'static Key, bool),
    /// A character that the US keyboard lacks.
    Foreign(char),
}

impl Chord {
    /// Parses a chord.
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        let mut modifiers = Vec::new();
        let mut rest = text;
        // A `+` alone or at the end is the key itself.
        while let Some((name, after)) =
            rest.split_once('+').filter(|(name, after)| !name.is_empty() && !after.is_empty())
        {
            modifiers.push(find_modifier(name).ok_or_else(|| unknown(text, name))?);
            rest = after;
        }
        let key = find_key(rest).ok_or_else(|| unknown(text, rest))?;
        if matches!(key, PressedKey::Known(_, true)) && !modifiers.contains(&Modifier::Shift) {
            modifiers.push(Modifier::Shift);
        }
        Ok(Self { modifiers, key })
    }

    /// The chord of an editing command.
    pub(crate) fn primary(letter: char) -> Self {
        let key = find_key(letter.encode_utf8(&mut [0; 4])).unwrap_or(PressedKey::Foreign(letter));
        Self { modifiers: vec![PRIMARY], key }
    }

    /// The events that press and release it.
    pub(crate) fn events(&self) -> Vec<Value> {
        let mut events = Vec::new();
        let mut held = 0;
        for modifier in &self.modifiers {
            held |= modifier_bits(&[*modifier]);
            events.push(modifier_event(*modifier, "rawKeyDown", held));
        }
        events.extend(self.key.events(held));
        for modifier in self.modifiers.iter().rev() {
            held &= !modifier_bits(&[*modifier]);
            events.push(modifier_event(*modifier, "keyUp", held));
        }
        events
    }
}

impl PressedKey {
    /// The `KeyboardEvent.key` and the text of the key while these modifiers are held.
    fn output(&self, held: u8) -> (String, String) {
        let key = match self {
            Self::Known(key, _) if held & SHIFT != 0 && !key.shifted.is_empty() => key.shifted.to_owned(),
            Self::Known(key, _) => key.key.to_owned(),
            Self::Foreign(letter) => letter.to_string(),
        };
        let text = match key.as_str() {
            // Shortcuts have no text, as from a real keyboard: Chrome could insert it.
            _ if held & CONTROL_ALT_META != 0 => String::new(),
            // Keyboards send a carriage return; Chrome turns it into the line break.
            "Enter" => "\r".to_owned(),
            one if one.chars().count() == 1 => key.clone(),
            _ => String::new(),
        };
        (key, text)
    }

    fn events(&self, held: u8) -> [Value; 2] {
        let (key, text) = self.output(held);
        let mut down = json!({"type": "rawKeyDown", "modifiers": held, "key": key});
        let mut up = json!({"type": "keyUp", "modifiers": held, "key": key});
        if let Self::Known(known, _) = self {
            for event in [&mut down, &mut up] {
                event["code"] = json!(known.code);
                event["windowsVirtualKeyCode"] = json!(known.number);
                event["location"] = json!(known.location);
                event["isKeypad"] = json!(known.location == 3);
            }
            if let Some(command) = editing_command(known, held) {
                down["commands"] = json!([command]);
            }
        }
        if !text.is_empty() {
            // `rawKeyDown` fires `keydown` alone; `keyDown` with a text also fires `keypress` and inserts the text.
            down["type"] = json!("keyDown");
            down["text"] = json!(text);
            down["unmodifiedText"] = json!(text);
        }
        [down, up]
    }
}

/// The events that press and release one key for a script, which holds modifiers itself. `A` is typed without Shift.
pub(crate) fn script_key_events(name: &str, held: u8) -> Result<[Value; 2], Failure> {
    let name = if name == "ControlOrMeta" { PRIMARY_KEY } else { name };
    let found = match find_exact_key(name) {
        Some(key @ PressedKey::Known(_, _)) => key,
        _ => {
            let message = format!("Unknown key: {name:?}");
            return Err(Failure::new(ErrorCode::BadArgs, message).with_remedy("See KeyboardEvent.key."));
        }
    };
    let is_shifted = matches!(found, PressedKey::Known(_, true));
    let mut events = found.events(if is_shifted { held | SHIFT } else { held });
    for event in &mut events {
        event["modifiers"] = json!(held);
    }
    Ok(events)
}

/// A key by its exact name.
fn find_exact_key(name: &str) -> Option<PressedKey> {
    let is_exact = |key: &&Key| [key.key, key.code, key.shifted].contains(&name);
    KEYS.iter().find(is_exact).and_then(|_| find_key(name))
}

/// The editing command of a key. Headless Chrome does not derive it from the key on every system.
fn editing_command(key: &Key, held: u8) -> Option<&'static str> {
    let primary = modifier_bits(&[PRIMARY]);
    match (key.key, held) {
        ("a", held) if held == primary => Some("selectAll"),
        ("c", held) if held == primary => Some("copy"),
        ("x", held) if held == primary => Some("cut"),
        ("v", held) if held == primary => Some("paste"),
        ("v", held) if held == primary | SHIFT => Some("pasteAndMatchStyle"),
        ("z", held) if held == primary => Some("undo"),
        ("z", held) if held == primary | SHIFT => Some("redo"),
        ("y", held) if held == primary => Some("redo"),
        _ => None,
    }
}

fn modifier_event(modifier: Modifier, kind: &str, held: u8) -> Value {
    let (code, key, number) = match modifier {
        Modifier::Alt => ("AltLeft", "Alt", 18),
        Modifier::Control => ("ControlLeft", "Control", 17),
        Modifier::Meta => ("MetaLeft", "Meta", 91),
        Modifier::Shift => ("ShiftLeft", "Shift", 16),
    };
    json!({
        "type": kind, "code": code, "key": key, "windowsVirtualKeyCode": number, "modifiers": held, "location": 1,
    })
}

fn resolved(name: &str) -> &str {
    let lower = name.to_ascii_lowercase();
    ALIASES.iter().find(|(alias, _)| *alias == lower).map_or(name, |(_, meant)| *meant)
}

fn find_modifier(name: &str) -> Option<Modifier> {
    match resolved(name).to_ascii_lowercase().as_str() {
        "control" => Some(Modifier::Control),
        "alt" => Some(Modifier::Alt),
        "shift" => Some(Modifier::Shift),
        "meta" => Some(Modifier::Meta),
        "controlormeta" => Some(PRIMARY),
        _ => None,
    }
}

fn find_key(name: &str) -> Option<PressedKey> {
    let name = resolved(name);
    if name.is_empty() {
        return None;
    }
    let known = |test: &dyn Fn(&Key) -> bool| KEYS.iter().find(|key| test(key));
    // Number pad keys match only by their `code`.
    let is_key = |key: &Key| key.location != 3 && key.key == name;
    if let Some(key) = known(&is_key).or_else(|| known(&|key| key.code == name)) {
        return Some(PressedKey::Known(key, false));
    }
    if let Some(key) = known(&|key| key.shifted == name) {
        return Some(PressedKey::Known(key, true));
    }
    let mut letters = name.chars();
    match (letters.next(), letters.next()) {
        (Some(letter), None) if !letter.is_control() => Some(PressedKey::Foreign(letter)),
        (Some(_), Some(_)) => {
            let same = |key: &Key| key.key.eq_ignore_ascii_case(name) || key.code.eq_ignore_ascii_case(name);
            known(&same).map(|key| PressedKey::Known(key, false))
        }
        _ => None,
    }
}

fn unknown(text: &str, name: &str) -> Failure {
    let message = if name.is_empty() {
        "A key is missing.".to_owned()
    } else {
        format!("There is no key {name:?} in {text:?}.")
    };
    Failure::new(ErrorCode::BadArgs, message).with_remedy(
        "Keys are called as in KeyboardEvent.key: a, A, 1, Enter, Tab, Escape, Backspace, Delete, ArrowDown, Home, \
         PageUp, F5; chords with Control+, Shift+, Alt+, Meta+, as in Control+a.",
    )
}

/// A part of a text: characters with keys, or characters without.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Characters of the US keyboard, each with its events.
    Keys(Vec<Value>),
    /// Other characters.
    Text(String),
}

/// Splits a text into pieces of at most `at_once` characters.
pub(crate) fn pieces(text: &str, at_once: usize) -> Vec<(usize, Piece)> {
    let mut pieces: Vec<(usize, Piece)> = Vec::new();
    let text = text.replace("\r\n", "\n");
    for letter in text.chars() {
        let name = match letter {
            '\n' | '\r' => "Enter".to_owned(),
            '\t' => "Tab".to_owned(),
            letter => letter.to_string(),
        };
        match (find_key(&name), pieces.last_mut()) {
            (Some(key @ PressedKey::Known(_, shifted)), last) => {
                let events = key.events(if shifted { SHIFT } else { 0 });
                match last {
                    Some((count, Piece::Keys(keys))) if *count < at_once => {
                        *count += 1;
                        keys.extend(events);
                    }
                    _ => pieces.push((1, Piece::Keys(events.into()))),
                }
            }
            // No key of the layout makes this character. It is inserted, as an input method does.
            (_, Some((count, Piece::Text(run)))) => {
                *count += 1;
                run.push(letter);
            }
            _ => pieces.push((1, Piece::Text(letter.into()))),
        }
    }
    pieces
}

/// How many characters were typed, and why typing stopped.
#[derive(Debug)]
pub(crate) struct TypingResult {
    pub(crate) characters: usize,
    pub(crate) outcome: Result<(), Failure>,
}

/// A refusal after some of the input was sent: the caller must not repeat the whole action.
fn after_part(failure: Failure, keys: usize) -> Failure {
    if keys == 0 || failure.code != ErrorCode::PolicyDenied {
        return failure;
    }
    let message = format!("{keys} keys were sent before the focus moved. {}", failure.message);
    let details = json!({"remedy": failure.details.get("remedy"), "sent": keys});
    Failure { message, details, ..failure }
}

impl Page {
    /// Presses chords in the focused element, as long as the policy allows input there. `done` counts the keys before.
    pub(crate) async fn press_chords(
        &self,
        chords: &[Chord],
        done: usize,
        deadline: Deadline,
    ) -> Result<(), Failure> {
        for (pressed, chord) in chords.iter().enumerate() {
            // One at a time: a key may move the focus.
            self.check_focus(deadline).await.map_err(|failure| after_part(failure, done + pressed))?;
            self.wait_all(self.begin_keys(&chord.events(), deadline)).await?;
        }
        Ok(())
    }

    /// Sends key events as one batch. The caller checks the focus first.
    pub(crate) fn begin_keys(
        &self,
        events: &[Value],
        deadline: Deadline,
    ) -> Vec<ResponseFuture<Value, CdpError>> {
        events.iter().map(|event| self.begin("Input.dispatchKeyEvent", event, deadline)).collect()
    }

    /// Types a text, with an optional pause after each character.
    pub(crate) async fn type_text(
        &self,
        text: &str,
        pause: Option<Duration>,
        deadline: Deadline,
    ) -> TypingResult {
        let at_once = if pause.is_some() { 1 } else { KEYS_AT_ONCE };
        let mut characters = 0;
        for (count, piece) in pieces(text, at_once) {
            // Checked for each piece: typing may have moved the focus to another frame.
            if let Err(failure) = self.check_focus(deadline).await {
                return TypingResult { characters, outcome: Err(after_part(failure, characters)) };
            }
            let replies = match &piece {
                Piece::Keys(events) => self.begin_keys(events, deadline),
                Piece::Text(text) => vec![self.begin("Input.insertText", &json!({"text": text}), deadline)],
            };
            // Await each piece: in Chrome `Input.insertText` takes another path than key events and would overtake them.
            if let Err(failure) = self.wait_all(replies).await {
                return TypingResult { characters, outcome: Err(failure) };
            }
            characters += count;
            if let Some(pause) = pause {
                tokio::time::sleep(pause).await;
            }
        }
        TypingResult { characters, outcome: Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events_of(text: &str) -> Vec<String> {
        let chord = Chord::parse(text).expect(text);
        let describe = |event: &Value| {
            format!(
                "{} {} {}",
                event["type"].as_str().unwrap_or(""),
                event["key"].as_str().unwrap_or(""),
                event["modifiers"]
            )
        };
        chord.events().iter().map(describe).collect()
    }

    #[test]
    fn chords_are_pressed_in_order_and_released_in_reverse() {
        assert_eq!(
            events_of("Control+Shift+k"),
            [
                "rawKeyDown Control 2",
                "rawKeyDown Shift 10",
                "rawKeyDown K 10",
                "keyUp K 10",
                "keyUp Shift 2",
                "keyUp Control 0"
            ],
        );
        assert_eq!(events_of("A"), events_of("Shift+a"));
        assert_eq!(events_of("+")[1], "keyDown + 8");
        assert_eq!(events_of("Control++")[2], "rawKeyDown + 10");
        assert_eq!(events_of("esc"), ["rawKeyDown Escape 0", "keyUp Escape 0"]);
        assert_eq!(events_of("é"), ["keyDown é 0", "keyUp é 0"]);
        let enter = Chord::parse("Enter").expect("a key").events();
        assert_eq!((&enter[0]["text"], &enter[0]["type"]), (&json!("\r"), &json!("keyDown")));
        assert_eq!(Chord::primary('a').events()[1]["commands"], json!(["selectAll"]));
    }

    #[test]
    fn unknown_keys_are_refused() {
        for wrong in ["", "Entre", "Hyper+a", "Control+", "a+b"] {
            assert_eq!(Chord::parse(wrong).expect_err(wrong).code, ErrorCode::BadArgs, "{wrong}");
        }
    }

    #[test]
    fn text_splits_where_keys_end() {
        let cut: Vec<(usize, bool)> = pieces("aB\nçéz", 2)
            .iter()
            .map(|(count, piece)| (*count, matches!(piece, Piece::Keys(_))))
            .collect();
        assert_eq!(cut, [(2, true), (1, true), (2, false), (1, true)]);
    }
}
