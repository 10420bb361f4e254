//! The browsers the daemon serves: launching, attaching, reusing by profile, stopping.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use tabwire_browser::limits::DEFAULT_CLOSE_GRACE;
use tabwire_browser::{
    AttachAddress, BrowserDescriptor, BrowserError, BrowserRun, Display, KeepRequest, LaunchSpec, LockState,
    Ownership, PrivateDir, ProfileChoice, ProfileHomes, WebsocketAddress, WindowSize, attach, finder,
    keeper_client, lock_state, new_browser_id, new_instance_id,
};
use tabwire_cdp::{TaskGroup, TransportError};
use tabwire_wire::api::{Isolation, PolicyProfile, SessionOptions};
use tabwire_wire::{BrowserId, ErrorCode, Failure, InstanceId, SessionKey, UpstreamKind};

use crate::browser_link::BrowserLink;
use crate::config::DaemonConfig;
use crate::extension_browser::ExtensionBrowser;
use crate::extension_desk::ExtensionDesk;
use crate::hub::Hub;
use crate::limits::{EXTENSION_DEADLINE, KEEPER_DEADLINE, LAUNCH_DEADLINE, LINK_DEADLINE};
use crate::live_session::LiveSession;
use crate::served_browser::{Fate, POOL, ServedBrowser};
use crate::shared_powershell::SharedPowershell;
use crate::sweeping::sweep_all;

/// The browsers of one daemon.
#[derive(Debug)]
pub struct Fleet {
    pub(crate) config: DaemonConfig,
    instance: InstanceId,
    pub(crate) tasks: TaskGroup,
    served: Mutex<Vec<Weak<ServedBrowser>>>,
    extensions: Arc<ExtensionDesk>,
    /// Held while a browser that sessions share is looked for, started or given up.
    pub(crate) sharing: tokio::sync::Mutex<()>,
    /// The PowerShell of Windows, while somebody needs it.
    pub(crate) powershell: SharedPowershell,
}

impl Fleet {
    pub(crate) fn new(
        config: DaemonConfig,
        instance: InstanceId,
        tasks: TaskGroup,
        extensions: Arc<ExtensionDesk>,
    ) -> Self {
        Self {
            config,
            instance,
            tasks,
            extensions,
            served: Mutex::new(Vec::new()),
            sharing: tokio::sync::Mutex::default(),
            powershell: SharedPowershell::default(),
        }
    }

    /// Settles which way to a browser is taken where that depends on who is there. What is settled stays so for as long
    /// as the session: nothing falls back from one to the other.
    pub(crate) async fn settle_way(&self, mut options: SessionOptions) -> Result<SessionOptions, Failure> {
        if options.is_auto() {
            let own = self.extensions.find_responsive().await?;
            options.cdp = Some(match own {
                Some(browser) => format!("{}:{}", SessionOptions::EXTENSION, browser.install),
                None => SessionOptions::LAUNCH.to_owned(),
            });
        }
        Ok(options)
    }

    /// Gets a session its browser: attached when it names one, else one that it shares, else the live one on its
    /// profile, else launched. The caller becomes a user of it.
    pub(crate) async fn obtain(
        &self,
        options: &SessionOptions,
        key: &SessionKey,
        expected: Option<&BrowserRun>,
    ) -> Result<Arc<ServedBrowser>, Failure> {
        // Waited for before the lock is taken: others need not wait for somebody's browser to wake up.
        let own = match options.extension() {
            Some(name) => Some(self.extensions.choose(name, EXTENSION_DEADLINE).await?),
            None => None,
        };
        let _sharing = self.sharing.lock().await;
        let served = match own {
            Some(browser) => self.reach_extension(&browser).await?,
            None => self.obtain_alone(options, key, expected).await?,
        };
        served.add_user();
        Ok(served)
    }

    async fn obtain_alone(
        &self,
        options: &SessionOptions,
        key: &SessionKey,
        expected: Option<&BrowserRun>,
    ) -> Result<Arc<ServedBrowser>, Failure> {
        if let Some(address) = options.address() {
            return self.attach(address, &options.headers, expected).await;
        }
        let mut labels = BTreeMap::from([("project".to_owned(), key.project.to_string())]);
        if options.isolation() == Isolation::Own {
            labels.insert("session".to_owned(), key.name.to_string());
        } else {
            let pool = pool_of(options, key);
            if let Some(served) = self.find(|served| served.pool() == Some(&pool)) {
                return Ok(served);
            }
            labels.insert(POOL.to_owned(), pool);
        }
        let spec = self.plan(options)?;
        if !spec.throw_away {
            if let Some(served) = self.find_by_profile(&spec.profile) {
                return Ok(served);
            }
            if let LockState::Live { .. } = lock_state(&spec.profile)
                && let Ok(served) = self.attach(&spec.profile.to_string_lossy(), &[], None).await
            {
                return Ok(served);
            }
        }
        self.launch(spec, labels).await
    }

    fn plan(&self, options: &SessionOptions) -> Result<LaunchSpec, Failure> {
        let id = new_browser_id()?;
        let wish = options.browser.as_deref().or(self.config.browser.as_deref());
        let found = finder::find(wish, self.config.path_env.as_deref())?;
        let choice = match options.profile.as_deref() {
            None => ProfileChoice::ThrowAway,
            Some(path) if path.starts_with('/') => ProfileChoice::Directory(PathBuf::from(path)),
            Some(path) if path.contains('/') => return Err(relative_profile(path)),
            Some(name) => ProfileChoice::Named(name.to_owned()),
        };
        let homes = ProfileHomes {
            runtime_dir: self.config.paths.runtime.clone(),
            data_dir: self.config.paths.data.clone(),
            config_home: self.config.config_home.clone(),
            home: self.config.home.clone(),
        };
        let profile = choice.resolve(&id, &homes)?;
        let is_made = homes.has_made(&profile);
        let mut spec = LaunchSpec::new(id, found.path, profile);
        spec.throw_away = choice.is_throw_away();
        spec.without_extensions = !is_made && !options.profile_extensions.unwrap_or(false);
        // An empty tab would be loaded only to be left.
        spec.start_window = false;
        spec.display = if options.is_headed() { Display::Headed } else { Display::Headless };
        spec.extra_arguments.clone_from(&options.browser_arguments);
        spec.allow_dangerous = options.allow_dangerous_arguments.unwrap_or(false);
        spec.proxy.clone_from(&options.proxy);
        spec.reserved = options.policy() == PolicyProfile::Guarded;
        spec.window = options.window.map(|(width, height)| WindowSize { width, height });
        if let Some(linger) = self.config.linger {
            spec.linger_ms = u64::try_from(linger.as_millis()).unwrap_or(u64::MAX);
        }
        Ok(spec)
    }

    pub(crate) async fn launch(
        &self,
        spec: LaunchSpec,
        labels: BTreeMap<String, String>,
    ) -> Result<Arc<ServedBrowser>, Failure> {
        let request = KeepRequest {
            spec,
            runtime_dir: self.config.paths.runtime.clone(),
            instance: new_instance_id()?,
            labels,
        };
        let self_exe = self.config.self_exe.clone();
        let arguments = self.config.keep_arguments.clone();
        let descriptor = in_background(move || {
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            keeper_client::spawn_keeper(&self_exe, &arguments, &request, Instant::now() + LAUNCH_DEADLINE)
        })
        .await?;
        tracing::info!(browser = %descriptor.id, pid = descriptor.browser.pid(), "a browser was launched");
        self.claim(descriptor, KEEPER_DEADLINE).await
    }

    /// Takes over a kept browser, ours or an earlier daemon's.
    pub(crate) async fn claim(
        &self,
        descriptor: BrowserDescriptor,
        patience: Duration,
    ) -> Result<Arc<ServedBrowser>, Failure> {
        let holder = self.instance.clone();
        let socket = descriptor.socket.clone();
        let deadline = Instant::now() + patience;
        let claim = in_background(move || claim_when_free(&socket, &holder, deadline)).await?;
        let staging = self.staging_of(&descriptor.id)?;
        let link =
            BrowserLink::from_claim(claim).map_err(TransportError::into_failure)?.with_staging(staging);
        self.serve(link, Ownership::Launched, Some(descriptor), None).await
    }

    /// Where a browser's downloads wait until they are placed.
    fn staging_of(&self, id: &BrowserId) -> Result<PathBuf, Failure> {
        let staging = PrivateDir::create(&self.config.paths.state)?.subdirectory("staging")?;
        Ok(staging.subdirectory(id.as_str())?.path().to_owned())
    }

    fn remove_staging(&self, id: &BrowserId) {
        // Gone already, or something unexpected is in the way: neither is worth failing for.
        let _ = std::fs::remove_dir_all(self.config.paths.staging().join(id.as_str()));
    }

    /// Attaches to a browser that somebody else runs. `expected` is the one that the session had there.
    pub(crate) async fn attach(
        &self,
        address: &str,
        headers: &[String],
        expected: Option<&BrowserRun>,
    ) -> Result<Arc<ServedBrowser>, Failure> {
        let parsed = AttachAddress::parse(address)?;
        let expected = expected.filter(|_| !parsed.names_a_profile());
        let home = self.config.home.clone();
        let found = in_background(move || {
            attach::discover(&parsed, home.as_deref(), Instant::now() + KEEPER_DEADLINE)
        })
        .await?;
        if let (Some(expected), Some(found_run)) = (expected, found.run())
            && *expected != found_run
        {
            return Err(other_browser(&found, address));
        }
        // One connection serves all sessions: the browser may ask its user for consent at each.
        if let Some(served) = self.find(|served| served.address.as_ref() == Some(&found)) {
            return Ok(served);
        }
        let link = BrowserLink::attach(found.expose().as_str(), headers).await.map_err(unreachable)?;
        tracing::info!(address = %found, "attached to a browser");
        self.serve(link, Ownership::Attached, None, Some(found)).await
    }

    /// Reaches the user's own browser through its extension. One emulated browser serves all sessions.
    async fn reach_extension(&self, browser: &ExtensionBrowser) -> Result<Arc<ServedBrowser>, Failure> {
        if let Some(served) = self.find(|served| served.is_install(&browser.install)) {
            return Ok(served);
        }
        let link = BrowserLink::of_extension(browser.serve().await?, browser.board.clone());
        tracing::info!(install = %browser.install, product = %browser.product, "the user's own browser is used");
        let extension = Some((browser.install.clone(), browser.run()));
        let make = |hub, upstream| {
            ServedBrowser::new(hub, upstream, Ownership::Attached, None, None).with_extension(extension)
        };
        self.serve_as(link, make).await
    }

    async fn serve(
        &self,
        link: BrowserLink,
        ownership: Ownership,
        descriptor: Option<BrowserDescriptor>,
        address: Option<WebsocketAddress>,
    ) -> Result<Arc<ServedBrowser>, Failure> {
        let make = |hub, upstream| ServedBrowser::new(hub, upstream, ownership, descriptor, address);
        self.serve_as(link, make).await
    }

    /// Serves a browser from now on, as whatever it is made to be.
    pub(crate) async fn serve_as(
        &self,
        link: BrowserLink,
        make: impl FnOnce(Hub, UpstreamKind) -> ServedBrowser,
    ) -> Result<Arc<ServedBrowser>, Failure> {
        let upstream = link.kind;
        let hub = Hub::start(link, &self.tasks);
        hub.ready(LINK_DEADLINE).await.map_err(|gone| {
            Failure::new(ErrorCode::BrowserGone, format!("The browser could not be used: {gone}."))
                .with_hint("Run `tabwire doctor`, or look at `tabwire daemon logs`.")
        })?;
        let served = Arc::new(make(hub, upstream));
        if let Some(descriptor) = &served.descriptor {
            self.watch_for_leftover(&served.hub, descriptor);
        }
        let mut list = self.served.lock().unwrap_or_else(PoisonError::into_inner);
        list.retain(|weak| weak.strong_count() > 0);
        list.push(Arc::downgrade(&served));
        Ok(served)
    }

    pub(crate) fn find_by_profile(&self, profile: &Path) -> Option<Arc<ServedBrowser>> {
        self.find(|served| served.descriptor.as_ref().is_some_and(|descriptor| descriptor.profile == profile))
    }

    /// A browser that is served now and fits.
    pub(crate) fn find(&self, fits: impl Fn(&ServedBrowser) -> bool) -> Option<Arc<ServedBrowser>> {
        self.all(fits).into_iter().next()
    }

    /// All browsers that are served now and fit.
    pub(crate) fn all(&self, fits: impl Fn(&ServedBrowser) -> bool) -> Vec<Arc<ServedBrowser>> {
        let list = self.served.lock().unwrap_or_else(PoisonError::into_inner);
        let is_live = |served: &Arc<ServedBrowser>| !served.hub.is_gone() && fits(served);
        list.iter().filter_map(Weak::upgrade).filter(is_live).collect()
    }

    /// Ends a session's part of its browser, and the browser itself when nobody else uses it.
    pub(crate) async fn end_session(&self, live: &LiveSession) -> Result<Fate, Failure> {
        let _sharing = self.sharing.lock().await;
        let served = &live.browser;
        let others = served.remove_user();
        let is_own = served.ownership.may_close();
        if let Some(realm) = live.realm.clone().filter(|_| others > 0 || !is_own) {
            // A browser that is gone has taken it along.
            let _ = served.hub.end_realm(realm).await;
        }
        if others > 0 {
            return Ok(Fate::Kept);
        }
        self.stop(served).await?;
        Ok(if is_own { Fate::Ended } else { Fate::LeftRunning })
    }

    /// Ends a launched browser and waits until it is gone; an attached one is only let go.
    pub(crate) async fn stop(&self, served: &ServedBrowser) -> Result<(), Failure> {
        if let Some(windows) = served.windows.as_ref().filter(|_| served.ownership.may_close()) {
            let ended = windows.stop().await;
            served.hub.let_go().await;
            return ended;
        }
        let Some(descriptor) = served.descriptor.as_ref().filter(|_| served.ownership.may_close()) else {
            served.hub.let_go().await;
            return Ok(());
        };
        let ended = self.end_described(descriptor).await;
        served.hub.let_go().await;
        ended
    }

    /// Ends a browser through its keeper and waits until it is gone.
    pub(crate) async fn end_described(&self, descriptor: &BrowserDescriptor) -> Result<(), Failure> {
        let socket = descriptor.socket.clone();
        let deadline = Instant::now() + LAUNCH_DEADLINE;
        let stopped = in_background(move || keeper_client::stop(&socket, None, deadline)).await;
        self.remove_staging(&descriptor.id);
        match stopped {
            // A keeper that is gone has already taken its browser with it.
            Err(_) if !descriptor.browser.is_alive() => Ok(()),
            other => other,
        }
    }

    /// A browser exits when its keeper is gone, because its pipe closes. After a grace what is left of it is swept:
    /// its files, and itself if it hangs.
    fn watch_for_leftover(&self, hub: &Hub, descriptor: &BrowserDescriptor) {
        let (hub, descriptor) = (hub.clone(), descriptor.clone());
        let (paths, tasks) = (self.config.paths.clone(), self.tasks.clone());
        self.tasks.start("leftover", async move {
            hub.gone().await;
            // A keeper that was just killed may still count as alive when its line breaks, so it is looked at later.
            tokio::select! {
                () = tokio::time::sleep(DEFAULT_CLOSE_GRACE) => {}
                () = tasks.stopping() => return,
            }
            if descriptor.keeper.is_alive() {
                return;
            }
            let swept = in_background(move || sweep_all(&paths)).await;
            tracing::info!(?swept, "swept after a keeper was lost");
        });
    }

    /// A browser that outlived its keeper is ended by whoever notices.
    pub(crate) async fn end_leftover(&self, served: &ServedBrowser) {
        let Some(descriptor) = served.descriptor.clone() else { return };
        if descriptor.keeper.is_alive() {
            return;
        }
        let paths = self.config.paths.clone();
        let swept = in_background(move || sweep_all(&paths)).await;
        tracing::info!(?swept, "swept after a keeper was lost");
    }
}

/// Which browser a session shares: sessions of one project that ask for the same browser have the same.
fn pool_of(options: &SessionOptions, key: &SessionKey) -> String {
    let proxy = options.proxy.as_ref().filter(|_| options.isolation() == Isolation::Shared);
    let wanted = serde_json::json!([
        key.project,
        options.browser,
        options.is_headed(),
        options.profile,
        options.browser_arguments,
        proxy,
        options.window,
        options.policy(),
    ]);
    sha1_smol::Sha1::from(wanted.to_string()).digest().to_string()[..16].to_owned()
}

/// The browser that a session had is gone, and another one has its address.
fn other_browser(found: &WebsocketAddress, address: &str) -> Failure {
    let product = found.product().map(|product| format!(" ({product})")).unwrap_or_default();
    let message = format!(
        "The browser that this session was attached to is gone; another one{product} answers at {found} now."
    );
    Failure::new(ErrorCode::BrowserGone, message)
        .with_hint(format!("Nothing was done in it. `tabwire connect {address}` uses it from now on."))
}

fn unreachable(error: TransportError) -> Failure {
    let failure = error.into_failure();
    if failure.code != ErrorCode::BrowserGone {
        return failure;
    }
    Failure::new(ErrorCode::NoBackend, format!("The browser could not be reached: {failure}."))
        .with_hint("Check that it runs with remote debugging and that the address is current.")
}

fn relative_profile(path: &str) -> Failure {
    Failure::new(
        ErrorCode::BadArgs,
        format!("The profile directory {path} is relative, and the daemon is elsewhere."),
    )
    .with_hint("Give its whole path.")
}

/// Claims a browser; waits for an earlier holder to let go until the deadline.
fn claim_when_free(
    socket: &Path,
    holder: &InstanceId,
    deadline: Instant,
) -> Result<tabwire_browser::Claim, BrowserError> {
    loop {
        match keeper_client::claim(socket, holder, deadline) {
            Err(BrowserError::Busy { .. }) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(20));
            }
            other => return other,
        }
    }
}

/// Does work to its end, though whoever asked may leave before: half a start or half a stop is nobody's.
pub(crate) async fn carried_out<T: Send + 'static>(
    tasks: &TaskGroup,
    work: impl Future<Output = Result<T, Failure>> + Send + 'static,
) -> Result<T, Failure> {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    tasks.start("carried-out", async move {
        // Whoever asked may have left.
        let _ = sender.send(work.await);
    });
    receiver.await.unwrap_or_else(|_| {
        Err(Failure::new(ErrorCode::OutcomeUnknown, "The daemon ended while it was working on this.")
            .with_hint("It may or may not have been done. Run the command again to start a new daemon."))
    })
}

/// Runs blocking work off the runtime's threads.
pub(crate) async fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, BrowserError> + Send + 'static,
) -> Result<T, Failure> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result.map_err(Failure::from),
        Err(error) => {
            Err(Failure::new(ErrorCode::Internal, format!("Background work ended early: {error}.")))
        }
    }
}
