//! `cdp-url`: prints an address for CDP clients.

use std::time::Duration;

use serde_json::json;
use tabwire_api::Failure;
use tabwire_api::api::{CdpUrlAnswer, CdpUrlRequest, SessionOptions};

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
    let answer = spin("starting the browser", context.printer.shows_progress(), || {
        request_daemon(&context.socket(), "POST", "/v1/cdp-url", Some(&json!(request)), timeout)
    })?;
    let answer: CdpUrlAnswer = serde_json::from_value(answer).map_err(|error| unreadable(&error))?;
    for notice in &answer.notices {
        context.printer.notice(notice);
    }
    context
        .printer
        .result(&json!(answer), || if http { answer.http.clone() } else { answer.websocket.clone() });
    Ok(())
}
