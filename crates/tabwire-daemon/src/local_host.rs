//! This system as a place where the browsers of stand-ins run: served ones, kept ones, somebody else's, new ones.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use tabwire_browser::{
    BrowserDescriptor, Display, LaunchSpec, LauncherWish, LockState, ProfileChoice, ProfileHomes, WindowSize,
    finder, lock_state, new_browser_id,
};
use tabwire_wire::Failure;
use tabwire_wire::api::ChromeOpening;

use crate::chrome_fleet::CHROME;
use crate::fleet::{Fleet, in_background};
use crate::host::{Found, Host};
use crate::limits::{CHROME_LINGER, CHROME_SEARCH};
use crate::served_browser::{POOL, ServedBrowser};
use crate::sweeping::sweep_all;

/// This system, asked for one browser.
#[derive(Debug)]
pub(crate) struct LocalHost<'a> {
    fleet: &'a Fleet,
    spec: LaunchSpec,
    /// What says which browser is meant when there is no profile directory.
    name: &'a str,
}

impl<'a> LocalHost<'a> {
    /// Decides how the browser would be started.
    ///
    /// # Errors
    /// When there is no such program, or the profile cannot be used.
    pub(crate) fn new(fleet: &'a Fleet, wish: &'a ChromeOpening) -> Result<Self, Failure> {
        let id = new_browser_id()?;
        let named = wish.browser.as_deref().or(fleet.config.browser.as_deref());
        let found = finder::find(named, fleet.config.path_env.as_deref())?;
        let choice = wish.profile.clone().map_or(ProfileChoice::ThrowAway, ProfileChoice::OfLauncher);
        let homes = ProfileHomes {
            runtime_dir: fleet.config.paths.runtime.clone(),
            data_dir: fleet.config.paths.data.clone(),
            config_home: fleet.config.config_home.clone(),
            home: fleet.config.home.clone(),
        };
        let profile = choice.resolve(&id, &homes)?;
        let mut spec = LaunchSpec::new(id, found.path, profile);
        spec.throw_away = choice.is_throw_away();
        spec.environment.clone_from(&wish.environment);
        if wish.headless {
            spec.linger_ms = u64::try_from(CHROME_LINGER.as_millis()).unwrap_or(u64::MAX);
        }
        wish_into(&mut spec, wish);
        Ok(Self { fleet, spec, name: &wish.name })
    }

    /// A browser on a profile that an earlier daemon left with its keeper.
    async fn find_kept(&self) -> Option<BrowserDescriptor> {
        let paths = self.fleet.config.paths.clone();
        let swept = in_background(move || sweep_all(&paths)).await.ok()?;
        swept.live.into_iter().find(|descriptor| descriptor.profile == self.spec.profile)
    }

    fn find_served(&self) -> Option<Arc<ServedBrowser>> {
        match self.spec.throw_away {
            true => self.fleet.find(|served| served.pool() == Some(self.name)),
            false => self.fleet.find_by_profile(&self.spec.profile),
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

    async fn find(&self) -> Result<Option<Found>, Failure> {
        if let Some(served) = self.find_served() {
            return Ok(Some(Found::served(served)));
        }
        let LockState::Live { owner } = lock_state(&self.spec.profile) else { return Ok(None) };
        if let Some(kept) = self.find_kept().await
            && let Ok(served) = self.fleet.claim(kept, CHROME_SEARCH).await
        {
            return Ok(Some(Found::served(served)));
        }
        // Nobody can attach to it: starting another one tells what is in the way.
        let Ok(served) = self.fleet.attach(&self.profile(), &[], None).await else { return Ok(None) };
        let display = owner.and_then(|owner| find_display(owner.pid()));
        Ok(Some(Found { served, display }))
    }

    async fn launch(&self) -> Result<Arc<ServedBrowser>, Failure> {
        let mut labels = BTreeMap::from([(CHROME.to_owned(), "launched".to_owned())]);
        if self.spec.throw_away {
            labels.insert(POOL.to_owned(), self.name.to_owned());
        }
        self.fleet.launch(self.spec.clone(), labels).await
    }
}

/// What a launcher wants of a browser, wherever it runs.
pub(crate) fn wish_into(spec: &mut LaunchSpec, wish: &ChromeOpening) {
    spec.start_window = wish.start_window;
    spec.display = if wish.headless { Display::Headless } else { Display::Headed };
    spec.extra_arguments.clone_from(&wish.arguments);
    spec.allow_dangerous = wish.allow_dangerous;
    spec.proxy.clone_from(&wish.proxy);
    spec.window = wish.window.map(|(width, height)| WindowSize { width, height });
    spec.launcher = Some(LauncherWish { addresses: wish.addresses.clone() });
}

/// Whether a browser of somebody else's has a window, by its command line.
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
