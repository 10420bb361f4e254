//! What each route does, once the gate has let a request through.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::join_all;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Body, Incoming};
use serde::de::DeserializeOwned;
use serde_json::json;
use tabwire_engine::catalogue;
use tabwire_wire::api::{CdpUrlAnswer, CdpUrlRequest, StatusAnswer, VERSION_HEADER};
use tabwire_wire::{ErrorCode, Failure, SessionKey, VERSION};

use crate::caller::Caller;
use crate::daemon::{Daemon, Ending};
use crate::gate::{Admitted, Door, Scope};
use crate::limits::{BODY_BYTES, BODY_DEADLINE};
use crate::log_sink::lost_log_lines;
use crate::route::RouteName;
use crate::server::{Answer, failed, failed_with, json as json_answer, page};
use crate::session_status::STOPPED;
use crate::wish::Wish;

const DEMO: &str = include_str!("../../../web/demo.html");

impl Daemon {
    pub(crate) async fn handle(
        self: &Arc<Self>,
        admitted: Admitted,
        request: Request<Incoming>,
        door: Door,
    ) -> Answer {
        if let Err(failure) = check_version(&request, door, admitted.route.name) {
            return failed(&failure);
        }
        let handled = match admitted.route.name {
            RouteName::Demo => Ok(demo()),
            RouteName::Live => Ok(live()),
            RouteName::Cdp => self.accept_cdp(&admitted.scope, request).await,
            RouteName::JsonVersion => self.json_version(&admitted.scope, &request).await,
            RouteName::JsonList => self.json_list(&admitted.scope, &request).await,
            RouteName::ClientSlot => self.client_slot(&admitted.scope, &request).await,
            RouteName::Actions => Ok(json_answer(StatusCode::OK, &catalogue())),
            RouteName::Action => {
                let name = admitted.variable.unwrap_or_default();
                let caller = caller_of(&request);
                match read_body(request).await {
                    Ok(body) => self
                        .act(&name, body, &caller)
                        .await
                        .map(|answer| json_answer(StatusCode::OK, &answer)),
                    Err(error) => return error.answer(),
                }
            }
            RouteName::Complete => Ok(json_answer(StatusCode::OK, &self.known_names(&request))),
            RouteName::Progress => Ok(json_answer(StatusCode::OK, &self.progress(&request))),
            RouteName::Status => Ok(json_answer(StatusCode::OK, &self.status().await)),
            RouteName::CdpUrl => match read_body(request).await {
                Ok(body) => self.cdp_url(body).await.map(|answer| json_answer(StatusCode::OK, &answer)),
                Err(error) => return error.answer(),
            },
            RouteName::Extension => self.accept_extension(request),
            RouteName::ExtensionDesk => self.extension_request(admitted.variable.as_deref()).await,
            RouteName::Policy => return self.handle_policy(&admitted, request, door).await,
            RouteName::McpStream => self.accept_mcp(request),
            RouteName::ChromeStream => self.accept_chrome(request),
            RouteName::Mcp => match read_bytes(request).await {
                Ok(request) => return self.answer_mcp(request, &admitted.scope).await,
                Err(error) => return error.answer(),
            },
            RouteName::Drain => {
                self.end(Ending::Drain);
                Ok(json_answer(StatusCode::OK, &json!({"draining": true})))
            }
            RouteName::Stop => self.stop().await,
        };
        handled.unwrap_or_else(|failure| failed(&failure))
    }

    /// Ends every browser and then the daemon.
    async fn stop(self: &Arc<Self>) -> Result<Answer, Failure> {
        let stopped = self.carry_out(|daemon| async move {
            let stopped = daemon.stop_all().await;
            daemon.end(Ending::Stop);
            Ok(stopped)
        });
        let browsers = stopped.await?;
        Ok(json_answer(StatusCode::OK, &json!({"stopped": true, "browsers": browsers})))
    }

    async fn handle_policy(
        self: &Arc<Self>,
        admitted: &Admitted,
        request: Request<Incoming>,
        door: Door,
    ) -> Answer {
        let (verb, caller) = (admitted.variable.as_deref().unwrap_or_default(), caller_of(&request));
        match read_body(request).await {
            Ok(body) => match self.rule(verb, body, &caller, door).await {
                Ok(answer) => json_answer(StatusCode::OK, &answer),
                Err(failure) => failed(&failure),
            },
            Err(error) => error.answer(),
        }
    }

    async fn status(&self) -> StatusAnswer {
        let all = self.sessions.all();
        let mut sessions = join_all(all.iter().map(|session| session.status(false))).await;
        sessions.retain(|status| status.state != STOPPED);
        StatusAnswer {
            version: VERSION.to_owned(),
            pid: std::process::id(),
            port: self.port,
            uptime_seconds: self.since.elapsed().as_secs(),
            sessions,
            lost_log_lines: lost_log_lines(),
            stand_ins: self.fleet.list_for_chrome(),
        }
    }

    async fn cdp_url(&self, request: CdpUrlRequest) -> Result<CdpUrlAnswer, Failure> {
        let session = self.sessions.obtain(&request.key())?;
        let wish = Wish::new(&request.options, &request.defaults, request.restart);
        let ready = session.ready(&self.fleet, wish).await?;
        ready.live.ensure_tab().await?;
        let base = format!("127.0.0.1:{}/{}", self.port, session.secret.expose());
        let share = if request.share_all { "?share=all" } else { "" };
        Ok(CdpUrlAnswer {
            websocket: format!("ws://{base}/cdp{share}"),
            http: format!("http://{base}"),
            notices: ready.notices,
        })
    }

    /// The session a CDP route speaks of: the address's own, or the one named in the query.
    pub(crate) fn cdp_session(
        &self,
        scope: &Scope,
        request: &Request<Incoming>,
    ) -> Result<SessionKey, Failure> {
        if let Scope::Session(key) = scope {
            return Ok(key.clone());
        }
        let named = query_value(request, "session").unwrap_or("default");
        SessionKey::find(named).ok_or_else(|| {
            Failure::new(ErrorCode::BadArgs, format!("`{named}` is not a session."))
                .with_hint("Name it as NAME, or as PROJECT/NAME.")
        })
    }
}

/// Who sent a request, as its connection knows it.
pub(crate) fn caller_of(request: &Request<Incoming>) -> Caller {
    request.extensions().get::<Caller>().cloned().unwrap_or_else(Caller::at_port)
}

/// The value of a query parameter; names and values of ours need no decoding.
pub(crate) fn query_value<'a>(request: &'a Request<Incoming>, name: &str) -> Option<&'a str> {
    let pairs = request.uri().query()?.split('&').filter_map(|pair| pair.split_once('='));
    pairs.into_iter().find(|(key, _)| *key == name).map(|(_, value)| value)
}

/// A caller that is newer than this daemon is told so, and replaces it; one that is older is told so.
///
/// Except that an MCP client's process, which may have run for days, is served while it is of the same minor version:
/// what it says first is read as it was in all of those.
fn check_version(request: &Request<Incoming>, door: Door, route: RouteName) -> Result<(), Failure> {
    let asked = request.headers().get(VERSION_HEADER).and_then(|value| value.to_str().ok());
    let Some(theirs) = asked.filter(|_| door == Door::Socket) else { return Ok(()) };
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
    let hint = if newer {
        "The daemon makes room: it is replaced by the newer version, browsers stay."
    } else {
        "A newer daemon runs. Use the newer tabwire, or run `tabwire daemon stop` first."
    };
    Err(Failure::new(ErrorCode::VersionMismatch, message).with_hint(hint))
}

fn parse_version(text: &str) -> Vec<u64> {
    let numbers = text.split(['-', '+']).next().unwrap_or_default();
    numbers.split('.').map(|part| part.parse().unwrap_or(0)).collect()
}

/// That the daemon runs: all that anybody is told who shows no credential (T45).
fn live() -> Answer {
    page(StatusCode::OK, "text/plain; charset=utf-8", "default-src 'none'", Bytes::from_static(b"ok"))
}

fn demo() -> Answer {
    let policy =
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; form-action 'none'";
    page(StatusCode::OK, "text/html; charset=utf-8", policy, Bytes::from_static(DEMO.as_bytes()))
}

/// Why a request's body is of no use.
#[derive(Debug)]
enum BodyError {
    TooLarge,
    TooSlow,
    Broken(String),
    Invalid(serde_json::Error),
}

impl BodyError {
    fn answer(&self) -> Answer {
        let wrong = |what: String| Failure::new(ErrorCode::BadArgs, what);
        match self {
            Self::TooLarge => {
                let failure = wrong("The body is too large; it was not read.".to_owned())
                    .with_hint(format!("A body may have {BODY_BYTES} bytes."));
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

/// Reads a body of bounded size in bounded time; one that is announced as too large is not read at all (F15).
async fn read_body<T: DeserializeOwned>(request: Request<Incoming>) -> Result<T, BodyError> {
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
