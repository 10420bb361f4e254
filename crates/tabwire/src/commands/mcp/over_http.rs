//! `mcp --http`: keeps the daemon's door for MCP over HTTP open, and says where it is.

use std::io::Read;

use serde_json::{Value, json};
use tabwire_wire::Failure;

use super::super::Context;
use super::shim::unserved;
use super::stream;

pub(super) fn run(context: &Context<'_>, opening: &str) -> Result<(), Failure> {
    let mut stream = stream::open(&context.environment.paths.socket(), opening)?;
    let address = stream.greeting.get("address").and_then(Value::as_str).unwrap_or_default().to_owned();
    context.printer.answer(&json!({"address": address}), || address.clone());
    context.printer.notice("The address is a secret: who has it uses the tools. Ctrl-C closes it.");
    // Nothing comes on this stream; its end is the daemon's, whenever that is.
    stream.socket.set_read_timeout(None).map_err(unserved)?;
    let mut nothing = [0_u8; 64];
    while let Ok(1..) = stream.socket.read(&mut nothing) {}
    context.printer.notice("The daemon has ended; nothing is served any more.");
    Ok(())
}
