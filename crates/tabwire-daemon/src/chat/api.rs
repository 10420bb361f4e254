//! The routes of chats.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderValue, Request, StatusCode, header};
use hyper::body::Incoming;
use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_acp::{Answer, ItemBody, OptionKind, OptionValue, QuestionId, QuestionKind};
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_extension::user_message::UserMessage;

use crate::chat::Chat;
use crate::chat::agent::table::{AgentSpec, Confinement};
use crate::chat::create::{NewChat, OPTIONS};
use crate::chat::prompt::{Message, Prompt};
use crate::chat::run::ChatCommand;
use crate::chat::screenshots::Screenshot;
use crate::daemon::Daemon;
use crate::extension::notifications::NotificationSources;
use crate::http::gate::{AdmittedRequest, Transport};
use crate::http::handler::{query_value, read_body};
use crate::http::route::RouteName;
use crate::http::server::{HttpResponse, failed, json as json_response, page};

/// The body of `POST /v1/chats/ID/answer`. One of the last three.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct AnswerBody {
    /// The question's id: `q3` of the agent, `a3` of the policy.
    pub(super) id: String,
    /// The id of an option, or `once`, `session`, `agent`, `always` and `no` for the policy.
    pub(super) choice: Option<String>,
    /// The values of a form.
    pub(super) values: Option<BTreeMap<String, Value>>,
    /// Whether the user says no.
    pub(super) decline: bool,
}

/// The body of `POST /v1/chats/ID/change`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ChangeBody {
    pub(super) title: Option<String>,
    /// Options of the agent's session.
    pub(super) options: BTreeMap<String, OptionValue>,
}

/// The body of commands without parameters.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

impl Daemon {
    pub(crate) async fn handle_chats(
        self: &Arc<Self>,
        admitted: &AdmittedRequest,
        request: Request<Incoming>,
        transport: Transport,
    ) -> HttpResponse {
        let id = admitted.variable.clone().unwrap_or_default();
        let is_post = request.method() == "POST";
        let handled = match admitted.route.name {
            RouteName::ChatAgents => Ok(self.list_agents().await),
            RouteName::ChatEvents if admitted.route.path.ends_with("/screenshot") => {
                return self.show_screenshot(&id, &request).unwrap_or_else(|failure| failed(&failure));
            }
            RouteName::ChatEvents if admitted.route.path.ends_with("/export") => {
                self.find_chat(&id).map(|chat| chat.export())
            }
            RouteName::ChatEvents => {
                return self.stream_chat(&id, &request).unwrap_or_else(|failure| failed(&failure));
            }
            RouteName::Chats if !is_post => Ok(self.search_chats(request.uri().query()).await),
            RouteName::Chats => match read_body::<NewChat>(request).await {
                Ok(new) => self.create_for(new, transport).map(|chat| chat.view()),
                Err(error) => return error.response(),
            },
            RouteName::Chat if request.method() == "DELETE" => self.remove_chat(&id).await,
            RouteName::Chat => self.find_chat(&id).map(|chat| chat.view()),
            _ => return self.handle_chat_command((admitted.route.path, &id), request, transport).await,
        };
        respond(handled)
    }

    async fn handle_chat_command(
        self: &Arc<Self>,
        (path, id): (&str, &str),
        request: Request<Incoming>,
        transport: Transport,
    ) -> HttpResponse {
        let chat = match self.find_chat(id) {
            Ok(chat) => chat,
            Err(failure) => return failed(&failure),
        };
        let handled = match path.rsplit('/').next().unwrap_or_default() {
            "messages" => match read_body::<Message>(request).await {
                Ok(message) => self.say(&chat, message, transport),
                Err(error) => return error.response(),
            },
            "retry" => match read_body::<Nothing>(request).await {
                Ok(Nothing {}) => admit_agent(transport, chat.agent)
                    .and_then(|()| self.command_chat(&chat, ChatCommand::Retry)),
                Err(error) => return error.response(),
            },
            "stop" => match read_body::<Nothing>(request).await {
                Ok(Nothing {}) => self.command_chat(&chat, ChatCommand::Stop),
                Err(error) => return error.response(),
            },
            "answer" => match read_body::<AnswerBody>(request).await {
                Ok(body) => self.answer_chat(&chat, body, transport).await,
                Err(error) => return error.response(),
            },
            _ => match read_body::<ChangeBody>(request).await {
                Ok(body) => self.change_chat(&chat, body, transport),
                Err(error) => return error.response(),
            },
        };
        respond(handled.map(|()| json!({"done": true})))
    }

    /// Creates a chat. Over the port neither the directory nor the session of the user is chosen: agents read
    /// configuration in their directories, which can name programs.
    fn create_for(self: &Arc<Self>, new: NewChat, transport: Transport) -> Result<Arc<Chat>, Failure> {
        let agent = self.choose_agent(new.agent.as_deref())?;
        admit_agent(transport, agent)?;
        if transport != Transport::Socket {
            if new.directory.is_some() {
                return Err(at_the_socket("`directory` is accepted only over the daemon's socket."));
            }
            if !new.options.is_empty() {
                return Err(at_the_socket(
                    "`options` of a new chat are accepted only over the daemon's socket.",
                ));
            }
        }
        self.create_chat(new)
    }

    pub(super) fn say(
        self: &Arc<Self>,
        chat: &Arc<Chat>,
        message: Message,
        transport: Transport,
    ) -> Result<(), Failure> {
        admit_agent(transport, chat.agent)?;
        let steer = message.steer;
        self.command_chat(chat, ChatCommand::Say { prompt: Prompt::parse(message)?, steer })
    }

    async fn answer_chat(
        self: &Arc<Self>,
        chat: &Arc<Chat>,
        body: AnswerBody,
        transport: Transport,
    ) -> Result<(), Failure> {
        if chat.has_open_approval(&body.id) {
            return self.answer_policy_question(body, transport).await;
        }
        self.answer_agent(chat, body, transport)
    }

    /// Answers a question of the agent.
    pub(super) fn answer_agent(
        self: &Arc<Self>,
        chat: &Arc<Chat>,
        body: AnswerBody,
        transport: Transport,
    ) -> Result<(), Failure> {
        let wrong = |what: &str| Err(Failure::new(ErrorCode::BadArgs, what.to_owned()));
        let open = chat.open_question(&body.id);
        let Some((question, takes)) = body.id.parse::<QuestionId>().ok().zip(open) else {
            return wrong("There is no such question. It was answered or withdrawn.");
        };
        let answer = match (body.choice, body.values, body.decline) {
            (Some(choice), None, false) => Answer::Choose(choice),
            (None, Some(values), false) => Answer::Submit(values),
            (None, None, true) => Answer::Decline,
            _ => return wrong("Give one of `choice`, `values` and `decline`."),
        };
        if let Answer::Choose(choice) = &answer
            && !takes.iter().any(|(id, _)| id == choice)
        {
            let known: Vec<&str> = takes.iter().map(|(id, _)| id.as_str()).collect();
            return wrong(&format!("`choice` must be one of: {}.", known.join(", ")));
        }
        let is_refusal = match &answer {
            Answer::Choose(choice) => takes.iter().any(|(id, refuses)| id == choice && *refuses),
            Answer::Submit(_) => false,
            Answer::Decline | Answer::Cancel => true,
        };
        if transport != Transport::Socket && !is_refusal {
            // It can be about a command on this machine.
            return Err(at_the_socket(
                "A question of an agent can be allowed only over the daemon's socket.",
            ));
        }
        self.command_chat(chat, ChatCommand::Answer { question, answer })
    }

    /// A question of the policy. As everywhere, it is allowed over the socket only: an agent may know the port's token.
    async fn answer_policy_question(&self, body: AnswerBody, transport: Transport) -> Result<(), Failure> {
        let answer = if body.decline { "no".to_owned() } else { body.choice.unwrap_or_default() };
        if transport != Transport::Socket && answer != "no" {
            let message = "Questions of the policy are not answered over the port.";
            return Err(Failure::new(ErrorCode::PolicyDenied, message).with_remedy(Remedy::new(
                "Answer in the chat at a terminal, in the dashboard, or by {}.",
                [Step::command("tabwire approvals")],
            )));
        }
        let word = UserMessage::Answer { approval: body.id, answer };
        NotificationSources::new(&self.approvals, &self.policy, &self.audit).decide(word, "the chat").await
    }

    pub(super) fn change_chat(
        self: &Arc<Self>,
        chat: &Arc<Chat>,
        body: ChangeBody,
        transport: Transport,
    ) -> Result<(), Failure> {
        let mut options = body.options.keys();
        if transport != Transport::Socket && !options.all(|option| chat.is_harmless(option)) {
            // A mode can let the agent run commands without a question.
            return Err(at_the_socket("Over the port, only the options model and effort can be set."));
        }
        if let Some(title) = body.title {
            if !chat.set_title(&title) {
                return Err(Failure::new(ErrorCode::BadArgs, "`title` is empty."));
            }
            chat.save(&self.chats.store);
        }
        for (option, value) in body.options {
            if !chat.keep_option(&option, &value) {
                let message = format!("A chat keeps at most {OPTIONS} options.");
                return Err(Failure::new(ErrorCode::BadArgs, message));
            }
            if chat.is_running() {
                self.command_chat(chat, ChatCommand::Set { option, value })?;
            }
        }
        chat.save(&self.chats.store);
        Ok(())
    }

    fn show_screenshot(&self, id: &str, request: &Request<Incoming>) -> Result<HttpResponse, Failure> {
        let chat = self.find_chat(id)?;
        let number = query_value(request, "number").and_then(|number| number.parse().ok());
        let screenshot = chat.find_screenshot(number.unwrap_or_default())?;
        let bytes = Bytes::from(screenshot.bytes);
        let mut response = page(StatusCode::OK, screenshot.mime_type, "default-src 'none'", bytes);
        let headers = response.headers_mut();
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        Ok(response)
    }

    /// Ends a chat and deletes its files.
    pub(super) async fn remove_chat(self: &Arc<Self>, id: &str) -> Result<Value, Failure> {
        let chat = self.find_chat(id)?;
        let _ = self.command_chat(&chat, ChatCommand::End);
        let mut changed = chat.changed.subscribe();
        // The run saves the chat at its end, so the files are deleted after that.
        let ended = async {
            while chat.is_running() {
                changed.mark_unchanged();
                if !chat.is_running() || changed.changed().await.is_err() {
                    return;
                }
            }
        };
        let _ = tokio::time::timeout(crate::limits::BODY_DEADLINE, ended).await;
        // A killed daemon leaves the browser of the chat's session.
        chat.end_session(self).await;
        self.chats.known().remove(&chat.id);
        // A late save finds nothing to write.
        chat.state().is_dirty = false;
        self.chats.store.remove(&chat.id);
        chat.list_changed();
        Ok(json!({"removed": chat.id}))
    }
}

impl Chat {
    /// A screenshot of a step.
    pub(super) fn find_screenshot(&self, number: u64) -> Result<Screenshot, Failure> {
        self.state().screenshots.find(number).cloned().ok_or_else(|| {
            let message = "There is no such screenshot. Only the latest of each chat are kept, in memory.";
            Failure::new(ErrorCode::BadArgs, message)
        })
    }

    pub(super) fn has_open_approval(&self, id: &str) -> bool {
        let is_open = |body: &ItemBody| matches!(body, ItemBody::Approval { approval, outcome: None, .. } if approval == id);
        self.state().transcript.items().iter().any(|item| is_open(&item.body))
    }

    /// Whether an option only chooses the model and how long it thinks.
    fn is_harmless(&self, option: &str) -> bool {
        let state = self.state();
        let known = state.transcript.options().iter().find(|known| known.id == option);
        known.is_some_and(|known| {
            matches!(known.kind, OptionKind::Select { .. })
                && matches!(known.category.as_deref(), Some("model" | "thought_level"))
        })
    }

    /// The ids of the choices of an open question, and whether each refuses.
    fn open_question(&self, id: &str) -> Option<Vec<(String, bool)>> {
        self.state().transcript.items().iter().find_map(|item| match &item.body {
            ItemBody::Question { question, kind, outcome: None } if question == id => Some(match kind {
                QuestionKind::Permission { choices, .. } => choices
                    .iter()
                    .map(|choice| (choice.id.clone(), choice.kind.starts_with("reject")))
                    .collect(),
                QuestionKind::Form { .. } => Vec::new(),
            }),
            _ => None,
        })
    }
}

fn respond(handled: Result<Value, Failure>) -> HttpResponse {
    match handled {
        Ok(value) => json_response(StatusCode::OK, &value),
        Err(failure) => failed(&failure),
    }
}

/// Over the port only agents work that are known to have no shell of their own: an agent in a sandbox may know the
/// port's token, and must not reach the machine through another one.
fn admit_agent(transport: Transport, agent: &AgentSpec) -> Result<(), Failure> {
    if transport == Transport::Socket || agent.confinement != Confinement::Unknown {
        return Ok(());
    }
    Err(at_the_socket(&format!(
        "{} may have a shell, so it accepts messages only over the daemon's socket.",
        agent.name
    )))
}

fn at_the_socket(message: &str) -> Failure {
    Failure::new(ErrorCode::PolicyDenied, message).with_remedy(Remedy::new(
        "Use the chat at a terminal: {}.",
        [Step::command("tabwire chat resume ID")],
    ))
}
