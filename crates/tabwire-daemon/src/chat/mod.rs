//! Chats with agents over the Agent Client Protocol: their processes, transcripts, files and routes.

pub(crate) mod agent;
mod api;
mod approvals;
mod create;
mod events;
mod export;
mod prompt;
mod queue;
mod run;
mod screenshots;
pub(crate) mod socket;
pub(crate) mod steps;
mod store;
mod view;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use tabwire_acp::{Change, Content, ItemBody, ItemId, Transcript};
use tabwire_api::{ClientName, ErrorCode, Failure, ProjectKey};
use tabwire_engine::OutputRedactor;
use tokio::sync::{mpsc, watch};

use crate::chat::agent::output::HeldText;
use crate::chat::agent::probe::AgentProbes;
use crate::chat::agent::table::{self, AgentSpec};
use crate::chat::events::ChangeLog;
use crate::chat::run::ChatCommand;
use crate::chat::screenshots::Screenshots;
use crate::chat::store::{ChatRecord, ChatStore};
use crate::policy::store::now;

/// Longest title of a chat.
const TITLE_BYTES: usize = 120;

/// The title of a chat without messages.
const NEW_TITLE: &str = "New chat";

/// The id of a chat: twelve hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct ChatId(String);

impl ChatId {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let is_id = text.len() == 12 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        is_id.then(|| Self(text.to_owned()))
    }

    pub(crate) fn draw() -> Result<Self, Failure> {
        let mut bytes = [0_u8; 6];
        getrandom::fill(&mut bytes).map_err(|error| {
            Failure::new(
                ErrorCode::Internal,
                format!("Random bytes are not available from the system: {error}."),
            )
        })?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }
}

impl fmt::Display for ChatId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl TryFrom<String> for ChatId {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or("not the id of a chat")
    }
}

impl From<ChatId> for String {
    fn from(id: ChatId) -> Self {
        id.0
    }
}

/// One chat. Its agent runs while it has a sender of commands.
#[derive(Debug)]
pub(crate) struct Chat {
    pub(crate) id: ChatId,
    pub(crate) agent: &'static AgentSpec,
    state: Mutex<ChatData>,
    /// The number of the latest change.
    changed: watch::Sender<u64>,
    /// Counts changes of the list of chats.
    listed: watch::Sender<u64>,
    /// Whether the turn is being stopped: actions of the agent end, and no new ones run.
    stopping: watch::Sender<bool>,
    commands: Mutex<Option<mpsc::Sender<ChatCommand>>>,
    redactor: Arc<OutputRedactor>,
}

#[derive(Debug)]
struct ChatData {
    record: ChatRecord,
    transcript: Transcript,
    log: ChangeLog,
    /// Ends of streamed texts that can be the beginning of a secret.
    held: HeldText,
    /// What is beside the messages that wait.
    attachments: BTreeMap<ItemId, Vec<Content>>,
    screenshots: Screenshots,
    /// The latest run of a script, and how many of its actions are shown.
    script: (String, usize),
    /// Whether there are changes that no file has.
    is_dirty: bool,
}

impl Chat {
    fn new(
        record: ChatRecord,
        transcript: Transcript,
        redactor: Arc<OutputRedactor>,
        listed: watch::Sender<u64>,
    ) -> Result<Arc<Self>, Failure> {
        let agent = table::find_agent(&record.agent).ok_or_else(|| create::unknown_agent(&record.agent))?;
        let log = ChangeLog::new(ChatId::draw()?.0);
        let id = record.id.clone();
        let data = ChatData {
            record,
            transcript,
            log,
            held: HeldText::default(),
            attachments: BTreeMap::new(),
            screenshots: Screenshots::default(),
            script: Default::default(),
            is_dirty: true,
        };
        Ok(Arc::new(Self {
            id,
            agent,
            state: Mutex::new(data),
            changed: watch::Sender::new(0),
            listed,
            stopping: watch::Sender::new(false),
            commands: Mutex::new(None),
            redactor,
        }))
    }

    fn state(&self) -> MutexGuard<'_, ChatData> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The name under which the agent's MCP connection acts.
    pub(crate) fn client_name(&self) -> Result<ClientName, Failure> {
        ClientName::new(&format!("{}:{}", self.agent.id, self.id))
            .map_err(|error| Failure::new(ErrorCode::Internal, format!("{error}.")))
    }

    /// The agent's MCP server has connected from a directory of this project, whose sessions have keys of their own.
    pub(crate) fn connected(&self, project: &ProjectKey) {
        let mut state = self.state();
        state.record.project.clone_from(project);
        state.is_dirty = true;
    }

    /// Changes the transcript, and reports the changes to all front ends.
    pub(crate) fn update(&self, change: impl FnOnce(&mut Transcript) -> Vec<Change>) {
        let mut state = self.state();
        let changes = change(&mut state.transcript);
        if changes.is_empty() {
            return;
        }
        let is_listed = changes.iter().any(is_listed);
        for change in changes {
            for value in state.held.redact(change, &self.redactor) {
                state.log.push(value.to_string());
            }
        }
        state.is_dirty = true;
        state.record.updated = now();
        let number = state.log.last();
        drop(state);
        self.changed.send_replace(number);
        if is_listed {
            self.list_changed();
        }
    }

    fn list_changed(&self) {
        self.listed.send_modify(|count| *count = count.wrapping_add(1));
    }

    /// Resolves while the user stops the turn, for actions of the agent.
    pub(crate) async fn stopped(&self) -> Failure {
        // The sender is a part of this chat, so the channel is open.
        let _ = self.stopping.subscribe().wait_for(|is_stopping| *is_stopping).await;
        Failure::new(ErrorCode::Paused, "The user has stopped the turn.")
            .with_remedy("End the turn. The next message of the user begins another one.")
    }

    fn is_running(&self) -> bool {
        let commands = self.commands.lock().unwrap_or_else(PoisonError::into_inner);
        commands.as_ref().is_some_and(|commands| !commands.is_closed())
    }

    /// Sets the title. Secrets are redacted before it is cut: a part of one is not recognised.
    fn set_title(&self, title: &str) -> bool {
        let title = tabwire_engine::plain_line(self.redactor.redact_text(title).trim(), TITLE_BYTES);
        if title.is_empty() {
            return false;
        }
        let mut state = self.state();
        state.record.title = title;
        state.is_dirty = true;
        drop(state);
        self.list_changed();
        true
    }

    /// Writes the files, if there are changes.
    fn save(&self, store: &ChatStore) {
        let (record, transcript) = {
            let mut state = self.state();
            if !std::mem::take(&mut state.is_dirty) {
                return;
            }
            let transcript = serde_json::to_value(&state.transcript).unwrap_or_default();
            let mut transcript = self.redactor.redact_value(&transcript);
            state.held.remove_from(&mut transcript["items"]);
            (state.record.clone(), transcript)
        };
        if let Err(error) = store.write(&record, &transcript) {
            tracing::warn!(%error, chat = %self.id, "a chat cannot be saved");
        }
    }
}

/// All chats.
#[derive(Debug)]
pub(crate) struct Chats {
    store: Arc<ChatStore>,
    /// Chats that were used since the daemon started.
    known: Mutex<BTreeMap<ChatId, Arc<Chat>>>,
    /// Counts changes of the list.
    listed: watch::Sender<u64>,
    probes: Arc<AgentProbes>,
}

impl Chats {
    pub(crate) fn new(directory: PathBuf, has_history: bool) -> Self {
        Self {
            store: Arc::new(ChatStore::new(directory, has_history)),
            known: Mutex::default(),
            listed: watch::Sender::new(0),
            probes: Arc::default(),
        }
    }

    /// Changes of what the list of chats shows.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.listed.subscribe()
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<ChatId, Arc<Chat>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether an agent runs.
    pub(crate) fn is_running(&self) -> bool {
        self.known().values().any(|chat| chat.is_running())
    }

    /// The chat whose agent runs.
    pub(crate) fn find_running(&self, id: &str) -> Option<Arc<Chat>> {
        let id = ChatId::parse(id)?;
        self.known().get(&id).filter(|chat| chat.is_running()).cloned()
    }
}

/// Whether the list of chats shows it: the state, and whether a question waits.
const fn is_listed(change: &Change) -> bool {
    match change {
        Change::State { .. } => true,
        Change::Item { item } => {
            matches!(item.body, ItemBody::Question { .. } | ItemBody::Approval { .. } | ItemBody::User(_))
        }
        _ => false,
    }
}
