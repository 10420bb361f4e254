//! `session/update`: what an agent reports while it works.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::limits::{DETAIL_BYTES, ITEM_TEXT_BYTES, LIST_ENTRIES, NAME_BYTES};
use crate::protocol::content::{block_text, tool_text};
use crate::protocol::options::{ConfigOption, parse_options};
use crate::protocol::text::{cut, entries, find_id, find_text};

/// One update.
#[derive(Clone, Debug, PartialEq)]
pub enum Update {
    /// A piece of the user's message, which agents send in a replay.
    UserChunk {
        /// The message it belongs to.
        message: Option<String>,
        /// The piece.
        text: String,
    },
    /// A piece of the agent's message.
    AgentChunk {
        /// The message it belongs to.
        message: Option<String>,
        /// The piece.
        text: String,
    },
    /// A piece of the agent's reasoning.
    ThoughtChunk {
        /// The message it belongs to.
        message: Option<String>,
        /// The piece.
        text: String,
    },
    /// A tool call, new or changed.
    Tool(ToolFacts),
    /// The plan, whole.
    Plan(Vec<PlanEntry>),
    /// The slash commands, all.
    Commands(Vec<Command>),
    /// The mode has changed.
    Mode(String),
    /// The options, all.
    Options(Vec<ConfigOption>),
    /// The fill of the context, and the cost so far.
    Usage(Usage),
    /// The agent's title for the session.
    Title(String),
}

/// What an update says about a tool call. Absent facts have not changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolFacts {
    /// The agent's id of the call.
    pub call: String,
    /// The agent's title. Parts of it can be written by the model.
    pub title: Option<String>,
    /// The agent's kind, such as `execute`.
    pub kind: Option<String>,
    /// The status.
    pub status: Option<ToolStatus>,
    /// The parameters as JSON, cut.
    pub input: Option<String>,
    /// The result as text, cut.
    pub output: Option<String>,
    /// The tool's name in `_meta`, which only the adapter writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meta_tool: Option<String>,
    /// The member `server` of the parameters. With some agents the model writes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_server: Option<String>,
}

/// The status of a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    /// It has not begun.
    Pending,
    /// It runs.
    InProgress,
    /// It has succeeded.
    Completed,
    /// It has failed.
    Failed,
    /// The user stopped the turn.
    Cancelled,
}

impl ToolStatus {
    /// Whether the call is over.
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }

    fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "pending" => Self::Pending,
            "in_progress" => Self::InProgress,
            "completed" => Self::Completed,
            "failed" => Self::Failed,
            _ => return None,
        })
    }
}

/// One entry of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanEntry {
    /// What is to be done.
    pub text: String,
    /// `pending`, `in_progress` or `completed`.
    pub status: String,
}

/// A slash command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
}

/// The fill of the context, and the cost so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens in the context.
    pub used: u64,
    /// Tokens that fit.
    pub size: u64,
    /// The cost so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

/// A cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// The amount.
    pub amount: f64,
    /// The currency, such as `USD`.
    pub currency: String,
}

/// Why a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The agent is done.
    EndTurn,
    /// The response reached its maximum length.
    MaxTokens,
    /// The turn had too many requests to the model.
    MaxTurnRequests,
    /// The agent refuses.
    Refusal,
    /// The user stopped it.
    Cancelled,
    /// A reason that this version does not know.
    Unknown,
}

impl StopReason {
    pub(crate) fn parse(text: &str) -> Self {
        match text {
            "end_turn" => Self::EndTurn,
            "max_tokens" => Self::MaxTokens,
            "max_turn_requests" => Self::MaxTurnRequests,
            "refusal" => Self::Refusal,
            "cancelled" => Self::Cancelled,
            _ => Self::Unknown,
        }
    }
}

impl Update {
    /// Parses the member `update`. `None` when its kind is unknown or a required part is missing.
    pub(crate) fn parse(update: &Value) -> Option<Self> {
        Some(match update.get("sessionUpdate").and_then(Value::as_str)? {
            "user_message_chunk" => {
                let (message, text) = chunk(update)?;
                Self::UserChunk { message, text }
            }
            "agent_message_chunk" => {
                let (message, text) = chunk(update)?;
                Self::AgentChunk { message, text }
            }
            "agent_thought_chunk" => {
                let (message, text) = chunk(update)?;
                Self::ThoughtChunk { message, text }
            }
            "tool_call" | "tool_call_update" => Self::Tool(ToolFacts::parse(update)?),
            "plan" => {
                Self::Plan(entries(update, "entries", LIST_ENTRIES).filter_map(PlanEntry::parse).collect())
            }
            "available_commands_update" => {
                let commands = entries(update, "availableCommands", LIST_ENTRIES);
                Self::Commands(commands.filter_map(Command::parse).collect())
            }
            "current_mode_update" => {
                Self::Mode(find_id(update, "modeId").or_else(|| find_id(update, "currentModeId"))?)
            }
            "config_option_update" => Self::Options(parse_options(update)?),
            "usage_update" => Self::Usage(Usage::parse(update)?),
            "session_info_update" => Self::Title(find_text(update, "title", NAME_BYTES)?),
            _ => return None,
        })
    }
}

fn chunk(update: &Value) -> Option<(Option<String>, String)> {
    Some((find_id(update, "messageId"), block_text(update.get("content")?, ITEM_TEXT_BYTES)?))
}

impl ToolFacts {
    /// Parses a tool call, in an update or in a permission request.
    pub(crate) fn parse(value: &Value) -> Option<Self> {
        let input = value.get("rawInput").filter(|input| !input.is_null());
        let input_server =
            input.and_then(|input| find_id(input, "server").or_else(|| find_id(input, "serverName")));
        Some(Self {
            call: find_id(value, "toolCallId")?,
            title: find_text(value, "title", NAME_BYTES),
            kind: find_id(value, "kind"),
            status: value.get("status").and_then(Value::as_str).and_then(ToolStatus::parse),
            input: input.map(|input| cut(&input.to_string(), DETAIL_BYTES).to_owned()),
            output: value
                .get("content")
                .filter(|content| content.is_array())
                .map(|content| tool_text(content, DETAIL_BYTES))
                .filter(|text| !text.is_empty()),
            meta_tool: find_id(&value["_meta"]["claudeCode"], "toolName"),
            input_server,
        })
    }

    /// Takes over the facts that a later update has.
    pub(crate) fn merge(&mut self, new: Self) {
        let Self { call: _, title, kind, status, input, output, meta_tool, input_server } = new;
        // A finished call does not begin again: an update can be late.
        if !self.status.is_some_and(ToolStatus::is_final) || status.is_some_and(ToolStatus::is_final) {
            self.status = status.or(self.status);
        }
        self.title = title.or_else(|| self.title.take());
        self.kind = kind.or_else(|| self.kind.take());
        self.input = input.or_else(|| self.input.take());
        self.output = output.or_else(|| self.output.take());
        // The first name counts: a later one could rename a call that waits for permission.
        self.meta_tool = self.meta_tool.take().or(meta_tool);
        self.input_server = self.input_server.take().or(input_server);
    }

    pub(crate) fn bytes(&self) -> usize {
        [&self.title, &self.kind, &self.input, &self.output, &self.meta_tool, &self.input_server]
            .iter()
            .map(|text| text.as_ref().map_or(0, String::len))
            .sum()
    }
}

impl PlanEntry {
    fn parse(value: &Value) -> Option<Self> {
        Some(Self {
            text: find_text(value, "content", DETAIL_BYTES)?,
            status: find_id(value, "status").unwrap_or_else(|| "pending".to_owned()),
        })
    }
}

impl Command {
    fn parse(value: &Value) -> Option<Self> {
        let description = find_text(value, "description", DETAIL_BYTES).unwrap_or_default();
        Some(Self { name: find_id(value, "name")?, description })
    }
}

impl Usage {
    fn parse(value: &Value) -> Option<Self> {
        let cost = value.get("cost").and_then(|cost| {
            let amount =
                cost.get("amount")?.as_f64().filter(|amount| amount.is_finite() && *amount >= 0.0)?;
            Some(Cost { amount, currency: find_id(cost, "currency")? })
        });
        Some(Self { used: value.get("used")?.as_u64()?, size: value.get("size")?.as_u64()?, cost })
    }
}
