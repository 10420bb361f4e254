//! The relay of `tabwire mcp`: after parsing, the process executes itself again as one that only copies, which needs far
//! less memory for the hours that a client stays. The environment carries its state.
//!
//! It executes itself again when the daemon has gone, so that an updated program moves the client to the next daemon.

pub(super) mod client_input;
pub(super) mod copy;
mod handover;
pub(super) mod lines;
pub(super) mod pending_calls;
pub(super) mod stream;

use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;

use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure, Remedy, Step};

use self::client_input::ClientInput;
use self::copy::{End, connection_failure};
use self::handover::Handover;
use self::lines::Lines;
use self::pending_calls::{ClientHandshake, PendingCalls};
use self::stream::McpStream;
use crate::output::exit;
use crate::output::printer::{OutputForm, Printer};
use tabwire_client::{RELAY_VARIABLE, own_program};

/// The argument of the relay process.
const RELAY: &str = "relay";

const LIST_CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

/// Whether this process is the relay. Called before any parsing.
pub(crate) fn is_relay() -> bool {
    let mut arguments = std::env::args_os().skip(1);
    arguments.next().is_some_and(|first| first == RELAY)
        && arguments.next().is_none()
        && std::env::var_os(RELAY_VARIABLE).is_some()
}

/// Executes this program again as the relay; returns only on failure.
pub(crate) fn become_relay(socket: &Path, opening: &str) -> Failure {
    start_over(&Handover::new(socket, opening))
}

fn start_over(handover: &Handover) -> Failure {
    match own_program() {
        Ok(program) => {
            connection_failure(Command::new(program).arg(RELAY).env(RELAY_VARIABLE, handover.write()).exec())
        }
        Err(error) => connection_failure(error),
    }
}

/// Runs the relay until the client is gone.
pub(crate) fn relay() -> ExitCode {
    let handover = Handover::read(&std::env::var_os(RELAY_VARIABLE).unwrap_or_default());
    match serve(handover) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => exit::failed(&failure, &Printer::new(OutputForm::Text, false)),
    }
}

/// Serves a client until it is gone. When the daemon is gone, executes the program again at the client's next message.
fn serve(mut handover: Handover) -> Result<(), Failure> {
    let client = ClientInput::watch();
    let pending = Arc::new(PendingCalls::after(handover.handshake.clone()));
    let mut lines = Lines::default();
    let Some(stream) = open(&handover, &client, &pending, &mut lines)? else { return Ok(()) };
    let tools_digest = tools_digest(&stream);
    notify_tool_change(&handover, &tools_digest);
    if copy::run(&stream.socket, &client, &pending, &mut lines)? == End::Client {
        return Ok(());
    }
    drop(stream);
    let handshake = pending.handshake_to_replay();
    copy::fail_pending(&pending, &daemon_ended());
    let Some(handshake) = handshake.filter(|_| !lines.is_within_long_line()) else {
        return Err(not_carried_over());
    };
    if !lines.is_between() {
        // The rest of the line reaches no daemon; its request gets a failure response.
        if !copy::read_line(&client, &pending, &mut lines)? {
            return Ok(());
        }
        copy::fail_pending(&pending, &daemon_ended());
    }
    if !client.wait_for_input().map_err(connection_failure)? {
        return Ok(());
    }
    handover.handshake = handshake;
    handover.tools_digest = tools_digest;
    Err(start_over(&handover))
}

/// Opens a stream. Each request of a client that was served before gets the failure until there is one.
fn open(
    handover: &Handover,
    client: &ClientInput,
    pending: &PendingCalls,
    lines: &mut Lines,
) -> Result<Option<McpStream>, Failure> {
    if !handover.is_resumed() {
        return stream::open(&handover.socket, &handover.opening).map(Some);
    }
    let opening = resumed(&handover.opening);
    loop {
        let opened = stream::open(&handover.socket, &opening).and_then(|stream| {
            replay_handshake(&stream.socket, &handover.handshake)?;
            Ok(stream)
        });
        match opened {
            Ok(stream) => return Ok(Some(stream)),
            Err(failure) => {
                if !copy::read_line(client, pending, lines)? {
                    return Ok(None);
                }
                copy::fail_pending(pending, &failure);
                if !client.wait_for_input().map_err(connection_failure)? {
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

/// Replays the client's handshake; the client has had its response.
fn replay_handshake(mut socket: &UnixStream, words: &ClientHandshake) -> Result<(), Failure> {
    let broken = |error: io::Error| stream::no_connection(&error);
    if words.initialize.is_empty() {
        return Ok(());
    }
    socket.write_all(format!("{}\n", words.initialize).as_bytes()).map_err(broken)?;
    let response = stream::read_line(socket).map_err(broken)?;
    let response: Value =
        serde_json::from_str(&response).map_err(|_| broken(io::ErrorKind::InvalidData.into()))?;
    if response.get("result").is_none() {
        let why = response.pointer("/error/message").and_then(Value::as_str).unwrap_or("no reason given");
        let message = format!("The new daemon refuses the client: {why}.");
        return Err(Failure::new(ErrorCode::Internal, message).with_remedy(Remedy::new(
            "Reconnect the client; {} may show why.",
            [Step::command("tabwire daemon logs")],
        )));
    }
    if words.initialized.is_empty() {
        return Ok(());
    }
    socket.write_all(format!("{}\n", words.initialized).as_bytes()).map_err(broken)
}

/// The digest of the daemon's tool list.
fn tools_digest(stream: &McpStream) -> String {
    stream.greeting.get("tools").and_then(Value::as_str).unwrap_or("unknown").to_owned()
}

/// Notifies a client whose new daemon has other tools.
fn notify_tool_change(handover: &Handover, tools_digest: &str) {
    let has_greeted = !handover.handshake.initialize.is_empty();
    if handover.is_resumed() && has_greeted && handover.tools_digest != tools_digest {
        let mut stdout = io::stdout().lock();
        // The copy loop notices a client that is gone.
        let _ = writeln!(stdout, "{LIST_CHANGED}").and_then(|()| stdout.flush());
    }
}

/// The failure of calls whose daemon has gone.
fn daemon_ended() -> Failure {
    Failure::new(
        ErrorCode::OutcomeUnknown,
        "The daemon exited during the call; it may or may not have been done.",
    )
    .with_remedy(Remedy::new(
        "The next call starts a new daemon. Run {} before you repeat the call.",
        [Step::action("snapshot")],
    ))
}

fn not_carried_over() -> Failure {
    Failure::new(ErrorCode::BrowserGone, "The daemon exited, and the MCP connection with it.").with_remedy(
        Remedy::new("Reconnect the client; {} may show why.", [Step::command("tabwire daemon logs")]),
    )
}
