//! The dashboard: a page for the user in any browser of this machine.
//!
//! Its files are public and tell nothing. What it shows comes over one websocket, whose first message is a key that only
//! `tabwire dashboard` can give. The page can answer approvals and revoke grants, so no session may open it: the policy
//! refuses our own origin.

mod chats;
mod files;
pub(crate) mod keys;
mod line;
mod live;
mod memory;
mod redirect;
mod request;
mod wire;

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use http::{HeaderValue, Request, StatusCode, header};
use hyper::body::Incoming;
use serde::Deserialize;
use serde_json::json;
use tabwire_api::{ErrorCode, Failure, Remedy, SessionKey, Step};

pub use self::wire::dashboard_schema;
use crate::daemon::Daemon;
use crate::http::gate::Transport;
use crate::http::server::{HttpResponse, json as json_response, page};

/// The body of `POST /v1/dashboard`.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct UrlRequest {
    /// The session whose live view is opened, as its key names it.
    session: Option<String>,
    /// Whether to write a file that leads to the URL, for an opener whose arguments others can read.
    file: bool,
}

/// The body of `POST /dashboard/enter`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EnterRequest {
    ticket: String,
}

impl Daemon {
    /// `POST /v1/dashboard`: a URL that opens the dashboard once.
    pub(crate) async fn dashboard_url(
        self: &Arc<Self>,
        request: &UrlRequest,
        transport: Transport,
    ) -> Result<HttpResponse, Failure> {
        if transport != Transport::Socket {
            let message = "The dashboard cannot be opened over the port.";
            return Err(Failure::new(ErrorCode::PolicyDenied, message).with_remedy(Remedy::new(
                "Run {} in a terminal. It uses the daemon's socket.",
                [Step::command("tabwire dashboard")],
            )));
        }
        let ticket = self.dashboards.make_ticket(Instant::now())?;
        let mut url = format!("http://127.0.0.1:{}/dashboard#ticket={}", self.port, ticket.expose());
        if let Some(session) = &request.session {
            let key = SessionKey::find(session).ok_or_else(|| {
                Failure::new(ErrorCode::BadArgs, format!("`{session}` is not a valid session name."))
            })?;
            url = format!("{url}&session={key}");
        }
        if !request.file {
            return Ok(json_response(StatusCode::OK, &json!({"url": url})));
        }
        let file = self.write_redirect(&ticket, &url).await?;
        Ok(json_response(StatusCode::OK, &json!({"file": file})))
    }

    /// `GET /dashboard` and its files.
    pub(crate) fn dashboard_file(&self, path: &str) -> HttpResponse {
        let Some((kind, body)) = files::find(path) else {
            return page(
                StatusCode::NOT_FOUND,
                "text/plain; charset=utf-8",
                "default-src 'none'",
                Bytes::new(),
            );
        };
        let policy = format!(
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; media-src blob:; \
             connect-src 'self' ws://127.0.0.1:{}; frame-ancestors 'none'; form-action 'none'; base-uri 'none'; \
             require-trusted-types-for 'script'; trusted-types 'none'",
            self.port
        );
        let mut response = page(StatusCode::OK, kind, "default-src 'none'", body);
        let headers = response.headers_mut();
        // The policy of `page` stays if this one is not a valid header, which it always is.
        if let Ok(policy) = HeaderValue::from_str(&policy) {
            headers.insert(header::CONTENT_SECURITY_POLICY, policy);
        }
        headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        headers.insert("cross-origin-opener-policy", HeaderValue::from_static("same-origin"));
        headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
        response
    }

    /// `POST /dashboard/enter`: a key for a ticket.
    pub(crate) fn dashboard_enter(&self, request: &EnterRequest) -> Result<HttpResponse, Failure> {
        let key = self.dashboards.enter(&request.ticket, Instant::now())?;
        tracing::info!("a dashboard was opened");
        Ok(json_response(StatusCode::OK, &json!({"key": key.expose()})))
    }

    /// `GET /dashboard/line`: the websocket of a dashboard.
    pub(crate) fn dashboard_line(
        self: &Arc<Self>,
        request: Request<Incoming>,
    ) -> Result<HttpResponse, Failure> {
        line::accept(self, request)
    }

    /// `GET /dashboard/live`: the websocket of a live view.
    pub(crate) fn dashboard_live(
        self: &Arc<Self>,
        request: Request<Incoming>,
    ) -> Result<HttpResponse, Failure> {
        live::accept(self, request)
    }

    /// `GET /dashboard/chats`: the websocket of the chats.
    pub(crate) fn dashboard_chats(
        self: &Arc<Self>,
        request: Request<Incoming>,
    ) -> Result<HttpResponse, Failure> {
        chats::accept(self, request)
    }
}
