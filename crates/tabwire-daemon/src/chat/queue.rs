//! The messages that wait for the agent. They are items of the transcript, so they survive agents that do not start.

use tabwire_acp::{Content, Item, ItemBody, ItemId, NoticeKind, UserMessage};

use crate::chat::prompt::Prompt;
use crate::chat::{Chat, NEW_TITLE};

/// Bytes of images and files that wait in one chat.
const WAITING_BYTES: usize = 24 * 1024 * 1024;

/// A message that waits.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) id: ItemId,
    pub(super) text: String,
    pub(super) attachments: Vec<Content>,
    /// Whether images or files of it are gone: they are kept in memory only.
    pub(super) missing: bool,
}

impl Chat {
    /// Adds a message of the user, and names the chat after the first one.
    pub(super) fn add_message(&self, prompt: &Prompt, change: impl FnOnce(&mut UserMessage)) -> ItemId {
        let mut message = UserMessage {
            text: prompt.text.clone(),
            images: prompt.images(),
            files: prompt.files(),
            ..UserMessage::default()
        };
        change(&mut message);
        let is_queued = message.queued;
        let mut id = None;
        self.update(|transcript| {
            let (item, changes) = transcript.user_message(message);
            id = Some(item);
            changes
        });
        let id = id.expect("the closure has run");
        let is_first = {
            let mut state = self.state();
            if is_queued && !prompt.attachments.is_empty() {
                state.attachments.insert(id, prompt.attachments.clone());
                let bytes = |parts: &Vec<Content>| parts.iter().map(content_bytes).sum::<usize>();
                while state.attachments.values().map(bytes).sum::<usize>() > WAITING_BYTES {
                    state.attachments.pop_first();
                }
            }
            state.record.title == NEW_TITLE
        };
        if is_first {
            self.set_title(prompt.text.trim().lines().next().unwrap_or_default());
        }
        id
    }

    /// Changes a message of the user.
    pub(super) fn mark(&self, id: ItemId, change: impl FnOnce(&mut UserMessage)) {
        self.update(|transcript| {
            transcript.change(id, |body| {
                if let ItemBody::User(message) = body {
                    change(message);
                }
            })
        });
    }

    /// The oldest message that waits.
    pub(super) fn next_waiting(&self) -> Option<Waiting> {
        let state = self.state();
        let (id, message) = state.transcript.items().iter().find_map(queued)?;
        let attachments = state.attachments.get(&id).cloned().unwrap_or_default();
        let missing = attachments.len() < message.images + message.files.len();
        Some(Waiting { id, text: message.text.clone(), attachments, missing })
    }

    /// A message that waited was sent: from now on it is where it was sent, below what the turn before has written.
    pub(super) fn sent(&self, id: ItemId) {
        let mut moved = id;
        self.update(|transcript| {
            let (id, changes) = transcript.move_to_end(id);
            moved = id;
            changes
        });
        self.mark(moved, |message| message.queued = false);
    }

    /// Forgets what was beside messages that were sent.
    pub(super) fn forget_attachments(&self) {
        let mut state = self.state();
        let waiting: Vec<ItemId> =
            state.transcript.items().iter().filter_map(queued).map(|(id, _)| id).collect();
        state.attachments.retain(|id, _| waiting.contains(id));
    }

    /// Drops all messages that wait.
    pub(super) fn drop_waiting(&self) {
        let waiting: Vec<ItemId> = {
            let mut state = self.state();
            state.attachments.clear();
            state.transcript.items().iter().filter_map(queued).map(|(id, _)| id).collect()
        };
        for id in &waiting {
            self.mark(*id, |message| (message.queued, message.dropped) = (false, true));
        }
        if !waiting.is_empty() {
            let text = format!("Messages that waited and were not sent: {}.", waiting.len());
            self.update(|transcript| transcript.notice(NoticeKind::Note, &text));
        }
    }

    /// Lets the last message wait again, unless others wait. False when there is none.
    pub(super) fn repeat_last(&self) -> bool {
        let last = {
            let state = self.state();
            let items = state.transcript.items();
            if items.iter().any(|item| queued(item).is_some()) {
                return true;
            }
            items.iter().rev().find(|item| matches!(item.body, ItemBody::User(_))).map(|item| item.id)
        };
        let Some(last) = last else { return false };
        self.mark(last, |message| (message.queued, message.steered, message.dropped) = (true, false, false));
        true
    }
}

fn queued(item: &Item) -> Option<(ItemId, &UserMessage)> {
    match &item.body {
        ItemBody::User(message) if message.queued => Some((item.id, message)),
        _ => None,
    }
}

const fn content_bytes(part: &Content) -> usize {
    match part {
        Content::Text(text) | Content::File { text, .. } => text.len(),
        Content::Image { data, .. } => data.len(),
    }
}
