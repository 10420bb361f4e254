//! A browser without Tabwire, for comparison: Chromium with a debugging port. Ends it on drop.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A running browser with a debugging port.
#[derive(Debug)]
pub struct BareBrowser {
    child: Child,
    profile: tempfile::TempDir,
}

/// The flags of a headless browser of Tabwire (from `tabwire-browser/src/launch/spec.rs`), for a fair comparison.
pub const FLAGS: &[&str] = &[
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--disable-default-apps",
    "--disable-client-side-phishing-detection",
    "--disable-component-extensions-with-background-pages",
    "--disable-search-engine-choice-screen",
    "--password-store=basic",
    "--use-mock-keychain",
    "--headless=new",
    "--disable-gpu",
    "--hide-scrollbars",
    "--mute-audio",
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,DeferRendererTasksAfterInput",
    "--no-sandbox",
];

/// Autofill and the password manager are off.
const PREFERENCES: &str = concat!(
    r#"{"autofill":{"enabled":false,"profile_enabled":false,"credit_card_enabled":false},"#,
    r#""credentials_enable_service":false,"profile":{"password_manager_enabled":false}}"#
);

/// Chromium, as Debian's package installs it.
pub const CHROMIUM: &str = "/usr/bin/chromium";

/// The browser for tests of what every Chromium does: `TABWIRE_TEST_BROWSER`, else Chromium. `cargo xtask test` names
/// Chromium's headless shell, which starts with a fifth of the processor time; `--full` names none.
#[must_use]
pub fn test_browser() -> PathBuf {
    std::env::var_os("TABWIRE_TEST_BROWSER").map_or_else(|| CHROMIUM.into(), PathBuf::from)
}

impl BareBrowser {
    /// Starts the browser.
    ///
    /// # Panics
    /// When it cannot be started.
    #[must_use]
    pub fn start(executable: &Path) -> Self {
        Self::start_with(executable, |_| Vec::new())
    }

    /// Starts the browser on a profile that `prepare` fills, with the arguments that it returns.
    ///
    /// # Panics
    /// When it cannot be started.
    #[must_use]
    pub fn start_with(executable: &Path, prepare: impl FnOnce(&Path) -> Vec<String>) -> Self {
        let profile = tempfile::tempdir().expect("a directory");
        // The same preferences as in a temporary profile of Tabwire.
        let own = profile.path().join("Default");
        std::fs::create_dir(&own)
            .and_then(|()| std::fs::write(own.join("Preferences"), PREFERENCES))
            .expect("written");
        let child = Command::new(executable)
            .args(FLAGS)
            .args(prepare(profile.path()))
            .arg("--remote-debugging-port=0")
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the browser starts");
        Self { child, profile }
    }

    /// Waits for the browser's websocket URL.
    ///
    /// # Panics
    /// When it opens no port in time.
    #[must_use]
    pub fn websocket(&self) -> String {
        let file: PathBuf = self.profile.path().join("DevToolsActivePort");
        let until = Instant::now() + Duration::from_secs(30);
        while Instant::now() < until {
            if let Ok(text) = std::fs::read_to_string(&file)
                && let Some((port, path)) = text.split_once('\n')
                && !path.trim().is_empty()
            {
                return format!("ws://127.0.0.1:{port}{}", path.trim());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        panic!("the browser opened no port");
    }
}

impl Drop for BareBrowser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
