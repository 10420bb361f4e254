//! One browser that the daemon serves, to one or more sessions.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use tabwire_api::UpstreamKind;
use tabwire_browser::{BrowserDescriptor, BrowserRun, Display, Ownership, WebsocketUrl, new_instance_id};

use crate::hub::Hub;
use crate::wsl::windows::WindowsBrowser;

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
    /// Install and run of the user's own browser.
    extension: Option<(String, BrowserRun)>,
    /// Sessions and Chrome shims that use it.
    users: AtomicUsize,
    /// Connections of Chrome shims.
    pub(crate) shim_connections: AtomicUsize,
    /// Epochs of its sessions' tab ids.
    epochs: Mutex<BTreeSet<u16>>,
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
        let (windows, extension) = (None, None);
        let shim_connections = AtomicUsize::new(0);
        Self {
            hub,
            upstream,
            ownership,
            descriptor,
            address,
            windows,
            extension,
            users,
            shim_connections,
            epochs,
        }
    }

    /// Marks it as a browser on Windows.
    pub(crate) fn with_windows(self, windows: WindowsBrowser) -> Self {
        Self { windows: Some(windows), ..self }
    }

    /// Whether it has a window, if known.
    pub(crate) fn display(&self) -> Option<Display> {
        let windows = self.windows.as_ref().map(|windows| windows.display);
        self.descriptor.as_ref().map(|descriptor| descriptor.display).or(windows)
    }

    /// Marks it as the user's own browser.
    pub(crate) fn with_extension(self, extension: Option<(String, BrowserRun)>) -> Self {
        Self { extension, ..self }
    }

    /// The extension's install id, if it is the user's own browser.
    pub(crate) fn install(&self) -> Option<&str> {
        self.extension.as_ref().map(|(install, _)| install.as_str())
    }

    /// Whether it is the browser with this install id.
    pub(crate) fn is_install(&self, install: &str) -> bool {
        self.extension.as_ref().is_some_and(|(own, _)| own == install)
    }

    /// The run of an attached browser, if it reports one.
    pub(crate) fn run(&self) -> Option<BrowserRun> {
        let extension = self.extension.as_ref().map(|(_, run)| run.clone());
        extension.or_else(|| self.address.as_ref().and_then(WebsocketUrl::run))
    }

    pub(crate) fn add_user(&self) {
        self.users.fetch_add(1, Ordering::AcqRel);
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
}

impl BrowserEnd {
    pub(crate) const fn describe(self) -> &'static str {
        match self {
            Self::Ended => "ended",
            Self::Kept => "kept: another session uses it",
            Self::LeftRunning => "left running: it was attached",
        }
    }
}
