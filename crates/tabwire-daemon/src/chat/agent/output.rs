//! Redacts secrets from streamed text. A secret can come in pieces, so the beginning of one waits for its rest.

use std::collections::BTreeMap;

use serde_json::Value;
use tabwire_acp::{Change, ChatState, ItemBody, ItemId};
use tabwire_engine::OutputRedactor;

/// Items whose end is held. Those of earlier messages are shown first.
const HELD_ITEMS: usize = 32;

/// The ends of texts that were not shown yet, redacted.
#[derive(Debug, Default)]
pub(in crate::chat) struct HeldText(BTreeMap<ItemId, String>);

impl HeldText {
    /// A change as front ends get it: none, one, or several.
    pub(in crate::chat) fn redact(&mut self, change: Change, redactor: &OutputRedactor) -> Vec<Value> {
        match change {
            Change::Chunk { id, text } => self.add(id, &text, redactor).into_iter().collect(),
            Change::Item { item } => {
                let id = item.id;
                let mut value = value_of(&Change::Item { item: item.clone() }, redactor);
                match &item.body {
                    // A text that was cut gets no rest.
                    ItemBody::Agent { cut: false, .. } | ItemBody::Thought { cut: false, .. } => {
                        let text = value["item"]["text"].as_str().unwrap_or_default();
                        let (shown, held) = split(text, redactor);
                        let (shown, held) = (shown.to_owned(), held.to_owned());
                        value["item"]["text"] = shown.into();
                        let mut values = vec![value];
                        values.extend(self.hold(id, held));
                        values
                    }
                    _ => {
                        self.0.remove(&id);
                        vec![value]
                    }
                }
            }
            Change::State { state } => {
                let mut values = match state {
                    ChatState::Working | ChatState::Stopping => Vec::new(),
                    // The turn is over, and no rest comes.
                    _ => self.take_all(),
                };
                values.push(value_of(&Change::State { state }, redactor));
                values
            }
            change => vec![value_of(&change, redactor)],
        }
    }

    fn add(&mut self, id: ItemId, text: &str, redactor: &OutputRedactor) -> Vec<Value> {
        let whole = redactor.redact_text(&(self.0.remove(&id).unwrap_or_default() + text));
        let (shown, held) = split(&whole, redactor);
        let mut values: Vec<Value> = chunk(id, shown).into_iter().collect();
        values.extend(self.hold(id, held.to_owned()));
        values
    }

    fn hold(&mut self, id: ItemId, text: String) -> Option<Value> {
        if text.is_empty() {
            return None;
        }
        self.0.insert(id, text);
        let (id, text) = if self.0.len() > HELD_ITEMS { self.0.pop_first()? } else { return None };
        chunk(id, &text)
    }

    fn take_all(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.0).into_iter().filter_map(|(id, text)| chunk(id, &text)).collect()
    }

    /// Removes the ends that are held from a redacted list of items.
    pub(in crate::chat) fn remove_from(&self, items: &mut Value) {
        if self.0.is_empty() {
            return;
        }
        for item in items.as_array_mut().into_iter().flatten() {
            let held = self.0.iter().find(|(id, _)| item["id"] == id.to_string()).map(|(_, text)| text);
            let shown = held.and_then(|held| item["text"].as_str()?.strip_suffix(held.as_str()));
            if let Some(shown) = shown {
                item["text"] = shown.to_owned().into();
            }
        }
    }
}

/// What can be shown of a redacted text, and its end that can be the beginning of a secret.
fn split<'a>(text: &'a str, redactor: &OutputRedactor) -> (&'a str, &'a str) {
    text.split_at(text.len() - redactor.beginning_at_end(text))
}

fn chunk(id: ItemId, text: &str) -> Option<Value> {
    let change = Change::Chunk { id, text: text.to_owned() };
    (!text.is_empty()).then(|| serde_json::to_value(change).unwrap_or_default())
}

fn value_of(change: &Change, redactor: &OutputRedactor) -> Value {
    redactor.redact_value(&serde_json::to_value(change).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use tabwire_acp::{Event, Transcript, Update};
    use tabwire_engine::{LoginSelectors, SavedLogin, SecretText};

    use super::*;

    fn redactor() -> OutputRedactor {
        let redactor = OutputRedactor::default();
        redactor.learn(&SavedLogin {
            name: "shop".to_owned(),
            url: "https://shop.test/".to_owned(),
            origin: "https://shop.test".to_owned(),
            username: "anna".to_owned(),
            password: SecretText::new("hunter22".to_owned()),
            totp_secret: None,
            selectors: LoginSelectors::default(),
        });
        redactor
    }

    fn say(transcript: &mut Transcript, text: &str) -> Vec<Change> {
        transcript.apply(&Event::Update(Update::AgentChunk { message: None, text: text.to_owned() }))
    }

    #[test]
    fn t39_a_secret_in_pieces_does_not_reach_front_ends() {
        let (redactor, mut held, mut transcript) = (redactor(), HeldText::default(), Transcript::default());
        let mut shown = String::new();
        let collect = |values: Vec<Value>, shown: &mut String| {
            for value in values {
                let text = value["text"].as_str().or(value["item"]["text"].as_str());
                shown.push_str(text.unwrap_or_default());
            }
        };
        for piece in ["It is h", "unt", "er2", "2, not hunt", "ing. h"] {
            for change in say(&mut transcript, piece) {
                collect(held.redact(change, &redactor), &mut shown);
            }
            let mut items = redactor.redact_value(&serde_json::json!(transcript.items()));
            held.remove_from(&mut items);
            assert_eq!(items[0]["text"], shown, "the whole chat shows the same");
        }
        assert_eq!(shown, "It is •••, not hunting. ");
        for change in transcript.set_state(ChatState::SignInNeeded) {
            collect(held.redact(change, &redactor), &mut shown);
        }
        assert_eq!(shown, "It is •••, not hunting. h", "the rest is shown at the end of the turn");
    }
}
