//! The transcript of a chat: items that are created and changed by id, and the state beside them.
//!
//! The shape follows version 2 of the protocol: items are upserted by id, chunks are appended. The same changes reach
//! every front end, and the items are what the store keeps.

mod item;
mod reduce;

use serde::{Deserialize, Serialize};

use crate::protocol::options::ConfigOption;
use crate::protocol::update::{Command, Usage};

pub use item::{ApprovalFacts, Item, ItemBody, ItemId, NoticeKind, QuestionOutcome, Step, UserMessage};

/// What a chat is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChatState {
    /// No agent runs.
    #[default]
    Offline,
    /// The agent starts.
    Starting,
    /// The user has to sign in.
    SignInNeeded,
    /// The agent waits for a message.
    Idle,
    /// The agent works.
    Working,
    /// The agent was sent a stop.
    Stopping,
}

/// One change, as front ends receive it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Change {
    /// An item is new or has changed.
    Item {
        /// The whole item.
        item: Box<Item>,
    },
    /// Text was appended to an item.
    Chunk {
        /// The item.
        id: ItemId,
        /// The text.
        text: String,
    },
    /// An item was moved to the end, where it is a new one.
    Removed {
        /// The item.
        id: ItemId,
    },
    /// The oldest items were dropped.
    Dropped {
        /// The oldest item that is left.
        first: ItemId,
    },
    /// The state has changed.
    State {
        /// The state.
        state: ChatState,
    },
    /// The options, all.
    Options {
        /// The options.
        options: Vec<ConfigOption>,
    },
    /// The slash commands, all.
    Commands {
        /// The commands.
        commands: Vec<Command>,
    },
    /// The fill of the context, and the cost so far.
    Usage {
        /// The usage.
        usage: Usage,
    },
}

/// The transcript of a chat.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Transcript {
    items: Vec<Item>,
    /// The number of the next item.
    next: u64,
    /// Whether older items were dropped.
    is_shortened: bool,
    usage: Option<Usage>,
    /// The last item of the turn before. Chunks without an id do not continue it.
    #[serde(skip)]
    turn_end: u64,
    #[serde(skip)]
    state: ChatState,
    #[serde(skip)]
    options: Vec<ConfigOption>,
    #[serde(skip)]
    commands: Vec<Command>,
}

impl Transcript {
    /// The items, oldest first.
    #[must_use]
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// Whether older items were dropped.
    #[must_use]
    pub const fn is_shortened(&self) -> bool {
        self.is_shortened
    }

    /// The state.
    #[must_use]
    pub const fn state(&self) -> ChatState {
        self.state
    }

    /// The options of the session.
    #[must_use]
    pub fn options(&self) -> &[ConfigOption] {
        &self.options
    }

    /// The slash commands of the agent.
    #[must_use]
    pub fn commands(&self) -> &[Command] {
        &self.commands
    }

    /// The fill of the context, if the agent reports it.
    #[must_use]
    pub const fn usage(&self) -> Option<&Usage> {
        self.usage.as_ref()
    }

    /// Bytes of all texts.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.items.iter().map(Item::bytes).sum()
    }
}
