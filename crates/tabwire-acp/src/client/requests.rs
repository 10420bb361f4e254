//! What the client sends.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::client::{CallError, Client, Event, Opening, PendingRequest, Phase, SessionSetup, Steering, Turn};
use crate::limits::REQUESTS;
use crate::protocol::content::Content;
use crate::protocol::options::OptionValue;
use crate::protocol::question::{Answer, QuestionId};
use crate::protocol::rpc;

impl Client {
    /// Begins the connection.
    ///
    /// # Errors
    /// When it has begun already.
    pub fn initialize(&mut self) -> Result<(), CallError> {
        if self.phase != Phase::New {
            return Err(CallError::WrongPhase);
        }
        // No file system and no terminal: an agent gets nothing of the machine from us.
        let params = json!({
            "protocolVersion": super::PROTOCOL_VERSION,
            "clientCapabilities": {
                "fs": {"readTextFile": false, "writeTextFile": false},
                "terminal": false,
                "elicitation": {"form": {}},
                "session": {"configOptions": {"boolean": {}}},
            },
            "clientInfo": {"name": self.info.name, "title": self.info.name, "version": self.info.version},
        });
        self.send("initialize", &params, PendingRequest::Initialize)?;
        self.phase = Phase::Initializing;
        Ok(())
    }

    /// Asks the agent to sign in.
    ///
    /// # Errors
    /// When the agent does not offer that method.
    pub fn authenticate(&mut self, method: &str) -> Result<(), CallError> {
        if self.phase != Phase::Ready {
            return Err(CallError::WrongPhase);
        }
        let offered = self.agent.auth_methods.iter();
        if !offered.into_iter().any(|offered| offered.id == method && offered.is_protocol_driven) {
            return Err(CallError::NotOffered);
        }
        self.send("authenticate", &json!({"methodId": method}), PendingRequest::Authenticate)?;
        Ok(())
    }

    /// Opens the session.
    ///
    /// # Errors
    /// When the agent is not ready, has a session, or does not offer the way.
    pub fn open(&mut self, opening: Opening, setup: &SessionSetup) -> Result<(), CallError> {
        if self.phase != Phase::Ready {
            return Err(CallError::WrongPhase);
        }
        let servers = setup.servers.iter().map(|server| {
            let variables =
                server.environment.iter().map(|(name, value)| json!({"name": name, "value": value}));
            json!({
                "name": server.name,
                "command": server.command,
                "args": server.arguments,
                "env": variables.collect::<Value>(),
            })
        });
        let mut params = json!({"cwd": setup.directory, "mcpServers": servers.collect::<Value>()});
        if let Some(meta) = &setup.meta {
            params["_meta"] = meta.clone();
        }
        let method = match &opening {
            Opening::New => "session/new",
            Opening::Resume(_) if !self.agent.resumes => return Err(CallError::NotOffered),
            Opening::Load(_) if !self.agent.loads => return Err(CallError::NotOffered),
            Opening::Resume(session) => {
                params["sessionId"] = json!(session);
                "session/resume"
            }
            Opening::Load(session) => {
                params["sessionId"] = json!(session);
                "session/load"
            }
        };
        self.send(method, &params, PendingRequest::Open(opening))?;
        self.phase = Phase::Opening;
        Ok(())
    }

    /// Sends a message, which begins a turn.
    ///
    /// # Errors
    /// When no session is open, or a turn runs.
    pub fn prompt(&mut self, content: &[Content]) -> Result<(), CallError> {
        if self.session().is_none() || self.is_working() {
            return Err(CallError::WrongPhase);
        }
        self.tools.clear();
        self.send_prompt(content)
    }

    /// Sends a message into the turn that runs.
    ///
    /// # Errors
    /// When no turn runs or it stops, or the agent does not offer the way.
    pub fn steer(&mut self, content: &[Content], by: Steering) -> Result<(), CallError> {
        if !self.is_working() || self.is_stopping() {
            return Err(CallError::WrongPhase);
        }
        match by {
            Steering::SecondPrompt => self.send_prompt(content),
            Steering::Method if !self.agent.steers => Err(CallError::NotOffered),
            Steering::Method => {
                let mut params = self.prompt_params(content);
                // The agent must not begin a turn by itself: we would not wait for its end.
                params["_meta"] = json!({"steering": {"idleBehavior": "promptRequired"}});
                self.send("_session/steering", &params, PendingRequest::Steer).map(drop)
            }
        }
    }

    fn prompt_params(&self, content: &[Content]) -> Value {
        let blocks = content
            .iter()
            .filter(|part| self.agent.images || !matches!(part, Content::Image { .. }))
            .map(|part| part.to_json(self.agent.embeds));
        json!({"sessionId": self.session(), "prompt": blocks.collect::<Value>()})
    }

    fn send_prompt(&mut self, content: &[Content]) -> Result<(), CallError> {
        let params = self.prompt_params(content);
        let id = self.send("session/prompt", &params, PendingRequest::Prompt)?;
        if let Phase::Open { turn, .. } = &mut self.phase {
            match turn {
                Turn::Idle => {
                    *turn = Turn::Working { prompts: BTreeSet::from([id]), is_stopping: false };
                }
                Turn::Working { prompts, .. } => {
                    prompts.insert(id);
                }
            }
        }
        Ok(())
    }

    /// Tells the agent to stop the turn, and cancels all open questions.
    ///
    /// # Errors
    /// When no turn runs, or it was cancelled already.
    pub fn cancel(&mut self) -> Result<Vec<Event>, CallError> {
        let Phase::Open { session, turn: Turn::Working { is_stopping, .. } } = &mut self.phase else {
            return Err(CallError::WrongPhase);
        };
        if *is_stopping {
            return Err(CallError::WrongPhase);
        }
        *is_stopping = true;
        let line = rpc::notification("session/cancel", &json!({"sessionId": session}));
        self.output.push(line);
        Ok(self.close_questions())
    }

    /// Answers every open question with "cancelled".
    pub(super) fn close_questions(&mut self) -> Vec<Event> {
        let open = std::mem::take(&mut self.questions);
        let events = open.into_iter().map(|(id, question)| {
            let result = question.kind.result(&Answer::Cancel).unwrap_or(Value::Null);
            self.output.push(rpc::response(&question.request, &result));
            Event::Withdrawn(id)
        });
        events.collect()
    }

    /// Sets an option of the session.
    ///
    /// # Errors
    /// When there is no such option or value, or no session.
    pub fn set_option(&mut self, option: &str, value: OptionValue) -> Result<(), CallError> {
        let session = self.session().ok_or(CallError::WrongPhase)?;
        let found = self.options.iter().find(|known| known.id == option).ok_or(CallError::NotOffered)?;
        if !found.takes(&value) {
            return Err(CallError::WrongValue);
        }
        let (method, params) = found.request(session, &value);
        self.send(method, &params, PendingRequest::Set { option: option.to_owned(), value }).map(drop)
    }

    /// Answers a question. The first answer counts.
    ///
    /// # Errors
    /// When it is answered or withdrawn, or the answer does not fit.
    pub fn answer(&mut self, id: QuestionId, answer: &Answer) -> Result<(), CallError> {
        let question = self.questions.get(&id).ok_or(CallError::NoSuchQuestion)?;
        let result = question.kind.result(answer).ok_or(CallError::WrongValue)?;
        self.output.push(rpc::response(&question.request, &result));
        self.questions.remove(&id);
        Ok(())
    }

    fn send(&mut self, method: &str, params: &Value, waiting: PendingRequest) -> Result<u64, CallError> {
        if self.waiting.len() >= REQUESTS {
            return Err(CallError::TooMany);
        }
        self.next += 1;
        self.output.push(rpc::request(self.next, method, params));
        self.waiting.insert(self.next, waiting);
        Ok(self.next)
    }
}
