//! The handlers of the routes.

use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use futures_util::future::join_all;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Body, Incoming};
use serde::de::DeserializeOwned;
use serde_json::json;
use tabwire_api::api::{StatusResponse, VERSION_HEADER};
use tabwire_api::{ErrorCode, Failure, Remedy, Step, VERSION};
use tabwire_engine::catalogue;

use crate::daemon::{Daemon, Ending};
use crate::dashboard::{EnterRequest, UrlRequest};
use crate::http::caller::Caller;
use crate::http::gate::{AdmittedRequest, Transport};
use crate::http::route::RouteName;
use crate::http::server::{HttpResponse, failed, failed_with, json as json_response, page};
use crate::limits::{BODY_BYTES, BODY_DEADLINE};
use crate::log::sink::lost_log_lines;
use crate::session::status::STOPPED;

/// The demo page, with the design tokens of the extension in its style sheet.
static DEMO: LazyLock<String> = LazyLock::new(|| {
    let (page, tokens) = (include_str!("../../web/demo.html"), include_str!("../../web/shared/tokens.css"));
    page.replace("/* tokens */", tokens)
});

impl Daemon {
    pub(crate) async fn handle(
        self: &Arc<Self>,
        admitted: AdmittedRequest,
        request: Request<Incoming>,
        transport: Transport,
    ) -> HttpResponse {
        if let Err(failure) = check_version(&request, transport, admitted.route.name) {
            return failed(&failure);
        }
        let handled = match admitted.route.name {
            RouteName::Demo => Ok(demo()),
            RouteName::Live => Ok(live()),
            RouteName::Cdp
            | RouteName::CdpPage
            | RouteName::JsonVersion
            | RouteName::JsonList
            | RouteName::JsonProtocol
            | RouteName::JsonNew
            | RouteName::JsonActivate
            | RouteName::JsonClose
            | RouteName::ClientSlot => self.cdp.handle(admitted, request).await,
            RouteName::Actions => Ok(json_response(StatusCode::OK, &catalogue())),
            RouteName::Action => return self.handle_action(admitted.variable, request).await,
            RouteName::Execute | RouteName::Reset => {
                return self.handle_script(admitted.route.name, request).await;
            }
            RouteName::Complete => Ok(json_response(StatusCode::OK, &self.sessions.completions(&request))),
            RouteName::Progress => Ok(json_response(StatusCode::OK, &self.progress(&request))),
            RouteName::DashboardUrl
            | RouteName::DashboardFile
            | RouteName::DashboardEnter
            | RouteName::DashboardLine
            | RouteName::DashboardLive
            | RouteName::DashboardChats => {
                return self.handle_dashboard(&admitted, request, transport).await;
            }
            RouteName::Chats
            | RouteName::Chat
            | RouteName::ChatEvents
            | RouteName::ChatCommand
            | RouteName::ChatAgents => return self.handle_chats(&admitted, request, transport).await,
            RouteName::Events => self.event_streams.open(&request).await,
            RouteName::Status => Ok(json_response(StatusCode::OK, &self.status().await)),
            RouteName::CdpUrl => return self.handle_cdp_url(request).await,
            RouteName::Extension => self.extensions.accept(request, self),
            RouteName::ExtensionStatus => {
                self.extensions.handle(admitted.variable.as_deref(), self.port).await
            }
            RouteName::Policy => return self.handle_policy(&admitted, request, transport).await,
            RouteName::McpStream => self.accept_mcp(request),
            RouteName::ChromeStream => self.accept_shim(request),
            RouteName::Mcp => match read_bytes(request).await {
                Ok(request) => return self.handle_mcp(request, &admitted.scope).await,
                Err(error) => return error.response(),
            },
            RouteName::Drain => Ok(self.drain()),
            RouteName::Stop => self.stop().await,
        };
        handled.unwrap_or_else(|failure| failed(&failure))
    }

    /// `POST /v1/daemon/drain`: the daemon ends after the work that runs.
    fn drain(&self) -> HttpResponse {
        self.end(Ending::Drain);
        json_response(StatusCode::OK, &json!({"draining": true}))
    }

    async fn handle_action(
        self: &Arc<Self>,
        name: Option<String>,
        request: Request<Incoming>,
    ) -> HttpResponse {
        let (name, caller) = (name.unwrap_or_default(), caller_of(&request));
        match read_body(request).await {
            Ok(body) => match self.act(&name, body, &caller).await {
                Ok(response) => json_response(StatusCode::OK, &response),
                Err(failure) => failed(&failure),
            },
            Err(error) => error.response(),
        }
    }

    async fn handle_dashboard(
        self: &Arc<Self>,
        admitted: &AdmittedRequest,
        request: Request<Incoming>,
        transport: Transport,
    ) -> HttpResponse {
        let handled = match admitted.route.name {
            RouteName::DashboardUrl => match read_body::<UrlRequest>(request).await {
                Ok(body) => self.dashboard_url(&body, transport).await,
                Err(error) => return error.response(),
            },
            RouteName::DashboardEnter => match read_body::<EnterRequest>(request).await {
                Ok(body) => self.dashboard_enter(&body),
                Err(error) => return error.response(),
            },
            RouteName::DashboardLine => self.dashboard_line(request),
            RouteName::DashboardLive => self.dashboard_live(request),
            RouteName::DashboardChats => self.dashboard_chats(request),
            _ => {
                let folder = admitted.route.path.strip_prefix("/dashboard/").unwrap_or_default();
                let folder = folder.strip_suffix('*').unwrap_or_default();
                let name = admitted.variable.as_deref().unwrap_or_default();
                return self.dashboard_file(&format!("{folder}{name}"));
            }
        };
        handled.unwrap_or_else(|failure| failed(&failure))
    }

    async fn handle_cdp_url(self: &Arc<Self>, request: Request<Incoming>) -> HttpResponse {
        let caller = caller_of(&request);
        match read_body(request).await {
            Ok(body) => match self.cdp_url(body, &caller).await {
                Ok(response) => json_response(StatusCode::OK, &response),
                Err(failure) => failed(&failure),
            },
            Err(error) => error.response(),
        }
    }

    async fn handle_script(self: &Arc<Self>, route: RouteName, request: Request<Incoming>) -> HttpResponse {
        let caller = caller_of(&request);
        if route == RouteName::Reset {
            return match read_body(request).await {
                Ok(body) => json_response(StatusCode::OK, &json!({"reset": self.reset_script(&body)})),
                Err(error) => error.response(),
            };
        }
        match read_body(request).await {
            Ok(body) => self.stream_script(body, caller),
            Err(error) => error.response(),
        }
    }

    /// Ends every browser and then the daemon.
    async fn stop(self: &Arc<Self>) -> Result<HttpResponse, Failure> {
        let stopped = self.run_to_completion(|daemon| async move {
            let stopped = daemon.stop_all().await;
            daemon.end(Ending::Stop);
            Ok(stopped)
        });
        let browsers = stopped.await?;
        Ok(json_response(StatusCode::OK, &json!({"stopped": true, "browsers": browsers})))
    }

    async fn handle_policy(
        self: &Arc<Self>,
        admitted: &AdmittedRequest,
        request: Request<Incoming>,
        transport: Transport,
    ) -> HttpResponse {
        let (verb, caller) = (admitted.variable.as_deref().unwrap_or_default(), caller_of(&request));
        match read_body(request).await {
            Ok(body) => match self.policy_api.handle(verb, body, &caller, transport).await {
                Ok(response) => json_response(StatusCode::OK, &response),
                Err(failure) => failed(&failure),
            },
            Err(error) => error.response(),
        }
    }

    pub(crate) async fn status(&self) -> StatusResponse {
        let all = self.sessions.all();
        let sessions = join_all(all.iter().map(|session| session.status(false))).await;
        let mut sessions: Vec<_> = sessions.into_iter().map(|status| self.with_wait(status)).collect();
        sessions.retain(|status| status.state != STOPPED);
        StatusResponse {
            version: VERSION.to_owned(),
            pid: std::process::id(),
            port: self.port,
            uptime_seconds: self.since.elapsed().as_secs(),
            sessions,
            lost_log_lines: lost_log_lines(),
            shim_browsers: self.browsers.list_for_shims(),
        }
    }
}

/// The client that sent a request, as its connection knows it.
pub(crate) fn caller_of(request: &Request<Incoming>) -> Caller {
    request.extensions().get::<Caller>().cloned().unwrap_or_else(|| Caller::at_port(None))
}

/// The value of a query parameter. Our names and values need no decoding.
pub(crate) fn query_value<'a>(request: &'a Request<Incoming>, name: &str) -> Option<&'a str> {
    let pairs = request.uri().query()?.split('&').filter_map(|pair| pair.split_once('='));
    pairs.into_iter().find(|(key, _)| *key == name).map(|(_, value)| value)
}

/// Refuses a client of another version. A newer one then replaces this daemon.
///
/// Exception: the process of an MCP client may run for days, so an older one of the same minor version is served.
fn check_version(request: &Request<Incoming>, transport: Transport, route: RouteName) -> Result<(), Failure> {
    let asked = request.headers().get(VERSION_HEADER).and_then(|value| value.to_str().ok());
    let Some(theirs) = asked.filter(|_| transport == Transport::Socket) else { return Ok(()) };
    let drains = request.uri().path().starts_with("/v1/daemon/");
    if drains || theirs == VERSION {
        return Ok(());
    }
    let (their_number, own_number) = (parse_version(theirs), parse_version(VERSION));
    let newer = their_number > own_number;
    if !newer && route == RouteName::McpStream && their_number.get(..2) == own_number.get(..2) {
        return Ok(());
    }
    let message = format!("The daemon is version {VERSION}, the caller {theirs}.");
    let failure = if newer {
        Failure::new(ErrorCode::DaemonOlder, message).with_remedy(
            "Stop the daemon through `/v1/daemon/stop` and start the newer one; browsers keep running.",
        )
    } else {
        Failure::new(ErrorCode::VersionMismatch, message).with_remedy(Remedy::new(
            "A newer daemon runs. Use the newer tabwire, or run {} first.",
            [Step::command("tabwire daemon stop")],
        ))
    };
    Err(failure)
}

fn parse_version(text: &str) -> Vec<u64> {
    let numbers = text.split(['-', '+']).next().unwrap_or_default();
    numbers.split('.').map(|part| part.parse().unwrap_or(0)).collect()
}

/// The liveness response: the only one without a credential, besides the demo page (T45).
fn live() -> HttpResponse {
    page(StatusCode::OK, "text/plain; charset=utf-8", "default-src 'none'", Bytes::from_static(b"ok"))
}

fn demo() -> HttpResponse {
    let policy =
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; form-action 'none'";
    page(StatusCode::OK, "text/html; charset=utf-8", policy, Bytes::from_static(DEMO.as_bytes()))
}

/// Why a body cannot be used.
#[derive(Debug)]
pub(crate) enum BodyError {
    TooLarge,
    TooSlow,
    Broken(String),
    Invalid(serde_json::Error),
}

impl BodyError {
    pub(crate) fn response(&self) -> HttpResponse {
        let wrong = |what: String| Failure::new(ErrorCode::BadArgs, what);
        match self {
            Self::TooLarge => {
                let failure = wrong("The body is too large and was not read.".to_owned())
                    .with_remedy(format!("Send at most {BODY_BYTES} bytes."));
                failed_with(StatusCode::PAYLOAD_TOO_LARGE, &failure)
            }
            Self::TooSlow => {
                let message = format!("The body did not arrive in {} s.", BODY_DEADLINE.as_secs());
                failed_with(StatusCode::REQUEST_TIMEOUT, &Failure::new(ErrorCode::Timeout, message))
            }
            Self::Broken(error) => failed(&wrong(format!("The body could not be read: {error}."))),
            Self::Invalid(error) => failed(&wrong(format!("The body is not a valid request: {error}."))),
        }
    }
}

/// Reads a body of bounded size in bounded time. One that is announced as too large is not read at all (F15).
pub(crate) async fn read_body<T: DeserializeOwned>(request: Request<Incoming>) -> Result<T, BodyError> {
    let request = read_bytes(request).await?;
    serde_json::from_slice(request.body()).map_err(BodyError::Invalid)
}

async fn read_bytes(request: Request<Incoming>) -> Result<Request<Bytes>, BodyError> {
    let (head, body) = request.into_parts();
    let limit = u64::try_from(BODY_BYTES).unwrap_or(u64::MAX);
    if body.size_hint().lower() > limit {
        return Err(BodyError::TooLarge);
    }
    let reading = Limited::new(body, BODY_BYTES).collect();
    let read = tokio::time::timeout(BODY_DEADLINE, reading).await.map_err(|_| BodyError::TooSlow)?;
    let body = read.map_err(|error| {
        if error.is::<LengthLimitError>() {
            BodyError::TooLarge
        } else {
            BodyError::Broken(error.to_string())
        }
    })?;
    Ok(Request::from_parts(head, body.to_bytes()))
}

#[cfg(test)]
mod tests {
    use super::DEMO;

    #[test]
    fn demo_page_has_every_design_token_that_it_uses() {
        assert!(!DEMO.contains("/* tokens */"));
        let names = DEMO.split("var(--").skip(1).filter_map(|rest| rest.split([')', ',']).next());
        let missing: Vec<&str> = names.filter(|name| !DEMO.contains(&format!("--{name}:"))).collect();
        assert_eq!(missing, Vec::<&str>::new());
        assert!(DEMO.matches("var(--").count() > 20 && DEMO.contains("light-dark("));
    }
}
