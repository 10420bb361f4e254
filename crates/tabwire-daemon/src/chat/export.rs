//! Finds chats by their text, and writes a chat as Markdown.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Value, json};
use tabwire_acp::{Item, ItemBody, Transcript};

use crate::chat::view::confinement_note;
use crate::chat::{Chat, ChatId};
use crate::daemon::Daemon;

/// Longest text that is searched for.
const SEARCH_BYTES: usize = 200;

/// Longest file name of an export, without its ending.
const NAME_BYTES: usize = 60;

impl Daemon {
    /// The chats whose title or transcript has the text of the query's `search`, or all.
    pub(super) async fn search_chats(self: &Arc<Self>, query: Option<&str>) -> Value {
        let pairs = url::form_urlencoded::parse(query.unwrap_or_default().as_bytes());
        let search = pairs.into_owned().find(|(name, _)| name == "search").map(|(_, text)| text);
        let Some(search) = search.filter(|text| !text.trim().is_empty()) else {
            return self.list_chats();
        };
        let found = self.find_ids(&search).await;
        self.list_if(|id| found.contains(id))
    }

    /// The ids of the chats whose title or transcript has a text.
    pub(super) async fn find_chats(self: &Arc<Self>, text: &str) -> Value {
        json!({"chats": self.find_ids(text).await})
    }

    async fn find_ids(self: &Arc<Self>, text: &str) -> BTreeSet<ChatId> {
        let search = text.trim().to_lowercase();
        let search = search[..search.floor_char_boundary(SEARCH_BYTES)].to_owned();
        let daemon = Arc::clone(self);
        // Reads the files of chats that are not in memory.
        tokio::task::spawn_blocking(move || daemon.find_text(&search)).await.unwrap_or_default()
    }

    fn find_text(&self, search: &str) -> BTreeSet<ChatId> {
        let known: Vec<Arc<Chat>> = self.chats.known().values().cloned().collect();
        let mut found: BTreeSet<ChatId> =
            known.iter().filter(|chat| chat.has_text(search)).map(|chat| chat.id.clone()).collect();
        for record in self.chats.store.list() {
            if known.iter().any(|chat| chat.id == record.id) {
                continue;
            }
            let is_found = has(&record.title, search)
                || transcript_has(&self.chats.store.transcript(&record.id), search);
            if is_found {
                found.insert(record.id);
            }
        }
        found
    }
}

impl Chat {
    fn has_text(&self, search: &str) -> bool {
        let state = self.state();
        let redact = |text: &str| self.redactor.redact_text(text);
        // What is redacted is not found either: a search must not reveal it.
        has(&state.record.title, search)
            || state.transcript.items().iter().any(|item| texts(item).any(|text| has(&redact(text), search)))
    }

    /// The chat as Markdown, and a name for the file.
    pub(super) fn export(&self) -> Value {
        let state = self.state();
        let record = &state.record;
        let mut text = format!("# {}\n\n", quoted(&record.title));
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{} · {}\n", self.agent.name, confinement_note(self.agent));
        if state.transcript.is_shortened() {
            text.push_str("(Older messages were dropped.)\n\n");
        }
        for item in state.transcript.items() {
            write_item(&mut text, item);
        }
        let letters = record.title.chars().map(|letter| if letter.is_alphanumeric() { letter } else { '-' });
        let name: String = letters.take(NAME_BYTES).collect();
        let name = format!("{}.md", name.trim_matches('-'));
        json!({"name": self.redactor.redact_text(&name), "markdown": self.redactor.redact_text(&text)})
    }
}

fn has(text: &str, search: &str) -> bool {
    text.to_lowercase().contains(search)
}

fn transcript_has(transcript: &Transcript, search: &str) -> bool {
    transcript.items().iter().any(|item| texts(item).any(|text| has(text, search)))
}

/// What people and agents said.
fn texts(item: &Item) -> impl Iterator<Item = &str> {
    let text = match &item.body {
        ItemBody::User(message) => Some(message.text.as_str()),
        ItemBody::Agent { text, .. } | ItemBody::Notice { text, .. } | ItemBody::Approval { text, .. } => {
            Some(text.as_str())
        }
        _ => None,
    };
    text.into_iter()
}

fn write_item(text: &mut String, item: &Item) {
    let _ = match &item.body {
        ItemBody::User(message) => {
            let files = message.files.iter().map(|name| format!("\n(file {})", quoted(name)));
            let images = (message.images > 0).then(|| format!("\n({} images)", message.images));
            let more: String = files.chain(images).collect();
            writeln!(text, "## You\n\n{}{more}\n", message.text)
        }
        ItemBody::Agent { text: said, .. } => writeln!(text, "## Agent\n\n{said}\n"),
        ItemBody::Step(step) => {
            let about =
                [&step.label, &step.site].into_iter().flatten().map(|part| format!(" {}", quoted(part)));
            let error = step.error.iter().map(|code| format!(": {code}"));
            writeln!(text, "- `{}`{}", step.action, about.chain(error).collect::<String>())
        }
        ItemBody::Approval { text: asked, .. } => writeln!(text, "- Question: {}", quoted(asked)),
        ItemBody::Notice { text: notice, .. } => writeln!(text, "> {}\n", quoted(notice)),
        ItemBody::Thought { .. } | ItemBody::Tool(_) | ItemBody::Plan { .. } | ItemBody::Question { .. } => {
            Ok(())
        }
    };
}

/// A text in one line, whose characters have no meaning in Markdown or HTML.
fn quoted(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut quoted = String::with_capacity(line.len());
    for letter in line.chars() {
        if matches!(letter, '\\' | '<' | '[' | ']' | '!' | '#') {
            quoted.push('\\');
        }
        quoted.push(letter);
    }
    quoted
}
