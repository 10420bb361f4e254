//! The CDP endpoint: discovery over HTTP, and the websockets that join clients to the browser.

mod admission;
mod firefox;
pub(crate) mod json;
pub(crate) mod lister;
pub(crate) mod open_port;
pub(crate) mod page_socket;
pub(crate) mod view;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use tabwire_api::api::{ClientSlotResponse, SessionOptions};
use tabwire_api::{ErrorCode, Failure, SessionKey};
use tabwire_audit::ClientInfo;
use tabwire_cdp::TaskGroup;
use tabwire_cdp::limits::CLIENT_MESSAGE_CEILING;
use tabwire_cdp::websocket::{ByteStream, handshake_accept, serve};
use tabwire_mux::SharedGuard;
use tabwire_policy::Profile;
use tokio::sync::OwnedSemaphorePermit;

use self::lister::Listers;
use self::view::{View, identity_of};
use crate::audit::entry::AuditEntry;
use crate::audit::writer::AuditWriter;
use crate::browser::manager::BrowserManager;
use crate::endpoint::connections::{ClientKind, ConnectedClients};
use crate::http::gate::{AdmittedRequest, Scope, Transport};
use crate::http::handler::{caller_of, query_value};
use crate::http::route::RouteName;
use crate::http::server::{HttpResponse, json as json_response};
use crate::hub::client_guard::ClientGuard;
use crate::hub::client_label::ClientLabel;
use crate::policy::approvals::ApprovalQueue;
use crate::policy::cdp_guard::GuardedClient;
use crate::policy::store::{OneTimeGrant, PolicyStore};
use crate::session::Session;
use crate::session::live::LiveSession;
use crate::session::start::StartOptions;
use crate::session::table::SessionTable;

/// Longest time that a CDP client may wait for the slot of a single-client session.
const STANDBY_MAX: Duration = Duration::from_secs(30);

/// Poll interval that is suggested to clients that wait for the slot, before jitter.
const SLOT_POLL: Duration = Duration::from_secs(1);

/// The CDP endpoint of the daemon.
#[derive(Debug)]
pub(crate) struct CdpEndpoint {
    sessions: Arc<SessionTable>,
    browsers: Arc<BrowserManager>,
    policy: Arc<PolicyStore>,
    approvals: Arc<ApprovalQueue>,
    audit: Arc<AuditWriter>,
    tasks: TaskGroup,
    /// The loopback port, for URLs.
    port: u16,
    listers: Arc<Listers>,
    clients: Arc<ConnectedClients>,
}

/// The session of a request, with its browser.
pub(crate) struct ServedSession {
    pub(crate) session: Arc<Session>,
    pub(crate) live: Arc<LiveSession>,
    /// The view of clients that ask for none.
    pub(crate) default_view: View,
}

impl CdpEndpoint {
    pub(crate) fn new(
        sessions: Arc<SessionTable>,
        browsers: Arc<BrowserManager>,
        (policy, approvals): (Arc<PolicyStore>, Arc<ApprovalQueue>),
        audit: Arc<AuditWriter>,
        tasks: TaskGroup,
        (port, clients): (u16, Arc<ConnectedClients>),
    ) -> Self {
        Self { sessions, browsers, policy, approvals, audit, tasks, port, listers: Arc::default(), clients }
    }

    /// Handles a request to one of the CDP routes.
    pub(crate) async fn handle(
        &self,
        admitted: AdmittedRequest,
        request: Request<Incoming>,
    ) -> Result<HttpResponse, Failure> {
        let AdmittedRequest { route, scope, variable } = admitted;
        let target = variable.unwrap_or_default();
        match route.name {
            RouteName::JsonVersion => self.json_version(&scope, &request).await,
            RouteName::JsonList => self.json_list(&scope, &request).await,
            RouteName::JsonProtocol => self.json_protocol(&scope, &request).await,
            RouteName::JsonNew => self.json_new(&scope, &request).await,
            RouteName::JsonActivate => {
                self.json_act(&scope, &request, ("Target.activateTarget", "Target activated"), &target).await
            }
            RouteName::JsonClose => {
                self.json_act(&scope, &request, ("Target.closeTarget", "Target is closing"), &target).await
            }
            RouteName::ClientSlot => self.client_slot(&scope, &request).await,
            RouteName::CdpPage => self.accept(&scope, request, Some(&target)).await,
            _ => self.accept(&scope, request, None).await,
        }
    }

    /// Accepts a CDP client of the browser or of one page, and writes its audit row.
    async fn accept(
        &self,
        scope: &Scope,
        request: Request<Incoming>,
        page: Option<&str>,
    ) -> Result<HttpResponse, Failure> {
        let caller = caller_of(&request);
        caller.find_process().await;
        let client_info = caller.named(query_value(&request, "client"), Some(request.headers()));
        let session = self.session_of(scope, &request).unwrap_or_default();
        let share = View::read(&request, View::Own).ok().and_then(View::name);
        let entry = AuditEntry::of_connect(&self.audit, session, client_info.clone(), share);
        let accepted = async {
            accept_key(&request)?;
            View::read(&request, View::Own)?;
            let served = self.find_session(scope, &request).await?;
            let approval = self.admit(&served, &request).await?;
            match page {
                None => self.join(served, request, client_info, approval).await,
                Some(target) => self.join_page(served, request, (client_info, approval), target).await,
            }
        };
        let accepted = accepted.await;
        entry.finish(accepted.as_ref().err()).await;
        accepted
    }

    /// Upgrades to a websocket and joins it to the session's browser.
    async fn join(
        &self,
        served: ServedSession,
        mut request: Request<Incoming>,
        client_info: ClientInfo,
        approval: Option<OneTimeGrant>,
    ) -> Result<HttpResponse, Failure> {
        let accept = accept_key(&request)?;
        let view = View::read(&request, served.default_view)?;
        let permit = take_slot_of(&served, &request).await?;
        let ServedSession { session, live, .. } = served;
        if view.shows_session() {
            live.ensure_tab().await?;
        }
        let process = caller_of(&request).find_process().await;
        let identity = identity_of(&session.key, query_value(&request, "client"), process);
        let options = view.options(&live, self.guard_of(&session, &live), identity);
        let key = session.key.clone();
        let audit = Arc::clone(&self.audit);
        let registration = self.clients.enter(ClientKind::Cdp, client_info.clone(), key.clone());
        let upgrade = hyper::upgrade::on(&mut request);
        self.tasks.start("cdp-upgrade", async move {
            let upgraded = match upgrade.await {
                Ok(upgraded) => upgraded,
                Err(error) => return tracing::debug!(%error, "a websocket upgrade failed"),
            };
            let stream: Box<dyn ByteStream> = Box::new(TokioIo::new(upgraded));
            let (source, sink) = serve(stream, CLIENT_MESSAGE_CEILING);
            let name = client_info.name.clone().unwrap_or_else(|| format!("CDP client of {}", key.name));
            let (name, is_open) = (ClientLabel::new(name), live.options.policy() == Profile::Open);
            let disconnect = Some(AuditEntry::of_disconnect(&audit, key.clone(), client_info));
            let follower = registration.follower();
            let client_guard = ClientGuard {
                name,
                session: Some(key.clone()),
                is_open,
                _permit: permit,
                _approval: approval,
                _disconnect: disconnect,
                _registration: Some(registration),
                watch: None,
            };
            match live.browser.hub.join_guarded(source, sink, options, Some(client_guard)).await {
                Ok(client) => {
                    tracing::info!(%client, session = %key, "a CDP client joined");
                    follower.follow(live.browser.hub.clone(), client).await;
                }
                Err(gone) => tracing::info!(%gone, "a CDP client connected after the browser was gone"),
            }
        });
        Ok(switching(accept))
    }

    fn guard_of(&self, session: &Session, live: &LiveSession) -> SharedGuard {
        let (policy, browser) = (live.options.policy(), live.browser.ownership);
        self.policy.guard(GuardedClient::CdpClient, policy, &session.key, browser)
    }

    /// The session of a request, with its browser, if its clients may use CDP.
    async fn served_session(
        &self,
        scope: &Scope,
        request: &Request<Incoming>,
    ) -> Result<ServedSession, Failure> {
        let served = self.find_session(scope, request).await?;
        self.check_admission(&served)?;
        Ok(served)
    }

    /// The session of a request, with its browser.
    async fn find_session(
        &self,
        scope: &Scope,
        request: &Request<Incoming>,
    ) -> Result<ServedSession, Failure> {
        let session = self.sessions.obtain(&self.session_of(scope, request)?)?;
        let defaults = SessionOptions::default();
        let start = StartOptions::new(&defaults, &defaults, false);
        let live = session.ready(&self.browsers, start).await?.live;
        firefox::check(&live, firefox::is_requested(request))?;
        live.sync_tabs().await?;
        let port_view = session.open_port().as_ref().map(|port| port.view);
        let default_view = port_view.filter(|_| is_open_port(request)).unwrap_or_default();
        Ok(ServedSession { session, live, default_view })
    }

    /// `/client-slot`: whether the slot of a single-client session is free.
    async fn client_slot(&self, scope: &Scope, request: &Request<Incoming>) -> Result<HttpResponse, Failure> {
        let session = self.sessions.obtain(&self.session_of(scope, request)?)?;
        let single =
            session.find_live().await.is_some_and(|live| live.options.single_client.unwrap_or(false));
        let mode = if single { "single-active" } else { "multi" }.to_owned();
        let busy = single && session.slot.available_permits() == 0;
        let look_again_ms = busy.then(|| u64::try_from(poll_interval().as_millis()).unwrap_or_default());
        Ok(json_response(StatusCode::OK, &ClientSlotResponse { mode, busy, look_again_ms }))
    }

    /// Host and path below which the session's endpoints are.
    fn base_of(&self, request: &Request<Incoming>, session: &Session) -> String {
        let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
        match host.filter(|_| is_open_port(request)) {
            Some(host) => host.to_owned(),
            None => format!("127.0.0.1:{}/{}", self.port, session.secret.expose()),
        }
    }

    /// The URL of the browser's websocket.
    fn websocket_of(&self, request: &Request<Incoming>, served: &ServedSession) -> String {
        let base = self.base_of(request, &served.session);
        if is_open_port(request) {
            return open_port::websocket_of(&served.session, &base);
        }
        format!("ws://{base}/cdp")
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

/// Whether a request came over the open port of a session.
fn is_open_port(request: &Request<Incoming>) -> bool {
    matches!(request.extensions().get::<Transport>(), Some(Transport::OpenPort(_)))
}

/// Takes the slot of a single-client session.
pub(super) async fn take_slot_of(
    served: &ServedSession,
    request: &Request<Incoming>,
) -> Result<Option<OwnedSemaphorePermit>, Failure> {
    match served.live.options.single_client.unwrap_or(false) {
        false => Ok(None),
        true => take_slot(&served.session, standby_of(request)?).await.map(Some),
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
