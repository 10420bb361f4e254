//! A connection with an agent that the test plays.

use serde_json::{Value, json};
use tabwire_acp::{Client, ClientInfo, Content, Event, McpServer, Opening, SessionSetup, Transcript};

/// The agent's id of the session.
pub(crate) const SESSION: &str = "s1";

/// A client and the agent's side of it.
pub(crate) struct Stage {
    pub(crate) client: Client,
    pub(crate) transcript: Transcript,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let info = ClientInfo { name: "tabwire".to_owned(), version: "1".to_owned() };
        Self { client: Client::new(info), transcript: Transcript::default() }
    }

    /// A stage with an open session.
    pub(crate) fn open() -> Self {
        let mut stage = Self::ready(&everything());
        stage.client.open(Opening::New, &setup()).expect("ready");
        let request = stage.sent_one();
        assert_eq!(request["method"], "session/new");
        let opened = stage.respond(&request, &json!({"sessionId": SESSION}));
        assert_eq!(opened, [Event::Opened { session: SESSION.to_owned(), opening: Opening::New }]);
        stage
    }

    /// A stage whose agent has responded to `initialize`.
    pub(crate) fn ready(result: &Value) -> Self {
        let mut stage = Self::new();
        stage.client.initialize().expect("new");
        let request = stage.sent_one();
        stage.respond(&request, result);
        stage
    }

    /// A stage with a turn that runs, and its prompt.
    pub(crate) fn working() -> (Self, Value) {
        let mut stage = Self::open();
        stage.client.prompt(&text("hello")).expect("idle");
        let prompt = stage.sent_one();
        assert_eq!(prompt["method"], "session/prompt");
        (stage, prompt)
    }

    pub(crate) fn sent(&mut self) -> Vec<Value> {
        let lines = self.client.take_output();
        lines.iter().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    pub(crate) fn sent_one(&mut self) -> Value {
        let mut sent = self.sent();
        assert_eq!(sent.len(), 1, "{sent:?}");
        sent.remove(0)
    }

    pub(crate) fn receive(&mut self, message: &Value) -> Vec<Event> {
        let events = self.client.receive(message.to_string().as_bytes());
        for event in &events {
            self.transcript.apply(event);
        }
        events
    }

    pub(crate) fn respond(&mut self, request: &Value, result: &Value) -> Vec<Event> {
        self.receive(&json!({"jsonrpc": "2.0", "id": request["id"], "result": result}))
    }

    pub(crate) fn update(&mut self, update: &Value) -> Vec<Event> {
        let params = json!({"sessionId": SESSION, "update": update});
        self.receive(&json!({"jsonrpc": "2.0", "method": "session/update", "params": params}))
    }

    pub(crate) fn ask(&mut self, id: u64) -> Vec<Event> {
        self.receive(&permission(&json!(id), SESSION))
    }
}

/// The response to `initialize` of an agent that offers everything.
pub(crate) fn everything() -> Value {
    json!({
        "protocolVersion": 1,
        "agentCapabilities": {
            "loadSession": true,
            "promptCapabilities": {"image": true},
            "sessionCapabilities": {"resume": {}},
        },
        "agentInfo": {"name": "fake", "title": "Fake", "version": "2.0"},
        "authMethods": [
            {"id": "login", "name": "Log in"},
            {"id": "terminal", "name": "In a terminal", "type": "terminal"},
        ],
        "_meta": {"steering": {"supported": true}},
    })
}

pub(crate) fn setup() -> SessionSetup {
    let server = McpServer {
        name: "tabwire_chat".to_owned(),
        command: "/bin/tabwire".to_owned(),
        arguments: vec!["mcp".to_owned()],
        environment: vec![("A".to_owned(), "b".to_owned())],
    };
    SessionSetup { directory: "/tmp".to_owned(), servers: vec![server], meta: Some(json!({"x": 1})) }
}

pub(crate) fn text(text: &str) -> Vec<Content> {
    vec![Content::Text(text.to_owned())]
}

pub(crate) fn permission(id: &Value, session: &str) -> Value {
    json!({
        "jsonrpc": "2.0", "id": id, "method": "session/request_permission",
        "params": {
            "sessionId": session,
            "toolCall": {"toolCallId": "c1", "title": "ls", "kind": "execute"},
            "options": [
                {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
                {"optionId": "no", "name": "Reject", "kind": "reject_once"},
            ],
        },
    })
}
