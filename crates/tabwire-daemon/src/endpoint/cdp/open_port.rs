//! A loopback port without a secret, for one session: for programs that drop the path of a URL.
//!
//! Any process on the machine can connect to it, so it is opened on request only, reported wherever the session is
//! shown, and closed with the session.

use std::sync::Arc;

use tabwire_api::api::{CdpPortRequest, CdpUrlRequest, CdpUrlResponse, PolicyProfile};
use tabwire_api::{ErrorCode, Failure, Remedy, SessionKey, Step};
use tabwire_browser::new_instance_id;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::firefox;
use super::view::View;
use crate::audit::entry::AuditEntry;
use crate::daemon::Daemon;
use crate::http::caller::Caller;
use crate::http::listener::Listener;
use crate::http::server;
use crate::session::Session;
use crate::session::start::StartOptions;

/// The open port of a session. Dropping it closes the port; connected clients stay.
#[derive(Debug)]
pub(crate) struct OpenPort {
    pub(crate) number: u16,
    pub(crate) view: View,
    /// The last part of the browser's websocket path.
    pub(crate) browser_id: String,
    _open: oneshot::Sender<()>,
}

impl Daemon {
    /// The URLs of a session for CDP clients. Starts its browser; opens or closes its open port.
    pub(crate) async fn cdp_url(
        self: &Arc<Self>,
        request: CdpUrlRequest,
        caller: &Caller,
    ) -> Result<CdpUrlResponse, Failure> {
        let view = View::new(request.join, request.share_all);
        let port = request.port;
        let session = self.sessions.obtain(&request.key())?;
        if port == Some(CdpPortRequest::Close) {
            let closed = session.open_port().take();
            let number = closed.map(|port| port.number);
            self.log_port(&session.key, caller, number, false).await;
            let notice = match number {
                Some(number) => format!("Port {number} of session {} is closed.", session.key.name),
                None => format!("Session {} has no open port.", session.key.name),
            };
            return Ok(CdpUrlResponse { notices: vec![notice], ..CdpUrlResponse::default() });
        }
        let start = StartOptions::new(&request.options, &request.defaults, request.restart);
        let ready = session.ready(&self.browsers, start).await?;
        firefox::check(&ready.live, request.experimental)?;
        if view.shows_session() {
            ready.live.ensure_tab().await?;
        }
        let base = format!("127.0.0.1:{}/{}", self.port, session.secret.expose());
        let mut response = CdpUrlResponse {
            websocket: format!("ws://{base}/cdp{}", firefox::query(&ready.live, view)),
            http: format!("http://{base}"),
            open_port: None,
            notices: ready.notices,
        };
        if let Some(CdpPortRequest::Open { number, allow_guarded }) = port {
            if ready.live.options.policy() == PolicyProfile::Guarded && !allow_guarded {
                return Err(guarded(&session.key));
            }
            let number = self.open_port(&session, number, view).await?;
            self.log_port(&session.key, caller, Some(number), true).await;
            response.websocket = websocket_of(&session, &format!("127.0.0.1:{number}"));
            response.http = format!("http://127.0.0.1:{number}");
            response.open_port = Some(number);
            response.notices.push(warning(&session.key, number));
        }
        Ok(response)
    }

    /// Opens the session's port, or returns the one that is open.
    async fn open_port(
        self: &Arc<Self>,
        session: &Arc<Session>,
        wanted: u16,
        view: View,
    ) -> Result<u16, Failure> {
        if let Some(port) = session.open_port().as_mut().filter(|port| wanted == 0 || wanted == port.number) {
            port.view = view;
            return Ok(port.number);
        }
        // One session never has two.
        drop(session.open_port().take());
        let listener =
            TcpListener::bind(("127.0.0.1", wanted)).await.map_err(|error| busy(wanted, &error))?;
        let number = listener.local_addr().map_err(|error| busy(wanted, &error))?.port();
        let (open, mut closed) = oneshot::channel();
        let browser_id = new_instance_id()?.to_string();
        *session.open_port() = Some(OpenPort { number, view, browser_id, _open: open });
        let (daemon, tasks) = (Arc::clone(self), self.tasks.clone());
        self.tasks.start("open-port", async move {
            let mut listener = Listener::new(listener, None);
            loop {
                let accepted = tokio::select! {
                    accepted = listener.next() => accepted,
                    _ = &mut closed => return,
                    () = tasks.stopping() => return,
                };
                let Some((stream, _)) = accepted else { return };
                let served = server::serve_open_port(Arc::clone(&daemon), stream, number);
                tasks.start("connection", served);
            }
        });
        Ok(number)
    }

    async fn log_port(&self, key: &SessionKey, caller: &Caller, number: Option<u16>, is_open: bool) {
        let given = serde_json::json!({"port": number, "open": is_open});
        let entry =
            AuditEntry::of_ruling(&self.audit, key.clone(), caller.named(None, None), "cdp_port", &given);
        entry.finish(None).await;
    }
}

/// The URL of the browser's websocket at the open port of a session.
pub(crate) fn websocket_of(session: &Session, host: &str) -> String {
    let id = session.open_port().as_ref().map(|port| port.browser_id.clone()).unwrap_or_default();
    format!("ws://{host}/devtools/browser/{id}")
}

fn warning(key: &SessionKey, number: u16) -> String {
    format!(
        "Port {number} needs no secret: every program of every user on this machine can now drive session {}. \
         `tabwire cdp-url --port --close` closes it; it is also closed with the session.",
        key.name
    )
}

fn guarded(key: &SessionKey) -> Failure {
    let message = format!(
        "Session {} is guarded, and a port without a secret would let every program on this machine use its grants.",
        key.name
    );
    Failure::new(ErrorCode::PolicyDenied, message).with_remedy(Remedy::new(
        "Use the URL with its secret: {}. The user can allow open ports in guarded sessions: {}.",
        [Step::command("tabwire cdp-url"), Step::command("tabwire config set guarded_ports true")],
    ))
}

fn busy(port: u16, error: &std::io::Error) -> Failure {
    Failure::new(ErrorCode::Busy, format!("Listening on 127.0.0.1:{port} failed: {error}."))
        .with_remedy("Use another port, or none for any free one.")
}
