//! Launches, attaches to, reuses and stops the browsers that the daemon serves.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use tabwire_api::api::{Isolation, PolicyProfile, SessionOptions};
use tabwire_api::{
    BrowserId, ErrorCode, Failure, InstanceId, PartitionId, Remedy, SessionKey, Step, TargetId, UpstreamKind,
};
use tabwire_browser::limits::DEFAULT_CLOSE_GRACE;
use tabwire_browser::protocol::{self, ProtocolPlaces, ProtocolSource};
use tabwire_browser::{
    AttachTarget, BrowserDescriptor, BrowserEngine, BrowserError, BrowserRun, Display, HiddenAutomation,
    KeepRequest, LaunchSpec, LockState, Ownership, PrivateDir, ProfileChoice, ProfileHomes, RequestHeader,
    WebsocketUrl, WindowSize, attach, finder, keeper_client, lock_state, new_browser_id, new_instance_id,
};
use tabwire_cdp::{Deadline, TaskGroup, TransportError};
use tabwire_mux::PartitionScope;

use crate::browser::attach_failure::{other_browser, unreachable};
use crate::browser::background::in_background;
use crate::browser::bidi;
use crate::browser::link::BrowserLink;
use crate::browser::served::{BrowserEnd, ExtensionLink, POOL, ServedBrowser};
use crate::browser::sweep::sweep_all;
use crate::config::DaemonConfig;
use crate::extension::browser::ExtensionBrowser;
use crate::extension::registry::ExtensionRegistry;
use crate::hub::Hub;
use crate::limits::LAUNCH_DEADLINE;
use crate::rent::Rentals;
use crate::session::live::LiveSession;
use crate::vault::Vault;
use crate::wsl::powershell::SharedPowershell;

/// How long a command waits for the user's own browser to connect. A sleeping extension wakes every 30 s.
const EXTENSION_DEADLINE: Duration = Duration::from_secs(35);

/// How long a browser may take to respond to its first commands.
const LINK_DEADLINE: Duration = Duration::from_secs(30);

/// How long each tab of an ended session may take to close.
const TAB_CLOSE_DEADLINE: Duration = Duration::from_millis(1_500);

/// How long the tabs of an ended session may take to report whether the user looks at them.
const IN_FRONT_DEADLINE: Duration = Duration::from_secs(1);

/// How long a browser may take to print its version.
const VERSION_DEADLINE: Duration = Duration::from_secs(10);

/// The window of a browser that shows none. Its frame takes 87 pixels (Chromium 156), so pages have 1280 by 720. A window
/// of this size, unlike an emulated viewport, leaves emulation to clients.
const HEADLESS_WINDOW: WindowSize = WindowSize { width: 1280, height: 807 };

/// How long a keeper may take to respond.
pub(crate) const KEEPER_DEADLINE: Duration = Duration::from_secs(5);

/// The browsers of one daemon.
#[derive(Debug)]
pub struct BrowserManager {
    pub(crate) config: DaemonConfig,
    instance: InstanceId,
    pub(crate) tasks: TaskGroup,
    served: Mutex<Vec<Weak<ServedBrowser>>>,
    extensions: Arc<ExtensionRegistry>,
    /// Tabs of ended sessions in browsers of the user, by the run of the browser.
    left_tabs: Mutex<Vec<(BrowserRun, Vec<TargetId>)>>,
    /// Held while a shared browser is looked up, started or released.
    pub(crate) sharing: tokio::sync::Mutex<()>,
    /// Held while a protocol description is fetched, so that many requests block one thread only.
    describing: tokio::sync::Mutex<()>,
    /// The browsers of Grids and providers.
    pub(crate) rentals: Arc<Rentals>,
    /// The PowerShell process on Windows, while it is used.
    pub(crate) powershell: SharedPowershell,
}

impl BrowserManager {
    pub(crate) fn new(
        config: DaemonConfig,
        instance: InstanceId,
        tasks: TaskGroup,
        extensions: Arc<ExtensionRegistry>,
    ) -> Self {
        let vault = Vault::new(config.paths.data.clone(), config.path_env.clone());
        let rentals = Arc::new(Rentals::new(&config.paths, vault, tasks.clone()));
        Self {
            config,
            instance,
            tasks,
            rentals,
            extensions,
            served: Mutex::new(Vec::new()),
            left_tabs: Mutex::default(),
            sharing: tokio::sync::Mutex::default(),
            describing: tokio::sync::Mutex::default(),
            powershell: SharedPowershell::default(),
        }
    }

    /// Resolves `auto` to the connected extension or to a launch. The choice holds for the whole session, without fallback.
    pub(crate) async fn resolve_auto(&self, mut options: SessionOptions) -> Result<SessionOptions, Failure> {
        if options.is_auto() {
            let own = self.extensions.find_responsive().await?;
            options.cdp = Some(match own {
                Some(browser) => format!("{}:{}", SessionOptions::EXTENSION, browser.install),
                None => SessionOptions::LAUNCH.to_owned(),
            });
        }
        Ok(options)
    }

    /// Gets the browser of a session: the one that its options name, else a shared one, else the live one on its profile,
    /// else a new one. The caller becomes a user of it.
    pub(crate) async fn obtain(
        &self,
        options: &SessionOptions,
        key: &SessionKey,
        expected: Option<&BrowserRun>,
    ) -> Result<Arc<ServedBrowser>, Failure> {
        if options.is_rented() {
            return self.rent(options, key).await;
        }
        // Before the lock: other sessions must not wait for a sleeping extension.
        let own = match options.extension() {
            Some(name) => Some(self.extensions.choose(name, EXTENSION_DEADLINE).await?),
            None => None,
        };
        let _sharing = self.sharing.lock().await;
        let served = match own {
            Some(browser) => self.reach_extension(&browser).await?,
            None => self.obtain_locked(options, key, expected).await?,
        };
        served.add_user();
        Ok(served)
    }

    async fn obtain_locked(
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
        let mut spec = self.plan(options)?;
        if options.hide_automation == Some(true) {
            let path = spec.executable.clone();
            let query = move || finder::version(&path, Instant::now() + VERSION_DEADLINE);
            spec.hidden_as = Some(HiddenAutomation::of_version(&in_background(query).await?)?);
        }
        if spec.engine == BrowserEngine::Firefox && spec.reserved {
            let label = bidi::containment_label(spec.proxy.is_some());
            labels.insert(bidi::GUARDED.to_owned(), label);
        }
        if !spec.temporary {
            if let Some(served) = self.find_by_profile(&spec.profile) {
                if served.is_firefox() && spec.reserved && !served.is_contained() {
                    return Err(bidi::launched_open(&spec.profile));
                }
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

    /// Whether a session with these options gets a Firefox.
    pub(crate) fn would_launch_firefox(&self, options: &SessionOptions) -> bool {
        let wanted = options.browser.as_deref().or(self.config.browser.as_deref());
        // Without a request it is a Chromium, so nothing is searched for.
        let found = wanted.map(|wanted| finder::find(Some(wanted), self.config.path_env.as_deref()));
        found.is_some_and(|found| found.is_ok_and(|found| found.engine() == BrowserEngine::Firefox))
    }

    fn plan(&self, options: &SessionOptions) -> Result<LaunchSpec, Failure> {
        let id = new_browser_id()?;
        let wanted = options.browser.as_deref().or(self.config.browser.as_deref());
        let found = finder::find(wanted, self.config.path_env.as_deref())?;
        let choice = match options.profile.as_deref() {
            None => ProfileChoice::Temporary,
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
        let engine = found.engine();
        let mut spec = LaunchSpec::new(id, found.path, profile);
        spec.engine = engine;
        spec.temporary = choice.is_temporary();
        spec.without_extensions = !is_made && !options.profile_extensions.unwrap_or(false);
        // The session opens its own first tab.
        spec.start_window = false;
        spec.display = if options.is_headed() { Display::Headed } else { Display::Headless };
        spec.extra_arguments.clone_from(&options.browser_arguments);
        spec.allow_dangerous = options.allow_dangerous_arguments.unwrap_or(false);
        spec.proxy.clone_from(&options.proxy);
        spec.reserved = options.policy() == PolicyProfile::Guarded;
        let wanted = options.window.map(|(width, height)| WindowSize { width, height });
        spec.window = wanted.or((!options.is_headed()).then_some(HEADLESS_WINDOW));
        if options.is_headed() {
            let variables = options.display.iter();
            spec.environment.extend(variables.map(|(name, value)| (name.to_owned(), value.to_owned())));
        }
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

    /// The JSON of `/json/protocol`, from the browser's own port or a second run of its program.
    pub(crate) async fn describe_protocol(&self, source: ProtocolSource) -> Result<String, Failure> {
        let _describing = self.describing.lock().await;
        let places = ProtocolPlaces {
            keeper: (self.config.self_exe.clone(), self.config.keep_arguments.clone()),
            runtime: self.config.paths.runtime.clone(),
            state: self.config.paths.state.clone(),
            data: self.config.paths.data.clone(),
        };
        in_background(move || Ok(protocol::describe(&source, &places))).await?
    }

    /// Claims a browser from its keeper.
    pub(crate) async fn claim(
        &self,
        descriptor: BrowserDescriptor,
        timeout: Duration,
    ) -> Result<Arc<ServedBrowser>, Failure> {
        let holder = self.instance.clone();
        let socket = descriptor.socket.clone();
        let deadline = Instant::now() + timeout;
        let claim = in_background(move || claim_when_free(&socket, &holder, deadline)).await?;
        let staging = self.staging_of(&descriptor.id)?;
        let link = match claim.bidi.clone() {
            Some(session) => {
                let containment =
                    descriptor.labels.get(bidi::GUARDED).map(|label| bidi::containment_of(label));
                BrowserLink::from_bidi_claim(claim, session, containment, &self.tasks).await
            }
            None => BrowserLink::from_claim(claim),
        };
        let link = link.map_err(TransportError::into_failure)?.with_staging(staging);
        self.serve(link, Ownership::Launched, Some(descriptor), None).await
    }

    /// The directory where a browser's downloads are staged.
    fn staging_of(&self, id: &BrowserId) -> Result<PathBuf, Failure> {
        let staging = PrivateDir::create(&self.config.paths.state)?.subdirectory("staging")?;
        Ok(staging.subdirectory(id.as_str())?.path().to_owned())
    }

    fn remove_staging(&self, id: &BrowserId) {
        // A leftover directory is swept later.
        let _ = std::fs::remove_dir_all(self.config.paths.staging().join(id.as_str()));
    }

    /// Attaches to a running browser. `expected` is the one that the session was attached to before.
    pub(crate) async fn attach(
        &self,
        address: &str,
        headers: &[String],
        expected: Option<&BrowserRun>,
    ) -> Result<Arc<ServedBrowser>, Failure> {
        let parsed = AttachTarget::parse(address)?;
        let expected = expected.filter(|_| !parsed.names_a_profile());
        let home = self.config.home.clone();
        let parsed_headers =
            headers.iter().map(|header| RequestHeader::parse(header)).collect::<Result<Vec<_>, _>>()?;
        let found = in_background(move || {
            let deadline = Instant::now() + KEEPER_DEADLINE;
            attach::discover_with_headers(&parsed, home.as_deref(), &parsed_headers, deadline)
        })
        .await?;
        if let (Some(expected), Some(found_run)) = (expected, found.run())
            && *expected != found_run
        {
            return Err(other_browser(&found, address));
        }
        // One connection serves all sessions: Chrome asks its user for consent at each connection.
        if let Some(served) = self.find(|served| served.address.as_ref() == Some(&found)) {
            return Ok(served);
        }
        let link = BrowserLink::attach(found.expose().as_str(), headers).await.map_err(unreachable)?;
        tracing::info!(address = %found, "attached to a browser");
        let served = self.serve(link, Ownership::Attached, None, Some(found)).await?;
        self.close_left_tabs(&served).await;
        Ok(served)
    }

    /// Closes tabs of an ended session when its browser is used again.
    pub(crate) fn close_later(&self, run: BrowserRun, tabs: Vec<TargetId>) {
        self.left_tabs.lock().unwrap_or_else(PoisonError::into_inner).push((run, tabs));
    }

    /// Closes the tabs that sessions of an earlier daemon left in a browser of the user.
    async fn close_left_tabs(&self, served: &ServedBrowser) {
        let Some(run) = served.run() else { return };
        let mut left = Vec::new();
        self.left_tabs.lock().unwrap_or_else(PoisonError::into_inner).retain_mut(|(of, tabs)| {
            if *of == run {
                left.append(tabs);
            }
            *of != run
        });
        if left.is_empty() {
            return;
        }
        let partition = PartitionId::new("left by an earlier daemon");
        // If the browser is gone, so are the tabs.
        let _ = served.hub.reserve(partition.clone(), PartitionScope::Tabs(left)).await;
        let _ = served.hub.end_partition(partition, Vec::new()).await;
    }

    /// Connects to the user's own browser through its extension. One emulated browser serves all sessions.
    async fn reach_extension(&self, browser: &ExtensionBrowser) -> Result<Arc<ServedBrowser>, Failure> {
        if let Some(served) = self.find(|served| served.is_install(&browser.install)) {
            return Ok(served);
        }
        let link = BrowserLink::of_extension(browser.serve().await?, browser.attachments.clone());
        tracing::info!(install = %browser.install, product = %browser.product, "connected to the user's own browser");
        let (install, run, stats) = (browser.install.clone(), browser.run(), browser.holdings.clone());
        let extension = ExtensionLink { install, run, stats };
        let make = |hub, upstream| {
            ServedBrowser::new(hub, upstream, Ownership::Attached, None, None).with_extension(extension)
        };
        let served = self.serve_as(link, make).await?;
        self.close_left_tabs(&served).await;
        Ok(served)
    }

    async fn serve(
        &self,
        link: BrowserLink,
        ownership: Ownership,
        descriptor: Option<BrowserDescriptor>,
        address: Option<WebsocketUrl>,
    ) -> Result<Arc<ServedBrowser>, Failure> {
        let make = |hub, upstream| ServedBrowser::new(hub, upstream, ownership, descriptor, address);
        self.serve_as(link, make).await
    }

    /// Starts the hub of a browser and adds it to the list.
    pub(crate) async fn serve_as(
        &self,
        link: BrowserLink,
        make: impl FnOnce(Hub, UpstreamKind) -> ServedBrowser,
    ) -> Result<Arc<ServedBrowser>, Failure> {
        let upstream = link.kind;
        let hub = Hub::start(link, &self.tasks);
        hub.ready(LINK_DEADLINE).await.map_err(|gone| {
            Failure::new(ErrorCode::BrowserGone, format!("The browser could not be used: {gone}."))
                .with_remedy(Remedy::new(
                    "Run {} or {}.",
                    [Step::command("tabwire doctor"), Step::command("tabwire daemon logs")],
                ))
        })?;
        let served = Arc::new(make(hub, upstream));
        if let Some(descriptor) = &served.descriptor {
            self.sweep_after_loss(&served.hub, descriptor);
        }
        let mut list = self.served.lock().unwrap_or_else(PoisonError::into_inner);
        list.retain(|weak| weak.strong_count() > 0);
        list.push(Arc::downgrade(&served));
        Ok(served)
    }

    pub(crate) fn find_by_profile(&self, profile: &Path) -> Option<Arc<ServedBrowser>> {
        self.find(|served| served.descriptor.as_ref().is_some_and(|descriptor| descriptor.profile == profile))
    }

    /// The first live browser that matches.
    pub(crate) fn find(&self, matches: impl Fn(&ServedBrowser) -> bool) -> Option<Arc<ServedBrowser>> {
        self.all(matches).into_iter().next()
    }

    /// All live browsers that match.
    pub(crate) fn all(&self, matches: impl Fn(&ServedBrowser) -> bool) -> Vec<Arc<ServedBrowser>> {
        let list = self.served.lock().unwrap_or_else(PoisonError::into_inner);
        let is_live = |served: &Arc<ServedBrowser>| !served.hub.is_gone() && matches(served);
        list.iter().filter_map(Weak::upgrade).filter(is_live).collect()
    }

    /// Ends a session's partition, and the browser when no other session uses it. In a browser of the user, its own tabs
    /// close, except one that the user looks at.
    pub(crate) async fn end_session(&self, live: &LiveSession) -> Result<BrowserEnd, Failure> {
        live.is_ended.store(true, std::sync::atomic::Ordering::Release);
        if live.browser.rental.is_some() {
            live.browser.remove_user();
            self.stop(&live.browser).await?;
            return Ok(BrowserEnd::Released);
        }
        let _sharing = self.sharing.lock().await;
        let served = &live.browser;
        let others = served.remove_user();
        let is_own = served.ownership.may_close();
        if let Some(partition) = live.partition.clone().filter(|_| others > 0 || !is_own) {
            let looked_at = match served.upstream {
                UpstreamKind::Websocket if !is_own => {
                    live.engine.tabs_in_front(Deadline::after(IN_FRONT_DEADLINE)).await
                }
                // The extension knows which tabs the user has used.
                _ => Vec::new(),
            };
            // If the browser is gone, so is the partition.
            let _ = served.hub.end_partition(partition, looked_at).await;
        } else if others > 0 {
            close_own_tabs(live).await;
        }
        if others > 0 {
            return Ok(BrowserEnd::Kept);
        }
        self.stop(served).await?;
        Ok(if is_own { BrowserEnd::Ended } else { BrowserEnd::LeftRunning })
    }

    /// Ends a launched browser and waits until it is gone. An attached one is only released.
    pub(crate) async fn stop(&self, served: &ServedBrowser) -> Result<(), Failure> {
        self.stop_within(served, None).await
    }

    /// The same with this much time for the browser to end by itself, before it is killed.
    pub(crate) async fn stop_within(
        &self,
        served: &ServedBrowser,
        grace: Option<Duration>,
    ) -> Result<(), Failure> {
        if let Some(rental) = &served.rental {
            rental.set_closing();
            served.hub.detach().await;
            return rental.release().await;
        }
        if let Some(windows) = served.windows.as_ref().filter(|_| served.ownership.may_close()) {
            let ended = windows.stop().await;
            served.hub.detach().await;
            return ended;
        }
        let Some(descriptor) = served.descriptor.as_ref().filter(|_| served.ownership.may_close()) else {
            served.hub.detach().await;
            return Ok(());
        };
        let ended = self.stop_by_descriptor(descriptor, grace).await;
        served.hub.detach().await;
        ended
    }

    /// Has a keeper end its browser, and waits until it is gone.
    pub(crate) async fn stop_by_descriptor(
        &self,
        descriptor: &BrowserDescriptor,
        grace: Option<Duration>,
    ) -> Result<(), Failure> {
        let socket = descriptor.socket.clone();
        let deadline = Instant::now() + LAUNCH_DEADLINE;
        let stopped = in_background(move || keeper_client::stop(&socket, grace, deadline)).await;
        self.remove_staging(&descriptor.id);
        match stopped {
            // A keeper that is gone has ended its browser.
            Err(_) if !descriptor.browser.is_alive() => Ok(()),
            other => other,
        }
    }

    /// Sweeps a browser some time after its keeper was lost. The browser exits by itself, because its pipe closes; its files
    /// remain, and the process if it hangs.
    fn sweep_after_loss(&self, hub: &Hub, descriptor: &BrowserDescriptor) {
        let (hub, descriptor) = (hub.clone(), descriptor.clone());
        let (paths, tasks) = (self.config.paths.clone(), self.tasks.clone());
        self.tasks.start("leftover", async move {
            hub.gone().await;
            // A killed keeper may still be a zombie when its connection breaks, so it is checked later.
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

    /// Ends a browser that outlived its keeper.
    pub(crate) async fn sweep_leftover(&self, served: &ServedBrowser) {
        let Some(descriptor) = served.descriptor.clone() else { return };
        if descriptor.keeper.is_alive() {
            return;
        }
        let paths = self.config.paths.clone();
        let swept = in_background(move || sweep_all(&paths)).await;
        tracing::info!(?swept, "swept after a keeper was lost");
    }
}

/// Closes the tabs of a session in a browser that others go on using.
async fn close_own_tabs(live: &LiveSession) {
    for info in live.engine.list_tabs() {
        if let Err(failure) = live.engine.close_tab(info.tab, TAB_CLOSE_DEADLINE).await {
            tracing::info!(%failure, tab = %info.tab, "a tab of an ended session did not close");
        }
    }
}

/// The key of a shared browser: sessions of one project with the same options share one.
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
        options.hide_automation.unwrap_or(false),
    ]);
    sha1_smol::Sha1::from(wanted.to_string()).digest().to_string()[..16].to_owned()
}

fn relative_profile(path: &str) -> Failure {
    Failure::new(ErrorCode::BadArgs, format!("The profile directory {path} is relative."))
        .with_remedy("Give an absolute path.")
}

/// Claims a browser, and waits until the deadline for an earlier holder to release it.
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
