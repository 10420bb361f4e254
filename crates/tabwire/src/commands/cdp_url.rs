//! `cdp-url`: prints a URL for CDP clients.

use std::time::Duration;

use serde_json::json;
use tabwire_api::Failure;
use tabwire_api::api::{CdpPortRequest, CdpUrlRequest, CdpUrlResponse};

use super::Context;
use super::action::{unreadable, warn_of_open};
use crate::cli::cdp_url_flags::CdpUrlFlags;
use crate::config::Key;
use crate::output::spinner::spin;
use tabwire_client::request_daemon;

pub(super) fn run(context: &Context<'_>, flags: CdpUrlFlags) -> Result<(), Failure> {
    let CdpUrlFlags { http, join, share_all, port, close, experimental, options } = flags;
    let restart = options.restart;
    let allow_guarded = context.configuration.switch(Key::GuardedPorts).is_some_and(|allowed| allowed.value);
    let port = port.map(|number| match close {
        true => CdpPortRequest::Close,
        false => CdpPortRequest::Open { number, allow_guarded },
    });
    let request = CdpUrlRequest {
        session: context.session.clone(),
        project: context.project_key(),
        options: options.into_options()?,
        defaults: context.session_defaults()?,
        restart,
        share_all,
        join,
        port,
        experimental,
    };
    if !close {
        warn_of_open(context, &request.options, &request.defaults);
    }
    let timeout = context.timeout.unwrap_or(Duration::from_secs(30));
    let response = spin("starting the browser", context.printer.shows_progress(), || {
        request_daemon(&context.socket(), "POST", "/v1/cdp-url", Some(&json!(request)), timeout)
    })?;
    let response: CdpUrlResponse = serde_json::from_value(response).map_err(|error| unreadable(&error))?;
    for notice in &response.notices {
        context.printer.notice(notice);
    }
    if close {
        context.printer.result(&json!({"closed": true}), String::new);
        return Ok(());
    }
    let prints_http = http || response.open_port.is_some();
    context
        .printer
        .result(&response, || if prints_http { response.http.clone() } else { response.websocket.clone() });
    Ok(())
}
