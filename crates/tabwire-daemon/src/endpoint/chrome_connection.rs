//! One connected Chrome shim: gets its browser, joins its launcher as a client, and releases the browser at the end.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tabwire_api::api::{ChromeEnd, ChromeEndReason, ChromeOpened, ChromeOpening, PolicyProfile};
use tabwire_api::{ClientId, ErrorCode, Failure, ProjectKey, SessionKey, SessionName};
use tabwire_browser::{Display, Ownership, new_instance_id};
use tabwire_cdp::limits::CLIENT_MESSAGE_CEILING;
use tabwire_cdp::{CloseFrame, PipeSink, PipeSource, TransportError};
use tabwire_mux::{ClientOptions, FirstPage, Identity, OnLoss, Share};
use tokio::net::UnixStream;
use tokio::sync::oneshot;

use crate::audit::entry::AuditEntry;
use crate::browser::served::ServedBrowser;
use crate::daemon::Daemon;
use crate::endpoint::chrome::{Opening, closed_by_peer, is_hung_up};
use crate::endpoint::connections::ClientKind;
use crate::http::caller::Caller;
use crate::hub::client_guard::{ClientGuard, LeaveSignal};
use crate::hub::client_label::ClientLabel;
use crate::policy::cdp_guard::GuardedClient;

/// A Chrome shim and its browser.
#[derive(Debug)]
pub(crate) struct ShimConnection {
    daemon: Arc<Daemon>,
    served: Arc<ServedBrowser>,
    ownership: Ownership,
    /// Whether a browser without a window keeps running after its last client.
    keep: bool,
    /// Its launcher as a client of the browser. Absent when the shim only keeps the browser open.
    client: Option<Client>,
}

#[derive(Debug)]
struct Client {
    id: ClientId,
    left: oneshot::Receiver<()>,
    closed_browser: Arc<AtomicBool>,
}

impl ShimConnection {
    /// Gets the browser and joins the launcher as its client.
    pub(crate) async fn open(
        daemon: &Arc<Daemon>,
        opening: Opening,
        caller: Caller,
    ) -> Result<(Self, ChromeOpened), Failure> {
        let Opening { message, descriptors } = opening;
        // A shim that names none has one connection.
        let unnamed = || new_instance_id().map(|id| id.to_string());
        let shim = message.shim.clone().map_or_else(unnamed, Ok)?;
        let (browsers, wanted) = (Arc::clone(&daemon.browsers), message.clone());
        let (served, ownership) =
            daemon.run_to_completion(|_| async move { browsers.obtain_for_shim(&wanted).await }).await?;
        let has_session = has_session(daemon, &served).await;
        let view = ShimView { is_first: served.add_shim_connection(&shim, has_session), shim };
        let mut connection =
            Self { daemon: Arc::clone(daemon), served, ownership, keep: message.keep, client: None };
        match connection.join(&message, descriptors, &caller, &view).await {
            Ok(client) => connection.client = client,
            Err(failure) => {
                connection.leave(true, false).await;
                return Err(failure);
            }
        }
        let opened = connection.describe(&message);
        let profile = opened.profile.as_ref().map(|profile| tracing::field::display(profile.display()));
        tracing::info!(ownership = %opened.ownership, profile, "a Chrome shim has its browser");
        Ok((connection, opened))
    }

    async fn join(
        &self,
        message: &ChromeOpening,
        descriptors: Vec<OwnedFd>,
        caller: &Caller,
        view: &ShimView,
    ) -> Result<Option<Client>, Failure> {
        let mut descriptors = descriptors.into_iter();
        let (Some(commands), Some(responses)) = (descriptors.next(), descriptors.next()) else {
            return Ok(None);
        };
        let source =
            PipeSource::new(commands, CLIENT_MESSAGE_CEILING).map_err(TransportError::into_failure)?;
        let sink = PipeSink::new(responses).map_err(TransportError::into_failure)?;
        let (key, profile) = self.find_rule().await?;
        let guard = self.daemon.policy.guard(GuardedClient::CdpClient, profile, &key, self.served.ownership);
        let on_loss = if message.outlives_browser { OnLoss::SendDetachEvents } else { OnLoss::Close };
        let options = ClientOptions { on_loss, guard: Some(guard), ..view.options(&self.served) };
        let client_info = caller.named(None, None);
        AuditEntry::of_connect(&self.daemon.audit, key.clone(), client_info.clone(), None).finish(None).await;
        let (sender, left) = oneshot::channel();
        let closed_browser = Arc::new(AtomicBool::new(false));
        let watch = LeaveSignal { closed_browser: Arc::clone(&closed_browser), _left: sender };
        let name = client_info.program.clone().unwrap_or_else(|| "launcher".to_owned());
        let (name, is_open) = (ClientLabel::new(name), profile == PolicyProfile::Open);
        let registration = self.daemon.clients.enter(ClientKind::Shim, client_info.clone(), key.clone());
        let follower = registration.follower();
        let disconnect = Some(AuditEntry::of_disconnect(&self.daemon.audit, key.clone(), client_info));
        let place = ClientGuard {
            name,
            session: Some(key),
            is_open,
            _permit: None,
            _approval: None,
            _disconnect: disconnect,
            _registration: Some(registration),
            watch: Some(watch),
        };
        let joined = self.served.hub.join_guarded(source.into(), sink.into(), options, Some(place)).await;
        let id = joined
            .map_err(|gone| Failure::new(ErrorCode::BrowserGone, format!("The browser is gone: {gone}.")))?;
        self.daemon.tasks.start("chrome-client", follower.follow(self.served.hub.clone(), id));
        Ok(Some(Client { id, left, closed_browser }))
    }

    /// The policy for the launcher: that of a guarded session in the same browser, which has to admit CDP clients; else open.
    async fn find_rule(&self) -> Result<(SessionKey, PolicyProfile), Failure> {
        for session in self.daemon.sessions.all() {
            if let Some(live) = session.find_live().await
                && Arc::ptr_eq(&live.browser, &self.served)
                && live.options.policy() == PolicyProfile::Guarded
            {
                self.daemon.policy.admit_cdp_client(&session.key, live.options.policy())?;
                return Ok((session.key.clone(), PolicyProfile::Guarded));
            }
        }
        Ok((session_key()?, PolicyProfile::Open))
    }

    fn describe(&self, message: &ChromeOpening) -> ChromeOpened {
        let descriptor = self.served.descriptor.as_ref();
        let address = self.served.address.as_ref();
        let windows = self.served.windows.as_ref();
        ChromeOpened {
            ownership: self.ownership.as_str().to_owned(),
            browser: descriptor.map(|descriptor| descriptor.id.clone()),
            product: descriptor
                .and_then(|descriptor| descriptor.version.clone())
                .or_else(|| address.and_then(|address| address.product().map(str::to_owned)))
                .or_else(|| windows.and_then(|windows| windows.product.clone())),
            executable: descriptor.map(|descriptor| descriptor.executable.clone()),
            pid: descriptor
                .map(|descriptor| descriptor.browser.pid())
                .or_else(|| windows.and_then(|windows| i32::try_from(windows.pid).ok())),
            debugging_port: address
                .and_then(|address| address.expose().port())
                .or_else(|| windows.map(|windows| windows.port)),
            profile: descriptor
                .map(|descriptor| descriptor.profile.clone())
                .or_else(|| windows.map(|windows| windows.profile.clone().into()))
                .or_else(|| message.profile.clone()),
        }
    }

    /// Waits until the shim, its launcher, the browser or the daemon ends; returns what ended.
    pub(crate) async fn stay(mut self, stream: &UnixStream) -> Option<ChromeEnd> {
        let hub = self.served.hub.clone();
        let client = self.client.take();
        let identity = client.as_ref().map(|client| client.id);
        let closed_browser = client.as_ref().map(|client| Arc::clone(&client.closed_browser));
        let why = tokio::select! {
            biased;
            () = hub.gone() => ChromeEndReason::BrowserGone,
            () = client_left(client) => ChromeEndReason::ClientLeft,
            () = closed_by_peer(stream) => ChromeEndReason::ClientLeft,
            () = self.daemon.tasks.stopping() => ChromeEndReason::DaemonEnds,
        };
        if let Some(identity) = identity {
            hub.dismiss(identity, CloseFrame::Done).await;
        }
        let has_closed = closed_browser.is_some_and(|closed| closed.load(Ordering::SeqCst));
        let why = if has_closed { ChromeEndReason::BrowserClosed } else { why };
        let sentence = match why {
            ChromeEndReason::BrowserGone => format!("{}.", hub.gone_reason()),
            ChromeEndReason::ClientLeft => "The client has left.".to_owned(),
            ChromeEndReason::BrowserClosed => "The client has closed its browser.".to_owned(),
            ChromeEndReason::DaemonEnds => "The daemon ends.".to_owned(),
        };
        // A killed shim hangs up without a word: its launcher expects the browser to be gone with it.
        let was_killed = why == ChromeEndReason::ClientLeft && is_hung_up(stream);
        if why != ChromeEndReason::DaemonEnds {
            self.leave(has_closed, was_killed).await;
        }
        Some(ChromeEnd { why, sentence })
    }

    /// Releases the browser. The last user ends a launched browser, but a window stays open for its user unless the
    /// launcher that opened it closed it.
    async fn leave(self, has_closed: bool, was_killed: bool) {
        let others = {
            let _sharing = self.daemon.browsers.sharing.lock().await;
            let others = self.served.remove_user();
            let is_headless =
                self.served.ownership.may_close() && self.served.display() == Some(Display::Headless);
            let ends = (is_headless && (has_closed || !self.keep))
                || (has_closed && self.ownership.may_close())
                || self.served.hub.is_gone();
            if others == 0 && ends {
                let grace = was_killed.then_some(Duration::ZERO);
                if let Err(failure) = self.daemon.browsers.stop_within(&self.served, grace).await {
                    tracing::warn!(%failure, "the browser of a Chrome shim did not end; its keeper will end it");
                }
                return;
            }
            others
        };
        // A browser on Windows is found again by its profile, and has no keeper.
        if others == 0 && (!self.served.ownership.may_close() || self.served.windows.is_some()) {
            return self.served.hub.detach().await;
        }
        if others == 0 {
            self.park();
        }
    }

    /// Keeps a browser for the next client, until its user or a client closes it.
    fn park(self) {
        let connected = self.daemon.mcp_clients.connect();
        let (served, tasks) = (Arc::clone(&self.served), self.daemon.tasks.clone());
        self.daemon.tasks.start("parked-browser", async move {
            tokio::select! {
                () = served.hub.gone() => {}
                () = tasks.stopping() => {}
            }
            drop(connected);
        });
    }
}

impl Drop for ShimConnection {
    fn drop(&mut self) {
        self.served.remove_shim_connection();
    }
}

/// What the launcher of a shim sees.
struct ShimView {
    shim: String,
    /// Whether it sees the tabs without an owner, as the only user of a Chrome would.
    is_first: bool,
}

impl ShimView {
    fn options(&self, served: &ServedBrowser) -> ClientOptions {
        let view = Some(format!("shim {}", self.shim).into_boxed_str());
        let identity = Identity { view, ..Identity::default() };
        if self.is_first {
            return ClientOptions { share: Share::Released, identity, ..ClientOptions::default() };
        }
        // Launchers take the first page that they find: a later shim has one of its own.
        let is_launched = served.ownership.may_close();
        ClientOptions {
            share: if is_launched { Share::Own } else { Share::UserTabs },
            first_page: FirstPage::Opens,
            opens_windows: is_launched && served.display() == Some(Display::Headless),
            identity,
            ..ClientOptions::default()
        }
    }
}

/// Whether a session uses a browser.
async fn has_session(daemon: &Daemon, served: &Arc<ServedBrowser>) -> bool {
    for session in daemon.sessions.all() {
        if session.find_live().await.is_some_and(|live| Arc::ptr_eq(&live.browser, served)) {
            return true;
        }
    }
    false
}

/// Waits until the launcher has disconnected or closed its browser.
async fn client_left(client: Option<Client>) {
    match client {
        // Always an error: the sender is dropped with the client.
        Some(client) => drop(client.left.await),
        None => std::future::pending().await,
    }
}

/// The session name of Chrome shims in the audit log.
fn session_key() -> Result<SessionKey, Failure> {
    let name = SessionName::new("chrome").map_err(|error| {
        Failure::new(ErrorCode::Internal, format!("The session name `chrome` is invalid: {error}."))
    })?;
    Ok(SessionKey::new(ProjectKey::default(), name))
}
