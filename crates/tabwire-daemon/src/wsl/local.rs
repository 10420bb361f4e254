//! Finds or launches the browser of a Chrome shim on this system.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tabwire_api::Failure;
use tabwire_api::api::ChromeOpening;
use tabwire_browser::{
    BrowserDescriptor, Display, LaunchSpec, LauncherOptions, LockState, ProfileChoice, ProfileHomes,
    WindowSize, finder, lock_state, new_browser_id,
};

use crate::browser::background::in_background;
use crate::browser::manager::BrowserManager;
use crate::browser::served::{FoundProfile, POOL, ServedBrowser};
use crate::browser::shim_browsers::CHROME;
use crate::browser::sweep::sweep_all;
use crate::wsl::host::{Host, LiveBrowser};

/// How long a browser that a Chrome shim launched lives without a client. It must be gone within 5 s after its
/// launcher was killed.
const SHIM_LINGER: Duration = Duration::from_millis(2_000);

/// How long to wait for the keeper of a live browser on a profile.
const SHIM_SEARCH_TIMEOUT: Duration = Duration::from_secs(5);

/// This system, for the browser of one Chrome shim.
#[derive(Debug)]
pub(crate) struct LocalHost<'a> {
    browsers: &'a BrowserManager,
    spec: LaunchSpec,
    /// Identifies the browser when there is no profile directory.
    name: &'a str,
}

impl<'a> LocalHost<'a> {
    /// Plans the launch.
    ///
    /// # Errors
    /// When there is no such program, or the profile cannot be used.
    pub(crate) fn new(browsers: &'a BrowserManager, opening: &'a ChromeOpening) -> Result<Self, Failure> {
        let id = new_browser_id()?;
        let named = opening.browser.as_deref().or(browsers.config.browser.as_deref());
        let found = finder::find(named, browsers.config.path_env.as_deref())?;
        let choice = opening.profile.clone().map_or(ProfileChoice::Temporary, ProfileChoice::OfLauncher);
        let homes = ProfileHomes {
            runtime_dir: browsers.config.paths.runtime.clone(),
            data_dir: browsers.config.paths.data.clone(),
            config_home: browsers.config.config_home.clone(),
            home: browsers.config.home.clone(),
        };
        let profile = choice.resolve(&id, &homes)?;
        let mut spec = LaunchSpec::new(id, found.path, profile);
        spec.temporary = choice.is_temporary();
        spec.environment.clone_from(&opening.environment);
        if opening.headless && !opening.keep {
            spec.linger_ms = u64::try_from(SHIM_LINGER.as_millis()).unwrap_or(u64::MAX);
        }
        apply_opening(&mut spec, opening);
        Ok(Self { browsers, spec, name: &opening.name })
    }

    /// A browser on a profile that an earlier daemon left with its keeper.
    async fn find_kept(&self) -> Option<BrowserDescriptor> {
        let paths = self.browsers.config.paths.clone();
        let swept = in_background(move || sweep_all(&paths)).await.ok()?;
        swept.live.into_iter().find(|descriptor| descriptor.profile == self.spec.profile)
    }

    fn find_served(&self) -> Option<Arc<ServedBrowser>> {
        match self.spec.temporary {
            true => self.browsers.find(|served| served.pool() == Some(self.name)),
            false => self.browsers.find_by_profile(&self.spec.profile),
        }
    }
}

impl Host for LocalHost<'_> {
    fn profile(&self) -> String {
        self.spec.profile.display().to_string()
    }

    fn display(&self) -> Display {
        self.spec.display
    }

    async fn find(&self) -> Result<Option<LiveBrowser>, Failure> {
        if let Some(served) = self.find_served() {
            return Ok(Some(LiveBrowser::served(served)));
        }
        let LockState::Live { owner } = lock_state(&self.spec.profile) else { return Ok(None) };
        if let Some(kept) = self.find_kept().await
            && let Ok(served) = self.browsers.claim(kept, SHIM_SEARCH_TIMEOUT).await
        {
            return Ok(Some(LiveBrowser::served(served)));
        }
        // It cannot be attached to. Launching another one fails with the reason.
        let Ok(served) = self.browsers.attach(&self.profile(), &[], None).await else { return Ok(None) };
        let pid = owner.map(|owner| owner.pid());
        let display = pid.and_then(find_display);
        let _ = served.found.set(FoundProfile { profile: self.spec.profile.clone(), pid, display });
        Ok(Some(LiveBrowser { served, display }))
    }

    async fn launch(&self) -> Result<Arc<ServedBrowser>, Failure> {
        let mut labels = BTreeMap::from([(CHROME.to_owned(), "launched".to_owned())]);
        if self.spec.temporary {
            labels.insert(POOL.to_owned(), self.name.to_owned());
        }
        self.browsers.launch(self.spec.clone(), labels).await
    }
}

/// Applies the opening message to a launch, on either host.
pub(crate) fn apply_opening(spec: &mut LaunchSpec, opening: &ChromeOpening) {
    spec.start_window = opening.start_window;
    spec.display = if opening.headless { Display::Headless } else { Display::Headed };
    spec.extra_arguments.clone_from(&opening.arguments);
    spec.allow_dangerous = opening.allow_dangerous;
    spec.proxy.clone_from(&opening.proxy);
    spec.window = opening.window.map(|(width, height)| WindowSize { width, height });
    spec.launcher = Some(LauncherOptions { addresses: opening.addresses.clone() });
}

/// Whether a foreign browser has a window, by its command line.
#[cfg(target_os = "linux")]
fn find_display(pid: i32) -> Option<Display> {
    let line = std::fs::read(Path::new("/proc").join(pid.to_string()).join("cmdline")).ok()?;
    let is_headless = line.split(|byte| *byte == 0).any(|word| word.starts_with(b"--headless"));
    Some(if is_headless { Display::Headless } else { Display::Headed })
}

#[cfg(not(target_os = "linux"))]
fn find_display(_pid: i32) -> Option<Display> {
    None
}
