//! One browser that the daemon serves, to one or more sessions.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tabwire_api::UpstreamKind;
use tabwire_browser::protocol::ProtocolSource;
use tabwire_browser::{BrowserDescriptor, BrowserRun, Display, Ownership, WebsocketUrl, new_instance_id};
use tabwire_extension::BrowserStats;
use tokio::sync::watch;

use crate::browser::bidi;
use crate::hub::Hub;
use crate::rent::HeldRental;
use crate::wsl::windows::WindowsBrowser;

/// Install, run and counters of the user's own browser.
#[derive(Debug)]
pub(crate) struct ExtensionLink {
    pub(crate) install: String,
    pub(crate) run: BrowserRun,
    pub(crate) stats: watch::Receiver<BrowserStats>,
}

/// One browser being served.
#[derive(Debug)]
pub(crate) struct ServedBrowser {
    pub(crate) hub: Hub,
    pub(crate) upstream: UpstreamKind,
    pub(crate) ownership: Ownership,
    /// The keeper's descriptor of a launched browser.
    pub(crate) descriptor: Option<BrowserDescriptor>,
    /// The websocket URL of an attached browser.
    pub(crate) address: Option<WebsocketUrl>,
    /// Set for a browser on Windows.
    pub(crate) windows: Option<WindowsBrowser>,
    /// Set for a browser of a Grid or provider.
    pub(crate) rental: Option<Arc<HeldRental>>,
    /// The user's own browser.
    extension: Option<ExtensionLink>,
    /// Sessions and Chrome shims that use it.
    users: AtomicUsize,
    /// Connections of Chrome shims.
    pub(crate) shim_connections: AtomicUsize,
    /// The shim that sees the tabs without an owner: the first of those that use it now.
    first_shim: Mutex<Option<Box<str>>>,
    /// The profile through which a Chrome shim found a browser that it attached to.
    pub(crate) found: OnceLock<FoundProfile>,
    /// Epochs of its sessions' tab ids.
    epochs: Mutex<BTreeSet<u16>>,
}

/// The profile of an attached browser, and the process that has it open.
#[derive(Clone, Debug)]
pub(crate) struct FoundProfile {
    pub(crate) profile: PathBuf,
    pub(crate) pid: Option<i32>,
    pub(crate) display: Option<Display>,
}

impl ServedBrowser {
    /// A new epoch for the tab ids of one session.
    pub(crate) fn take_epoch(&self) -> u16 {
        let first = match &self.descriptor {
            Some(descriptor) => descriptor.id.as_str().chars().take(4).collect::<String>(),
            None => new_instance_id().map(|id| id.as_str().chars().take(4).collect()).unwrap_or_default(),
        };
        let mut epoch = u16::from_str_radix(&first, 16).unwrap_or(1);
        let mut taken = self.epochs.lock().unwrap_or_else(PoisonError::into_inner);
        while !taken.insert(epoch) && taken.len() < usize::from(u16::MAX) {
            epoch = epoch.wrapping_add(1);
        }
        epoch
    }

    /// Reserves the epoch of a session of an earlier daemon.
    pub(crate) fn keep_epoch(&self, epoch: u16) {
        self.epochs.lock().unwrap_or_else(PoisonError::into_inner).insert(epoch);
    }

    pub(crate) fn new(
        hub: Hub,
        upstream: UpstreamKind,
        ownership: Ownership,
        descriptor: Option<BrowserDescriptor>,
        address: Option<WebsocketUrl>,
    ) -> Self {
        let (users, epochs) = (AtomicUsize::new(0), Mutex::default());
        let (windows, rental, extension) = (None, None, None);
        let (shim_connections, found) = (AtomicUsize::new(0), OnceLock::new());
        let first_shim = Mutex::default();
        Self {
            hub,
            upstream,
            ownership,
            descriptor,
            address,
            windows,
            rental,
            extension,
            users,
            shim_connections,
            first_shim,
            found,
            epochs,
        }
    }

    /// Whether it is a Firefox, which is behind an emulated browser.
    pub(crate) fn is_firefox(&self) -> bool {
        let version = self.descriptor.as_ref().and_then(|descriptor| descriptor.version.as_deref());
        let rented = self.rental.as_ref().is_some_and(|rental| rental.product.starts_with("firefox "));
        rented || version.is_some_and(|version| version.starts_with("Firefox/"))
    }

    /// Whether it is a Firefox that was launched for guarded sessions.
    pub(crate) fn is_contained(&self) -> bool {
        self.descriptor.as_ref().is_some_and(|descriptor| descriptor.labels.contains_key(bidi::GUARDED))
    }

    /// Marks it as a browser on Windows.
    pub(crate) fn with_windows(self, windows: WindowsBrowser) -> Self {
        Self { windows: Some(windows), ..self }
    }

    /// Marks it as a browser of a Grid or provider.
    pub(crate) fn with_rental(self, rental: Arc<HeldRental>) -> Self {
        Self { rental: Some(rental), ..self }
    }

    /// The browser for which a protocol description is requested.
    pub(crate) fn protocol_source(&self, product: String) -> ProtocolSource {
        ProtocolSource {
            product,
            executable: self.descriptor.as_ref().map(|descriptor| descriptor.executable.clone()),
            port: self.address.as_ref().and_then(WebsocketUrl::local_port),
        }
    }

    /// Whether it has a window, if known.
    pub(crate) fn display(&self) -> Option<Display> {
        let windows = self.windows.as_ref().map(|windows| windows.display);
        self.descriptor.as_ref().map(|descriptor| descriptor.display).or(windows)
    }

    /// Marks it as the user's own browser.
    pub(crate) fn with_extension(self, extension: ExtensionLink) -> Self {
        Self { extension: Some(extension), ..self }
    }

    /// Whether its extension is disconnected: the browser is closed, or Chrome has suspended the extension.
    pub(crate) fn is_away(&self) -> bool {
        self.extension.as_ref().is_some_and(|link| link.stats.borrow().is_away)
    }

    /// The extension's install id, if it is the user's own browser.
    pub(crate) fn install(&self) -> Option<&str> {
        self.extension.as_ref().map(|link| link.install.as_str())
    }

    /// Whether it is the browser with this install id.
    pub(crate) fn is_install(&self, install: &str) -> bool {
        self.extension.as_ref().is_some_and(|link| link.install == install)
    }

    /// The run of an attached browser, if it reports one.
    pub(crate) fn run(&self) -> Option<BrowserRun> {
        let extension = self.extension.as_ref().map(|link| link.run.clone());
        extension.or_else(|| self.address.as_ref().and_then(WebsocketUrl::run))
    }

    /// Counts a connection of a shim; returns whether that shim is the first. A session on the same browser comes before
    /// all shims.
    pub(crate) fn add_shim_connection(&self, shim: &str, has_session: bool) -> bool {
        let mut first = self.first_shim.lock().unwrap_or_else(PoisonError::into_inner);
        if self.shim_connections.fetch_add(1, Ordering::SeqCst) == 0 {
            *first = (!has_session).then(|| shim.into());
        }
        first.as_deref() == Some(shim)
    }

    /// A shim's connection has ended.
    pub(crate) fn remove_shim_connection(&self) {
        self.shim_connections.fetch_sub(1, Ordering::SeqCst);
    }

    pub(crate) fn add_user(&self) {
        self.users.fetch_add(1, Ordering::AcqRel);
    }

    /// Whether several sessions or shims use it.
    pub(crate) fn has_several_users(&self) -> bool {
        self.users.load(Ordering::Acquire) > 1
    }

    /// Removes a user; returns how many are left.
    pub(crate) fn remove_user(&self) -> usize {
        self.users.fetch_sub(1, Ordering::AcqRel).saturating_sub(1)
    }

    /// The key of a shared browser.
    pub(crate) fn pool(&self) -> Option<&str> {
        self.descriptor.as_ref()?.labels.get(POOL).map(String::as_str)
    }
}

/// The label of browsers that several sessions share.
pub(crate) const POOL: &str = "pool";

/// What happened to a browser when a session released it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BrowserEnd {
    /// It ended.
    Ended,
    /// Another session uses it.
    Kept,
    /// It was attached, and keeps running.
    LeftRunning,
    /// It was rented, and is released.
    Released,
}

impl BrowserEnd {
    pub(crate) const fn describe(self) -> &'static str {
        match self {
            Self::Ended => "ended",
            Self::Kept => "kept: another session uses it",
            Self::LeftRunning => "left running: it was attached",
            Self::Released => "released: it was rented",
        }
    }
}
