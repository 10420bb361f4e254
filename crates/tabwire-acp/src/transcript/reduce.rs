//! How events change a transcript.

use crate::client::Event;
use crate::limits::{ITEM_TEXT_BYTES, ITEMS, TRANSCRIPT_BYTES};
use crate::protocol::question::{Question, QuestionId};
use crate::protocol::text::cut;
use crate::protocol::update::{PlanEntry, StopReason, ToolFacts, ToolStatus, Update};
use crate::transcript::{
    Change, ChatState, Item, ItemBody, ItemId, NoticeKind, QuestionOutcome, Step, Transcript, UserMessage,
};

/// Which kind of message a chunk belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Speaker {
    User,
    Agent,
    Thought,
}

impl Transcript {
    /// Adds an item, and drops the oldest ones if there are too many.
    pub fn push(&mut self, body: ItemBody) -> (ItemId, Vec<Change>) {
        self.next += 1;
        let item = Item { id: ItemId(self.next), body };
        let id = item.id;
        self.items.push(item.clone());
        let mut changes = vec![Change::Item { item: Box::new(item) }];
        changes.extend(self.shorten());
        (id, changes)
    }

    /// Moves an item to the end, as a new one: a message that waited is where it was sent. Nothing happens to the last item.
    pub fn move_to_end(&mut self, id: ItemId) -> (ItemId, Vec<Change>) {
        let Ok(index) = self.items.binary_search_by_key(&id, |item| item.id) else { return (id, Vec::new()) };
        if index + 1 == self.items.len() {
            return (id, Vec::new());
        }
        let body = self.items.remove(index).body;
        let (moved, added) = self.push(body);
        let mut changes = vec![Change::Removed { id }];
        changes.extend(added);
        (moved, changes)
    }

    fn shorten(&mut self) -> Option<Change> {
        let mut bytes = self.bytes();
        let mut drop = self.items.len().saturating_sub(ITEMS);
        bytes -= self.items.iter().take(drop).map(Item::bytes).sum::<usize>();
        while bytes > TRANSCRIPT_BYTES && drop + 1 < self.items.len() {
            bytes -= self.items[drop].bytes();
            drop += 1;
        }
        if drop == 0 {
            return None;
        }
        self.items.drain(..drop);
        self.is_shortened = true;
        self.items.first().map(|item| Change::Dropped { first: item.id })
    }

    /// Adds a message of the user.
    pub fn user_message(&mut self, message: UserMessage) -> (ItemId, Vec<Change>) {
        let text = cut(&message.text, ITEM_TEXT_BYTES).to_owned();
        self.push(ItemBody::User(UserMessage { text, ..message }))
    }

    /// Adds a notice.
    pub fn notice(&mut self, notice: NoticeKind, text: &str) -> Vec<Change> {
        self.push(ItemBody::Notice { notice, text: cut(text, ITEM_TEXT_BYTES).to_owned() }).1
    }

    /// Adds an action in the browser.
    pub fn step(&mut self, step: Step) -> (ItemId, Vec<Change>) {
        self.push(ItemBody::Step(step))
    }

    /// Changes an item. Empty when it is gone.
    pub fn change(&mut self, id: ItemId, change: impl FnOnce(&mut ItemBody)) -> Vec<Change> {
        let Ok(index) = self.items.binary_search_by_key(&id, |item| item.id) else { return Vec::new() };
        let item = &mut self.items[index];
        change(&mut item.body);
        vec![Change::Item { item: Box::new(item.clone()) }]
    }

    /// Sets the state. Empty when it is the same.
    pub fn set_state(&mut self, state: ChatState) -> Vec<Change> {
        if self.state == state {
            return Vec::new();
        }
        self.state = state;
        vec![Change::State { state }]
    }

    /// Applies an event of the connection.
    pub fn apply(&mut self, event: &Event) -> Vec<Change> {
        match event {
            Event::Update(update) => self.apply_update(update),
            Event::Options(options) => {
                self.options.clone_from(options);
                vec![Change::Options { options: options.clone() }]
            }
            Event::Asked(question) => self.asked(question),
            Event::Withdrawn(id) => self.close_question(*id, QuestionOutcome::Withdrawn),
            Event::TurnEnded(reason) => self.turn_ended(*reason),
            Event::TurnFailed(error) => {
                let mut changes = self.close_turn(ToolStatus::Failed);
                changes.extend(self.notice(NoticeKind::Failed, &error.message));
                changes.extend(self.set_state(ChatState::Idle));
                changes
            }
            Event::SignInNeeded(error) => {
                let mut changes = self.close_turn(ToolStatus::Failed);
                changes.extend(self.notice(NoticeKind::SignIn, &error.message));
                changes.extend(self.set_state(ChatState::SignInNeeded));
                changes
            }
            Event::RequestFailed(error) => self.notice(NoticeKind::Note, &error.message),
            Event::Ready(_)
            | Event::WrongVersion(_)
            // The owner knows whether a message waits.
            | Event::Opened { .. }
            | Event::Authenticated
            | Event::OpenFailed(_)
            | Event::Steered { .. } => Vec::new(),
        }
    }

    fn apply_update(&mut self, update: &Update) -> Vec<Change> {
        match update {
            Update::UserChunk { message, text } => self.chunk(Speaker::User, message.as_deref(), text),
            Update::AgentChunk { message, text } => self.chunk(Speaker::Agent, message.as_deref(), text),
            Update::ThoughtChunk { message, text } => self.chunk(Speaker::Thought, message.as_deref(), text),
            Update::Tool(facts) => self.tool(facts),
            Update::Plan(entries) => self.plan(entries),
            Update::Commands(commands) => {
                self.commands.clone_from(commands);
                vec![Change::Commands { commands: commands.clone() }]
            }
            Update::Usage(usage) => {
                self.usage = Some(usage.clone());
                vec![Change::Usage { usage: usage.clone() }]
            }
            Update::Options(_) | Update::Mode(_) | Update::Title(_) => Vec::new(),
        }
    }

    /// Appends a chunk to its message. Without an id it belongs to the last item, if that has the same speaker.
    fn chunk(&mut self, speaker: Speaker, message: Option<&str>, text: &str) -> Vec<Change> {
        if text.is_empty() {
            return Vec::new();
        }
        // Only recent items are searched: a flood of chunks must not cost a walk over the transcript each.
        let turn_end = self.turn_end;
        // A message that waits does not end the text before it.
        let recent = self.items.iter_mut().rev().filter(|item| !item.waits()).take(32);
        let mut candidates = recent.enumerate().filter(|(back, item)| match (message, item.message()) {
            (Some(message), Some(known)) => known == message,
            (None, None) => *back == 0 && item.id.0 > turn_end,
            _ => false,
        });
        let found = candidates.find(|(_, item)| item.speaker() == Some(speaker)).map(|(_, item)| item);
        let Some(item) = found else { return self.first_chunk(speaker, message, text) };
        let id = item.id;
        let (ItemBody::Agent { text: whole, cut: is_cut, .. }
        | ItemBody::Thought { text: whole, cut: is_cut, .. }) = &mut item.body
        else {
            return Vec::new();
        };
        let piece = cut(text, ITEM_TEXT_BYTES.saturating_sub(whole.len()));
        whole.push_str(piece);
        let mut changes = Vec::new();
        if piece.len() < text.len() && !*is_cut {
            *is_cut = true;
            changes.push(Change::Item { item: Box::new(item.clone()) });
        } else if !piece.is_empty() {
            changes.push(Change::Chunk { id, text: piece.to_owned() });
        }
        changes
    }

    fn first_chunk(&mut self, speaker: Speaker, message: Option<&str>, text: &str) -> Vec<Change> {
        let piece = cut(text, ITEM_TEXT_BYTES).to_owned();
        let (cut, message) = (piece.len() < text.len(), message.map(str::to_owned));
        let body = match speaker {
            // The transcript has the user's messages already.
            Speaker::User => return Vec::new(),
            Speaker::Agent => ItemBody::Agent { text: piece, cut, message },
            Speaker::Thought => ItemBody::Thought { text: piece, cut, message },
        };
        self.push(body).1
    }

    fn tool(&mut self, facts: &ToolFacts) -> Vec<Change> {
        let known = self
            .items
            .iter_mut()
            .rev()
            .find(|item| matches!(&item.body, ItemBody::Tool(known) if known.call == facts.call));
        match known {
            Some(item) => {
                if let ItemBody::Tool(known) = &mut item.body {
                    known.merge(facts.clone());
                }
                vec![Change::Item { item: Box::new(item.clone()) }]
            }
            None => self.push(ItemBody::Tool(facts.clone())).1,
        }
    }

    /// The plan of a turn is one item, which each plan replaces.
    fn plan(&mut self, entries: &[PlanEntry]) -> Vec<Change> {
        let items = self.items.iter_mut().rev().filter(|item| !item.waits());
        let turn = items.take_while(|item| !matches!(item.body, ItemBody::User(_)));
        for item in turn {
            if let ItemBody::Plan { entries: known } = &mut item.body {
                known.clear();
                known.extend_from_slice(entries);
                return vec![Change::Item { item: Box::new(item.clone()) }];
            }
        }
        self.push(ItemBody::Plan { entries: entries.to_vec() }).1
    }

    fn asked(&mut self, question: &Question) -> Vec<Change> {
        let (question, kind) = (question.id.to_string(), question.kind.clone());
        self.push(ItemBody::Question { question, kind, outcome: None }).1
    }

    /// Ends a question. Empty when it has ended.
    pub fn close_question(&mut self, id: QuestionId, end: QuestionOutcome) -> Vec<Change> {
        let Some(found) = self.items.iter().rev().find(|item| item.is_question(id)) else {
            return Vec::new();
        };
        self.change(found.id, |body| {
            if let ItemBody::Question { outcome, .. } = body {
                *outcome = Some(end);
            }
        })
    }

    fn turn_ended(&mut self, reason: StopReason) -> Vec<Change> {
        let is_stopped = reason == StopReason::Cancelled;
        let mut changes =
            self.close_turn(if is_stopped { ToolStatus::Cancelled } else { ToolStatus::Completed });
        let notice = match reason {
            StopReason::EndTurn => None,
            StopReason::Cancelled => Some((NoticeKind::Stopped, "Stopped.")),
            StopReason::MaxTokens => Some((NoticeKind::Note, "The response reached its maximum length.")),
            StopReason::MaxTurnRequests => Some((NoticeKind::Note, "The turn had too many requests.")),
            StopReason::Refusal => Some((NoticeKind::Note, "The agent refused to continue.")),
            StopReason::Unknown => {
                Some((NoticeKind::Note, "The agent ended the turn for an unknown reason."))
            }
        };
        if let Some((kind, text)) = notice {
            changes.extend(self.notice(kind, text));
        }
        changes.extend(self.set_state(ChatState::Idle));
        changes
    }

    /// Ends what is open: tool calls, steps and questions of a turn that is over.
    pub fn close_turn(&mut self, status: ToolStatus) -> Vec<Change> {
        self.turn_end = self.next;
        let mut changes = Vec::new();
        for item in &mut self.items {
            let is_open = match &mut item.body {
                ItemBody::Tool(facts) if !facts.status.is_some_and(ToolStatus::is_final) => {
                    facts.status = Some(status);
                    true
                }
                ItemBody::Question { outcome: outcome @ None, .. }
                | ItemBody::Approval { outcome: outcome @ None, .. } => {
                    *outcome = Some(QuestionOutcome::Withdrawn);
                    true
                }
                ItemBody::Step(step) if step.succeeded.is_none() => {
                    (step.succeeded, step.error) = (Some(false), Some("OUTCOME_UNKNOWN".to_owned()));
                    true
                }
                _ => false,
            };
            if is_open {
                changes.push(Change::Item { item: Box::new(item.clone()) });
            }
        }
        changes
    }
}

impl Item {
    /// Whether it is a message that waits for the end of the turn.
    const fn waits(&self) -> bool {
        matches!(self.body, ItemBody::User(UserMessage { queued: true, .. }))
    }

    fn speaker(&self) -> Option<Speaker> {
        match &self.body {
            ItemBody::Agent { .. } => Some(Speaker::Agent),
            ItemBody::Thought { .. } => Some(Speaker::Thought),
            _ => None,
        }
    }

    fn message(&self) -> Option<&str> {
        match &self.body {
            ItemBody::Agent { message, .. } | ItemBody::Thought { message, .. } => message.as_deref(),
            _ => None,
        }
    }
}
