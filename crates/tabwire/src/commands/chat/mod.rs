//! `chat`: chats with agents, which the daemon runs.

mod attachments;
mod lines;
mod questions;
mod terminal;
mod transcript;

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tabwire_api::{ErrorCode, Failure};
use tabwire_client::request_daemon;

use self::attachments::Attachments;
use crate::cli::chat_command::{ChatCommand, NewChatFlags};
use crate::commands::Context;
use crate::config::Origin;
use crate::output::printer::table;

/// Timeout of a request that waits for no agent.
const TIMEOUT: Duration = Duration::from_secs(20);

pub(super) fn run(context: &Context<'_>, command: ChatCommand) -> Result<ExitCode, Failure> {
    match command {
        ChatCommand::Agents => agents(context)?,
        ChatCommand::List { search } => list(context, search.as_deref())?,
        ChatCommand::Export { id, output } => export(context, &id, output.as_deref())?,
        ChatCommand::Set { id, options } => {
            let options = parse_options(&options)?;
            let done =
                request(context, "POST", &chat_path(&id, "/change"), Some(&json!({"options": options})))?;
            context.printer.result(&done, || "Set.".to_owned());
        }
        ChatCommand::Show { id } => {
            let chat = request(context, "GET", &chat_path(&id, ""), None)?;
            context.printer.result(&chat, || transcript::text(&chat));
        }
        ChatCommand::Rename { id, title } => {
            let done = request(context, "POST", &chat_path(&id, "/change"), Some(&json!({"title": title})))?;
            context.printer.result(&done, || "Renamed.".to_owned());
        }
        ChatCommand::Rm { id } => {
            let done = request(context, "DELETE", &chat_path(&id, ""), None)?;
            context.printer.result(&done, || "Deleted.".to_owned());
        }
        ChatCommand::New(flags) => {
            let attachments = Attachments::read(&flags.attach)?;
            let chat = request(context, "POST", "/v1/chats", Some(&new_chat(context, flags)?))?;
            return terminal::run(context, &chat, attachments);
        }
        ChatCommand::Resume { id, attach } => {
            let attachments = Attachments::read(&attach)?;
            let chat = request(context, "GET", &chat_path(&id, ""), None)?;
            return terminal::run(context, &chat, attachments);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn new_chat(context: &Context<'_>, flags: NewChatFlags) -> Result<Value, Failure> {
    // A session of a project or of no name is not meant for an agent.
    let session = context.configuration.session();
    let is_named = !matches!(session.origin, Origin::BuiltIn | Origin::ProjectFile { .. });
    Ok(json!({
        "agent": flags.agent,
        "upstream": flags.upstream,
        "options": parse_options(&flags.set)?,
        "session": is_named.then_some(session.value),
        "directory": std::env::current_dir().ok(),
    }))
}

fn parse_options(words: &[String]) -> Result<Map<String, Value>, Failure> {
    words.iter().map(|word| parse_option(word)).collect()
}

/// An option of the agent: `NAME=VALUE`.
fn parse_option(word: &str) -> Result<(String, Value), Failure> {
    let wrong = || Failure::new(ErrorCode::BadArgs, "An option of the agent is NAME=VALUE.");
    let (name, value) = word.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or_else(wrong)?;
    let value = match value {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        text => Value::from(text),
    };
    Ok((name.to_owned(), value))
}

/// Prints or writes a chat as Markdown.
fn export(context: &Context<'_>, id: &str, output: Option<&Path>) -> Result<(), Failure> {
    let exported = request(context, "GET", &chat_path(id, "/export"), None)?;
    let text = exported["markdown"].as_str().unwrap_or_default();
    let Some(path) = output else {
        context.printer.result(&exported, || text.to_owned());
        return Ok(());
    };
    // Chats are private: no other user reads the file, and none is overwritten.
    let written = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| {
        Failure::new(ErrorCode::BadArgs, format!("{} cannot be written: {error}.", path.display()))
    })?;
    context.printer.result(&json!({"path": path}), || format!("Written to {}.", path.display()));
    Ok(())
}

fn request(context: &Context<'_>, method: &str, path: &str, body: Option<&Value>) -> Result<Value, Failure> {
    request_daemon(&context.socket(), method, path, body, context.timeout.unwrap_or(TIMEOUT))
}

/// The path of a chat. An id has no characters that a URL gives a meaning, and the daemon refuses all others.
fn chat_path(id: &str, rest: &str) -> String {
    let id: String = id.chars().filter(char::is_ascii_alphanumeric).take(64).collect();
    format!("/v1/chats/{}{rest}", if id.is_empty() { "none" } else { &id })
}

fn agents(context: &Context<'_>) -> Result<(), Failure> {
    let response = request(context, "GET", "/v1/agents", None)?;
    context.printer.result(&response, || {
        let agents = response["agents"].as_array().map(Vec::as_slice).unwrap_or_default();
        let rows = agents.iter().map(|agent| {
            let text = |name: &str| agent[name].as_str().unwrap_or_default().to_owned();
            let program = agent["program"].as_str();
            let place = match (program, agent["own_program"].as_str()) {
                (Some(program), _) => program.to_owned(),
                (None, Some(_)) => format!("adapter not installed: {}", text("install")),
                (None, None) => format!("not installed: {}", text("install")),
            };
            let sign_in = match agent["signed_in"].as_str() {
                Some("signed_in") => "signed in".to_owned(),
                Some("needed") => text("sign_in"),
                _ => String::new(),
            };
            vec![text("id"), text("name"), text("version"), place, sign_in, text("note")]
        });
        table(&rows.collect::<Vec<_>>())
    });
    Ok(())
}

fn list(context: &Context<'_>, search: Option<&str>) -> Result<(), Failure> {
    let query = search.map(|text| {
        let encoded: String = url::form_urlencoded::byte_serialize(text.as_bytes()).collect();
        format!("?search={encoded}")
    });
    let response = request(context, "GET", &format!("/v1/chats{}", query.unwrap_or_default()), None)?;
    context.printer.result(&response, || {
        let chats = response["chats"].as_array().map(Vec::as_slice).unwrap_or_default();
        if chats.is_empty() {
            return "No chats.".to_owned();
        }
        let rows = chats.iter().map(|chat| {
            let text = |name: &str| chat[name].as_str().unwrap_or_default().to_owned();
            vec![text("id"), text("state"), text("agent_name"), text("title")]
        });
        table(&rows.collect::<Vec<_>>())
    });
    Ok(())
}
