//! The daemon: starts once per user, serves, and ends by drain, stop or idleness.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use tabwire_api::{ErrorCode, Failure, InstanceId, Remedy, SessionKey, Step};
use tabwire_browser::{PrivateDir, new_instance_id};
use tabwire_cdp::TaskGroup;
use tabwire_engine::OutputRedactor;
use tokio::net::{TcpListener, UnixListener};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{Notify, Semaphore, watch};

use crate::action::files::output_dirs::OutputDirs;
use crate::audit::events::EventStreams;
use crate::audit::writer::AuditWriter;
use crate::browser::background::run_to_completion;
use crate::browser::manager::BrowserManager;
use crate::browser::served::BrowserEnd;
use crate::chat::Chats;
use crate::config::DaemonConfig;
use crate::dashboard::keys::DashboardKeys;
use crate::endpoint::cdp::CdpEndpoint;
use crate::endpoint::connections::ConnectedClients;
use crate::endpoint::mcp_clients::McpClients;
use crate::extension::notifications::NotificationSources;
use crate::extension::registry::ExtensionRegistry;
use crate::handshake::Handshake;
use crate::http::gate::{Gate, Secrets};
use crate::http::listener::PortPeers;
use crate::http::listener::{Accept, Listener};
use crate::http::server;
use crate::http::token::Token;
use crate::limits::CONNECTIONS;
use crate::lock::DaemonLock;
use crate::policy::api::PolicyApi;
use crate::policy::approvals::ApprovalQueue;
use crate::policy::store::PolicyStore;
use crate::script::Scripts;
use crate::session::store::SessionStore;
use crate::session::table::SessionTable;
use crate::session::{Session, SessionDeps};
use crate::stored_format;
use crate::trail::Trail;

/// How long running requests may take when a newer daemon replaces this one.
const DRAIN_DEADLINE: Duration = Duration::from_secs(10);

/// A running daemon.
#[derive(Debug)]
pub struct Daemon {
    pub(crate) config: DaemonConfig,
    pub(crate) port: u16,
    pub(crate) gate: Gate,
    pub(crate) browsers: Arc<BrowserManager>,
    pub(crate) sessions: Arc<SessionTable>,
    pub(crate) files: Arc<OutputDirs>,
    pub(crate) audit: Arc<AuditWriter>,
    /// The user's secrets, which are redacted from every result.
    pub(crate) redactor: Arc<OutputRedactor>,
    pub(crate) policy: Arc<PolicyStore>,
    pub(crate) approvals: Arc<ApprovalQueue>,
    /// Tickets and keys of dashboards.
    pub(crate) dashboards: DashboardKeys,
    /// The streams of `/v1/events`.
    pub(crate) event_streams: EventStreams,
    pub(crate) policy_api: PolicyApi,
    pub(crate) cdp: CdpEndpoint,
    pub(crate) tasks: TaskGroup,
    pub(crate) work: Work,
    pub(crate) since: Instant,
    pub(crate) mcp_clients: McpClients,
    /// The clients that are connected, for the dashboard.
    pub(crate) clients: Arc<ConnectedClients>,
    /// Screenshots of pages after actions.
    pub(crate) trail: Arc<Trail>,
    pub(crate) scripts: Scripts,
    /// Chats with agents.
    pub(crate) chats: Chats,
    /// The user's own browsers.
    pub(crate) extensions: Arc<ExtensionRegistry>,
    pub(crate) peers: PortPeers,
    ending: watch::Sender<Option<Ending>>,
}

/// How the daemon ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Finish running requests. Browsers stay with their keepers.
    Drain,
    /// Every browser has ended.
    Stop,
}

/// The result of [`Daemon::run`].
#[derive(Debug)]
pub enum StartOutcome {
    /// It served and has ended.
    Served,
    /// Another daemon runs.
    AlreadyRunning,
}

/// The running requests.
#[derive(Debug, Default)]
pub(crate) struct Work {
    count: Arc<AtomicUsize>,
    changed: Arc<Notify>,
}

/// A running request. Counts until it is dropped.
pub(crate) struct RunningRequest {
    count: Arc<AtomicUsize>,
    changed: Arc<Notify>,
}

impl Work {
    pub(crate) fn begin(&self) -> RunningRequest {
        self.count.fetch_add(1, Ordering::SeqCst);
        RunningRequest { count: Arc::clone(&self.count), changed: Arc::clone(&self.changed) }
    }

    fn is_idle(&self) -> bool {
        self.count.load(Ordering::SeqCst) == 0
    }

    async fn done(&self) {
        while !self.is_idle() {
            self.changed.notified().await;
        }
    }
}

impl Drop for RunningRequest {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::SeqCst);
        self.changed.notify_one();
    }
}

impl Daemon {
    /// Becomes the daemon and serves until it ends. Calls `announce` when it accepts requests.
    ///
    /// # Errors
    /// When the directories are not safe, or no socket can be opened.
    pub async fn run(config: DaemonConfig, announce: impl FnOnce()) -> Result<StartOutcome, Failure> {
        PrivateDir::create(&config.paths.runtime)?;
        PrivateDir::create(&config.paths.state)?;
        let lock_path = config.paths.lock();
        let taken = DaemonLock::take_within(&lock_path, &config.paths.socket(), config.lock_timeout).await;
        let taken = taken.map_err(|error| system("lock", &lock_path, &error))?;
        let Some(_lock) = taken else { return Ok(StartOutcome::AlreadyRunning) };
        // Before any stored file is read.
        stored_format::claim(&config.paths.format())?;
        // Before the sockets: an unusable policy stops the start (T24).
        let policy = Arc::new(PolicyStore::open(&config.paths)?);
        let socket = bind_socket(&config.paths.socket())?;
        let listener = bind_port(config.port, &config.paths.last_port()).await?;
        let port = listener.local_addr().map(|address| address.port()).unwrap_or_default();
        policy.set_own_port(port);
        let instance = new_instance_id()?;
        let token = Token::draw().map_err(Failure::no_random_bytes)?;
        Handshake::new(instance.clone(), port, &token).write(&config.paths.handshake())?;
        let daemon = Self::new(config, instance, token, policy, port);
        tracing::info!(port, pid = std::process::id(), "the daemon starts");
        let (policy, tasks) = (Arc::clone(&daemon.policy), daemon.tasks.clone());
        daemon.tasks.start("policy-file", async move {
            tokio::select! {
                () = policy.follow() => {}
                () = tasks.stopping() => {}
            }
        });
        let trail = Arc::clone(&daemon.trail);
        // A reading of a directory, which the start does not wait for.
        drop(tokio::task::spawn_blocking(move || trail.forget_old()));
        daemon.adopt().await;
        announce();
        daemon.serve(socket, listener).await?;
        Ok(StartOutcome::Served)
    }

    /// Assembles the parts of the daemon.
    fn new(
        config: DaemonConfig,
        instance: InstanceId,
        token: Token,
        policy: Arc<PolicyStore>,
        port: u16,
    ) -> Arc<Self> {
        let tasks = TaskGroup::new();
        let audit = AuditWriter::start(config.audit_log.then(|| config.paths.audit_log()).as_deref());
        let approvals = ApprovalQueue::recorded(&audit);
        let sources = NotificationSources::new(&approvals, &policy, &audit);
        let extensions =
            Arc::new(ExtensionRegistry::new(config.paths.extension_key(), tasks.clone(), sources));
        let files = Arc::new(OutputDirs::new(config.paths.state.clone()));
        let (clients, trail) = (Arc::default(), Arc::new(Trail::new(config.paths.state.clone())));
        let browsers =
            Arc::new(BrowserManager::new(config.clone(), instance, tasks.clone(), Arc::clone(&extensions)));
        let sessions = Arc::new(SessionTable::new(SessionDeps {
            store: Arc::new(SessionStore::new(config.paths.sessions())),
            files: Arc::clone(&files),
            tasks: tasks.clone(),
            policy: Arc::clone(&policy),
            audit: Arc::clone(&audit),
            port,
        }));
        Arc::new(Self {
            port,
            gate: Gate::new(token),
            policy_api: PolicyApi::new(&policy, &approvals, &audit, &sessions),
            cdp: CdpEndpoint::new(
                Arc::clone(&sessions),
                Arc::clone(&browsers),
                (Arc::clone(&policy), Arc::clone(&approvals)),
                Arc::clone(&audit),
                tasks.clone(),
                (port, Arc::clone(&clients)),
            ),
            clients,
            trail,
            browsers,
            extensions,
            sessions,
            files,
            policy,
            approvals,
            dashboards: DashboardKeys::default(),
            event_streams: EventStreams::new(&audit, config.paths.audit_log(), &tasks),
            audit,
            redactor: Arc::default(),
            tasks,
            work: Work::default(),
            since: Instant::now(),
            mcp_clients: McpClients::default(),
            scripts: Scripts::default(),
            chats: Chats::new(config.paths.chats(), config.chat_history),
            peers: PortPeers::new(),
            ending: watch::Sender::new(None),
            config,
        })
    }

    async fn serve(self: &Arc<Self>, socket: UnixListener, port: TcpListener) -> Result<(), Failure> {
        // Separate permits: connections to the port must not block the user's socket.
        let permits = Some(Arc::new(Semaphore::new(CONNECTIONS)));
        let listeners = TaskGroup::new();
        listeners.start(
            "accept-socket",
            accept_all(Arc::clone(self), listeners.clone(), Listener::new(socket, permits)),
        );
        listeners
            .start("accept-port", accept_all(Arc::clone(self), listeners.clone(), Listener::new(port, None)));
        let mut terminate = signal(SignalKind::terminate()).map_err(|error| no_signals(&error))?;
        let ending = self.wait_for_end(&mut terminate).await?;
        tracing::info!(?ending, "the daemon ends");
        let _ = std::fs::remove_file(self.config.paths.socket());
        listeners.shutdown(Duration::from_millis(500)).await;
        if ending == Ending::Drain {
            tokio::select! {
                _ = tokio::time::timeout(DRAIN_DEADLINE, self.work.done()) => {}
                // A second SIGTERM does not wait for running requests.
                _ = terminate.recv() => {}
            }
        } else {
            let _ = tokio::time::timeout(Duration::from_secs(1), self.work.done()).await;
        }
        join_all(self.sessions.all().into_iter().map(|session| async move {
            let Some(live) = session.find_live().await else { return };
            live.is_ended.store(true, Ordering::Release);
            match &live.browser.rental {
                // The next daemon releases what is not released here.
                Some(_) => drop(self.browsers.stop(&live.browser).await),
                None => live.browser.hub.detach().await,
            }
        }))
        .await;
        self.tasks.shutdown(Duration::from_secs(2)).await;
        Arc::clone(&self.audit).close().await;
        let _ = std::fs::remove_file(self.config.paths.handshake());
        Ok(())
    }

    async fn wait_for_end(&self, terminate: &mut Signal) -> Result<Ending, Failure> {
        let mut ending = self.ending.subscribe();
        let mut interrupt = signal(SignalKind::interrupt()).map_err(|error| no_signals(&error))?;
        let mut hangup = signal(SignalKind::hangup()).map_err(|error| no_signals(&error))?;
        tokio::select! {
            end = ending.wait_for(Option::is_some) => Ok(end.ok().and_then(|end| *end).unwrap_or(Ending::Drain)),
            _ = terminate.recv() => Ok(Ending::Drain),
            _ = interrupt.recv() => Ok(Ending::Drain),
            _ = hangup.recv() => Ok(Ending::Drain),
            () = self.idle() => Ok(Ending::Stop),
        }
    }

    /// Waits until the daemon was idle for the configured time.
    async fn idle(&self) {
        let step = (self.config.idle_exit / 10).max(Duration::from_millis(50));
        let mut idle_since = Instant::now();
        loop {
            tokio::time::sleep(step).await;
            let mut busy = !self.work.is_idle() || self.mcp_clients.count() > 0 || self.chats.is_running();
            for session in self.sessions.all() {
                busy |= session.find_live().await.is_some_and(|live| !live.browser.hub.is_gone());
            }
            if busy {
                idle_since = Instant::now();
            } else if idle_since.elapsed() >= self.config.idle_exit {
                return;
            }
        }
    }

    pub(crate) fn end(&self, ending: Ending) {
        self.ending.send_if_modified(|current| {
            let first = current.is_none();
            *current = current.or(Some(ending));
            first
        });
    }

    /// Runs work to completion even if its caller is cancelled. A drain waits for it.
    pub(crate) async fn run_to_completion<T: Send + 'static, F>(
        self: &Arc<Self>,
        work: impl FnOnce(Arc<Self>) -> F,
    ) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Failure>> + Send + 'static,
    {
        let (working, work) = (self.work.begin(), work(Arc::clone(self)));
        run_to_completion(&self.tasks, async move {
            let _working = working;
            work.await
        })
        .await
    }

    /// Ends every launched browser; returns how many.
    pub(crate) async fn stop_all(&self) -> usize {
        let ended = join_all(self.sessions.all().into_iter().map(|session| async move {
            let live = session.take_live().await?;
            match self.browsers.end_session(&live).await {
                Ok(end) => Some(matches!(end, BrowserEnd::Ended | BrowserEnd::Released)),
                Err(failure) => {
                    tracing::warn!(%failure, session = %session.key, "a browser did not end");
                    None
                }
            }
        }))
        .await;
        ended.into_iter().flatten().filter(|ended| *ended).count() + self.browsers.stop_shim_browsers().await
    }
}

impl Secrets for Daemon {
    fn find_session(&self, secret: &str) -> Option<SessionKey> {
        self.sessions.find_by_secret(secret)
    }

    fn is_mcp(&self, secret: &str) -> bool {
        self.mcp_clients.is_address(secret)
    }

    fn find_open_port(&self, port: u16) -> Option<SessionKey> {
        let has_port =
            |session: &Arc<Session>| session.open_port().as_ref().is_some_and(|open| open.number == port);
        self.sessions.all().into_iter().find(has_port).map(|session| session.key.clone())
    }
}

async fn accept_all<L: Accept + Send + Sync>(
    daemon: Arc<Daemon>,
    listeners: TaskGroup,
    mut listener: Listener<L>,
) {
    loop {
        let stream = tokio::select! {
            stream = listener.next() => stream,
            () = listeners.stopping() => return,
        };
        let Some((stream, permit)) = stream else { return };
        let served = server::serve(Arc::clone(&daemon), stream);
        daemon.tasks.start("connection", async move {
            served.await;
            drop(permit);
        });
    }
}

/// Listens on the socket. Replaces the socket of an earlier daemon, which the lock makes safe.
fn bind_socket(path: &Path) -> Result<UnixListener, Failure> {
    match std::fs::symlink_metadata(path) {
        Ok(found) if !std::os::unix::fs::FileTypeExt::is_socket(&found.file_type()) => {
            let message = format!("{} exists and is not a socket.", path.display());
            return Err(Failure::new(ErrorCode::Internal, message).with_remedy("Remove it and retry."));
        }
        // A socket file outlives its process, and `bind` fails on an existing one (EADDRINUSE).
        Ok(_) => std::fs::remove_file(path).map_err(|error| system("remove", path, &error))?,
        Err(_) => {}
    }
    let listener = UnixListener::bind(path).map_err(|error| system("listen on", path, &error))?;
    // `bind` creates the file under the umask. Between the two calls the private directory protects it.
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))
        .map_err(|error| system("protect", path, &error))?;
    Ok(listener)
}

/// Listens on the literal loopback address. When the wanted port is taken (F37), takes a free one and remembers it: later
/// daemons take it first, so that URLs of CDP clients stay valid.
async fn bind_port(wanted: u16, remembered: &Path) -> Result<TcpListener, Failure> {
    let last = std::fs::read_to_string(remembered).ok().and_then(|text| find_last_port(&text, wanted));
    for port in last.into_iter().chain([wanted]) {
        match TcpListener::bind(("127.0.0.1", port)).await {
            Ok(listener) => return Ok(listener),
            Err(error) if wanted == 0 => return Err(no_port(&error)),
            Err(error) => tracing::warn!(%error, port, "the port is taken; using another one"),
        }
    }
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(|error| no_port(&error))?;
    let port = listener.local_addr().map_err(|error| no_port(&error))?.port();
    if let Err(error) =
        tabwire_browser::atomic_file::write(remembered, format!("{wanted} {port}\n").as_bytes())
    {
        tracing::warn!(%error, "the port cannot be remembered");
    }
    Ok(listener)
}

/// The port that was taken instead of the wanted one. A remembered port for another wanted one does not count: the user
/// has changed the setting.
fn find_last_port(text: &str, wanted: u16) -> Option<u16> {
    let (instead_of, port) = text.trim().split_once(' ')?;
    let port = port.parse().ok().filter(|port| *port != 0)?;
    (wanted != 0 && instead_of.parse() == Ok(wanted)).then_some(port)
}

fn no_port(error: &std::io::Error) -> Failure {
    Failure::new(ErrorCode::Internal, format!("Cannot listen on a loopback port: {error}."))
}

fn no_signals(error: &std::io::Error) -> Failure {
    Failure::new(ErrorCode::Internal, format!("Cannot install signal handlers: {error}."))
}

fn system(action: &'static str, path: &Path, error: &std::io::Error) -> Failure {
    let message = format!("Tabwire could not {action} {}: {error}.", path.display());
    Failure::new(ErrorCode::Internal, message)
        .with_remedy(Remedy::new("Run {} to check its directories.", [Step::command("tabwire doctor")]))
}
