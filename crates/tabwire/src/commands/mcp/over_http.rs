//! `mcp --http`: keeps an MCP endpoint over HTTP open in the daemon, and prints its URL.

use std::io::Read;

use serde_json::{Value, json};
use tabwire_api::Failure;

use super::super::Context;
use super::relay::copy::connection_failure;
use super::relay::stream;

pub(super) fn run(context: &Context<'_>, opening: &str) -> Result<(), Failure> {
    let mut stream = stream::open(&context.environment.paths.socket(), opening)?;
    let address = stream.greeting.get("address").and_then(Value::as_str).unwrap_or_default().to_owned();
    context.printer.result(&json!({"address": address}), || address.clone());
    context.printer.notice("The URL contains a secret that gives access to the tools. Ctrl-C closes it.");
    // The daemon sends nothing on this stream; its end is the daemon's end.
    stream.socket.set_read_timeout(None).map_err(connection_failure)?;
    let mut nothing = [0_u8; 64];
    while let Ok(1..) = stream.socket.read(&mut nothing) {}
    context.printer.notice("The daemon has stopped.");
    Ok(())
}
