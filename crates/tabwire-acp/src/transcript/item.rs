//! The items of a transcript.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::protocol::question::{QuestionId, QuestionKind};
use crate::protocol::update::{PlanEntry, ToolFacts};

/// The id of an item, such as `i12`. Later items have greater numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ItemId(pub(crate) u64);

impl fmt::Display for ItemId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "i{}", self.0)
    }
}

impl Serialize for ItemId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ItemId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let number = text.strip_prefix('i').and_then(|number| number.parse().ok());
        number.map(Self).ok_or_else(|| serde::de::Error::custom("not the id of an item"))
    }
}

/// One item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// Its id.
    pub id: ItemId,
    /// What it is.
    #[serde(flatten)]
    pub body: ItemBody,
}

/// What an item is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "item", rename_all = "snake_case")]
pub enum ItemBody {
    /// A message of the user.
    User(UserMessage),
    /// A message of the agent.
    Agent {
        /// Its text so far.
        text: String,
        /// Whether the rest was left out because it is too long.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        cut: bool,
        /// The agent's id of the message.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// Reasoning of the agent.
    Thought {
        /// Its text so far.
        text: String,
        /// Whether the rest was left out because it is too long.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        cut: bool,
        /// The agent's id of the message.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// A tool call, as the agent reports it.
    Tool(ToolFacts),
    /// An action in the browser, as the daemon ran it.
    Step(Step),
    /// The agent's plan.
    Plan {
        /// Its entries.
        entries: Vec<PlanEntry>,
    },
    /// A question of the agent to the user.
    Question {
        /// Its id while it waits.
        question: String,
        /// What it asks.
        #[serde(flatten)]
        kind: QuestionKind,
        /// How it ended; `None` while it waits.
        outcome: Option<QuestionOutcome>,
    },
    /// A question of Tabwire's policy to the user.
    Approval {
        /// Its id in the queue of approvals.
        approval: String,
        /// The question.
        text: String,
        /// The same in parts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        facts: Option<ApprovalFacts>,
        /// How it ended; `None` while it waits.
        outcome: Option<QuestionOutcome>,
    },
    /// Something that the user should know about the chat.
    Notice {
        /// What it is about.
        notice: NoticeKind,
        /// The sentence.
        text: String,
    },
}

/// A message of the user.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserMessage {
    /// The text.
    pub text: String,
    /// Images beside it.
    #[serde(default)]
    pub images: usize,
    /// The names of files beside it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Whether it waits for the end of the turn.
    #[serde(default)]
    pub queued: bool,
    /// Whether it was sent into a turn that ran.
    #[serde(default)]
    pub steered: bool,
    /// Whether a stop came before it was sent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dropped: bool,
}

/// A question of the policy in parts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ApprovalFacts {
    /// The agent, as its user knows it.
    pub agent: String,
    /// The action.
    pub action: String,
    /// The site, without path.
    pub site: String,
    /// The capability that would be granted.
    pub capability: String,
    /// Why the user is asked.
    pub why: String,
    /// When it is denied, in seconds since 1970.
    pub until: u64,
    /// Seconds that the user has for it.
    pub seconds: u64,
}

/// An action in the browser.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The action.
    pub action: String,
    /// The site it touched, without path.
    pub site: Option<String>,
    /// What it was about, as the audit log shows it: an element or a URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The number of its screenshot, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub screenshot: Option<u64>,
    /// Whether a script called it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nested: bool,
    /// `None` while it runs, then whether it succeeded.
    pub succeeded: Option<bool>,
    /// The code of its failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How long it took.
    pub milliseconds: u64,
}

/// How a question ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionOutcome {
    /// The rule for Tabwire's own tools allowed it.
    AllowedByRule,
    /// The user answered, with this choice.
    Answered(String),
    /// Nothing waits for an answer any more.
    Withdrawn,
}

/// What a notice is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoticeKind {
    /// The user stopped the turn.
    Stopped,
    /// The turn failed.
    Failed,
    /// The agent's process ended.
    AgentEnded,
    /// The user has to sign in.
    SignIn,
    /// The agent continues an earlier session.
    Resumed,
    /// The agent could not continue the earlier session and has only the transcript.
    ResumedFresh,
    /// Anything else.
    Note,
}

impl Item {
    /// Bytes of its texts.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match &self.body {
            ItemBody::User(message) => message.text.len(),
            ItemBody::Agent { text, .. } | ItemBody::Thought { text, .. } | ItemBody::Notice { text, .. } => {
                text.len()
            }
            ItemBody::Approval { text, .. } => text.len(),
            ItemBody::Tool(facts) => facts.bytes(),
            ItemBody::Step(step) => {
                let texts = [&step.site, &step.label].into_iter().flatten();
                step.action.len() + texts.map(String::len).sum::<usize>()
            }
            ItemBody::Plan { entries } => entries.iter().map(|entry| entry.text.len()).sum(),
            ItemBody::Question { kind, .. } => match kind {
                QuestionKind::Permission { tool, choices, .. } => {
                    tool.bytes()
                        + choices.iter().map(|choice| choice.name.len() + choice.id.len()).sum::<usize>()
                }
                QuestionKind::Form { message, fields } => {
                    message.len() + fields.iter().map(|field| field.title.len()).sum::<usize>()
                }
            },
        }
    }

    /// Applies a function to every text that people wrote or agents produced.
    pub fn rewrite(&mut self, change: &mut dyn FnMut(&mut String)) {
        match &mut self.body {
            ItemBody::User(message) => change(&mut message.text),
            ItemBody::Agent { text, .. }
            | ItemBody::Thought { text, .. }
            | ItemBody::Notice { text, .. }
            | ItemBody::Approval { text, .. } => change(text),
            ItemBody::Tool(facts) => rewrite_facts(facts, change),
            ItemBody::Plan { entries } => entries.iter_mut().for_each(|entry| change(&mut entry.text)),
            ItemBody::Question { kind: QuestionKind::Permission { tool, .. }, .. } => {
                rewrite_facts(tool, change);
            }
            ItemBody::Question { kind: QuestionKind::Form { message, .. }, .. } => change(message),
            ItemBody::Step(_) => {}
        }
    }

    /// Whether this is the item of a question.
    pub(crate) fn is_question(&self, id: QuestionId) -> bool {
        matches!(&self.body, ItemBody::Question { question, outcome: None, .. } if *question == id.to_string())
    }
}

fn rewrite_facts(facts: &mut ToolFacts, change: &mut dyn FnMut(&mut String)) {
    for text in [&mut facts.title, &mut facts.input, &mut facts.output].into_iter().flatten() {
        change(text);
    }
}
