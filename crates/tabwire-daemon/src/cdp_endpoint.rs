//! The CDP endpoint: discovery over HTTP, and the websocket that makes its visitor a client of the browser.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde_json::json;
use tabwire_cdp::discovery::version_body;
use tabwire_cdp::limits::CLIENT_MESSAGE_CEILING;
use tabwire_cdp::websocket::{ByteStream, handshake_answer, serve};
use tabwire_journal::Asker;
use tabwire_mux::{ClientOptions, OnLoss, Share};
use tabwire_policy::Capability;
use tabwire_wire::api::{ClientSlotAnswer, PolicyProfile, SessionOptions};
use tabwire_wire::{ErrorCode, Failure, SessionKey};
use tokio::sync::OwnedSemaphorePermit;

use crate::command_guard::GuardedClient;
use crate::daemon::Daemon;
use crate::gate::Scope;
use crate::handler::{caller_of, query_value};
use crate::limits::{ACTION_DEADLINE, SLOT_LOOK, STANDBY_LONGEST};
use crate::live_session::LiveSession;
use crate::note::Note;
use crate::place::Place;
use crate::policy_desk::now;
use crate::server::{Answer, json as json_answer};
use crate::session::Session;
use crate::wish::Wish;

impl Daemon {
    /// Takes a CDP client in, and writes the journal's row of it.
    pub(crate) async fn accept_cdp(
        &self,
        scope: &Scope,
        request: Request<Incoming>,
    ) -> Result<Answer, Failure> {
        let asker = caller_of(&request).named(query_value(&request, "client"), Some(request.headers()));
        let session = self.cdp_session(scope, &request).unwrap_or_default();
        let share = query_value(&request, "share");
        let arrival = Note::of_arrival(&self.scribe, session, asker.clone(), share);
        let accepted = self.join_cdp(scope, request, asker).await;
        arrival.finish(accepted.as_ref().err()).await;
        accepted
    }

    /// Upgrades to a websocket and joins it to the session's browser.
    async fn join_cdp(
        &self,
        scope: &Scope,
        mut request: Request<Incoming>,
        asker: Asker,
    ) -> Result<Answer, Failure> {
        let accept = accept_key(&request)?;
        let share = match query_value(&request, "share") {
            None => Share::Own,
            Some("all") => Share::All,
            Some(other) => {
                let message =
                    format!("`share={other}` is not known; `share=all` shows other clients' targets too.");
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
        let scribe = Arc::clone(&self.scribe);
        let upgrade = hyper::upgrade::on(&mut request);
        self.tasks.start("cdp-upgrade", async move {
            let upgraded = match upgrade.await {
                Ok(upgraded) => upgraded,
                Err(error) => return tracing::debug!(%error, "a websocket was not opened"),
            };
            let stream: Box<dyn ByteStream> = Box::new(TokioIo::new(upgraded));
            let (source, sink) = serve(stream, CLIENT_MESSAGE_CEILING);
            let guard =
                Some(policy.guard(GuardedClient::Bare, live.options.policy(), &key, live.browser.ownership));
            let options = ClientOptions { share, on_loss: OnLoss::Close, realm: live.realm.clone(), guard };
            let name = asker.name.clone().unwrap_or_else(|| format!("a CDP client of {}", key.name));
            let departure = Some(Note::of_departure(&scribe, key.clone(), asker));
            let place = Place { name, _permit: permit, _departure: departure, watch: None };
            match live.browser.hub.join_in_place(source, sink, options, Some(place)).await {
                Ok(client) => tracing::info!(%client, session = %key, "a CDP client joined"),
                Err(gone) => tracing::info!(%gone, "a CDP client came too late"),
            }
        });
        Ok(switching(accept))
    }

    /// Bare CDP in a guarded session needs a grant that says so (T19).
    pub(crate) fn admit_bare_client(&self, session: &Session, live: &LiveSession) -> Result<(), Failure> {
        let name = session.key.to_string();
        let rulebook = self.policy.rulebook();
        let is_open = live.options.policy() == PolicyProfile::Open;
        if is_open || rulebook.grants_anywhere(Capability::Cdp, now(), Some(&name)) {
            return Ok(());
        }
        let message = format!("Session {name} is guarded, and nobody has allowed CDP clients in it.");
        Err(Failure::new(ErrorCode::PolicyDenied, message).with_hint(
            "A person can allow it in a terminal: `tabwire allow ORIGIN --cdp`, or `tabwire allow '*' --cdp`.",
        ))
    }

    /// The session a request speaks of, with its browser and at least one tab.
    async fn served_session(
        &self,
        scope: &Scope,
        request: &Request<Incoming>,
    ) -> Result<(Arc<Session>, Arc<LiveSession>), Failure> {
        let session = self.sessions.obtain(&self.cdp_session(scope, request)?)?;
        let nothing = SessionOptions::default();
        let wish = Wish::new(&nothing, &nothing, false);
        let live = session.ready(&self.fleet, wish).await?.live;
        self.admit_bare_client(&session, &live)?;
        live.ensure_tab().await?;
        Ok((session, live))
    }

    /// `/client-slot`: whether a client would be served now.
    pub(crate) async fn client_slot(
        &self,
        scope: &Scope,
        request: &Request<Incoming>,
    ) -> Result<Answer, Failure> {
        let session = self.sessions.obtain(&self.cdp_session(scope, request)?)?;
        let single =
            session.find_live().await.is_some_and(|live| live.options.single_client.unwrap_or(false));
        let mode = if single { "single-active" } else { "multi" }.to_owned();
        let busy = single && session.slot.available_permits() == 0;
        let look_again_ms = busy.then(|| u64::try_from(look_again().as_millis()).unwrap_or_default());
        Ok(json_answer(StatusCode::OK, &ClientSlotAnswer { mode, busy, look_again_ms }))
    }

    fn websocket_of(&self, session: &Session) -> String {
        format!("ws://127.0.0.1:{}/{}/cdp", self.port, session.secret.expose())
    }

    /// `/json/version`: what the browser is, and where its websocket is.
    pub(crate) async fn json_version(
        &self,
        scope: &Scope,
        request: &Request<Incoming>,
    ) -> Result<Answer, Failure> {
        let (session, live) = self.served_session(scope, request).await?;
        let version = live.engine.version(ACTION_DEADLINE).await?;
        let socket = self.websocket_of(&session);
        Ok(json_answer(StatusCode::OK, &version_body(&version, &socket)))
    }

    /// `/json/list`: the session's tabs. All are reached through the one websocket of the browser.
    pub(crate) async fn json_list(
        &self,
        scope: &Scope,
        request: &Request<Incoming>,
    ) -> Result<Answer, Failure> {
        let (session, live) = self.served_session(scope, request).await?;
        let socket = self.websocket_of(&session);
        let (policy, browser) = (live.options.policy(), live.browser.ownership);
        let guard = self.policy.guard(GuardedClient::Bare, policy, &session.key, browser);
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
        Ok(json_answer(StatusCode::OK, &tabs))
    }
}

/// How long a client is ready to stand by for the one place there is.
fn standby_of(request: &Request<Incoming>) -> Result<Duration, Failure> {
    let Some(text) = query_value(request, "standby") else { return Ok(Duration::ZERO) };
    let seconds = text.parse().map(Duration::from_secs).ok().filter(|wait| *wait <= STANDBY_LONGEST);
    seconds.ok_or_else(|| {
        let message =
            format!("`standby={text}` is no number of seconds up to {}.", STANDBY_LONGEST.as_secs());
        Failure::new(ErrorCode::BadArgs, message)
    })
}

/// After how long a client that looks whether the place is free is to look again: half to one and a half of the usual.
fn look_again() -> Duration {
    let mut drawn = [0_u8; 1];
    // Without randomness all look again at the same time, which they can.
    let _ = getrandom::fill(&mut drawn);
    SLOT_LOOK / 2 + SLOT_LOOK * u32::from(drawn[0]) / u32::from(u8::MAX)
}

/// Takes the one place, as soon as it is free; those who stand by take it in the order in which they came.
async fn take_slot(session: &Session, standby: Duration) -> Result<OwnedSemaphorePermit, Failure> {
    let slot = Arc::clone(&session.slot);
    let taken = tokio::time::timeout(standby, slot.acquire_owned()).await;
    taken.ok().and_then(Result::ok).ok_or_else(|| slot_taken(&session.key))
}

fn slot_taken(key: &SessionKey) -> Failure {
    Failure::new(
        ErrorCode::Busy,
        format!("Session {} serves one CDP client at a time, and has one.", key.name),
    )
    .with_hint("Add `standby=30` to the address to take over when it leaves, wait until /client-slot says it is free, or use another session.")
}

/// The answer that makes a request a websocket.
pub(crate) fn switching(accept: HeaderValue) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::new()).boxed());
    *answer.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = answer.headers_mut();
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(header::SEC_WEBSOCKET_ACCEPT, accept);
    answer
}

/// Checks a websocket handshake and computes its answer.
pub(crate) fn accept_key(request: &Request<Incoming>) -> Result<HeaderValue, Failure> {
    let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
    let answer = handshake_answer(header).ok_or_else(|| {
        let message = "This address speaks CDP over a websocket; the request is no websocket handshake.";
        Failure::new(ErrorCode::BadArgs, message)
            .with_hint("Connect with Playwright's connectOverCDP or Puppeteer's connect.")
    })?;
    HeaderValue::from_str(&answer).map_err(|error| {
        Failure::new(ErrorCode::Internal, format!("The handshake's answer is not a header: {error}."))
    })
}
