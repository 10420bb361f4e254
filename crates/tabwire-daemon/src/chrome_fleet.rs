//! Browsers for programs that stand in for one: the live one on their profile, else a new one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tabwire_browser::{
    BrowserDescriptor, Display, LaunchSpec, LauncherWish, LockState, Ownership, ProfileChoice, ProfileHomes,
    WindowSize, finder, lock_state, new_browser_id,
};
use tabwire_wire::api::ChromeOpening;
use tabwire_wire::{ErrorCode, Failure};

use crate::fleet::{Fleet, in_background};
use crate::limits::{CHROME_LINGER, CHROME_SEARCH};
use crate::served_browser::{POOL, ServedBrowser};
use crate::sweeping::sweep_all;

/// The label of a browser that was launched for a stand-in.
pub(crate) const CHROME: &str = "chrome";

impl Fleet {
    /// Gets a stand-in its browser, and says whether it was launched now. The caller becomes a user of it.
    pub(crate) async fn obtain_for_chrome(
        &self,
        wish: &ChromeOpening,
    ) -> Result<(Arc<ServedBrowser>, Ownership), Failure> {
        let _sharing = self.sharing.lock().await;
        let spec = self.plan_chrome(wish)?;
        let found = match self.find_for_chrome(&spec, &wish.name).await {
            Some((served, display)) => {
                check_display(display, spec.display, &spec.profile)?;
                Some(served)
            }
            None => None,
        };
        let (served, ownership) = match found {
            Some(served) => (served, Ownership::Attached),
            None => {
                let mut labels = BTreeMap::from([(CHROME.to_owned(), "launched".to_owned())]);
                if wish.profile.is_none() {
                    labels.insert(POOL.to_owned(), wish.name.clone());
                }
                (self.launch(spec, labels).await?, Ownership::Launched)
            }
        };
        served.add_user();
        Ok((served, ownership))
    }

    /// The live browser that is meant, and whether it has a window as far as that is known.
    async fn find_for_chrome(
        &self,
        spec: &LaunchSpec,
        name: &str,
    ) -> Option<(Arc<ServedBrowser>, Option<Display>)> {
        let display_of = |served: &ServedBrowser| served.descriptor.as_ref().map(|found| found.display);
        let own = name.to_owned();
        let served = match spec.throw_away {
            true => self.find(|served| served.pool() == Some(&own)),
            false => self.find_by_profile(&spec.profile),
        };
        if let Some(served) = served {
            let display = display_of(&served);
            return Some((served, display));
        }
        let LockState::Live { owner } = lock_state(&spec.profile) else { return None };
        if let Some(kept) = self.find_kept(&spec.profile).await
            && let Ok(served) = self.claim(kept, CHROME_SEARCH).await
        {
            let display = display_of(&served);
            return Some((served, display));
        }
        let served = self.attach(&spec.profile.to_string_lossy(), &[], None).await.ok()?;
        Some((served, owner.and_then(|owner| find_display(owner.pid()))))
    }

    /// A browser on a profile that an earlier daemon left with its keeper.
    async fn find_kept(&self, profile: &Path) -> Option<BrowserDescriptor> {
        let paths = self.config.paths.clone();
        let swept = in_background(move || sweep_all(&paths)).await.ok()?;
        swept.live.into_iter().find(|descriptor| descriptor.profile == profile)
    }

    fn plan_chrome(&self, wish: &ChromeOpening) -> Result<LaunchSpec, Failure> {
        let id = new_browser_id()?;
        let named = wish.browser.as_deref().or(self.config.browser.as_deref());
        let found = finder::find(named, self.config.path_env.as_deref())?;
        let choice = wish.profile.clone().map_or(ProfileChoice::ThrowAway, ProfileChoice::Directory);
        let homes = ProfileHomes {
            runtime_dir: self.config.paths.runtime.clone(),
            data_dir: self.config.paths.data.clone(),
            config_home: self.config.config_home.clone(),
        };
        let profile: PathBuf = choice.resolve(&id, &homes)?;
        let mut spec = LaunchSpec::new(id, found.path, profile);
        spec.throw_away = choice.is_throw_away();
        spec.start_window = wish.start_window;
        spec.display = if wish.headless { Display::Headless } else { Display::Headed };
        spec.extra_arguments.clone_from(&wish.arguments);
        spec.allow_dangerous = wish.allow_dangerous;
        spec.proxy.clone_from(&wish.proxy);
        spec.window = wish.window.map(|(width, height)| WindowSize { width, height });
        spec.environment.clone_from(&wish.environment);
        spec.launcher = Some(LauncherWish { addresses: wish.addresses.clone() });
        if wish.headless {
            spec.linger_ms = u64::try_from(CHROME_LINGER.as_millis()).unwrap_or(u64::MAX);
        }
        Ok(spec)
    }

    /// Ends every browser that was launched for a stand-in; says how many.
    pub(crate) async fn stop_chrome(&self) -> usize {
        let mut stopped = 0;
        while let Some(served) = self.find(is_for_chrome) {
            match self.stop(&served).await {
                Ok(()) => stopped += 1,
                Err(failure) => {
                    tracing::warn!(%failure, "a stand-in's browser did not end; its keeper will do that");
                }
            }
        }
        stopped
    }
}

/// Whether a browser was launched for a stand-in.
pub(crate) fn is_for_chrome(served: &ServedBrowser) -> bool {
    served.descriptor.as_ref().is_some_and(|descriptor| descriptor.labels.contains_key(CHROME))
}

/// A browser with a window is no stand-in for one without, nor the other way round.
fn check_display(found: Option<Display>, wanted: Display, profile: &Path) -> Result<(), Failure> {
    let Some(found) = found.filter(|found| *found != wanted) else { return Ok(()) };
    let word = |display| if display == Display::Headless { "without a window" } else { "with a window" };
    let message = format!(
        "A browser {} runs on {}, and one {} is wanted.",
        word(found),
        profile.display(),
        word(wanted)
    );
    Err(Failure::new(ErrorCode::ProfileLocked, message)
        .with_hint("Close that browser, or give the launcher another profile directory."))
}

/// Whether a browser of somebody else's has a window, by its command line.
#[cfg(target_os = "linux")]
fn find_display(pid: i32) -> Option<Display> {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let is_headless = line.split(|byte| *byte == 0).any(|word| word.starts_with(b"--headless"));
    Some(if is_headless { Display::Headless } else { Display::Headed })
}

#[cfg(not(target_os = "linux"))]
fn find_display(_pid: i32) -> Option<Display> {
    None
}
