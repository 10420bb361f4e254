//! The daemon as a whole: starting once, serving, and ending in one of three ways.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tabwire_browser::{PrivateDir, new_instance_id};
use tabwire_cdp::TaskGroup;
use tabwire_engine::Concealment;
use tabwire_wire::{ErrorCode, Failure, SessionKey};
use tokio::net::{TcpListener, UnixListener};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{Notify, Semaphore, watch};

use crate::approval_desk::ApprovalDesk;
use crate::config::DaemonConfig;
use crate::extension_desk::ExtensionDesk;
use crate::extension_news::People;
use crate::file_shelf::FileShelf;
use crate::fleet::{Fleet, carried_out};
use crate::gate::{Gate, Secrets};
use crate::handshake::Handshake;
use crate::limits::{CONNECTIONS, DRAIN_DEADLINE};
use crate::listener::{Accept, Listener};
use crate::lock::DaemonLock;
use crate::mcp_guests::McpGuests;
use crate::policy_desk::PolicyDesk;
use crate::port_peer::PortPeers;
use crate::scribe::Scribe;
use crate::served_browser::Fate;
use crate::server;
use crate::session::Household;
use crate::session_store::SessionStore;
use crate::session_table::SessionTable;
use crate::token::Token;

/// A running daemon.
#[derive(Debug)]
pub struct Daemon {
    pub(crate) config: DaemonConfig,
    pub(crate) port: u16,
    pub(crate) gate: Gate,
    pub(crate) fleet: Arc<Fleet>,
    pub(crate) sessions: SessionTable,
    pub(crate) files: Arc<FileShelf>,
    pub(crate) scribe: Arc<Scribe>,
    /// Secrets of the user's that no answer may have.
    pub(crate) concealment: Arc<Concealment>,
    pub(crate) policy: Arc<PolicyDesk>,
    pub(crate) approvals: Arc<ApprovalDesk>,
    pub(crate) tasks: TaskGroup,
    pub(crate) work: Work,
    pub(crate) since: Instant,
    pub(crate) guests: McpGuests,
    /// The user's own browsers.
    pub(crate) extensions: Arc<ExtensionDesk>,
    pub(crate) peers: PortPeers,
    ending: watch::Sender<Option<Ending>>,
}

/// How a daemon ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Makes room: work under way is finished, browsers stay with their keepers.
    Drain,
    /// Everything was ended already.
    Stop,
}

/// Whether this process became the daemon.
#[derive(Debug)]
pub enum StartOutcome {
    /// It served, and has ended.
    Served,
    /// Another daemon runs.
    AlreadyRunning,
}

/// Requests being worked on.
#[derive(Debug, Default)]
pub(crate) struct Work {
    count: Arc<AtomicUsize>,
    changed: Arc<Notify>,
}

/// One request being worked on; counts as long as it lives.
pub(crate) struct Working {
    count: Arc<AtomicUsize>,
    changed: Arc<Notify>,
}

impl Work {
    pub(crate) fn begin(&self) -> Working {
        self.count.fetch_add(1, Ordering::SeqCst);
        Working { count: Arc::clone(&self.count), changed: Arc::clone(&self.changed) }
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

impl Drop for Working {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::SeqCst);
        self.changed.notify_one();
    }
}

impl Daemon {
    /// Becomes the daemon and serves until told to end. `announce` is called when requests are answered.
    ///
    /// # Errors
    /// When the directories are not safe, or nothing can be listened on.
    pub async fn run(config: DaemonConfig, announce: impl FnOnce()) -> Result<StartOutcome, Failure> {
        PrivateDir::create(&config.paths.runtime)?;
        PrivateDir::create(&config.paths.state)?;
        let lock_path = config.paths.lock();
        let taken = DaemonLock::take_within(&lock_path, &config.paths.socket(), config.patience).await;
        let taken = taken.map_err(|error| system("lock", &lock_path, &error))?;
        let Some(_lock) = taken else { return Ok(StartOutcome::AlreadyRunning) };
        // Before anything is listened on: a policy that cannot be used stops the start (T24).
        let policy = Arc::new(PolicyDesk::open(&config.paths)?);
        let socket = bind_socket(&config.paths.socket())?;
        let listener = bind_port(config.port).await?;
        let port = listener.local_addr().map(|address| address.port()).unwrap_or_default();
        let instance = new_instance_id()?;
        let token = Token::draw().map_err(|error| {
            Failure::new(ErrorCode::Internal, format!("The system gives no randomness: {error}."))
        })?;
        Handshake::new(instance.clone(), port, &token).write(&config.paths.handshake())?;
        let tasks = TaskGroup::new();
        let scribe = Scribe::start(config.journal.then(|| config.paths.journal()).as_deref());
        let approvals = Arc::<ApprovalDesk>::default();
        let people = People {
            approvals: Arc::clone(&approvals),
            policy: Arc::clone(&policy),
            scribe: Arc::clone(&scribe),
        };
        let extensions = Arc::new(ExtensionDesk::new(config.paths.extension_key(), tasks.clone(), people));
        let files = Arc::new(FileShelf::new(config.paths.state.clone()));
        let daemon = Arc::new(Self {
            port,
            gate: Gate::new(token),
            fleet: Arc::new(Fleet::new(config.clone(), instance, tasks.clone(), Arc::clone(&extensions))),
            extensions,
            sessions: SessionTable::new(Household {
                store: Arc::new(SessionStore::new(config.paths.sessions())),
                files: Arc::clone(&files),
                tasks: tasks.clone(),
                policy: Arc::clone(&policy),
                scribe: Arc::clone(&scribe),
                port,
            }),
            files,
            policy,
            approvals,
            scribe,
            concealment: Arc::default(),
            tasks,
            work: Work::default(),
            since: Instant::now(),
            guests: McpGuests::default(),
            peers: PortPeers::new(),
            ending: watch::Sender::new(None),
            config,
        });
        tracing::info!(port, pid = std::process::id(), "the daemon starts");
        daemon.tasks.start("policy-file", Arc::clone(&daemon.policy).follow());
        daemon.adopt().await;
        announce();
        daemon.serve(socket, listener).await?;
        Ok(StartOutcome::Served)
    }

    async fn serve(self: &Arc<Self>, socket: UnixListener, port: TcpListener) -> Result<(), Failure> {
        // Each door has places of its own: strangers at the port must not keep the user from the socket.
        let places = Some(Arc::new(Semaphore::new(CONNECTIONS)));
        let doors = TaskGroup::new();
        doors
            .start("door-socket", accept_all(Arc::clone(self), doors.clone(), Listener::new(socket, places)));
        doors.start("door-port", accept_all(Arc::clone(self), doors.clone(), Listener::new(port, None)));
        let mut terminate = signal(SignalKind::terminate()).map_err(|error| no_signals(&error))?;
        let ending = self.wait_for_end(&mut terminate).await?;
        tracing::info!(?ending, "the daemon ends");
        let _ = std::fs::remove_file(self.config.paths.socket());
        doors.shutdown(Duration::from_millis(500)).await;
        if ending == Ending::Drain {
            tokio::select! {
                _ = tokio::time::timeout(DRAIN_DEADLINE, self.work.done()) => {}
                // Asked a second time: work under way is not waited for.
                _ = terminate.recv() => {}
            }
        } else {
            let _ = tokio::time::timeout(Duration::from_secs(1), self.work.done()).await;
        }
        for session in self.sessions.all() {
            if let Some(live) = session.find_live().await {
                live.browser.hub.let_go().await;
            }
        }
        self.tasks.shutdown(Duration::from_secs(2)).await;
        Arc::clone(&self.scribe).close().await;
        let _ = std::fs::remove_file(self.config.paths.handshake());
        Ok(())
    }

    async fn wait_for_end(&self, terminate: &mut Signal) -> Result<Ending, Failure> {
        let mut ending = self.ending.subscribe();
        let mut interrupt = signal(SignalKind::interrupt()).map_err(|error| no_signals(&error))?;
        let mut hangup = signal(SignalKind::hangup()).map_err(|error| no_signals(&error))?;
        tokio::select! {
            told = ending.wait_for(Option::is_some) => Ok(told.ok().and_then(|told| *told).unwrap_or(Ending::Drain)),
            _ = terminate.recv() => Ok(Ending::Drain),
            _ = interrupt.recv() => Ok(Ending::Drain),
            _ = hangup.recv() => Ok(Ending::Drain),
            () = self.idle() => Ok(Ending::Stop),
        }
    }

    /// Waits until there has been nothing to do for the configured time.
    async fn idle(&self) {
        let step = (self.config.idle_exit / 10).max(Duration::from_millis(50));
        let mut idle_since = Instant::now();
        loop {
            tokio::time::sleep(step).await;
            let mut busy = !self.work.is_idle() || self.guests.count() > 0;
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

    /// Does work to its end, though whoever asked may leave before; the daemon waits for it when it makes room.
    pub(crate) async fn carry_out<T: Send + 'static, F>(
        self: &Arc<Self>,
        work: impl FnOnce(Arc<Self>) -> F,
    ) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Failure>> + Send + 'static,
    {
        let (working, work) = (self.work.begin(), work(Arc::clone(self)));
        carried_out(&self.tasks, async move {
            let _working = working;
            work.await
        })
        .await
    }

    /// Ends every launched browser; says how many.
    pub(crate) async fn stop_all(&self) -> usize {
        let mut stopped = 0;
        for session in self.sessions.all() {
            if let Some(live) = session.take_live().await {
                match self.fleet.end_session(&live).await {
                    Ok(fate) => stopped += usize::from(fate == Fate::Ended),
                    Err(failure) => {
                        tracing::warn!(%failure, session = %session.key, "a browser did not end");
                    }
                }
            }
        }
        stopped + self.fleet.stop_chrome().await
    }
}

impl Secrets for Daemon {
    fn find_session(&self, secret: &str) -> Option<SessionKey> {
        self.sessions.find_by_secret(secret)
    }

    fn is_mcp(&self, secret: &str) -> bool {
        self.guests.is_address(secret)
    }
}

async fn accept_all<L: Accept + Send + Sync>(
    daemon: Arc<Daemon>,
    doors: TaskGroup,
    mut listener: Listener<L>,
) {
    loop {
        let visitor = tokio::select! {
            visitor = listener.next() => visitor,
            () = doors.stopping() => return,
        };
        let Some((visitor, place)) = visitor else { return };
        let served = server::serve(Arc::clone(&daemon), visitor);
        daemon.tasks.start("connection", async move {
            served.await;
            drop(place);
        });
    }
}

/// Listens on the socket; a file an earlier daemon left there is replaced, which the lock makes safe.
fn bind_socket(path: &Path) -> Result<UnixListener, Failure> {
    match std::fs::symlink_metadata(path) {
        Ok(found) if !std::os::unix::fs::FileTypeExt::is_socket(&found.file_type()) => {
            let message = format!("{} is in the way: it is not a socket.", path.display());
            return Err(Failure::new(ErrorCode::Internal, message).with_hint("Remove it and try again."));
        }
        Ok(_) => std::fs::remove_file(path).map_err(|error| system("remove", path, &error))?,
        Err(_) => {}
    }
    let listener = UnixListener::bind(path).map_err(|error| system("listen on", path, &error))?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))
        .map_err(|error| system("protect", path, &error))?;
    Ok(listener)
}

/// Listens on the literal loopback address; another port when a stranger has ours (F37).
async fn bind_port(wanted: u16) -> Result<TcpListener, Failure> {
    match TcpListener::bind(("127.0.0.1", wanted)).await {
        Ok(listener) => Ok(listener),
        Err(error) if wanted != 0 => {
            tracing::warn!(%error, wanted, "the port is taken; another one is used");
            TcpListener::bind(("127.0.0.1", 0)).await.map_err(|error| no_port(&error))
        }
        Err(error) => Err(no_port(&error)),
    }
}

fn no_port(error: &std::io::Error) -> Failure {
    Failure::new(ErrorCode::Internal, format!("No loopback port can be listened on: {error}."))
}

fn no_signals(error: &std::io::Error) -> Failure {
    Failure::new(ErrorCode::Internal, format!("Signals cannot be listened for: {error}."))
}

fn system(action: &'static str, path: &Path, error: &std::io::Error) -> Failure {
    let message = format!("Tabwire could not {action} {}: {error}.", path.display());
    Failure::new(ErrorCode::Internal, message)
        .with_hint("Run `tabwire doctor` to see what is wrong with its directories.")
}
