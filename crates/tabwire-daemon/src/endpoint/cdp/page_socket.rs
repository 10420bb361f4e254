//! The websocket of one page (`/devtools/page/ID`): its frames have no session id.

use http::{Request, StatusCode};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde_json::json;
use tabwire_api::Failure;
use tabwire_audit::ClientInfo;
use tabwire_cdp::envelope::{BrowserFrameKind, peek_browser_frame};
use tabwire_cdp::limits::CLIENT_MESSAGE_CEILING;
use tabwire_cdp::page_frames::{Delivery, from_page, to_page};
use tabwire_cdp::websocket::{ByteStream, serve};
use tabwire_cdp::{CloseFrame, FrameSink, FrameSource, ReceivedFrame, channel_pair, reply};
use tabwire_mux::FirstPage;
use tabwire_policy::Profile;

use super::view::{View, identity_of};
use super::{CdpEndpoint, ServedSession, accept_key, switching, take_slot_of};
use crate::audit::entry::AuditEntry;
use crate::endpoint::connections::ClientKind;
use crate::http::handler::{caller_of, query_value};
use crate::http::server::{HttpResponse, failed_with};
use crate::hub::client_guard::ClientGuard;
use crate::hub::client_label::ClientLabel;
use crate::limits::ACTION_DEADLINE;
use crate::policy::store::OneTimeGrant;
use crate::session::gone;

/// The id of the attach command, above the ids of clients.
const ATTACH_ID: u64 = 9_000_000_000_000;

impl CdpEndpoint {
    /// Attaches to a page, then upgrades to its websocket.
    pub(super) async fn join_page(
        &self,
        served: ServedSession,
        mut request: Request<Incoming>,
        (client_info, approval): (ClientInfo, Option<OneTimeGrant>),
        target: &str,
    ) -> Result<HttpResponse, Failure> {
        let accept = accept_key(&request)?;
        let permit = take_slot_of(&served, &request).await?;
        let view = View::read(&request, served.default_view)?;
        let process = caller_of(&request).find_process().await;
        let mut identity = identity_of(&served.session.key, query_value(&request, "client"), process);
        // It may be a page that the client listed before it connected.
        identity.is_discovery = true;
        let mut options = view.options(&served.live, self.guard_of(&served.session, &served.live), identity);
        options.first_page = FirstPage::Any;
        let key = served.session.key.clone();
        let name = client_info.name.clone().unwrap_or_else(|| format!("CDP client of {}", key.name));
        let registration = self.clients.enter(ClientKind::Cdp, client_info.clone(), key.clone());
        let follower = registration.follower();
        let disconnect = Some(AuditEntry::of_disconnect(&self.audit, key.clone(), client_info));
        let (name, is_open) = (ClientLabel::new(name), served.live.options.policy() == Profile::Open);
        let guard = ClientGuard {
            name,
            session: Some(key),
            is_open,
            _permit: permit,
            _approval: approval,
            _disconnect: disconnect,
            _registration: Some(registration),
            watch: None,
        };
        let ((mut source, mut sink), theirs) = channel_pair();
        let hub = served.live.browser.hub.clone();
        let client = hub.join_guarded(theirs.0, theirs.1, options, Some(guard)).await.map_err(gone)?;
        self.tasks.start("cdp-page-client", follower.follow(hub, client));
        let attaching = tokio::time::timeout(ACTION_DEADLINE, attach(&mut source, &mut sink, target));
        let Some(session) = attaching.await.ok().flatten() else {
            let failure =
                Failure::new(tabwire_api::ErrorCode::TabNotFound, format!("No such target id: {target}"));
            return Ok(failed_with(StatusCode::NOT_FOUND, &failure));
        };
        let upgrade = hyper::upgrade::on(&mut request);
        self.tasks.start("cdp-page", async move {
            let upgraded = match upgrade.await {
                Ok(upgraded) => upgraded,
                Err(error) => return tracing::debug!(%error, "a websocket upgrade failed"),
            };
            let stream: Box<dyn ByteStream> = Box::new(TokioIo::new(upgraded));
            pump(serve(stream, CLIENT_MESSAGE_CEILING), (source, sink), &session).await;
        });
        Ok(switching(accept))
    }
}

/// Attaches to a target; returns the CDP session, or `None` when there is no such target.
async fn attach(source: &mut FrameSource, sink: &mut FrameSink, target: &str) -> Option<String> {
    let params = json!({"targetId": target, "flatten": true});
    sink.send(reply::command(ATTACH_ID, None, "Target.attachToTarget", params)).await.ok()?;
    loop {
        let Ok(Some(ReceivedFrame::Frame(frame))) = source.next().await else { return None };
        let is_response = peek_browser_frame(&frame).is_ok_and(
            |envelope| matches!(envelope.kind, BrowserFrameKind::Response { id, .. } if id == ATTACH_ID),
        );
        if is_response {
            let response: serde_json::Value = serde_json::from_slice(&frame).ok()?;
            return response.pointer("/result/sessionId")?.as_str().map(str::to_owned);
        }
    }
}

/// Moves frames between the client and the browser until the client, the page or the browser ends.
async fn pump(
    (mut client, mut to_client): (FrameSource, FrameSink),
    (mut browser, mut to_browser): (FrameSource, FrameSink),
    session: &str,
) {
    loop {
        let is_done = tokio::select! {
            read = client.next() => match read {
                Ok(Some(ReceivedFrame::Frame(frame))) => {
                    to_browser.send(to_page(frame, session)).await.is_err()
                }
                _ => return,
            },
            read = browser.next() => match read {
                Ok(Some(ReceivedFrame::Frame(frame))) => match from_page(frame, session) {
                    Delivery::Forward(frame) => to_client.send(frame).await.is_err(),
                    Delivery::Drop => false,
                    Delivery::End => true,
                },
                Ok(Some(ReceivedFrame::Oversize(_))) => false,
                Ok(None) | Err(_) => true,
            },
        };
        if is_done {
            return to_client.close_with(CloseFrame::Done);
        }
    }
}
