//! What the client receives.

use serde_json::Value;

use crate::client::{Client, Event, OpenQuestion, Opening, PendingRequest, Phase, Turn};
use crate::limits::{QUESTIONS, TURN_TOOLS};
use crate::protocol::agent_info::AgentInfo;
use crate::protocol::options::{MODE, OptionValue, parse_options};
use crate::protocol::question::{Answer, Question, QuestionId, QuestionKind};
use crate::protocol::rpc::{self, Incoming, RpcError};
use crate::protocol::text::{find_id, find_text};
use crate::protocol::update::{StopReason, Update};

impl Client {
    /// Takes one line of the agent.
    pub fn receive(&mut self, line: &[u8]) -> Vec<Event> {
        if line.iter().all(u8::is_ascii_whitespace) {
            return Vec::new();
        }
        match rpc::parse(line) {
            None => {
                // Some agents print notes to stdout.
                self.counters.bad_lines += 1;
                Vec::new()
            }
            Some(Incoming::UnknownResponse) => self.ignore(),
            Some(Incoming::Response { id, result }) => match self.waiting.remove(&id) {
                Some(waiting) => self.respond(id, waiting, result),
                None => self.ignore(),
            },
            Some(Incoming::Notification { method, params }) => self.notified(&method, &params),
            Some(Incoming::Request { id, method, params }) => self.requested(id, &method, &params),
        }
    }

    fn ignore(&mut self) -> Vec<Event> {
        self.counters.stray_messages += 1;
        Vec::new()
    }

    fn respond(&mut self, id: u64, waiting: PendingRequest, result: Result<Value, RpcError>) -> Vec<Event> {
        match (waiting, result) {
            (PendingRequest::Initialize, Ok(result)) => match AgentInfo::parse(&result) {
                Ok(agent) => {
                    self.agent = agent.clone();
                    self.phase = Phase::Ready;
                    vec![Event::Ready(agent)]
                }
                Err(version) => {
                    self.phase = Phase::Dead;
                    vec![Event::WrongVersion(version)]
                }
            },
            (PendingRequest::Initialize, Err(error)) => {
                self.phase = Phase::Dead;
                vec![Event::OpenFailed(error)]
            }
            (PendingRequest::Authenticate, Ok(_)) => vec![Event::Authenticated],
            (PendingRequest::Authenticate, Err(error)) => vec![Event::SignInNeeded(error)],
            (PendingRequest::Open(opening), Ok(result)) => self.opened(opening, &result),
            (PendingRequest::Open(_), Err(error)) => {
                self.phase = Phase::Ready;
                vec![if error.code == rpc::SIGN_IN_NEEDED {
                    Event::SignInNeeded(error)
                } else {
                    Event::OpenFailed(error)
                }]
            }
            (PendingRequest::Prompt, result) => self.prompt_ended(id, result),
            (PendingRequest::Steer, Ok(result)) => {
                let outcome = find_text(&result, "outcome", 64).unwrap_or_default();
                vec![Event::Steered { taken: outcome == "injected" }]
            }
            (PendingRequest::Steer, Err(_)) => vec![Event::Steered { taken: false }],
            (PendingRequest::Set { option, value }, Ok(result)) => self.option_set(&option, &value, &result),
            (PendingRequest::Set { .. }, Err(error)) => vec![Event::RequestFailed(error)],
        }
    }

    fn opened(&mut self, opening: Opening, result: &Value) -> Vec<Event> {
        let session = match &opening {
            Opening::New => find_id(result, "sessionId"),
            Opening::Resume(session) | Opening::Load(session) => Some(session.clone()),
        };
        let Some(session) = session else {
            self.phase = Phase::Ready;
            let message = "The agent opened a session without an id.".to_owned();
            return vec![Event::OpenFailed(RpcError { code: rpc::INVALID_PARAMS, message })];
        };
        self.phase = Phase::Open { session: session.clone(), turn: Turn::Idle };
        let mut events = vec![Event::Opened { session, opening }];
        if let Some(options) = parse_options(result) {
            self.options.clone_from(&options);
            events.push(Event::Options(options));
        }
        events
    }

    fn prompt_ended(&mut self, id: u64, result: Result<Value, RpcError>) -> Vec<Event> {
        let Phase::Open { turn, .. } = &mut self.phase else { return self.ignore() };
        let Turn::Working { prompts, is_stopping } = turn else { return self.ignore() };
        prompts.remove(&id);
        let was_stopping = *is_stopping;
        if !prompts.is_empty() && result.is_ok() {
            // Another message of the same turn still waits.
            return Vec::new();
        }
        // After a failure no other message of the turn gets a response that counts.
        let others = std::mem::take(prompts);
        *turn = Turn::Idle;
        self.waiting.retain(|id, _| !others.contains(id));
        // A turn that is over waits for nothing.
        let mut events = self.close_questions();
        events.push(match result {
            Ok(result) => {
                let reason = find_text(&result, "stopReason", 64).unwrap_or_default();
                Event::TurnEnded(StopReason::parse(&reason))
            }
            // Agents that abort their work report that as an error.
            Err(_) if was_stopping => Event::TurnEnded(StopReason::Cancelled),
            Err(error) if error.code == rpc::SIGN_IN_NEEDED => Event::SignInNeeded(error),
            Err(error) => Event::TurnFailed(error),
        });
        events
    }

    fn option_set(&mut self, option: &str, value: &OptionValue, result: &Value) -> Vec<Event> {
        match parse_options(result) {
            Some(options) => self.options = options,
            None => {
                if let Some(found) = self.options.iter_mut().find(|known| known.id == option) {
                    found.set(value);
                }
            }
        }
        vec![Event::Options(self.options.clone())]
    }

    fn notified(&mut self, method: &str, params: &Value) -> Vec<Event> {
        match method {
            "session/update" => self.updated(params),
            "$/cancel_request" => self.request_cancelled(&params["requestId"]),
            _ => self.ignore(),
        }
    }

    fn updated(&mut self, params: &Value) -> Vec<Event> {
        let session = params.get("sessionId").and_then(Value::as_str);
        let loading = self.waiting.values().find_map(|waiting| match waiting {
            PendingRequest::Open(Opening::Load(loading) | Opening::Resume(loading)) => Some(loading.as_str()),
            _ => None,
        });
        let is_replay = loading.is_some() && loading == session;
        if !is_replay && (session.is_none() || session != self.session()) {
            return self.ignore();
        }
        let Some(update) = params.get("update").and_then(Update::parse) else {
            self.counters.unknown_updates += 1;
            return Vec::new();
        };
        match update {
            Update::Options(options) => {
                self.options.clone_from(&options);
                vec![Event::Options(options)]
            }
            Update::Mode(mode) => self.mode_changed(mode),
            // State that holds after a replay too.
            Update::Commands(_) | Update::Usage(_) => vec![Event::Update(update)],
            _ if is_replay => {
                self.counters.replayed += 1;
                Vec::new()
            }
            Update::Tool(facts) => {
                let has_room = self.tools.len() < TURN_TOOLS;
                match self.tools.get_mut(&facts.call) {
                    Some(known) => known.merge(facts.clone()),
                    None if has_room => drop(self.tools.insert(facts.call.clone(), facts.clone())),
                    None => {}
                }
                vec![Event::Update(Update::Tool(facts))]
            }
            update => vec![Event::Update(update)],
        }
    }

    fn mode_changed(&mut self, mode: String) -> Vec<Event> {
        let found = self.options.iter_mut().find(|option| option.is_mode || option.id == MODE);
        let Some(option) = found else { return Vec::new() };
        option.set(&OptionValue::Text(mode));
        vec![Event::Options(self.options.clone())]
    }

    fn request_cancelled(&mut self, request: &Value) -> Vec<Event> {
        let found = self.questions.iter().find(|(_, question)| question.request == *request);
        let Some(id) = found.map(|(id, _)| *id) else { return self.ignore() };
        self.questions.remove(&id);
        self.output.push(rpc::error(request, rpc::CANCELLED, "The request was cancelled."));
        vec![Event::Withdrawn(id)]
    }

    fn requested(&mut self, id: Value, method: &str, params: &Value) -> Vec<Event> {
        let kind = match method {
            "session/request_permission" => QuestionKind::parse_permission(params),
            "elicitation/create" if params["mode"] == "form" => QuestionKind::parse_form(params),
            "elicitation/create" => None,
            _ => {
                let message = "The client has no such method.";
                return self.refuse(&id, rpc::METHOD_NOT_FOUND, message);
            }
        };
        let Some(mut kind) = kind else {
            return self.refuse(&id, rpc::INVALID_PARAMS, "The parameters are not valid.");
        };
        let session = params.get("sessionId").and_then(Value::as_str);
        if session.is_none() || session != self.session() {
            return self.refuse(&id, rpc::INVALID_PARAMS, "There is no such session.");
        }
        if self.questions.values().any(|open| open.request == id) {
            return self.refuse(&id, rpc::INVALID_REQUEST, "The id is in use.");
        }
        if self.questions.len() >= QUESTIONS {
            return self.refuse(&id, rpc::INVALID_REQUEST, "Too many questions wait.");
        }
        if let QuestionKind::Permission { tool, .. } = &mut kind
            && let Some(known) = self.tools.get(&tool.call)
        {
            let mut merged = known.clone();
            merged.merge(tool.clone());
            *tool = merged;
        }
        if !self.is_working() || self.is_stopping() {
            // Nothing runs that may ask.
            let result = kind.result(&Answer::Cancel).unwrap_or(Value::Null);
            self.output.push(rpc::response(&id, &result));
            self.counters.refused_requests += 1;
            return Vec::new();
        }
        self.next += 1;
        let question = QuestionId(self.next);
        self.questions.insert(question, OpenQuestion { request: id, kind: kind.clone() });
        vec![Event::Asked(Question { id: question, kind })]
    }

    fn refuse(&mut self, id: &Value, code: i64, message: &str) -> Vec<Event> {
        self.counters.refused_requests += 1;
        self.output.push(rpc::error(id, code, message));
        Vec::new()
    }
}
