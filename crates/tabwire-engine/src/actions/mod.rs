//! The list of actions. Each action has its own file.

mod back;
mod capture;
mod cdp;
mod check;
mod click;
mod clipboard;
mod console;
mod cookies;
mod dblclick;
mod dialog;
mod diff;
mod download_file;
mod downloads;
mod drag;
pub(crate) mod emulate;
mod errors;
mod eval;
mod extract_links;
mod fill;
mod fill_form;
mod find;
mod focus;
mod forward;
mod frame;
mod get;
mod get_html;
mod get_text;
mod har;
mod headers;
mod hover;
mod http_auth;
mod init_script;
mod inspect;
mod login;
mod mouse;
mod navigate;
mod offline;
mod pdf;
mod press;
mod read_as_markdown;
mod record;
mod reload;
mod request;
mod requests;
mod route;
mod screenshot;
pub(crate) mod script;
mod scroll;
mod select;
mod select_text;
mod snapshot;
mod state;
mod storage;
mod tab_close;
mod tab_new;
mod tab_select;
pub(crate) mod tabs_list;
mod tap;
mod throttle;
mod trace;
mod type_keys;
mod uncheck;
mod unroute;
mod upload;
mod vitals;
mod wait_for;

pub(crate) use click::click_element;
pub(crate) use fill::fill_element;
pub(crate) use fill_form::submit_form;
pub(crate) use select::choose;

use crate::action::Definition;

/// Every action, in the order of the help. A static, not a constant: a constant is compiled again in every crate that
/// uses it.
pub static ALL: &[Definition] = &[
    Definition::of::<snapshot::Snapshot>(),
    Definition::of::<find::Find>(),
    Definition::of::<click::Click>(),
    Definition::of::<dblclick::Dblclick>(),
    Definition::of::<hover::Hover>(),
    Definition::of::<tap::Tap>(),
    Definition::of::<drag::Drag>(),
    Definition::of::<fill::Fill>(),
    Definition::of::<fill_form::FillForm>(),
    Definition::of::<type_keys::Type>(),
    Definition::of::<press::Press>(),
    Definition::of::<select::Select>(),
    Definition::of::<select_text::SelectText>(),
    Definition::of::<check::Check>(),
    Definition::of::<uncheck::Uncheck>(),
    Definition::of::<focus::Focus>(),
    Definition::of::<scroll::Scroll>(),
    Definition::of::<mouse::Mouse>(),
    Definition::of::<clipboard::Clipboard>(),
    Definition::of::<dialog::Dialog>(),
    Definition::of::<upload::Upload>(),
    Definition::of::<download_file::DownloadFile>(),
    Definition::of::<downloads::Downloads>(),
    Definition::of::<navigate::Navigate>(),
    Definition::of::<back::Back>(),
    Definition::of::<forward::Forward>(),
    Definition::of::<reload::Reload>(),
    Definition::of::<wait_for::WaitFor>(),
    Definition::of::<tabs_list::TabsList>(),
    Definition::of::<tab_new::TabNew>(),
    Definition::of::<tab_select::TabSelect>(),
    Definition::of::<tab_close::TabClose>(),
    Definition::of::<frame::ChooseFrame>(),
    Definition::of::<get_text::GetText>(),
    Definition::of::<get_html::GetHtml>(),
    Definition::of::<read_as_markdown::ReadAsMarkdown>(),
    Definition::of::<extract_links::ExtractLinks>(),
    Definition::of::<screenshot::Screenshot>(),
    Definition::of::<pdf::Pdf>(),
    Definition::of::<get::Get>(),
    Definition::of::<inspect::Inspect>(),
    Definition::of::<console::Console>(),
    Definition::of::<errors::Errors>(),
    Definition::of::<eval::Eval>(),
    Definition::of::<cdp::Cdp>(),
    Definition::of::<vitals::Vitals>(),
    Definition::of::<trace::Trace>(),
    Definition::of::<capture::Capture>(),
    Definition::of::<record::Record>(),
    Definition::of::<diff::Diff>(),
    Definition::of::<cookies::Cookies>(),
    Definition::of::<storage::Storage>(),
    Definition::of::<requests::Requests>(),
    Definition::of::<request::Request>(),
    Definition::of::<route::Route>(),
    Definition::of::<unroute::Unroute>(),
    Definition::of::<har::Har>(),
    Definition::of::<offline::Offline>(),
    Definition::of::<throttle::Throttle>(),
    Definition::of::<headers::Headers>(),
    Definition::of::<http_auth::HttpAuth>(),
    Definition::of::<login::Login>(),
    Definition::of::<state::State>(),
    Definition::of::<emulate::Emulate>(),
    Definition::of::<init_script::InitScript>(),
];

/// Reads `12,34`.
pub(crate) fn parse_position(text: &str) -> Result<(f64, f64), String> {
    let parse = || {
        let (x, y) = text.split_once(',')?;
        let pair: (f64, f64) = (x.trim().parse().ok()?, y.trim().parse().ok()?);
        (pair.0.is_finite() && pair.1.is_finite()).then_some(pair)
    };
    parse().ok_or_else(|| "expected two numbers, e.g. 12,34".to_owned())
}
