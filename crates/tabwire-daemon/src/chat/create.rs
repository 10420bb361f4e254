//! Finds, creates and starts chats.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

use serde::Deserialize;
use tabwire_acp::{OptionValue, ToolStatus, Transcript};
use tabwire_api::{ErrorCode, Failure, ProjectKey, Remedy, SessionName, Step};
use tabwire_extension::proof::is_valid_id;
use tokio::sync::mpsc;

use crate::chat::agent::table::{self, AgentSpec};
use crate::chat::prompt::{Message, Prompt};
use crate::chat::run::{self, ChatCommand};
use crate::chat::store::{self, ChatRecord};
use crate::chat::{Chat, ChatId, NEW_TITLE};
use crate::daemon::Daemon;
use crate::policy::store::now;

/// Chats whose agents run at once.
const RUNNING_CHATS: usize = 16;

/// Commands that wait for a chat.
const QUEUED_COMMANDS: usize = 64;

/// Options that a chat can be given.
pub(super) const OPTIONS: usize = 16;

/// What a chat is created with.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct NewChat {
    /// The agent's id; the first one that is installed by default.
    pub(super) agent: Option<String>,
    /// A browser session of the user. By default the chat has its own, which ends with it.
    pub(super) session: Option<SessionName>,
    /// How the browser is reached.
    pub(super) upstream: Option<String>,
    /// The directory in which the agent works.
    pub(super) directory: Option<PathBuf>,
    /// The first message.
    pub(super) text: Option<String>,
    /// Options of the agent's session, such as its model.
    pub(super) options: BTreeMap<String, OptionValue>,
}

impl Daemon {
    /// A chat, from memory or from its files.
    pub(super) fn find_chat(&self, id: &str) -> Result<Arc<Chat>, Failure> {
        let missing = || {
            Failure::new(ErrorCode::BadArgs, format!("There is no chat `{}`.", id.escape_debug()))
                .with_remedy(Remedy::new("Run {} to list them.", [Step::command("tabwire chat list")]))
        };
        let id = ChatId::parse(id).ok_or_else(missing)?;
        if let Some(chat) = self.chats.known().get(&id) {
            return Ok(Arc::clone(chat));
        }
        let record = self.chats.store.find(&id).ok_or_else(missing)?;
        let mut transcript = self.chats.store.transcript(&id);
        // Of a turn that a killed daemon left.
        drop(transcript.close_turn(ToolStatus::Failed));
        let chat = Chat::new(record, transcript, Arc::clone(&self.redactor), self.chats.listed.clone())?;
        Ok(Arc::clone(self.chats.known().entry(id).or_insert(chat)))
    }

    /// Creates a chat. Its agent starts with the first message.
    pub(super) fn create_chat(self: &Arc<Self>, new: NewChat) -> Result<Arc<Chat>, Failure> {
        let agent = self.choose_agent(new.agent.as_deref())?;
        let id = ChatId::draw()?;
        let owns_session = new.session.is_none();
        let session = match new.session {
            Some(session) => session,
            None => SessionName::new(&format!("chat-{id}"))
                .map_err(|error| Failure::new(ErrorCode::Internal, format!("{error}.")))?,
        };
        let upstream = new.upstream.unwrap_or_else(|| "auto".to_owned());
        let install = upstream.strip_prefix("extension:").filter(|install| is_valid_id(install));
        if !matches!(upstream.as_str(), "auto" | "launch" | "extension") && install.is_none() {
            let message = "`upstream` must be `auto`, `launch`, `extension` or `extension:INSTALL`.";
            return Err(Failure::new(ErrorCode::BadArgs, message));
        }
        if new.options.len() > OPTIONS {
            return Err(Failure::new(
                ErrorCode::BadArgs,
                format!("`options` has more than {OPTIONS} members."),
            ));
        }
        let directory =
            new.directory.or_else(|| self.config.home.clone()).unwrap_or_else(|| PathBuf::from("/"));
        if !directory.is_absolute() || !directory.is_dir() {
            let message = format!("{} is not a directory with an absolute path.", directory.display());
            return Err(Failure::new(ErrorCode::BadArgs, message));
        }
        let record = ChatRecord {
            id: id.clone(),
            agent: agent.id.to_owned(),
            title: NEW_TITLE.to_owned(),
            session,
            owns_session,
            upstream,
            directory,
            project: ProjectKey::default(),
            options: new.options,
            agent_session: None,
            created: now(),
            updated: now(),
        };
        let (redactor, listed) = (Arc::clone(&self.redactor), self.chats.listed.clone());
        let chat = Chat::new(record, Transcript::default(), redactor, listed)?;
        let mut known = self.chats.known();
        let removed = self.chats.store.prune(now(), |id| known.get(id).is_some_and(|chat| chat.is_running()));
        known.retain(|id, chat| !removed.contains(id) || chat.is_running());
        if known.len() >= store::CHATS {
            return Err(Failure::new(ErrorCode::Busy, format!("There are {} chats already.", store::CHATS))
                .with_remedy("Delete some of them."));
        }
        known.insert(id, Arc::clone(&chat));
        drop(known);
        chat.save(&self.chats.store);
        chat.list_changed();
        if let Some(text) = new.text {
            let prompt = Prompt::parse(Message { text, ..Message::default() })?;
            self.command_chat(&chat, ChatCommand::Say { prompt, steer: false })?;
        }
        Ok(chat)
    }

    pub(super) fn choose_agent(&self, id: Option<&str>) -> Result<&'static AgentSpec, Failure> {
        let path = self.config.path_env.as_deref();
        if let Some(id) = id {
            let agent = table::find_agent(id).ok_or_else(|| unknown_agent(id))?;
            return agent.require_program(path).map(|_| agent);
        }
        table::AGENTS.iter().find(|agent| agent.find_program(path).is_some()).ok_or_else(|| {
            Failure::new(ErrorCode::LaunchFailed, "No agent for chats is installed.").with_remedy(
                Remedy::new("Run {} to see how to install one.", [Step::command("tabwire chat agents")]),
            )
        })
    }

    /// Gives a command to a chat, and starts its agent if it does not run.
    pub(super) fn command_chat(
        self: &Arc<Self>,
        chat: &Arc<Chat>,
        command: ChatCommand,
    ) -> Result<(), Failure> {
        let mut commands = chat.commands.lock().unwrap_or_else(PoisonError::into_inner);
        let command = match commands.as_ref().map(|commands| commands.try_send(command.clone())) {
            Some(Ok(())) => return Ok(()),
            Some(Err(mpsc::error::TrySendError::Full(_))) => {
                return Err(Failure::new(ErrorCode::Busy, "Too many requests wait in this chat.")
                    .with_remedy("Retry."));
            }
            Some(Err(mpsc::error::TrySendError::Closed(command))) => command,
            None => command,
        };
        if !command.starts_agent() {
            return Err(Failure::new(ErrorCode::BadArgs, "The chat's agent does not run.")
                .with_remedy("Send a message first."));
        }
        let running = self
            .chats
            .known()
            .values()
            .filter(|other| !Arc::ptr_eq(other, chat))
            .cloned()
            .collect::<Vec<_>>();
        if running.iter().filter(|chat| chat.is_running()).count() >= RUNNING_CHATS {
            return Err(Failure::new(ErrorCode::Busy, format!("{RUNNING_CHATS} chats run already."))
                .with_remedy("Stop one of them."));
        }
        let (sender, receiver) = mpsc::channel(QUEUED_COMMANDS);
        sender.try_send(command).map_err(|_| Failure::new(ErrorCode::Internal, "The chat has ended."))?;
        *commands = Some(sender);
        drop(commands);
        self.tasks.start("chat", run::run(Arc::clone(self), Arc::clone(chat), receiver));
        Ok(())
    }
}

pub(super) fn unknown_agent(id: &str) -> Failure {
    Failure::new(ErrorCode::BadArgs, format!("There is no agent `{}`.", id.escape_debug()))
        .with_remedy(Remedy::new("Run {} to list them.", [Step::command("tabwire chat agents")]))
}
