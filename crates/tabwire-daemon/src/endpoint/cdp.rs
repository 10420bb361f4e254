//! The CDP endpoint: discovery over HTTP, and the websocket that joins a client to the browser.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde_json::json;
use tabwire_api::api::{CdpUrlRequest, CdpUrlResponse, ClientSlotResponse, SessionOptions};
use tabwire_api::{ErrorCode, Failure, SessionKey};
use tabwire_audit::ClientInfo;
use tabwire_cdp::TaskGroup;
use tabwire_cdp::discovery::version_body;
use tabwire_cdp::limits::CLIENT_MESSAGE_CEILING;
use tabwire_cdp::websocket::{ByteStream, handshake_accept, serve};
use tabwire_mux::{ClientOptions, OnLoss, Share};
use tokio::sync::OwnedSemaphorePermit;

use crate::audit::entry::AuditEntry;
use crate::audit::writer::AuditWriter;
use crate::browser::manager::BrowserManager;
use crate::http::gate::Scope;
use crate::http::handler::{caller_of, query_value};
use crate::http::server::{HttpResponse, json as json_response};
use crate::hub::client_guard::ClientGuard;
use crate::limits::{ACTION_DEADLINE, STANDBY_MAX};
use crate::policy::cdp_guard::GuardedClient;
use crate::policy::store::PolicyStore;
use crate::session::Session;
use crate::session::live::LiveSession;
use crate::session::start::StartOptions;
use crate::session::table::SessionTable;

/// Poll interval that is suggested to clients that wait for the slot, before jitter.
const SLOT_POLL: Duration = Duration::from_secs(1);

/// The CDP endpoint of the daemon.
#[derive(Debug)]
pub(crate) struct CdpEndpoint {
    sessions: Arc<SessionTable>,
    browsers: Arc<BrowserManager>,
    policy: Arc<PolicyStore>,
    audit: Arc<AuditWriter>,
    tasks: TaskGroup,
    /// The loopback port, for URLs.
    port: u16,
}

impl CdpEndpoint {
    pub(crate) const fn new(
        sessions: Arc<SessionTable>,
        browsers: Arc<BrowserManager>,
        policy: Arc<PolicyStore>,
        audit: Arc<AuditWriter>,
        tasks: TaskGroup,
        port: u16,
    ) -> Self {
        Self { sessions, browsers, policy, audit, tasks, port }
    }

    /// Accepts a CDP client, and writes its audit row.
    pub(crate) async fn accept(
        &self,
        scope: &Scope,
        request: Request<Incoming>,
    ) -> Result<HttpResponse, Failure> {
        let client_info = caller_of(&request).named(query_value(&request, "client"), Some(request.headers()));
        let session = self.session_of(scope, &request).unwrap_or_default();
        let share = query_value(&request, "share");
        let entry = AuditEntry::of_connect(&self.audit, session, client_info.clone(), share);
        let accepted = self.join(scope, request, client_info).await;
        entry.finish(accepted.as_ref().err()).await;
        accepted
    }

    /// Upgrades to a websocket and joins it to the session's browser.
    async fn join(
        &self,
        scope: &Scope,
        mut request: Request<Incoming>,
        client_info: ClientInfo,
    ) -> Result<HttpResponse, Failure> {
        let accept = accept_key(&request)?;
        let share = match query_value(&request, "share") {
            None => Share::Own,
            Some("all") => Share::All,
            Some(other) => {
                let message = format!(
                    "Unknown value `share={other}`. `share=all` also shows the targets of other clients."
                );
                return Err(Failure::new(ErrorCode::BadArgs, message));
            }
        };
        let (session, live) = self.served_session(scope, &request).await?;
        let permit = match live.options.single_client.unwrap_or(false) {
            false => None,
            true => Some(take_slot(&session, standby_of(&request)?).await?),
        };
        let key = session.key.clone();
        let policy = Arc::clone(&self.policy);
        let audit = Arc::clone(&self.audit);
        let upgrade = hyper::upgrade::on(&mut request);
        self.tasks.start("cdp-upgrade", async move {
            let upgraded = match upgrade.await {
                Ok(upgraded) => upgraded,
                Err(error) => return tracing::debug!(%error, "a websocket upgrade failed"),
            };
            let stream: Box<dyn ByteStream> = Box::new(TokioIo::new(upgraded));
            let (source, sink) = serve(stream, CLIENT_MESSAGE_CEILING);
            let guard = Some(policy.guard(
                GuardedClient::CdpClient,
                live.options.policy(),
                &key,
                live.browser.ownership,
            ));
            let options =
                ClientOptions { share, on_loss: OnLoss::Close, partition: live.partition.clone(), guard };
            let name = client_info.name.clone().unwrap_or_else(|| format!("CDP client of {}", key.name));
            let disconnect = Some(AuditEntry::of_disconnect(&audit, key.clone(), client_info));
            let client_guard = ClientGuard { name, _permit: permit, _disconnect: disconnect, watch: None };
            match live.browser.hub.join_guarded(source, sink, options, Some(client_guard)).await {
                Ok(client) => tracing::info!(%client, session = %key, "a CDP client joined"),
                Err(gone) => tracing::info!(%gone, "a CDP client connected after the browser was gone"),
            }
        });
        Ok(switching(accept))
    }

    /// The session of a request, with its browser and at least one tab.
    async fn served_session(
        &self,
        scope: &Scope,
        request: &Request<Incoming>,
    ) -> Result<(Arc<Session>, Arc<LiveSession>), Failure> {
        let session = self.sessions.obtain(&self.session_of(scope, request)?)?;
        let defaults = SessionOptions::default();
        let start = StartOptions::new(&defaults, &defaults, false);
        let live = session.ready(&self.browsers, start).await?.live;
        self.policy.admit_cdp_client(&session.key, live.options.policy())?;
        live.ensure_tab().await?;
        Ok((session, live))
    }

    /// `/client-slot`: whether the slot of a single-client session is free.
    pub(crate) async fn client_slot(
        &self,
        scope: &Scope,
        request: &Request<Incoming>,
    ) -> Result<HttpResponse, Failure> {
        let session = self.sessions.obtain(&self.session_of(scope, request)?)?;
        let single =
            session.find_live().await.is_some_and(|live| live.options.single_client.unwrap_or(false));
        let mode = if single { "single-active" } else { "multi" }.to_owned();
        let busy = single && session.slot.available_permits() == 0;
        let look_again_ms = busy.then(|| u64::try_from(poll_interval().as_millis()).unwrap_or_default());
        Ok(json_response(StatusCode::OK, &ClientSlotResponse { mode, busy, look_again_ms }))
    }

    fn websocket_of(&self, session: &Session) -> String {
        format!("ws://127.0.0.1:{}/{}/cdp", self.port, session.secret.expose())
    }

    /// `/json/version`: the browser's version and websocket URL.
    pub(crate) async fn json_version(
        &self,
        scope: &Scope,
        request: &Request<Incoming>,
    ) -> Result<HttpResponse, Failure> {
        let (session, live) = self.served_session(scope, request).await?;
        let version = live.engine.version(ACTION_DEADLINE).await?;
        let socket = self.websocket_of(&session);
        Ok(json_response(StatusCode::OK, &version_body(&version, &socket)))
    }

    /// `/json/list`: the session's tabs. All use the one websocket of the browser.
    pub(crate) async fn json_list(
        &self,
        scope: &Scope,
        request: &Request<Incoming>,
    ) -> Result<HttpResponse, Failure> {
        let (session, live) = self.served_session(scope, request).await?;
        let socket = self.websocket_of(&session);
        let (policy, browser) = (live.options.policy(), live.browser.ownership);
        let guard = self.policy.guard(GuardedClient::CdpClient, policy, &session.key, browser);
        let mut tabs = Vec::new();
        for tab in live.engine.tabs(ACTION_DEADLINE).await? {
            let is_shown = guard.0.is_idle()
                || guard.0.may_know(&tab.url, &live.browser.hub.sources_of(&tab.target).await);
            if is_shown {
                tabs.push(json!({
                    "id": tab.target, "type": "page", "title": tab.title, "url": tab.url, "description": "",
                    "webSocketDebuggerUrl": socket,
                }));
            }
        }
        Ok(json_response(StatusCode::OK, &tabs))
    }

    /// The URLs of a session for CDP clients. Starts its browser.
    pub(crate) async fn urls(&self, request: CdpUrlRequest) -> Result<CdpUrlResponse, Failure> {
        let session = self.sessions.obtain(&request.key())?;
        let start = StartOptions::new(&request.options, &request.defaults, request.restart);
        let ready = session.ready(&self.browsers, start).await?;
        ready.live.ensure_tab().await?;
        let base = format!("127.0.0.1:{}/{}", self.port, session.secret.expose());
        let share = if request.share_all { "?share=all" } else { "" };
        Ok(CdpUrlResponse {
            websocket: format!("ws://{base}/cdp{share}"),
            http: format!("http://{base}"),
            notices: ready.notices,
        })
    }

    /// The session of a CDP route: the one of the URL's secret, or the one named in the query.
    fn session_of(&self, scope: &Scope, request: &Request<Incoming>) -> Result<SessionKey, Failure> {
        if let Scope::Session(key) = scope {
            return Ok(key.clone());
        }
        let named = query_value(request, "session").unwrap_or("default");
        SessionKey::find(named).ok_or_else(|| {
            Failure::new(ErrorCode::BadArgs, format!("`{named}` is not a valid session name."))
                .with_remedy("Use NAME or PROJECT/NAME.")
        })
    }
}

/// How long a client waits for the slot.
fn standby_of(request: &Request<Incoming>) -> Result<Duration, Failure> {
    let Some(text) = query_value(request, "standby") else { return Ok(Duration::ZERO) };
    let seconds = text.parse().map(Duration::from_secs).ok().filter(|wait| *wait <= STANDBY_MAX);
    seconds.ok_or_else(|| {
        let message = format!(
            "Invalid value `standby={text}`: use a number of seconds up to {}.",
            STANDBY_MAX.as_secs()
        );
        Failure::new(ErrorCode::BadArgs, message)
    })
}

/// The poll interval for a client that waits for the slot, with jitter: half to one and a half of [`SLOT_POLL`].
fn poll_interval() -> Duration {
    let mut drawn = [0_u8; 1];
    // Without randomness all clients poll at the same time, which is harmless.
    let _ = getrandom::fill(&mut drawn);
    SLOT_POLL / 2 + SLOT_POLL * u32::from(drawn[0]) / u32::from(u8::MAX)
}

/// Takes the slot as soon as it is free, in the order of arrival.
async fn take_slot(session: &Session, standby: Duration) -> Result<OwnedSemaphorePermit, Failure> {
    let slot = Arc::clone(&session.slot);
    let taken = tokio::time::timeout(standby, slot.acquire_owned()).await;
    taken.ok().and_then(Result::ok).ok_or_else(|| slot_taken(&session.key))
}

fn slot_taken(key: &SessionKey) -> Failure {
    Failure::new(
        ErrorCode::Busy,
        format!("Session {} serves one CDP client at a time, and one is connected.", key.name),
    )
    .with_remedy(
        "Add `standby=30` to the URL to wait for the slot, poll /client-slot, or use another session.",
    )
}

/// The response that upgrades to a websocket.
pub(crate) fn switching(accept: HeaderValue) -> HttpResponse {
    let mut response = Response::new(Full::new(Bytes::new()).boxed());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(header::SEC_WEBSOCKET_ACCEPT, accept);
    response
}

/// Checks a websocket handshake and computes its accept key.
pub(crate) fn accept_key(request: &Request<Incoming>) -> Result<HeaderValue, Failure> {
    let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
    let key = handshake_accept(header).ok_or_else(|| {
        let message = "This URL is a CDP websocket, and the request is not a websocket handshake.";
        Failure::new(ErrorCode::BadArgs, message)
            .with_remedy("Connect with Playwright's connectOverCDP or Puppeteer's connect.")
    })?;
    HeaderValue::from_str(&key).map_err(|error| {
        Failure::new(ErrorCode::Internal, format!("The accept key is not a valid header: {error}."))
    })
}
