//! `mcp doctor`: starts the server as a client does, sends the handshake, and calls a tool.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure};
use tabwire_browser::finder;

use super::ClientProgram;
use super::install::{NAME, find_entry, find_file, find_program};
use crate::commands::Context;
use crate::commands::mcp::HANDSHAKE_TIMEOUT;

pub(crate) fn run(
    context: &Context<'_>,
    client: Option<ClientProgram>,
    is_project: bool,
) -> Result<(), Failure> {
    let line = match client.filter(|client| *client != ClientProgram::Json) {
        Some(client) => {
            let file = find_file(context, client, is_project)?;
            let line = find_entry(client, &file)?.ok_or_else(|| {
                let message = format!("{} has no entry of {NAME}.", file.path.display());
                Failure::new(ErrorCode::NotActionable, message)
                    .with_remedy("Run `tabwire mcp install` for this client.")
            })?;
            if is_project {
                check_own(&line, &file.path, context.environment.path.as_deref())?;
            }
            line
        }
        None => {
            let own = std::env::current_exe().map_err(|error| broken(&error.to_string()))?;
            vec![own.display().to_string(), "mcp".to_owned()]
        }
    };
    let begun = Instant::now();
    let mut server = ServerProcess::start(&line)?;
    let hello = json!({
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "tabwire-doctor", "version": tabwire_api::VERSION},
    });
    let greeted = server.request("initialize", &hello)?;
    let greeting_ms = begun.elapsed().as_millis();
    server.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
    let tools = server.request("tools/list", &json!({}))?;
    let count = tools["tools"].as_array().map_or(0, Vec::len);
    let status = server.request("tools/call", &json!({"name": "status", "arguments": {}}))?;
    if status["isError"] == true || count == 0 {
        return Err(broken("it responds, but a tool call fails"));
    }
    let browser = find_browser(context, &line)?;
    let version = greeted["protocolVersion"].as_str().unwrap_or_default().to_owned();
    let report = json!({
        "command": line, "protocol": version, "tools": count, "greeting_ms": greeting_ms, "browser": browser,
    });
    context.printer.result(&report, || {
        let browser = browser.map(|path| format!(" Browser: {}.", path.display())).unwrap_or_default();
        format!("`{}` responds in {greeting_ms} ms: MCP {version}, {count} tools.{browser}", line.join(" "))
    });
    Ok(())
}

/// The browser that the server would start: without one, every tool that needs a page fails.
///
/// `None` if the server attaches to a browser.
fn find_browser(context: &Context<'_>, line: &[String]) -> Result<Option<PathBuf>, Failure> {
    let given = |option: &str| {
        line.iter().enumerate().find_map(|(at, word)| {
            let rest = word.strip_prefix(option)?;
            if rest.is_empty() { line.get(at + 1).map(String::as_str) } else { rest.strip_prefix('=') }
        })
    };
    let defaults = context.configuration.session_defaults()?;
    let attaches = match given("--upstream") {
        Some(upstream) => !["launch", "auto"].contains(&upstream),
        None => given("--cdp").is_some() || defaults.address().is_some(),
    };
    if attaches {
        return Ok(None);
    }
    let wanted = given("--browser").or(defaults.browser.as_deref());
    Ok(Some(finder::find(wanted, context.environment.path.as_deref())?.path))
}

/// Refuses a command line of a project's file that is not this program as an MCP server: a repository must
/// not choose a program to run.
fn check_own(line: &[String], file: &Path, path: Option<&OsStr>) -> Result<(), Failure> {
    let (program, arguments) = line.split_first().ok_or_else(|| broken("it has no command"))?;
    let own = std::env::current_exe().and_then(|own| own.canonicalize()).ok();
    let found = if program.contains('/') { Some(program.into()) } else { find_program(program, path) };
    let is_own = own.is_some() && found.and_then(|found| found.canonicalize().ok()) == own;
    // An option or nothing must follow `mcp`, not another command.
    let is_server = arguments.first().is_some_and(|word| word == "mcp")
        && arguments.get(1).is_none_or(|word| word.starts_with("--"));
    if is_own && is_server {
        return Ok(());
    }
    let message = format!("{} starts `{}`, which is not this program.", file.display(), line.join(" "));
    Err(Failure::new(ErrorCode::PolicyDenied, message).with_remedy(
        "A project's file does not choose what is run. Look at the entry, and write it anew with `tabwire mcp install \
         --project`.",
    ))
}

/// A server under test.
struct ServerProcess {
    process: Child,
    lines: Receiver<String>,
    next: u64,
}

impl ServerProcess {
    fn start(line: &[String]) -> Result<Self, Failure> {
        let (program, arguments) = line.split_first().ok_or_else(|| broken("it has no command"))?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut process = command.spawn().map_err(|error| broken(&format!("`{program}`: {error}")))?;
        let stdout = process.stdout.take().ok_or_else(|| broken("its output cannot be read"))?;
        let (sender, lines) = channel();
        let reading = std::thread::Builder::new().spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        reading.map_err(|error| broken(&error.to_string()))?;
        Ok(Self { process, lines, next: 0 })
    }

    fn write(&mut self, message: &Value) -> Result<(), Failure> {
        let stdin = self.process.stdin.as_mut().ok_or_else(|| broken("its input is closed"))?;
        let written = stdin.write_all(format!("{message}\n").as_bytes()).and_then(|()| stdin.flush());
        written.map_err(|error| broken(&error.to_string()))
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<Value, Failure> {
        self.next += 1;
        self.write(&json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params}))?;
        loop {
            let line = self.lines.recv_timeout(HANDSHAKE_TIMEOUT);
            let line = line.map_err(|_| broken(&format!("it does not respond to `{method}`")))?;
            let response: Value = serde_json::from_str(&line)
                .map_err(|_| broken(&format!("it prints an invalid message: {line}")))?;
            if response["id"] == self.next {
                return response.get("result").cloned().ok_or_else(|| broken(&response["error"].to_string()));
            }
        }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        // It exits at the end of its input.
        let _ = self.process.wait();
    }
}

fn broken(what: &str) -> Failure {
    Failure::new(
        ErrorCode::NotActionable,
        format!("The MCP server does not work as a client would run it: {what}."),
    )
    .with_remedy(
        "Run `tabwire doctor` to see what else is wrong, and `tabwire mcp install` to rewrite the entry.",
    )
}
