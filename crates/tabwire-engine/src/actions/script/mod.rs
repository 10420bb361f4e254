//! Actions that only scripts call. They share policy, audit log and masking with all others, but are neither commands nor
//! MCP tools.

mod code;
mod contexts;
mod elements;
mod files;
mod frame_goto;
mod network;

use schemars::JsonSchema;
use serde::Serialize;

use crate::action::{Definition, Render};

/// The result of an action that returns nothing.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Nothing {}

impl Render for Nothing {
    fn render(&self) -> String {
        String::new()
    }
}

/// Every action that only scripts call.
pub static SCRIPT_ACTIONS: &[Definition] = &[
    Definition::of::<elements::query::Query>(),
    Definition::of::<elements::aria_tree::AriaTree>(),
    Definition::of::<elements::expect::Expect>(),
    Definition::of::<code::evaluate::Evaluate>(),
    Definition::of::<files::file::FileRead>(),
    Definition::of::<files::file::FileWrite>(),
    Definition::of::<elements::input::Input>(),
    Definition::of::<elements::ready::Ready>(),
    Definition::of::<elements::pick_options::PickOptions>(),
    Definition::of::<network::request_facts::RequestFacts>(),
    Definition::of::<network::route_decision::RouteHandlers>(),
    Definition::of::<network::route_decision::RouteDecision>(),
    Definition::of::<frame_goto::FrameGoto>(),
    Definition::of::<frame_goto::FrameElement>(),
    Definition::of::<network::network_idle::NetworkIdle>(),
    Definition::of::<code::binding::ExposeBinding>(),
    Definition::of::<code::binding::BindingResult>(),
    Definition::of::<files::script_download::ScriptDownload>(),
    Definition::of::<files::script_screenshot::ScriptScreenshot>(),
    Definition::of::<files::set_files::SetFiles>(),
    Definition::of::<code::kept_console::KeptConsole>(),
    Definition::of::<network::http_fetch::HttpFetch>(),
    Definition::of::<code::cdp_command::CdpCommand>(),
    Definition::of::<contexts::ContextNew>(),
    Definition::of::<contexts::ContextPage>(),
    Definition::of::<contexts::ContextClose>(),
];
