//! The state machine of one connection to an agent.
//!
//! The owner calls a method for each request, gives each line of the agent to [`Client::receive`], and writes the
//! lines of [`Client::take_output`].

mod receive;
mod requests;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::protocol::agent_info::AgentInfo;
use crate::protocol::options::ConfigOption;
use crate::protocol::question::{Question, QuestionId, QuestionKind};
use crate::protocol::rpc::RpcError;
use crate::protocol::update::{StopReason, ToolFacts, Update};

/// The version of the protocol.
pub const PROTOCOL_VERSION: i64 = 1;

/// The name and version that the agent receives.
#[derive(Clone, Debug)]
pub struct ClientInfo {
    /// The program.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// A stdio MCP server that the agent starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpServer {
    /// Its name.
    pub name: String,
    /// Its program, absolute.
    pub command: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Its additional environment.
    pub environment: Vec<(String, String)>,
}

/// What a session is opened with.
#[derive(Clone, Debug)]
pub struct SessionSetup {
    /// The working directory, absolute.
    pub directory: String,
    /// The MCP servers.
    pub servers: Vec<McpServer>,
    /// The member `_meta`, which some agents take options from.
    pub meta: Option<Value>,
}

/// How a session is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opening {
    /// A new one.
    New,
    /// An earlier one, without its messages.
    Resume(String),
    /// An earlier one. The agent sends its messages again, which are discarded.
    Load(String),
}

/// How a message reaches an agent that works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steering {
    /// By `_session/steering`.
    Method,
    /// By a second `session/prompt`.
    SecondPrompt,
}

/// Why a call is not possible now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallError {
    /// The connection is in another phase.
    WrongPhase,
    /// The agent does not offer it.
    NotOffered,
    /// There is no such question. It may be answered or withdrawn.
    NoSuchQuestion,
    /// The answer or value does not fit.
    WrongValue,
    /// Too many requests wait.
    TooMany,
}

/// What has happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The agent has responded to `initialize`.
    Ready(AgentInfo),
    /// The agent speaks another version of the protocol, if any. The connection is over.
    WrongVersion(Option<i64>),
    /// The agent has signed in.
    Authenticated,
    /// The user has to sign in first.
    SignInNeeded(RpcError),
    /// The session is open.
    Opened {
        /// The agent's id of the session.
        session: String,
        /// How it was opened.
        opening: Opening,
    },
    /// The session could not be opened.
    OpenFailed(RpcError),
    /// The agent reports something.
    Update(Update),
    /// The options of the session, all.
    Options(Vec<ConfigOption>),
    /// The agent asks.
    Asked(Question),
    /// A question needs no answer any more.
    Withdrawn(QuestionId),
    /// The turn is over.
    TurnEnded(StopReason),
    /// The turn has failed.
    TurnFailed(RpcError),
    /// The steered message has reached the turn, or not.
    Steered {
        /// Whether the turn took it. Otherwise it is to be sent as a prompt.
        taken: bool,
    },
    /// A request for something else has failed.
    RequestFailed(RpcError),
}

/// What was ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Lines that are no messages.
    pub bad_lines: u64,
    /// Updates of unknown kinds or without their required parts.
    pub unknown_updates: u64,
    /// Requests that were refused.
    pub refused_requests: u64,
    /// Messages of other sessions, and responses to no request.
    pub stray_messages: u64,
    /// Updates of a replay.
    pub replayed: u64,
}

#[derive(Debug, PartialEq, Eq)]
enum Phase {
    /// Nothing was sent.
    New,
    /// `initialize` waits for its response.
    Initializing,
    /// The agent is known.
    Ready,
    /// A session is being opened.
    Opening,
    /// The session is open.
    Open { session: String, turn: Turn },
    /// The agent speaks another version.
    Dead,
}

#[derive(Debug, PartialEq, Eq)]
enum Turn {
    Idle,
    /// These prompts wait for their response.
    Working {
        prompts: BTreeSet<u64>,
        is_stopping: bool,
    },
}

/// A request of ours that waits for its response.
#[derive(Debug)]
enum PendingRequest {
    Initialize,
    Authenticate,
    Open(Opening),
    Prompt,
    Steer,
    Set { option: String, value: crate::protocol::options::OptionValue },
}

/// A question that waits for its answer.
#[derive(Debug)]
struct OpenQuestion {
    /// The agent's id of the request.
    request: Value,
    kind: QuestionKind,
}

/// One connection to an agent.
#[derive(Debug)]
pub struct Client {
    info: ClientInfo,
    phase: Phase,
    agent: AgentInfo,
    next: u64,
    waiting: BTreeMap<u64, PendingRequest>,
    questions: BTreeMap<QuestionId, OpenQuestion>,
    options: Vec<ConfigOption>,
    /// Facts of the tool calls of the turn, which permission requests refer to.
    tools: BTreeMap<String, ToolFacts>,
    output: Vec<String>,
    counters: Counters,
}

impl Client {
    /// A connection on which nothing was sent.
    #[must_use]
    pub fn new(info: ClientInfo) -> Self {
        Self {
            info,
            phase: Phase::New,
            agent: AgentInfo::default(),
            next: 0,
            waiting: BTreeMap::new(),
            questions: BTreeMap::new(),
            options: Vec::new(),
            tools: BTreeMap::new(),
            output: Vec::new(),
            counters: Counters::default(),
        }
    }

    /// The lines to send, without their ends.
    pub fn take_output(&mut self) -> Vec<String> {
        std::mem::take(&mut self.output)
    }

    /// What the agent has said about itself.
    #[must_use]
    pub const fn agent(&self) -> &AgentInfo {
        &self.agent
    }

    /// The options of the session.
    #[must_use]
    pub fn options(&self) -> &[ConfigOption] {
        &self.options
    }

    /// What was ignored.
    #[must_use]
    pub const fn counters(&self) -> Counters {
        self.counters
    }

    /// Whether a turn runs.
    #[must_use]
    pub const fn is_working(&self) -> bool {
        matches!(&self.phase, Phase::Open { turn: Turn::Working { .. }, .. })
    }

    /// Whether a turn runs that was cancelled.
    #[must_use]
    pub const fn is_stopping(&self) -> bool {
        matches!(&self.phase, Phase::Open { turn: Turn::Working { is_stopping: true, .. }, .. })
    }

    /// The questions that wait.
    #[must_use]
    pub fn open_questions(&self) -> Vec<QuestionId> {
        self.questions.keys().copied().collect()
    }

    fn session(&self) -> Option<&str> {
        match &self.phase {
            Phase::Open { session, .. } => Some(session),
            _ => None,
        }
    }
}
