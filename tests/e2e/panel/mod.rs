//! The side panel of the extension in a real browser, with a fake agent.

mod appearance;
mod real;
mod states;
mod tabs;
mod turns;

use serde_json::{Value, json};

use crate::chat::{send, world_with};
use crate::own_browser::driving::{await_connected, own_browser};
use crate::support::chromium::Chromium;
use crate::support::extension_pages::ExtensionView;
use crate::support::wait::find_eventually;
use crate::support::world::World;

/// A world with a fake agent, a paired browser, and its side panel.
pub(crate) fn panel_with(program: &str, faults: &str) -> (World, Chromium, ExtensionView) {
    let world = world_with(program, faults);
    let browser = own_browser(&world);
    await_connected(&world);
    let mut panel = ExtensionView::panel(&browser);
    panel.shows("connected");
    (world, browser, panel)
}

/// Types a message and sends it with Enter.
pub(crate) fn say(panel: &mut ExtensionView, text: &str) {
    panel.becomes("the field takes text", "document.querySelector('textarea')?.disabled === false");
    panel.type_into("textarea", text);
    panel.key("Enter");
}

/// The latest chat, as the daemon has it.
pub(crate) fn latest_chat(world: &World) -> Value {
    let found = find_eventually(20, || {
        let chats = send(world, "GET", "/v1/chats", &json!(null)).expect("the chats");
        let id = chats["chats"][0]["id"].as_str()?.to_owned();
        send(world, "GET", &format!("/v1/chats/{id}"), &json!(null)).ok()
    });
    found.expect("a chat")
}

/// The items of a kind in the latest chat.
pub(crate) fn items(world: &World, kind: &str) -> Vec<Value> {
    let items = latest_chat(world)["items"].as_array().cloned().unwrap_or_default();
    items.into_iter().filter(|item| item["item"] == kind).collect()
}
