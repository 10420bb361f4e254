//! One browser that the daemon serves, to one session or to several.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use tabwire_browser::{BrowserDescriptor, BrowserRun, Display, Ownership, WebsocketAddress, new_instance_id};
use tabwire_wire::UpstreamKind;

use crate::hub::Hub;
use crate::windows_browser::WindowsBrowser;

/// One browser being served.
#[derive(Debug)]
pub(crate) struct ServedBrowser {
    pub(crate) hub: Hub,
    pub(crate) upstream: UpstreamKind,
    pub(crate) ownership: Ownership,
    /// What its keeper says of it, when it is launched.
    pub(crate) descriptor: Option<BrowserDescriptor>,
    /// Where it was reached, when it is attached.
    pub(crate) address: Option<WebsocketAddress>,
    /// What is known of it there, when it is a browser of Windows.
    pub(crate) windows: Option<WindowsBrowser>,
    /// Which of the user's own browsers it is, and which run of it.
    extension: Option<(String, BrowserRun)>,
    /// How many sessions use it.
    users: AtomicUsize,
    /// How many lines of stand-ins go to it.
    pub(crate) stand_in_lines: AtomicUsize,
    /// Numbers that tell its sessions' tab ids apart.
    epochs: Mutex<BTreeSet<u16>>,
}

impl ServedBrowser {
    /// A number for one session's tab ids that no other session of this browser has.
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

    /// Keeps others from a number that a session has had since an earlier daemon.
    pub(crate) fn keep_epoch(&self, epoch: u16) {
        self.epochs.lock().unwrap_or_else(PoisonError::into_inner).insert(epoch);
    }

    pub(crate) fn new(
        hub: Hub,
        upstream: UpstreamKind,
        ownership: Ownership,
        descriptor: Option<BrowserDescriptor>,
        address: Option<WebsocketAddress>,
    ) -> Self {
        let (users, epochs) = (AtomicUsize::new(0), Mutex::default());
        let (windows, extension) = (None, None);
        let stand_in_lines = AtomicUsize::new(0);
        Self {
            hub,
            upstream,
            ownership,
            descriptor,
            address,
            windows,
            extension,
            users,
            stand_in_lines,
            epochs,
        }
    }

    /// The same, as a browser of Windows.
    pub(crate) fn with_windows(self, windows: WindowsBrowser) -> Self {
        Self { windows: Some(windows), ..self }
    }

    /// Whether it has a window, when that is known.
    pub(crate) fn display(&self) -> Option<Display> {
        let windows = self.windows.as_ref().map(|windows| windows.display);
        self.descriptor.as_ref().map(|descriptor| descriptor.display).or(windows)
    }

    /// The same, as one of the user's own browsers.
    pub(crate) fn with_extension(self, extension: Option<(String, BrowserRun)>) -> Self {
        Self { extension, ..self }
    }

    /// Which of the user's own browsers it is, if it is one.
    pub(crate) fn install(&self) -> Option<&str> {
        self.extension.as_ref().map(|(install, _)| install.as_str())
    }

    /// Whether it is the browser with this install of the extension.
    pub(crate) fn is_install(&self, install: &str) -> bool {
        self.extension.as_ref().is_some_and(|(own, _)| own == install)
    }

    /// Which run of a browser it is, when it is attached and says so.
    pub(crate) fn run(&self) -> Option<BrowserRun> {
        let extension = self.extension.as_ref().map(|(_, run)| run.clone());
        extension.or_else(|| self.address.as_ref().and_then(WebsocketAddress::run))
    }

    pub(crate) fn add_user(&self) {
        self.users.fetch_add(1, Ordering::AcqRel);
    }

    /// One session fewer uses it; says how many still do.
    pub(crate) fn remove_user(&self) -> usize {
        self.users.fetch_sub(1, Ordering::AcqRel).saturating_sub(1)
    }

    /// What browsers that sessions share are told apart by.
    pub(crate) fn pool(&self) -> Option<&str> {
        self.descriptor.as_ref()?.labels.get(POOL).map(String::as_str)
    }
}

/// The label of browsers that several sessions share.
pub(crate) const POOL: &str = "pool";

/// What became of a browser when a session let go of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It ended.
    Ended,
    /// Other sessions use it.
    Kept,
    /// It was attached to, and goes on.
    LeftRunning,
}

impl Fate {
    pub(crate) const fn sentence(self) -> &'static str {
        match self {
            Self::Ended => "ended",
            Self::Kept => "kept: another session uses it",
            Self::LeftRunning => "left running: it was attached",
        }
    }
}
