//! The task of a chat whose agent runs: moves lines, applies events, follows commands of the user.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tabwire_acp::{
    Answer, ChatState, Client, ClientInfo, Content, Event, ItemId, NoticeKind, Opening, OptionKind,
    OptionValue, Question, QuestionId, QuestionKind, QuestionOutcome, Steering, StopReason, ToolStatus,
};
use tabwire_api::api::ActionRequest;
use tabwire_api::{ErrorCode, Failure, SessionKey, VERSION};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::chat::Chat;
use crate::chat::agent::process::{AgentProcess, OutputEnd};
use crate::chat::create::OPTIONS;
use crate::chat::prompt::Prompt;
use crate::daemon::Daemon;
use crate::http::caller::Caller;
use crate::policy::approvals::{ApprovalDecision, ApprovalWatcher};

/// How long an agent may take until its session is open.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// How long an agent that resumes a session may send nothing.
const RESUME_TIMEOUT: Duration = Duration::from_secs(15);

/// How long an agent may take to stop a turn before it is killed.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// How long an agent without a turn keeps running.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30 * 60);

/// How often a chat that changes is saved.
const SAVE_INTERVAL: Duration = Duration::from_secs(2);

/// The protocol's code for something that the agent does not have. A prompt names only its session.
const SESSION_GONE: i64 = -32_002;

/// A command of the user.
#[derive(Clone, Debug)]
pub(crate) enum ChatCommand {
    /// Send a message. While the agent works it waits, or with `steer` reaches the turn.
    Say { prompt: Prompt, steer: bool },
    /// Send the messages that wait, or the last one again.
    Retry,
    /// Stop the turn.
    Stop,
    /// Answer a question of the agent.
    Answer { question: QuestionId, answer: Answer },
    /// Set an option of the agent's session.
    Set { option: String, value: OptionValue },
    /// End the agent.
    End,
}

impl ChatCommand {
    /// Whether the agent is started for it.
    pub(super) const fn starts_agent(&self) -> bool {
        matches!(self, Self::Say { .. } | Self::Retry)
    }
}

/// What follows a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// The agent stays away until the next message.
    Nothing,
    /// It has lost its session, as an adapter does whose agent has died, and is started again to resume it.
    Resume,
    /// It could not resume its session, and is started again without it.
    BeginFresh,
}

/// How a run ended.
struct RunEnd {
    notice: Option<(NoticeKind, String)>,
    state: ChatState,
    /// Whether the agent gets time to end by itself.
    gently: bool,
    next: Next,
}

impl RunEnd {
    const fn quiet() -> Self {
        Self { notice: None, state: ChatState::Offline, gently: true, next: Next::Nothing }
    }

    fn failed(kind: NoticeKind, text: String) -> Self {
        Self { notice: Some((kind, text)), gently: false, ..Self::quiet() }
    }
}

/// A chat whose agent runs.
pub(super) struct Run {
    pub(super) daemon: Arc<Daemon>,
    pub(super) chat: Arc<Chat>,
    process: AgentProcess,
    client: Client,
    /// Whether an earlier session failed to resume, so that a new one is opened.
    is_fresh: bool,
    /// Whether an earlier session is being resumed.
    is_resuming: bool,
    /// Steered messages whose responses are still missing.
    steered: VecDeque<ItemId>,
    /// The transcript, for the first message of a session that was not resumed.
    preamble: Option<String>,
    deadline: Instant,
    /// Policy questions of the agent's connection that are shown.
    pub(super) approvals: BTreeMap<String, ItemId>,
    /// The user is asked through this chat.
    _watcher: ApprovalWatcher,
}

/// Runs a chat until its agent ends.
pub(super) async fn run(daemon: Arc<Daemon>, chat: Arc<Chat>, mut commands: mpsc::Receiver<ChatCommand>) {
    chat.update(|transcript| transcript.set_state(ChatState::Starting));
    let (mut is_fresh, mut has_resumed) = (false, false);
    let end = loop {
        let mut run = match Run::start(&daemon, &chat, is_fresh) {
            Ok(run) => run,
            Err(failure) => {
                chat.keep_messages(&mut commands);
                let hint = failure.remedy.map(|remedy| format!(" {}", remedy.for_terminal()));
                let text = format!("{}{}", failure.message, hint.unwrap_or_default());
                break RunEnd::failed(NoticeKind::Failed, text);
            }
        };
        let end = run.serve(&mut commands).await;
        run.process.end(end.gently).await;
        match end.next {
            Next::Nothing => break end,
            Next::Resume if has_resumed => {
                let text =
                    format!("{} has lost its session again. Send a message to resume.", chat.agent.name);
                break RunEnd::failed(NoticeKind::AgentEnded, text);
            }
            Next::Resume => has_resumed = true,
            Next::BeginFresh => {
                is_fresh = true;
                chat.state().record.agent_session = None;
            }
        }
        chat.update(|transcript| transcript.set_state(ChatState::Starting));
    };
    chat.stopping.send_replace(false);
    chat.end_session(&daemon).await;
    commands.close();
    chat.update(|transcript| {
        let mut changes = transcript.close_turn(ToolStatus::Failed);
        if let Some((kind, text)) = &end.notice {
            changes.extend(transcript.notice(*kind, text));
        }
        changes.extend(transcript.set_state(end.state));
        changes
    });
    chat.save(&daemon.chats.store);
    // Messages that came while the agent ended start it again.
    while let Ok(command) = commands.try_recv() {
        if command.starts_agent() && daemon.command_chat(&chat, command).is_err() {
            return;
        }
    }
}

impl Run {
    fn start(daemon: &Arc<Daemon>, chat: &Arc<Chat>, is_fresh: bool) -> Result<Self, Failure> {
        let program = chat.agent.require_program(daemon.config.path_env.as_deref())?;
        let variables = chat.agent.variables(&daemon.config);
        let directory = chat.state().record.directory.clone();
        let process = AgentProcess::start(&program, (chat.agent, &variables), &directory, &daemon.tasks)?;
        let mut client = Client::new(ClientInfo { name: "tabwire".to_owned(), version: VERSION.to_owned() });
        client
            .initialize()
            .map_err(|_| Failure::new(ErrorCode::Internal, "The handshake with the agent cannot start."))?;
        Ok(Self {
            daemon: Arc::clone(daemon),
            chat: Arc::clone(chat),
            process,
            client,
            is_fresh,
            is_resuming: false,
            steered: VecDeque::new(),
            preamble: None,
            deadline: Instant::now() + START_TIMEOUT,
            approvals: BTreeMap::new(),
            _watcher: daemon.approvals.watch_client(chat.client_name()?),
        })
    }

    async fn serve(&mut self, commands: &mut mpsc::Receiver<ChatCommand>) -> RunEnd {
        let tasks = self.daemon.tasks.clone();
        let mut questions = self.daemon.approvals.changes();
        let mut saving = tokio::time::interval(SAVE_INTERVAL);
        loop {
            if !self.flush() {
                let text = format!("{} does not read its input and was ended.", self.chat.agent.name);
                return RunEnd::failed(NoticeKind::AgentEnded, text);
            }
            let ended = tokio::select! {
                line = self.process.next_line() => self.received(line),
                command = commands.recv() => self.follow(command),
                changed = questions.changed() => {
                    if changed.is_ok() {
                        self.show_approvals();
                    }
                    None
                }
                _ = saving.tick() => {
                    let (chat, daemon) = (Arc::clone(&self.chat), Arc::clone(&self.daemon));
                    // Written on another thread: files can be slow.
                    let _ = tokio::task::spawn_blocking(move || chat.save(&daemon.chats.store)).await;
                    None
                }
                () = tokio::time::sleep_until(self.deadline) => Some(self.late()),
                () = tasks.stopping() => Some(RunEnd { gently: false, ..RunEnd::quiet() }),
            };
            if let Some(end) = ended {
                return end;
            }
        }
    }

    /// Sends the client's lines. False when the agent does not read.
    fn flush(&mut self) -> bool {
        self.client.take_output().into_iter().all(|line| self.process.send(line))
    }

    fn late(&self) -> RunEnd {
        let name = self.chat.agent.name;
        if self.client.is_stopping() {
            let text = format!("{name} did not stop within 5 s and was ended.");
            return RunEnd::failed(NoticeKind::Stopped, text);
        }
        if self.is_resuming {
            return RunEnd { next: Next::BeginFresh, ..RunEnd::quiet() };
        }
        if self.chat.state().transcript.state() == ChatState::Starting {
            return RunEnd::failed(NoticeKind::Failed, format!("{name} did not start within 60 s."));
        }
        RunEnd::quiet()
    }

    fn received(&mut self, line: Result<Vec<u8>, OutputEnd>) -> Option<RunEnd> {
        let name = self.chat.agent.name;
        match line {
            Ok(line) => {
                if self.is_resuming {
                    // A long session can take a while to be loaded.
                    self.deadline = Instant::now() + RESUME_TIMEOUT;
                }
                for event in self.client.receive(&line) {
                    if let Some(end) = self.happened(&event) {
                        return Some(end);
                    }
                }
                None
            }
            Err(_) if self.is_resuming => Some(RunEnd { next: Next::BeginFresh, ..RunEnd::quiet() }),
            Err(OutputEnd::Closed) => Some(RunEnd::failed(
                NoticeKind::AgentEnded,
                format!("{name} has ended. Send a message to resume."),
            )),
            Err(OutputEnd::LineTooLong) => {
                Some(RunEnd::failed(NoticeKind::AgentEnded, format!("{name} sent a line that is too long.")))
            }
        }
    }

    fn happened(&mut self, event: &Event) -> Option<RunEnd> {
        let name = self.chat.agent.name;
        match event {
            Event::Asked(question) if self.is_allowed_by_rule(question) => return None,
            Event::SignInNeeded(_) => {
                if self.client.is_working() || self.chat.state().transcript.state() == ChatState::Working {
                    // The message had no effect. It waits until the user has signed in.
                    self.chat.repeat_last();
                }
                self.daemon.chats.probes.signed_in(self.chat.agent, false);
                let text = format!("{name} needs you to sign in. {}", self.chat.agent.sign_in);
                let end = RunEnd::failed(NoticeKind::SignIn, text);
                return Some(RunEnd { state: ChatState::SignInNeeded, ..end });
            }
            Event::TurnFailed(error) if error.code == SESSION_GONE => {
                // The message had no effect.
                self.chat.repeat_last();
                return Some(RunEnd { next: Next::Resume, ..RunEnd::quiet() });
            }
            Event::WrongVersion(version) => {
                let version = version.map_or_else(|| "none".to_owned(), |version| version.to_string());
                let text = format!("{name} speaks version {version} of the protocol, and Tabwire version 1.");
                return Some(RunEnd::failed(NoticeKind::Failed, text));
            }
            _ => {}
        }
        self.chat.update(|transcript| transcript.apply(event));
        match event {
            Event::Ready(_) => self.open(),
            Event::OpenFailed(error) => {
                let is_resuming = std::mem::take(&mut self.is_resuming);
                if self.chat.state().record.agent_session.take().is_none() || !is_resuming {
                    let text = format!("{name} opened no session: {}", error.message);
                    return Some(RunEnd::failed(NoticeKind::Failed, text));
                }
                self.open_fresh();
            }
            Event::Opened { session, opening } => self.opened(session, opening),
            Event::Steered { taken } => {
                let steered = self.steered.pop_front();
                if let Some(id) = steered.filter(|_| !taken) {
                    self.chat.mark(id, |message| (message.queued, message.steered) = (true, false));
                    self.send_next();
                }
            }
            Event::TurnEnded(_) | Event::TurnFailed(_) => {
                self.chat.stopping.send_replace(false);
                if matches!(event, Event::TurnEnded(StopReason::EndTurn)) {
                    self.daemon.chats.probes.signed_in(self.chat.agent, true);
                    self.chat.forget_attachments();
                }
                self.deadline = Instant::now() + IDLE_TIMEOUT;
                self.send_next();
            }
            _ => {}
        }
        None
    }

    /// Opens the agent's session: the earlier one, if there is one and the agent can.
    fn open(&mut self) {
        let session = self.chat.state().record.agent_session.clone();
        if self.is_fresh {
            return self.open_fresh();
        }
        let agent = self.client.agent();
        let opening = match session {
            Some(session) if agent.resumes => Opening::Resume(session),
            Some(session) if agent.loads => Opening::Load(session),
            Some(_) => {
                self.chat.state().record.agent_session = None;
                return self.open_fresh();
            }
            None => Opening::New,
        };
        if opening != Opening::New {
            self.is_resuming = true;
            self.deadline = Instant::now() + RESUME_TIMEOUT;
        }
        let setup = self.chat.setup(&self.daemon.config);
        // Refused only before `initialize`, which has its response.
        let _ = self.client.open(opening, &setup);
    }

    /// Opens a new session that gets the transcript with the first message.
    fn open_fresh(&mut self) {
        self.preamble = self.chat.preamble();
        let text =
            format!("{} could not resume its session. It gets the transcript instead.", self.chat.agent.name);
        self.chat.update(|transcript| transcript.notice(NoticeKind::ResumedFresh, &text));
        let setup = self.chat.setup(&self.daemon.config);
        let _ = self.client.open(Opening::New, &setup);
    }

    fn opened(&mut self, session: &str, opening: &Opening) {
        {
            let mut state = self.chat.state();
            state.record.agent_session = Some(session.to_owned());
            state.is_dirty = true;
        }
        self.is_resuming = false;
        self.deadline = Instant::now() + IDLE_TIMEOUT;
        if *opening != Opening::New {
            let text = format!("{} goes on with its earlier session.", self.chat.agent.name);
            self.chat.update(|transcript| transcript.notice(NoticeKind::Resumed, &text));
        }
        self.set_options();
        self.send_next();
        if !self.client.is_working() {
            self.chat.update(|transcript| transcript.set_state(ChatState::Idle));
        }
    }

    /// Sets the options that the user has chosen, and the mode in which the agent asks.
    fn set_options(&mut self) {
        let mut chosen = self.chat.state().record.options.clone();
        if let Some(mode) = self.chat.agent.mode {
            let is_mode = |kind: &OptionKind| matches!(kind, OptionKind::Select { choices, .. } if choices.iter().any(|one| one.value == mode));
            let found = self.client.options().iter().find(|option| is_mode(&option.kind));
            if let Some(option) = found {
                chosen.entry(option.id.clone()).or_insert_with(|| OptionValue::Text(mode.to_owned()));
            }
        }
        // The model first: other options can depend on it.
        let mut ids: Vec<String> = self.client.options().iter().map(|option| option.id.clone()).collect();
        let is_model = |id: &String| {
            let option = self.client.options().iter().find(|option| option.id == *id);
            option.is_some_and(|option| option.category.as_deref() == Some("model"))
        };
        ids.sort_by_key(|id| !is_model(id));
        ids.extend(chosen.keys().filter(|id| !ids.contains(id)).cloned().collect::<Vec<_>>());
        for id in ids {
            if let Some(value) = chosen.remove(&id) {
                self.set_option(&id, value);
            }
        }
    }

    fn set_option(&mut self, option: &str, value: OptionValue) {
        let known = self.client.options().iter().find(|known| known.id == option);
        if known.is_some_and(|known| known.has(&value)) || self.client.set_option(option, value).is_ok() {
            return;
        }
        let text = format!("The agent does not accept that value of `{}`.", option.escape_debug());
        self.chat.update(|transcript| transcript.notice(NoticeKind::Note, &text));
    }

    /// Allows a call of our own tools: Tabwire's policy decides below. Everything else is for the user.
    fn is_allowed_by_rule(&mut self, question: &Question) -> bool {
        let QuestionKind::Permission { tool, is_mcp, choices } = &question.kind else { return false };
        let Some(once) = choices.iter().find(|choice| choice.kind == "allow_once") else { return false };
        self.chat.agent.is_own_tool(tool, *is_mcp)
            && self.client.answer(question.id, &Answer::Choose(once.id.clone())).is_ok()
    }

    fn follow(&mut self, command: Option<ChatCommand>) -> Option<RunEnd> {
        match command {
            None | Some(ChatCommand::End) => return Some(RunEnd::quiet()),
            Some(ChatCommand::Say { prompt, steer }) => self.say(&prompt, steer),
            Some(ChatCommand::Retry) => {
                if !self.client.is_working() && self.chat.repeat_last() {
                    self.send_next();
                }
            }
            Some(ChatCommand::Stop) => self.stop(),
            Some(ChatCommand::Answer { question, answer }) => {
                if self.client.answer(question, &answer).is_ok() {
                    let outcome = QuestionOutcome::Answered(answer_text(&answer));
                    self.chat.update(|transcript| transcript.close_question(question, outcome));
                }
            }
            Some(ChatCommand::Set { option, value }) => {
                self.set_option(&option, value);
            }
        }
        None
    }

    fn say(&mut self, prompt: &Prompt, steer: bool) {
        let mut content = vec![Content::Text(prompt.text.clone())];
        content.extend(prompt.attachments.iter().cloned());
        let by = self.chat.agent.steering.filter(|_| steer && self.client.is_working());
        if by.is_some_and(|by| self.client.steer(&content, by).is_ok()) {
            let id = self.chat.add_message(prompt, |message| message.steered = true);
            if by == Some(Steering::Method) {
                self.steered.push_back(id);
            }
            return;
        }
        self.chat.add_message(prompt, |message| message.queued = true);
        self.send_next();
    }

    /// Sends the next message, if the agent waits for one.
    fn send_next(&mut self) {
        if self.client.is_working() {
            return;
        }
        let Some(waiting) = self.chat.next_waiting() else { return };
        let text = match &self.preamble {
            Some(preamble) => format!("{preamble}{}", waiting.text),
            None => waiting.text,
        };
        let mut content = vec![Content::Text(text)];
        content.extend(waiting.attachments);
        if self.client.prompt(&content).is_err() {
            return;
        }
        let has_images = content.iter().any(|part| matches!(part, Content::Image { .. }));
        let lost = waiting.missing;
        self.preamble = None;
        self.deadline = Instant::now() + Duration::from_secs(24 * 60 * 60);
        self.chat.sent(waiting.id);
        if has_images && !self.client.agent().images {
            let text = format!("{} does not accept images. It received only the text.", self.chat.agent.name);
            self.chat.update(|transcript| transcript.notice(NoticeKind::Note, &text));
        }
        if lost {
            let text = "Images and files of the message are not kept. Send them again.";
            self.chat.update(|transcript| transcript.notice(NoticeKind::Note, text));
        }
        self.chat.update(|transcript| transcript.set_state(ChatState::Working));
    }

    fn stop(&mut self) {
        self.chat.drop_waiting();
        for id in self.approvals.keys() {
            let _ = self.daemon.approvals.answer(id, ApprovalDecision::No, "the chat was stopped");
        }
        let Ok(events) = self.client.cancel() else { return };
        // Actions that the agent has begun end, whether or not the agent cancels them itself.
        self.chat.stopping.send_replace(true);
        if let Ok(name) = self.chat.client_name() {
            self.daemon.scripts.end(&self.chat.session_key(), Some(&name));
        }
        self.deadline = Instant::now() + STOP_TIMEOUT;
        self.chat.update(|transcript| {
            let mut changes: Vec<_> = events.iter().flat_map(|event| transcript.apply(event)).collect();
            changes.extend(transcript.set_state(ChatState::Stopping));
            changes
        });
    }
}

fn answer_text(answer: &Answer) -> String {
    match answer {
        Answer::Choose(choice) => choice.clone(),
        Answer::Submit(_) => "submitted".to_owned(),
        Answer::Decline => "declined".to_owned(),
        Answer::Cancel => "cancelled".to_owned(),
    }
}

impl Chat {
    /// The messages of an agent that could not start wait.
    fn keep_messages(&self, commands: &mut mpsc::Receiver<ChatCommand>) {
        while let Ok(command) = commands.try_recv() {
            match command {
                ChatCommand::Say { prompt, .. } => {
                    self.add_message(&prompt, |message| message.queued = true);
                }
                ChatCommand::Retry => drop(self.repeat_last()),
                _ => {}
            }
        }
    }

    /// The key of the chat's browser session.
    pub(super) fn session_key(&self) -> SessionKey {
        let state = self.state();
        SessionKey::new(state.record.project.clone(), state.record.session.clone())
    }

    /// Keeps an option for the next start of the agent.
    pub(super) fn keep_option(&self, option: &str, value: &OptionValue) -> bool {
        let mut state = self.state();
        let options = &mut state.record.options;
        if options.len() >= OPTIONS && !options.contains_key(option) {
            return false;
        }
        options.insert(option.to_owned(), value.clone());
        state.is_dirty = true;
        true
    }

    /// Ends the browser session that was made for the chat.
    pub(super) async fn end_session(&self, daemon: &Arc<Daemon>) {
        let record = self.state().record.clone();
        if !record.owns_session {
            return;
        }
        let request = ActionRequest {
            session: record.session,
            project: record.project,
            params: json!({}),
            ..ActionRequest::default()
        };
        let key = request.key();
        let Some(session) = daemon.sessions.find(&key) else { return };
        if session.find_live().await.is_none() {
            return;
        }
        let caller = Caller::at_socket(i32::try_from(std::process::id()).ok());
        if let Err(failure) = daemon.act("close", request, &caller).await {
            tracing::info!(%failure, session = %key, "the browser of a chat did not end");
        }
        daemon.sessions.forget(&key);
        daemon.sessions.store().forget_record(&key);
    }
}
