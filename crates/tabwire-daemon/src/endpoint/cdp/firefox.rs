//! CDP clients of a Firefox: refused, except in open sessions on request. The emulated browser is made for Tabwire's own
//! engine; the documentation lists what was tried with other clients.

use http::Request;
use hyper::body::Incoming;
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_policy::Profile;

use super::view::View;
use crate::http::handler::query_value;
use crate::session::live::LiveSession;

/// The part of a URL's query that requests it.
const QUERY: &str = "experimental=firefox";

/// Fails if a session's browser is a Firefox that the client may not use.
pub(super) fn check(live: &LiveSession, is_experimental: bool) -> Result<(), Failure> {
    let unsupported = |message: &str, remedy: Remedy| {
        Err(Failure::new(ErrorCode::UnsupportedHere, message).with_remedy(remedy))
    };
    if !live.browser.is_firefox() {
        return Ok(());
    }
    let chromium = Step::command("tabwire open --browser chromium URL");
    // The rules for CDP clients were written for what Chromium reports: Firefox reports no remote addresses and no workers.
    if live.options.policy() == Profile::Guarded {
        return unsupported(
            "Firefox speaks WebDriver BiDi: clients of the DevTools protocol (Playwright, Puppeteer) cannot use a guarded session of it.",
            Remedy::new(
                "Use Tabwire's own commands, MCP tools or scripts, or open a session with {}.",
                [chromium],
            ),
        );
    }
    if is_experimental {
        return Ok(());
    }
    unsupported(
        "Firefox speaks WebDriver BiDi: clients of the DevTools protocol (Playwright) use this session only in part, and only on request.",
        Remedy::new(
            "Use Tabwire's own commands, MCP tools or scripts, open a session with {}, or try it with {}.",
            [chromium, Step::command("tabwire cdp-url --experimental")],
        ),
    )
}

/// Whether the URL requests it.
pub(super) fn is_requested(request: &Request<Incoming>) -> bool {
    query_value(request, "experimental") == Some("firefox")
}

/// The query of a client's URL.
pub(super) fn query(live: &LiveSession, view: View) -> String {
    match (live.browser.is_firefox(), view.query()) {
        (false, query) => query.to_owned(),
        (true, "") => format!("?{QUERY}"),
        (true, query) => format!("{query}&{QUERY}"),
    }
}
