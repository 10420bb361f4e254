//! What a page can request. Each request has a number, which its response repeats.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_acp::OptionValue;
use tabwire_api::{ErrorCode, Failure};
use tabwire_extension::user_message::UserMessage;

use crate::chat::Chat;
use crate::chat::api::{AnswerBody, ChangeBody};
use crate::chat::create::NewChat;
use crate::chat::prompt::{FileBody, ImageBody, Message};
use crate::chat::run::ChatCommand;
use crate::chat::screenshots::Screenshot;
use crate::chat::socket::context::{PointedContext, TabContext, with_context};
use crate::chat::socket::{Connection, OpenedChat};
use crate::extension::notifications::NotificationSources;
use crate::http::gate::Transport;

/// The page has proved itself, so its user may do what a user at a terminal may.
const USER: Transport = Transport::Socket;

/// A request; its number is read apart.
#[derive(Deserialize)]
struct NumberedRequest {
    request: PageRequest,
}

/// The number alone, for the response to a request that cannot be read.
#[derive(Deserialize)]
struct Number {
    id: u64,
}

/// What a page can request. The page's user is at its other end: nothing here is open to pages of sites or to agents.
#[derive(Deserialize)]
#[serde(tag = "name")]
enum PageRequest {
    /// Send the agents again; `again` asks their programs anew whether the user has signed in.
    #[serde(rename = "agents")]
    Agents {
        #[serde(default)]
        again: bool,
    },
    /// Show a chat; `after` is the `seq` of the last message that the page has of it.
    #[serde(rename = "chat.open")]
    Open { chat: String, after: Option<String> },
    /// Show no chat.
    #[serde(rename = "chat.close")]
    Close,
    #[serde(rename = "chat.new")]
    New { agent: Option<String> },
    #[serde(rename = "chat.say")]
    Say(SayRequest),
    /// Send a message into the turn that runs, if the agent can.
    #[serde(rename = "chat.steer")]
    Steer(SayRequest),
    /// Send the messages that wait, or the last one again.
    #[serde(rename = "chat.retry")]
    Retry { chat: String },
    #[serde(rename = "chat.stop")]
    Stop { chat: String },
    #[serde(rename = "chat.set")]
    Set { chat: String, option: String, value: OptionValue },
    #[serde(rename = "chat.rename")]
    Rename { chat: String, title: String },
    #[serde(rename = "chat.forget")]
    Forget { chat: String },
    /// The ids of the chats whose title or transcript has a text.
    #[serde(rename = "chat.search")]
    Search { text: String },
    /// The chat as Markdown.
    #[serde(rename = "chat.export")]
    Export { chat: String },
    /// The screenshot of a step.
    #[serde(rename = "chat.screenshot")]
    Screenshot { chat: String, number: u64 },
    /// Answer a question of the agent, or one of the policy.
    #[serde(rename = "answer")]
    Answer {
        chat: Option<String>,
        question: String,
        choice: Option<String>,
        values: Option<BTreeMap<String, Value>>,
        #[serde(default)]
        decline: bool,
    },
}

/// A message of the user.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SayRequest {
    chat: String,
    text: String,
    #[serde(default)]
    images: Vec<ImageBody>,
    #[serde(default)]
    files: Vec<FileBody>,
    #[serde(default)]
    tabs: Vec<TabContext>,
    #[serde(default)]
    pointed: Vec<PointedContext>,
}

impl Connection {
    /// Handles one frame. `None` when the page is gone.
    pub(super) async fn handle(&mut self, frame: &[u8]) -> Option<()> {
        let Ok(Number { id }) = serde_json::from_slice(frame) else { return Some(()) };
        let outcome = match serde_json::from_slice::<NumberedRequest>(frame) {
            Ok(NumberedRequest { request: PageRequest::Forget { chat }, .. }) => {
                self.forget(id, chat);
                return Some(());
            }
            Ok(NumberedRequest { request: PageRequest::Search { text }, .. }) => {
                self.search(id, text);
                return Some(());
            }
            Ok(NumberedRequest { request, .. }) => self.perform(request).await,
            Err(error) => {
                Err(Failure::new(ErrorCode::BadArgs, format!("It is not a valid request: {error}.")))
            }
        };
        self.send(&response(id, outcome)).await
    }

    async fn perform(&mut self, request: PageRequest) -> Result<Value, Failure> {
        let daemon = Arc::clone(&self.daemon);
        match request {
            PageRequest::Agents { again } => self.send_agents(again),
            PageRequest::Open { chat, after } => {
                let chat = daemon.find_chat(&chat)?;
                self.opened = Some(OpenedChat::new(chat, after.as_deref()));
            }
            PageRequest::Close => self.opened = None,
            PageRequest::New { agent } => {
                let new = NewChat { agent, upstream: Some(self.page.upstream.clone()), ..NewChat::default() };
                return Ok(json!({"chat": daemon.create_chat(new)?.id}));
            }
            PageRequest::Say(message) => self.say(message, false)?,
            PageRequest::Steer(message) => self.say(message, true)?,
            PageRequest::Retry { chat } => {
                daemon.command_chat(&daemon.find_chat(&chat)?, ChatCommand::Retry)?;
            }
            PageRequest::Stop { chat } => {
                daemon.command_chat(&daemon.find_chat(&chat)?, ChatCommand::Stop)?;
            }
            PageRequest::Set { chat, option, value } => {
                let change = ChangeBody { title: None, options: BTreeMap::from([(option, value)]) };
                daemon.change_chat(&daemon.find_chat(&chat)?, change, USER)?;
            }
            PageRequest::Rename { chat, title } => {
                let change = ChangeBody { title: Some(title), options: BTreeMap::new() };
                daemon.change_chat(&daemon.find_chat(&chat)?, change, USER)?;
            }
            PageRequest::Answer { chat: None, question, choice, .. } => {
                self.decide(question, choice.unwrap_or_default()).await?;
            }
            PageRequest::Answer { chat: Some(chat), question, choice, values, decline } => {
                let body = AnswerBody { id: question, choice, values, decline };
                self.answer(&daemon.find_chat(&chat)?, body).await?;
            }
            PageRequest::Export { chat } => return Ok(daemon.find_chat(&chat)?.export()),
            PageRequest::Screenshot { chat, number } => {
                let Screenshot { mime_type, bytes } = daemon.find_chat(&chat)?.find_screenshot(number)?;
                return Ok(json!({"type": mime_type, "data": STANDARD.encode(bytes)}));
            }
            PageRequest::Forget { .. } | PageRequest::Search { .. } => {}
        }
        Ok(json!({}))
    }

    fn say(&self, message: SayRequest, steer: bool) -> Result<(), Failure> {
        let SayRequest { chat, text, images, files, tabs, pointed } = message;
        let text = with_context(&text, &tabs, &pointed)?;
        self.daemon.say(&self.daemon.find_chat(&chat)?, Message { text, steer, images, files }, USER)
    }

    async fn answer(&self, chat: &Arc<Chat>, body: AnswerBody) -> Result<(), Failure> {
        if chat.has_open_approval(&body.id) {
            let answer = if body.decline { "no".to_owned() } else { body.choice.unwrap_or_default() };
            return self.decide(body.id, answer).await;
        }
        self.daemon.answer_agent(chat, body, USER)
    }

    /// Answers a question of the policy.
    async fn decide(&self, approval: String, answer: String) -> Result<(), Failure> {
        let sources =
            NotificationSources::new(&self.daemon.approvals, &self.daemon.policy, &self.daemon.audit);
        sources.decide(UserMessage::Answer { approval, answer }, &self.page.place).await
    }

    /// Ends and deletes a chat beside the connection: its agent may take a while.
    fn forget(&mut self, id: u64, chat: String) {
        self.opened.take_if(|opened| opened.chat.id.to_string() == chat);
        let (daemon, responses) = (Arc::clone(&self.daemon), self.responses.clone());
        self.daemon.tasks.start("chat-forget", async move {
            let outcome = daemon.remove_chat(&chat).await;
            // The page may have left.
            let _ = responses.send(response(id, outcome)).await;
        });
    }

    /// Searches beside the connection: it reads the files of all chats.
    fn search(&self, id: u64, text: String) {
        let (daemon, responses) = (Arc::clone(&self.daemon), self.responses.clone());
        self.daemon.tasks.start("chat-search", async move {
            let found = daemon.find_chats(&text).await;
            // The page may have left.
            let _ = responses.send(response(id, Ok(found))).await;
        });
    }
}

fn response(id: u64, outcome: Result<Value, Failure>) -> String {
    match outcome {
        Ok(result) => json!({"type": "response", "id": id, "result": result}),
        Err(failure) => {
            let remedy = failure.hint();
            let error = json!({"code": failure.code, "message": failure.message, "remedy": remedy});
            json!({"type": "response", "id": id, "error": error})
        }
    }
    .to_string()
}
