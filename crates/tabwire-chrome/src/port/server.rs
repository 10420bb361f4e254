//! The state that all clients of one port share: the browser, the number of clients, and how the shim ends.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use bytes::BytesMut;
use serde_json::{Value, json};
use tabwire_api::api::{ChromeEndReason, ChromeOpening};
use tabwire_api::{ErrorCode, Failure};
use tabwire_browser::protocol::{self, ProtocolPlaces, ProtocolSource};
use tabwire_browser::{DebuggingPipe, new_instance_id};
use tabwire_cdp::{ReceivedFrame, TaskGroup};
use tabwire_client::own_program;
use tokio::sync::{Mutex, Notify, watch};

use super::BROWSER_TIMEOUT;
use super::link::{Link, hand_over_pipe};
use crate::ShimPaths;
use crate::frame_log::{ClientFrames, FrameLog};
use crate::lifecycle::{BrowserOrigin, LauncherTransport, Lifecycle};
use crate::log;
use crate::pipe::frame_tap::LauncherPipe;
use crate::plan::Plan;

/// How the shim ends.
#[derive(Clone, Debug)]
pub(super) enum Finish {
    Done,
    /// The browser is lost for good.
    Failed(Failure),
}

impl Finish {
    /// The reason, for the log.
    pub(super) fn reason(&self) -> String {
        match self {
            Self::Done => "a client closed the browser".to_owned(),
            Self::Failed(failure) => failure.message.clone(),
        }
    }
}

/// Number of the browser that a connection goes to; incremented by every recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Generation(u64);

/// The server's own connection, which keeps the browser alive while no client is connected.
#[derive(Debug)]
struct ControlLink {
    link: Link,
    generation: Generation,
    last_id: i64,
}

#[derive(Debug)]
pub(super) struct PortServer {
    paths: ShimPaths,
    /// Set when frames are logged.
    frames: Option<FrameLog>,
    opening: ChromeOpening,
    port: u16,
    path: String,
    origin: BrowserOrigin,
    control: Mutex<ControlLink>,
    /// Serializes requests for the protocol, so that many of them block one thread only.
    protocol_lock: Mutex<()>,
    clients: AtomicUsize,
    clients_changed: Notify,
    closes_browser: AtomicBool,
    finish: watch::Sender<Option<Finish>>,
    tasks: TaskGroup,
}

/// Counts one connected client until it is dropped.
#[derive(Debug)]
pub(super) struct ClientGuard(Arc<PortServer>);

impl Drop for ClientGuard {
    fn drop(&mut self) {
        self.0.clients.fetch_sub(1, Ordering::SeqCst);
        self.0.clients_changed.notify_waiters();
    }
}

impl PortServer {
    /// Connects to the browser, and hands over the launcher's pipe if there is one.
    ///
    /// # Errors
    /// When the browser cannot be started.
    pub(super) async fn open(
        plan: Plan,
        pipe: Option<DebuggingPipe>,
        frames: Option<FrameLog>,
        paths: ShimPaths,
        port: u16,
        tasks: TaskGroup,
    ) -> Result<Arc<Self>, Failure> {
        let opening = ChromeOpening { shim: Some(new_instance_id()?.to_string()), ..plan.opening };
        let link = Link::open(paths.socket.clone(), opening.clone()).await?;
        let origin = link.origin();
        let mut life = Lifecycle::new(LauncherTransport::Port);
        life.browser_ready(origin);
        log::opened(plan.mode, Some(port), &life, &link.opened);
        let server = Arc::new(Self {
            path: format!("/devtools/browser/{}", new_instance_id()?),
            control: Mutex::new(ControlLink { link, generation: Generation(0), last_id: 0 }),
            clients: AtomicUsize::new(0),
            clients_changed: Notify::new(),
            closes_browser: AtomicBool::new(false),
            finish: watch::Sender::new(None),
            paths,
            frames,
            opening,
            protocol_lock: Mutex::new(()),
            port,
            origin,
            tasks,
        });
        if let Some(pipe) = pipe {
            server.serve_pipe(pipe).await?;
        }
        Ok(server)
    }

    /// Hands the launcher's pipe to the daemon. When the pipe ends, the shim ends.
    async fn serve_pipe(self: &Arc<Self>, pipe: DebuggingPipe) -> Result<(), Failure> {
        let pipe = LauncherPipe::new(pipe, self.frames.as_ref())?;
        let mut end = hand_over_pipe(self.paths.socket.clone(), self.opening.clone(), pipe).await?;
        let server = Arc::clone(self);
        self.tasks.start("pipe", async move {
            let end = end.wait().await;
            match end.why {
                ChromeEndReason::BrowserClosed => server.close_browser(),
                ChromeEndReason::ClientLeft => server.finish(Finish::Done),
                ChromeEndReason::BrowserGone | ChromeEndReason::DaemonEnds => {
                    server.finish(Finish::Failed(Failure::new(ErrorCode::BrowserGone, end.sentence)));
                }
            }
        });
        Ok(())
    }

    /// Opens the browser connection of a client.
    ///
    /// # Errors
    /// When the browser cannot be started.
    pub(super) async fn open_link(&self) -> Result<(Link, Generation), Failure> {
        let generation = self.control.lock().await.generation;
        let opening = ChromeOpening { outlives_browser: true, ..self.opening.clone() };
        Ok((Link::open(self.paths.socket.clone(), opening).await?, generation))
    }

    /// Opens the browser connection of a client of one page. Restarts a lost browser.
    ///
    /// # Errors
    /// When the browser cannot be started.
    pub(super) async fn open_page_link(&self) -> Result<Link, Failure> {
        // A command first: it recovers a lost browser for all clients.
        self.send_command("Browser.getVersion", json!({})).await?;
        Link::open(self.paths.socket.clone(), self.opening.clone()).await
    }

    /// Recovers the browser for a client that lost it: attaches to the one that runs on the profile, else starts one.
    /// Does nothing when another client has recovered it meanwhile.
    ///
    /// # Errors
    /// When the browser cannot be started.
    pub(super) async fn renew(&self, lost: Generation) -> Result<BrowserOrigin, Failure> {
        let mut control = self.control.lock().await;
        if control.generation > lost {
            return Ok(BrowserOrigin::Attached);
        }
        control.link.end.detach().await;
        control.link = Link::open(self.paths.socket.clone(), self.opening.clone()).await?;
        control.generation = Generation(lost.0 + 1);
        Ok(control.link.origin())
    }

    /// Sends a CDP command on the server's own connection. Restarts a lost browser.
    ///
    /// # Errors
    /// When the browser cannot be started, or does not respond.
    pub(super) async fn send_command(&self, method: &str, params: Value) -> Result<Value, Failure> {
        let lost = {
            let mut control = self.control.lock().await;
            match control.send_command(method, &params).await {
                Some(response) => return Ok(response),
                None => control.generation,
            }
        };
        self.renew(lost).await?;
        let mut control = self.control.lock().await;
        control.send_command(method, &params).await.ok_or_else(|| {
            Failure::new(ErrorCode::BrowserGone, format!("The browser did not respond to {method}."))
        })
    }

    /// The JSON of `/json/protocol`.
    ///
    /// # Errors
    /// When it is unavailable; the browser may work all the same.
    pub(super) async fn describe_protocol(&self, product: String) -> Result<String, Failure> {
        let _lock = self.protocol_lock.lock().await;
        let opened = self.control.lock().await.link.opened.clone();
        let is_reachable = self.opening.windows.as_ref().is_none_or(|windows| windows.shares_loopback);
        let port = opened.debugging_port.filter(|_| is_reachable);
        let browser = ProtocolSource { product, executable: opened.executable, port };
        let program = own_program().map_err(|error| {
            Failure::new(ErrorCode::Internal, format!("The path of this program is unknown: {error}."))
        })?;
        let places = ProtocolPlaces {
            keeper: (program, vec!["keep".to_owned()]),
            runtime: self.paths.runtime.clone(),
            state: self.paths.state.clone(),
            data: self.paths.data.clone(),
        };
        let described = tokio::task::spawn_blocking(move || protocol::describe(&browser, &places)).await;
        described.map_err(|error| {
            Failure::new(ErrorCode::Internal, format!("Fetching the protocol was interrupted: {error}."))
        })?
    }

    /// The frame log of one more client; `None` when frames are not logged.
    pub(super) fn client_frames(&self) -> Option<ClientFrames> {
        self.frames.as_ref().map(FrameLog::client)
    }

    pub(super) fn register_client(self: &Arc<Self>) -> ClientGuard {
        self.clients.fetch_add(1, Ordering::SeqCst);
        ClientGuard(Arc::clone(self))
    }

    /// Waits until no client is connected.
    pub(super) async fn no_clients(&self) {
        loop {
            let changed = self.clients_changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if self.clients.load(Ordering::SeqCst) == 0 {
                return;
            }
            changed.await;
        }
    }

    /// A client sent `Browser.close`: the browser is closed when the shim ends.
    pub(super) fn close_browser(&self) {
        self.closes_browser.store(true, Ordering::SeqCst);
        self.finish(Finish::Done);
    }

    /// Ends the shim. The first call decides how.
    pub(super) fn finish(&self, finish: Finish) {
        self.finish.send_if_modified(|current| {
            let is_first = current.is_none();
            current.get_or_insert(finish);
            is_first
        });
    }

    /// Waits for [`PortServer::finish`].
    pub(super) async fn finished(&self) -> Finish {
        let mut finish = self.finish.subscribe();
        let finished = finish.wait_for(Option::is_some).await;
        finished.ok().and_then(|finished| finished.clone()).unwrap_or(Finish::Done)
    }

    /// Closes or releases the browser, and waits until the daemon reports its end.
    pub(super) async fn close(&self, timeout: Duration) {
        let mut control = self.control.lock().await;
        if self.closes_browser.load(Ordering::SeqCst) {
            let _ =
                control.link.sink.send(BytesMut::from(&br#"{"id":1,"method":"Browser.close"}"#[..])).await;
        } else {
            control.link.end.detach().await;
        }
        let _ = tokio::time::timeout(timeout, control.link.end.wait()).await;
    }

    pub(super) const fn tasks(&self) -> &TaskGroup {
        &self.tasks
    }

    /// The launcher's profile directory.
    pub(super) fn profile(&self) -> Option<&Path> {
        self.opening.profile.as_deref()
    }

    pub(super) const fn origin(&self) -> BrowserOrigin {
        self.origin
    }

    pub(super) const fn port(&self) -> u16 {
        self.port
    }

    /// The path of the browser's WebSocket; the same after every recovery.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// The URL of the browser's WebSocket, with the client's name for this host.
    pub(super) fn websocket(&self, host: &str) -> String {
        format!("ws://{host}{}", self.path)
    }

    /// Host and port of the listener.
    pub(super) fn authority(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }
}

impl ControlLink {
    /// Sends a command and waits for its response; `None` when the browser is gone.
    async fn send_command(&mut self, method: &str, params: &Value) -> Option<Value> {
        self.last_id += 1;
        let command = json!({"id": self.last_id, "method": method, "params": params}).to_string();
        let response = async {
            self.link.sink.send(BytesMut::from(command.as_bytes())).await.ok()?;
            loop {
                let Ok(Some(ReceivedFrame::Frame(frame))) = self.link.source.next().await else {
                    return None;
                };
                let frame: Value = serde_json::from_slice(&frame).ok()?;
                if frame.get("id").and_then(Value::as_i64) == Some(self.last_id) {
                    return Some(frame);
                }
            }
        };
        tokio::time::timeout(BROWSER_TIMEOUT, response).await.ok().flatten()
    }
}
