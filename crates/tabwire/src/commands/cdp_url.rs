//! `cdp-url`: prints a URL for CDP clients.

use std::time::Duration;

use serde_json::json;
use tabwire_api::Failure;
use tabwire_api::api::{CdpUrlRequest, CdpUrlResponse, SessionOptions};

use super::Context;
use super::action::{unreadable, warn_of_open};
use crate::output::spinner::spin;
use tabwire_client::request_daemon;

pub(super) fn run(
    context: &Context<'_>,
    http: bool,
    share_all: bool,
    options: SessionOptions,
    restart: bool,
) -> Result<(), Failure> {
    let request = CdpUrlRequest {
        session: context.session.clone(),
        project: context.project_key(),
        options,
        defaults: context.configuration.session_defaults()?,
        restart,
        share_all,
    };
    warn_of_open(context, &request.options, &request.defaults);
    let timeout = context.timeout.unwrap_or(Duration::from_secs(30));
    let response = spin("starting the browser", context.printer.shows_progress(), || {
        request_daemon(&context.socket(), "POST", "/v1/cdp-url", Some(&json!(request)), timeout)
    })?;
    let response: CdpUrlResponse = serde_json::from_value(response).map_err(|error| unreadable(&error))?;
    for notice in &response.notices {
        context.printer.notice(notice);
    }
    context
        .printer
        .result(&json!(response), || if http { response.http.clone() } else { response.websocket.clone() });
    Ok(())
}
