//! The client side of the Agent Client Protocol (version 1), without I/O.
//!
//! [`Client`] takes the lines of an agent and returns events; it collects the lines to send. [`Transcript`] turns the
//! events into items that front ends show and the store keeps. All input of an agent is bounded and may be hostile.

pub mod client;
pub mod limits;
pub mod protocol;
pub mod transcript;

pub use client::{
    CallError, Client, ClientInfo, Counters, Event, McpServer, Opening, SessionSetup, Steering,
};
pub use protocol::agent_info::{AgentInfo, AuthMethod};
pub use protocol::content::Content;
pub use protocol::line_buffer::{LineBuffer, LineTooLong};
pub use protocol::options::{Choice, ConfigOption, OptionKind, OptionValue};
pub use protocol::question::{
    Answer, Field, FieldKind, PermissionChoice, Question, QuestionId, QuestionKind,
};
pub use protocol::rpc::RpcError;
pub use protocol::update::{Command, Cost, PlanEntry, StopReason, ToolFacts, ToolStatus, Update, Usage};
pub use transcript::{
    ApprovalFacts, Change, ChatState, Item, ItemBody, ItemId, NoticeKind, QuestionOutcome, Step, Transcript,
    UserMessage,
};
