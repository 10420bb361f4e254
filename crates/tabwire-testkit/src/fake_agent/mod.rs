//! A fake agent. Each line of a prompt is one operation:
//!
//! ```text
//! say TEXT         streams the text in pieces        think TEXT   streams reasoning
//! tool NAME JSON   calls a tool of its MCP server    shell TEXT   asks for permission to run it, and never runs it
//! unknown          sends requests that no client has usage        reports the fill of its context
//! hang             waits for the cancellation        deaf         waits for ever, also after it
//! flood            sends a lot of text               die          ends the process
//! wait             waits for a steered message       recall       says how its session was opened
//! heard            says what kinds of content came   set          says the values of its options
//! before           says the first line that came     fail TEXT    ends the turn with an error
//! lose             has no session after this turn
//! ```
//!
//! The program's name selects how permission requests name the MCP server: `claude-agent-acp`, `codex-acp`, or neither.
//! `TABWIRE_FAKE_AGENT` has faults: `sign-in`, `late-sign-in`, `no-resume`, `no-steer`, `resume-fails`, `resume-hangs`, `resume-dies`,
//! `load-only`, `no-start`, `no-images`. Those of signing in end with a file `signed-in` beside the program.

mod connection;
mod mcp_server;

use std::process::ExitCode;

use serde_json::{Map, Value, json};

use connection::{Connection, Ended};
use mcp_server::McpServer;

/// How permission requests name the MCP server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Claude,
    Codex,
    Other,
}

/// A fake agent.
#[derive(Debug)]
pub struct FakeAgent {
    style: Style,
    faults: Vec<String>,
    connection: Connection,
    session: String,
    opened: String,
    server: Option<McpServer>,
    calls: u64,
    options: Map<String, Value>,
    /// The kinds of content of the latest prompt, and its first line.
    heard: String,
    before: String,
    program: String,
    /// A prompt that was sent into the turn.
    second: Option<Value>,
}

/// Pieces of streamed text.
const PIECE: usize = 4;

impl FakeAgent {
    /// An agent with faults, separated by spaces.
    #[must_use]
    pub fn new(program: &str, faults: &str) -> Self {
        let style = match program.rsplit('/').next().unwrap_or_default() {
            "claude-agent-acp" => Style::Claude,
            "codex-acp" => Style::Codex,
            _ => Style::Other,
        };
        Self {
            style,
            faults: faults.split_whitespace().map(str::to_owned).collect(),
            connection: Connection::start(),
            session: String::new(),
            opened: String::new(),
            server: None,
            calls: 0,
            options: Map::from_iter([
                ("model".to_owned(), json!("small")),
                ("mode".to_owned(), json!("agent")),
                ("loud".to_owned(), json!(false)),
            ]),
            heard: String::new(),
            before: String::new(),
            program: program.to_owned(),
            second: None,
        }
    }

    fn is_signed_in(&self) -> bool {
        std::path::Path::new(&self.program).with_file_name("signed-in").exists()
    }

    fn has(&self, fault: &str) -> bool {
        self.faults.iter().any(|one| one == fault)
    }

    /// Serves until the client closes stdin.
    #[must_use]
    pub fn serve(mut self) -> ExitCode {
        while let Ok(message) = self.connection.next() {
            let Some(method) = message["method"].as_str() else { continue };
            let id = message["id"].clone();
            let params = message["params"].clone();
            match method {
                "initialize" if self.has("no-start") => {}
                "initialize" => self.connection.respond(&id, &self.introduction()),
                "session/resume" | "session/load" if self.has("resume-dies") => return ExitCode::FAILURE,
                "session/resume" | "session/load" if self.has("resume-hangs") => {}
                "session/new" | "session/resume" | "session/load" => self.open(method, &id, &params),
                "session/set_config_option" => {
                    let option = params["configId"].as_str().unwrap_or_default().to_owned();
                    self.options.insert(option, params["value"].clone());
                    self.connection.respond(&id, &json!({"configOptions": self.config_options()}));
                }
                "session/prompt" => {
                    if self.prompt(&id, &params).is_err() {
                        return ExitCode::SUCCESS;
                    }
                }
                "_session/steering" => {
                    self.connection
                        .respond(&id, &json!({"outcome": "promptRequired", "reason": "noRunningTurn"}));
                }
                "session/cancel" => {}
                _ => self.connection.fail(&id, -32601, "no such method"),
            }
        }
        ExitCode::SUCCESS
    }

    fn introduction(&self) -> Value {
        let resumes = if self.has("no-resume") || self.has("load-only") { Value::Null } else { json!({}) };
        json!({
            "protocolVersion": 1,
            "agentCapabilities": {
                "loadSession": self.has("load-only"),
                "sessionCapabilities": {"resume": resumes},
                "promptCapabilities": {"image": !self.has("no-images"), "embeddedContext": true},
            },
            "agentInfo": {"name": "fake-agent", "title": "Fake agent", "version": "9.8.7"},
            "authMethods": [{"id": "login", "name": "Log in", "type": "terminal"}],
            "_meta": {"steering": {"supported": !self.has("no-steer")}},
        })
    }

    fn open(&mut self, method: &str, id: &Value, params: &Value) {
        if self.has("sign-in") && !self.is_signed_in() {
            return self.connection.fail(id, -32000, "Authentication required");
        }
        if self.has("resume-fails") && method != "session/new" {
            return self.connection.fail(id, -32603, "no such session");
        }
        self.opened = method.to_owned();
        self.session = match params["sessionId"].as_str() {
            Some(session) => session.to_owned(),
            None => format!("fake-{}", std::process::id()),
        };
        self.server = params["mcpServers"].get(0).map(McpServer::new);
        if method == "session/load" {
            for kind in ["user_message_chunk", "agent_message_chunk"] {
                self.stream(kind, "This was said before.");
            }
        }
        self.connection
            .respond(id, &json!({"sessionId": self.session, "configOptions": self.config_options()}));
        let commands = json!([{"name": "help", "description": "Show help"}]);
        self.update(&json!({"sessionUpdate": "available_commands_update", "availableCommands": commands}));
    }

    fn config_options(&self) -> Value {
        let select = |id: &str, category: &str, values: &[&str]| {
            let options: Vec<_> = values.iter().map(|value| json!({"value": value, "name": value})).collect();
            json!({"id": id, "name": id, "category": category, "type": "select", "currentValue": self.options[id],
                "options": options})
        };
        json!([
            select("model", "model", &["small", "large"]),
            select("mode", "mode", &["read-only", "agent", "full"]),
            {"id": "loud", "name": "Loud", "type": "boolean", "currentValue": self.options["loud"]},
        ])
    }

    /// Answers a prompt, and those that were sent into its turn.
    fn prompt(&mut self, id: &Value, params: &Value) -> Result<(), Ended> {
        let blocks = params["prompt"].as_array().cloned().unwrap_or_default();
        let kinds = blocks.iter().filter_map(|block| block["type"].as_str());
        self.heard = kinds.collect::<Vec<_>>().join(" ");
        let text = prompt_text(params);
        text.lines().next().unwrap_or_default().clone_into(&mut self.before);
        if self.has("late-sign-in") && !self.is_signed_in() {
            self.connection.fail(id, -32000, "Authentication required");
            return Ok(());
        }
        if self.has("lost") {
            self.connection.fail(id, -32002, "Resource not found");
            return Ok(());
        }
        match text.lines().find_map(|line| line.strip_prefix("fail ")) {
            Some(message) => self.connection.fail(id, -32603, message),
            None => {
                let reason = self.turn(&text)?;
                self.connection.respond(id, &json!({"stopReason": reason}));
            }
        }
        if let Some(second) = self.second.take() {
            self.connection.respond(&second, &json!({"stopReason": "end_turn"}));
        }
        Ok(())
    }

    fn update(&mut self, update: &Value) {
        let params = json!({"sessionId": self.session, "update": update});
        self.connection.notify("session/update", &params);
    }

    /// Runs the lines of a prompt. Returns the stop reason.
    fn turn(&mut self, text: &str) -> Result<&'static str, Ended> {
        for line in text.lines() {
            let (word, rest) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
            let continues = match word {
                "say" => self.stream("agent_message_chunk", rest),
                "think" => self.stream("agent_thought_chunk", rest),
                "tool" => self.tool(rest)?,
                "shell" => self.shell(rest)?,
                "unknown" => self.unknown()?,
                "usage" => {
                    let cost = json!({"amount": 0.25, "currency": "USD"});
                    self.update(
                        &json!({"sessionUpdate": "usage_update", "used": 900, "size": 1000, "cost": cost}),
                    );
                    true
                }
                "hang" => self.connection.wait_for_cancel()?,
                "deaf" => loop {
                    self.connection.wait_for_cancel()?;
                },
                "die" => return Err(Ended),
                "lose" => {
                    self.faults.push("lost".to_owned());
                    true
                }
                "flood" => self.flood(),
                "wait" => self.wait_for_message()?,
                "heard" => self.stream("agent_message_chunk", &format!("Heard: {}", self.heard.clone())),
                "before" => self.stream("agent_message_chunk", &format!("Before: {}", self.before.clone())),
                "set" => {
                    let text = Value::Object(self.options.clone()).to_string();
                    self.stream("agent_message_chunk", &text)
                }
                "recall" => {
                    self.stream("agent_message_chunk", &format!("{} by {}", self.session, self.opened))
                }
                _ => self.stream("agent_message_chunk", line),
            };
            if !continues {
                return Ok("cancelled");
            }
        }
        Ok("end_turn")
    }

    fn stream(&mut self, kind: &str, text: &str) -> bool {
        let letters: Vec<char> = text.chars().collect();
        for piece in letters.chunks(PIECE) {
            let piece: String = piece.iter().collect();
            self.update(&json!({"sessionUpdate": kind, "content": {"type": "text", "text": piece}}));
        }
        true
    }

    fn flood(&mut self) -> bool {
        let text = "x".repeat(60_000);
        for _ in 0..300 {
            self.update(
                &json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}),
            );
            self.connection.write_line("this line is no message");
        }
        true
    }

    /// Calls a tool of the MCP server, after it asked for permission.
    fn tool(&mut self, rest: &str) -> Result<bool, Ended> {
        let (name, arguments) = rest.split_once(' ').unwrap_or((rest, "{}"));
        let arguments: Value = serde_json::from_str(arguments).unwrap_or_else(|_| json!({}));
        self.calls += 1;
        let call = format!("call-{}", self.calls);
        let server = self.server.as_ref().map(|server| server.name.clone()).unwrap_or_default();
        let mut update = match self.style {
            Style::Claude => json!({"title": format!("mcp__{server}__{name}"), "rawInput": arguments,
                "_meta": {"claudeCode": {"toolName": format!("mcp__{server}__{name}")}}}),
            Style::Codex => json!({"title": format!("mcp.{server}.{name}"), "kind": "execute",
                "rawInput": {"server": server, "tool": name, "arguments": arguments}}),
            Style::Other => json!({"title": format!("mcp__{server}__{name}"), "rawInput": arguments}),
        };
        update["sessionUpdate"] = json!("tool_call");
        update["toolCallId"] = json!(call);
        self.update(&update);
        let meta =
            if self.style == Style::Codex { json!({"is_mcp_tool_approval": true}) } else { Value::Null };
        match self.permission(&json!({"toolCallId": call}), &meta)? {
            Some(true) => {}
            Some(false) => return Ok(self.stream("agent_message_chunk", "The tool was refused.")),
            None => return Ok(false),
        }
        let result = match &mut self.server {
            Some(server) => server.call(name, &arguments),
            None => "there is no MCP server".to_owned(),
        };
        let content = json!([{"type": "content", "content": {"type": "text", "text": result}}]);
        self.update(&json!({"sessionUpdate": "tool_call_update", "toolCallId": call, "status": "completed",
            "content": content}));
        let first = result.lines().next().unwrap_or_default().to_owned();
        Ok(self.stream("agent_message_chunk", &format!("Result: {first}\n")))
    }

    /// Asks for permission to run a command. The title is the command, as the model wrote it.
    fn shell(&mut self, command: &str) -> Result<bool, Ended> {
        self.calls += 1;
        let call = json!({"toolCallId": format!("call-{}", self.calls), "title": command, "kind": "execute",
            "rawInput": {"command": command, "server": "tabwire_chat"}});
        match self.permission(&call, &Value::Null)? {
            Some(is_allowed) => {
                let text = if is_allowed { "The shell was allowed." } else { "The shell was refused." };
                Ok(self.stream("agent_message_chunk", text))
            }
            None => Ok(false),
        }
    }

    /// Asks; `None` when the turn was cancelled.
    fn permission(&mut self, call: &Value, meta: &Value) -> Result<Option<bool>, Ended> {
        let options = json!([
            {"optionId": "always", "name": "Always allow", "kind": "allow_always"},
            {"optionId": "once", "name": "Allow", "kind": "allow_once"},
            {"optionId": "no", "name": "Reject", "kind": "reject_once"},
        ]);
        let params = json!({"sessionId": self.session, "toolCall": call, "options": options, "_meta": meta});
        let response = self.connection.request("session/request_permission", &params)?;
        let outcome = &response["result"]["outcome"];
        Ok((outcome["outcome"] == "selected").then(|| outcome["optionId"] == "once"))
    }

    fn unknown(&mut self) -> Result<bool, Ended> {
        let mut codes = Vec::new();
        for method in ["fs/read_text_file", "terminal/create", "_other/method"] {
            let params = json!({"sessionId": self.session, "path": "/etc/passwd", "command": "id"});
            codes.push(self.connection.request(method, &params)?["error"]["code"].to_string());
        }
        self.update(&json!({"sessionUpdate": "of_the_future", "content": 7}));
        Ok(self.stream("agent_message_chunk", &format!("Refused: {}", codes.join(" "))))
    }

    /// Waits for a message that is sent into the turn, and repeats it.
    fn wait_for_message(&mut self) -> Result<bool, Ended> {
        self.stream("agent_message_chunk", "Waiting. ");
        loop {
            let message = self.connection.next()?;
            match message["method"].as_str() {
                Some("session/cancel") => return Ok(false),
                Some("_session/steering") => {
                    self.connection.respond(&message["id"], &json!({"outcome": "injected"}));
                    let text = prompt_text(&message["params"]);
                    return Ok(self.stream("agent_message_chunk", &format!("Steered: {text}")));
                }
                // Claude Code takes a second prompt in the turn, and answers both at its end.
                Some("session/prompt") => {
                    self.second = Some(message["id"].clone());
                    let text = prompt_text(&message["params"]);
                    return Ok(self.stream("agent_message_chunk", &format!("Second: {text}")));
                }
                _ => {}
            }
        }
    }
}

fn prompt_text(params: &Value) -> String {
    let blocks = params["prompt"].as_array().cloned().unwrap_or_default();
    let texts: Vec<&str> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
    texts.join("\n")
}
