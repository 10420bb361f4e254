//! `tabwire mcp` made small: once it is known what a client wants, the process starts over as one that only copies.
//!
//! Reading a command line touches far more of the program than copying does, and a client stays for hours. What was
//! read is handed over in the environment, which is this user's alone. It starts over as well when the daemon has gone:
//! then the program that is there now, perhaps a newer one, carries the client over to the next daemon.

use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;

use serde_json::{Value, json};
use tabwire_wire::{ErrorCode, Failure};

use super::client_end::ClientEnd;
use super::handed_over::HandedOver;
use super::lines::Lines;
use super::pending_calls::{FirstWords, PendingCalls};
use super::shim::{self, End, unserved};
use super::stream::{self, McpStream};
use crate::exit;
use crate::own_program::own_program;
use crate::printer::{OutputForm, Printer};

/// The one argument of the process that copies.
const RELAY: &str = "relay";

/// Where it finds what was handed over.
pub(crate) const HANDED_OVER: &str = "TABWIRE_RELAY";

/// Tells a client that the list of tools it knows is another now.
const LIST_CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

/// Whether this process is to copy, and nothing else. Seen before anything is parsed.
pub(crate) fn is_relay() -> bool {
    let mut arguments = std::env::args_os().skip(1);
    arguments.next().is_some_and(|first| first == RELAY)
        && arguments.next().is_none()
        && std::env::var_os(HANDED_OVER).is_some()
}

/// Starts this process over as one that copies; gives the reason when that cannot be.
pub(super) fn become_relay(socket: &Path, opening: &str) -> Failure {
    start_over(&HandedOver::new(socket, opening))
}

fn start_over(handed_over: &HandedOver) -> Failure {
    match own_program() {
        Ok(program) => {
            unserved(Command::new(program).arg(RELAY).env(HANDED_OVER, handed_over.write()).exec())
        }
        Err(error) => unserved(error),
    }
}

/// Connects and copies until the client is gone.
pub(crate) fn relay() -> ExitCode {
    let handed_over = HandedOver::read(&std::env::var_os(HANDED_OVER).unwrap_or_default());
    match serve(handed_over) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => exit::failed(&failure, &Printer::new(OutputForm::Text, false)),
    }
}

/// Serves a client until it is gone, or until the daemon is; then it starts over with the client's next word.
fn serve(mut handed_over: HandedOver) -> Result<(), Failure> {
    let client = ClientEnd::watch();
    let pending = Arc::new(PendingCalls::after(handed_over.first_words.clone()));
    let mut lines = Lines::default();
    let Some(stream) = open(&handed_over, &client, &pending, &mut lines)? else { return Ok(()) };
    let list_mark = list_mark(&stream);
    tell_of_changes(&handed_over, &list_mark);
    if shim::run(&stream.socket, &client, &pending, &mut lines)? == End::Client {
        return Ok(());
    }
    drop(stream);
    let first_words = pending.to_repeat();
    shim::tell_last(&pending, &daemon_ended());
    let Some(first_words) = first_words.filter(|_| !lines.is_within_long_line()) else {
        return Err(not_carried_over());
    };
    if !lines.is_between() {
        // What it was saying is heard by nobody, but answered.
        if !shim::read_line(&client, &pending, &mut lines)? {
            return Ok(());
        }
        shim::tell_last(&pending, &daemon_ended());
    }
    if !client.wait_for_words().map_err(unserved)? {
        return Ok(());
    }
    handed_over.first_words = first_words;
    handed_over.list_mark = list_mark;
    Err(start_over(&handed_over))
}

/// Opens a stream. A client that was served before is told why there is none, with each thing it asks.
fn open(
    handed_over: &HandedOver,
    client: &ClientEnd,
    pending: &PendingCalls,
    lines: &mut Lines,
) -> Result<Option<McpStream>, Failure> {
    if !handed_over.is_resumed() {
        return stream::open(&handed_over.socket, &handed_over.opening).map(Some);
    }
    let opening = resumed(&handed_over.opening);
    loop {
        let opened = stream::open(&handed_over.socket, &opening).and_then(|stream| {
            repeat(&stream.socket, &handed_over.first_words)?;
            Ok(stream)
        });
        match opened {
            Ok(stream) => return Ok(Some(stream)),
            Err(failure) => {
                if !shim::read_line(client, pending, lines)? {
                    return Ok(None);
                }
                shim::tell_last(pending, &failure);
                if !client.wait_for_words().map_err(unserved)? {
                    return Ok(None);
                }
            }
        }
    }
}

/// The connection's first line, for a client that was served before.
fn resumed(opening: &str) -> String {
    let Ok(mut value) = serde_json::from_str::<Value>(opening) else { return opening.to_owned() };
    if let Some(members) = value.as_object_mut() {
        members.insert("resumed".to_owned(), json!(true));
    }
    value.to_string()
}

/// Greets a daemon as the client has greeted the one before; the client has had its answer.
fn repeat(mut socket: &UnixStream, words: &FirstWords) -> Result<(), Failure> {
    let broken = |error: io::Error| stream::no_answer(&error);
    if words.initialize.is_empty() {
        return Ok(());
    }
    socket.write_all(format!("{}\n", words.initialize).as_bytes()).map_err(broken)?;
    let answer = stream::read_line(socket).map_err(broken)?;
    let answer: Value =
        serde_json::from_str(&answer).map_err(|_| broken(io::ErrorKind::InvalidData.into()))?;
    if answer.get("result").is_none() {
        let why = answer.pointer("/error/message").and_then(Value::as_str).unwrap_or("it says nothing");
        let message = format!("The daemon does not take the client over: {why}.");
        return Err(Failure::new(ErrorCode::Internal, message)
            .with_hint("Have the client connect again; `tabwire daemon logs` may say why."));
    }
    if words.initialized.is_empty() {
        return Ok(());
    }
    socket.write_all(format!("{}\n", words.initialized).as_bytes()).map_err(broken)
}

/// What stands for the list of tools that a daemon offers.
fn list_mark(stream: &McpStream) -> String {
    stream.greeting.get("tools").and_then(Value::as_str).unwrap_or("unknown").to_owned()
}

/// Tells a client whose daemon was replaced that there are other tools, if there are.
fn tell_of_changes(handed_over: &HandedOver, list_mark: &str) {
    let has_greeted = !handed_over.first_words.initialize.is_empty();
    if handed_over.is_resumed() && has_greeted && handed_over.list_mark != list_mark {
        let mut stdout = io::stdout().lock();
        // A client that has gone is noticed by whoever copies next.
        let _ = writeln!(stdout, "{LIST_CHANGED}").and_then(|()| stdout.flush());
    }
}

/// What a call is answered with whose daemon has gone.
fn daemon_ended() -> Failure {
    Failure::new(
        ErrorCode::OutcomeUnknown,
        "The daemon ended during the call; it may or may not have been done.",
    )
    .with_hint("The next call starts a new one. Look at the page with `snapshot` before doing it again.")
}

fn not_carried_over() -> Failure {
    Failure::new(ErrorCode::BrowserGone, "The daemon ended, and the MCP connection with it.")
        .with_hint("Have the client connect again; `tabwire daemon logs` may say why.")
}
