//! Actions that only scripts call. They share policy, audit log and masking with all others, but are neither commands nor
//! MCP tools.

mod aria_tree;
mod binding;
mod cdp_command;
mod contexts;
mod evaluate;
mod expect;
mod file;
mod frame_goto;
mod http_fetch;
mod input;
mod kept_console;
mod network_idle;
mod pick_options;
mod query;
mod ready;
mod request_facts;
mod route_answer;
mod script_download;
mod script_screenshot;
mod set_files;

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
    Definition::of::<query::Query>(),
    Definition::of::<aria_tree::AriaTree>(),
    Definition::of::<expect::Expect>(),
    Definition::of::<evaluate::Evaluate>(),
    Definition::of::<file::FileRead>(),
    Definition::of::<file::FileWrite>(),
    Definition::of::<input::Input>(),
    Definition::of::<ready::Ready>(),
    Definition::of::<pick_options::PickOptions>(),
    Definition::of::<request_facts::RequestFacts>(),
    Definition::of::<route_answer::RouteHandlers>(),
    Definition::of::<route_answer::RouteAnswer>(),
    Definition::of::<frame_goto::FrameGoto>(),
    Definition::of::<frame_goto::FrameElement>(),
    Definition::of::<network_idle::NetworkIdle>(),
    Definition::of::<binding::ExposeBinding>(),
    Definition::of::<binding::BindingAnswer>(),
    Definition::of::<script_download::ScriptDownload>(),
    Definition::of::<script_screenshot::ScriptScreenshot>(),
    Definition::of::<set_files::SetFiles>(),
    Definition::of::<kept_console::KeptConsole>(),
    Definition::of::<http_fetch::HttpFetch>(),
    Definition::of::<cdp_command::CdpCommand>(),
    Definition::of::<contexts::ContextNew>(),
    Definition::of::<contexts::ContextPage>(),
    Definition::of::<contexts::ContextClose>(),
];
