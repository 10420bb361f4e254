//! The options of a browser launch, and the argument list made from them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tabwire_api::BrowserId;

use crate::error::BrowserError;
use crate::files::stable_digest::stable_digest;
use crate::launch::hidden_automation::HiddenAutomation;
use crate::launch::sandbox::{SandboxMode, SandboxObstacle};
use crate::limits;

/// Most extra arguments or environment additions of one launch.
const EXTRA_ARGUMENTS: usize = 256;

/// Whether the browser has a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Display {
    /// No window.
    #[default]
    Headless,
    /// A window on the user's screen.
    Headed,
}

/// How a browser is launched and driven.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BrowserEngine {
    /// Over the DevTools protocol, by a pipe.
    #[default]
    Chromium,
    /// Over WebDriver BiDi, by a websocket of a session that the keeper holds.
    Firefox,
}

/// The size of the browser's window in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowSize {
    /// Pixels across.
    pub width: u16,
    /// Pixels down.
    pub height: u16,
}

/// The options of a browser launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchSpec {
    /// The browser's id, used in its file names.
    pub id: BrowserId,
    /// The program.
    pub executable: PathBuf,
    /// How it is launched and driven.
    #[serde(default)]
    pub engine: BrowserEngine,
    /// With or without a window.
    #[serde(default)]
    pub display: Display,
    /// The profile directory.
    pub profile: PathBuf,
    /// Whether the profile is removed with the browser.
    #[serde(default)]
    pub temporary: bool,
    /// Window size; the browser's own choice when absent.
    #[serde(default)]
    pub window: Option<WindowSize>,
    /// A proxy for all traffic, as Chromium's `--proxy-server` takes it.
    #[serde(default)]
    pub proxy: Option<String>,
    /// More flags, each checked against the table of refused flags.
    #[serde(default)]
    pub extra_arguments: Vec<String>,
    /// Lifts the refusal of flags that weaken the browser.
    #[serde(default)]
    pub allow_dangerous: bool,
    /// How long the browser lives without a holder, in milliseconds.
    #[serde(default = "default_linger")]
    pub linger_ms: u64,
    /// How long it may take to close before it is killed, in milliseconds.
    #[serde(default = "default_close_grace")]
    pub close_grace_ms: u64,
    /// Variables added to the inherited environment.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Also opens this debugging port; 0 lets the browser choose. No port by default (T37).
    #[serde(default)]
    pub debugging_port: Option<u16>,
    /// Starts with a window and an empty tab. Otherwise the first tab is opened when it is needed.
    #[serde(default = "default_start_window")]
    pub start_window: bool,
    /// Whether the browser runs in its sandbox.
    #[serde(default)]
    pub sandbox: SandboxMode,
    /// Turns off prefetching and preconnecting, and direct WebRTC connections that bypass the proxy.
    #[serde(default)]
    pub reserved: bool,
    /// Turns off the profile's extensions, with their native messaging hosts, and its chrome://flags settings. For a
    /// profile that Tabwire did not create.
    #[serde(default)]
    pub without_extensions: bool,
    /// Hides from pages that the browser is automated.
    #[serde(default)]
    pub hidden_as: Option<HiddenAutomation>,
    /// Set for a browser of the Chrome shim: it starts with the launcher's flags and only the required flags of
    /// Tabwire.
    #[serde(default)]
    pub launcher: Option<LauncherOptions>,
}

/// Options of a launcher besides flags.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LauncherOptions {
    /// URLs to open at the start. Default: an empty page.
    pub addresses: Vec<String>,
}

fn in_milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn default_linger() -> u64 {
    in_milliseconds(limits::DEFAULT_LINGER)
}

fn default_close_grace() -> u64 {
    in_milliseconds(limits::DEFAULT_CLOSE_GRACE)
}

const fn default_start_window() -> bool {
    true
}

/// Flags of every launched browser.
const BASE: &[&str] = &[
    "--remote-debugging-pipe",
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
];

/// Additional flags of a browser without a window.
///
/// The first two features belong to the address bar, which is invisible here, and cost two processes. The third
/// delays a page's timers and messages after input until a frame is drawn, which only slows down automation.
const HEADLESS: &[&str] = &[
    "--headless=new",
    "--disable-gpu",
    "--hide-scrollbars",
    "--mute-audio",
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,DeferRendererTasksAfterInput",
];

/// Flags of a browser that a launcher starts. The launcher passes its own.
const LAUNCHER_BASE: &[&str] = &["--remote-debugging-pipe", "--no-first-run", "--no-default-browser-check"];

/// Additional flags of such a browser without a window.
const LAUNCHER_HEADLESS: &[&str] = &["--headless=new"];

impl LaunchSpec {
    /// A headless launch with default options.
    #[must_use]
    pub fn new(id: BrowserId, executable: PathBuf, profile: PathBuf) -> Self {
        Self {
            id,
            executable,
            engine: BrowserEngine::default(),
            display: Display::default(),
            profile,
            temporary: false,
            window: None,
            proxy: None,
            extra_arguments: Vec::new(),
            allow_dangerous: false,
            linger_ms: default_linger(),
            close_grace_ms: default_close_grace(),
            environment: BTreeMap::new(),
            hidden_as: None,
            debugging_port: None,
            start_window: true,
            sandbox: SandboxMode::default(),
            reserved: false,
            without_extensions: false,
            launcher: None,
        }
    }

    /// The browser's argument list.
    ///
    /// # Errors
    /// When an extra argument or environment addition is refused (T36).
    pub fn arguments(&self, obstacle: Option<SandboxObstacle>) -> Result<Vec<OsString>, BrowserError> {
        self.check()?;
        if self.engine == BrowserEngine::Firefox {
            return Ok(super::firefox::arguments(self));
        }
        let (base, headless) = match self.launcher {
            None => (BASE, HEADLESS),
            Some(_) => (LAUNCHER_BASE, LAUNCHER_HEADLESS),
        };
        let mut arguments: Vec<OsString> = base.iter().map(OsString::from).collect();
        let mut profile = OsString::from("--user-data-dir=");
        profile.push(&self.profile);
        arguments.push(profile);
        if self.display == Display::Headless {
            arguments.extend(headless.iter().map(OsString::from));
        }
        if let Some(WindowSize { width, height }) = self.window {
            arguments.push(format!("--window-size={width},{height}").into());
        }
        if let Some(proxy) = &self.proxy {
            arguments.push(format!("--proxy-server={proxy}").into());
        }
        if let Some(port) = self.debugging_port {
            arguments.push(format!("--remote-debugging-port={port}").into());
        }
        if self.left_out_sandbox(obstacle).is_some() {
            arguments.push("--no-sandbox".into());
        }
        if self.reserved {
            arguments.push("--force-webrtc-ip-handling-policy=disable_non_proxied_udp".into());
        }
        if self.without_extensions {
            arguments.extend(self.extension_arguments().map(OsString::from));
        }
        if let Some(hidden) = &self.hidden_as {
            arguments.extend(hidden.arguments(self.display).map(OsString::from));
        }
        arguments.extend(self.extra_arguments.iter().map(OsString::from));
        let addresses = self.launcher.as_ref().map_or(&[][..], |launcher| &launcher.addresses);
        if !self.start_window {
            arguments.push("--no-startup-window".into());
        } else if addresses.is_empty() {
            arguments.push("about:blank".into());
        }
        arguments.extend(addresses.iter().map(OsString::from));
        Ok(arguments)
    }

    /// Flags that turn off the profile's extensions, except those that a flag of the caller loads.
    fn extension_arguments(&self) -> [String; 2] {
        let loaded =
            self.extra_arguments.iter().find_map(|argument| argument.strip_prefix("--load-extension="));
        let extensions = match loaded {
            Some(paths) => format!("--disable-extensions-except={paths}"),
            None => "--disable-extensions".to_owned(),
        };
        [extensions, "--no-experiments".to_owned()]
    }

    /// Why the browser runs without a sandbox, if it does.
    #[must_use]
    pub fn left_out_sandbox(&self, obstacle: Option<SandboxObstacle>) -> Option<SandboxObstacle> {
        let is_left_out = self.sandbox == SandboxMode::Automatic && self.engine == BrowserEngine::Chromium;
        obstacle.filter(|_| is_left_out)
    }

    /// A digest of the options that change the browser's behaviour, to decide whether a running browser can be reused.
    ///
    /// Id, linger and close grace are not part of it.
    #[must_use]
    pub fn options_digest(&self) -> String {
        let mut same = self.clone();
        same.id = BrowserId::new("");
        same.linger_ms = 0;
        same.close_grace_ms = 0;
        stable_digest(&serde_json::to_vec(&same).unwrap_or_default())
    }

    fn check(&self) -> Result<(), BrowserError> {
        let too_many = self.extra_arguments.len().max(self.environment.len()) > EXTRA_ARGUMENTS;
        if too_many {
            let name = "extra arguments".to_owned();
            return Err(BrowserError::OptionRefused {
                name,
                reason: "there are too many",
                can_be_allowed: false,
            });
        }
        if self.engine == BrowserEngine::Firefox {
            super::firefox::check(self)?;
        }
        for argument in &self.extra_arguments {
            let is_usual = self.launcher.is_some() && crate::launch::launcher_flag::is_usual(argument);
            if !is_usual {
                crate::launch::flag::check_argument(argument, self.allow_dangerous)?;
            }
        }
        for address in self.launcher.iter().flat_map(|launcher| &launcher.addresses) {
            crate::launch::launcher_flag::check_address(address)?;
        }
        for (name, value) in &self.environment {
            crate::launch::flag::check_variable(name, value, self.allow_dangerous)?;
        }
        self.check_proxy()
    }

    /// A proxy's password would be readable in the process list.
    fn check_proxy(&self) -> Result<(), BrowserError> {
        let Some(proxy) = &self.proxy else { return Ok(()) };
        let refused =
            |reason| BrowserError::OptionRefused { name: "proxy".to_owned(), reason, can_be_allowed: false };
        if proxy.contains('@') {
            return Err(refused("a user and password in it would show in the process list"));
        }
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b":/.,-_=;[]*".contains(&byte);
        if proxy.is_empty() || !proxy.bytes().all(plain) {
            return Err(refused("it is not a proxy URL such as `http://host:port`"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Display, LaunchSpec, SandboxMode, SandboxObstacle, WindowSize};
    use tabwire_api::BrowserId;

    fn spec() -> LaunchSpec {
        LaunchSpec::new(BrowserId::new("b1"), "/usr/bin/chromium".into(), "/p q/profile".into())
    }

    fn line(spec: &LaunchSpec, obstacle: Option<SandboxObstacle>) -> String {
        let list = spec.arguments(obstacle).unwrap();
        list.iter().map(|argument| argument.to_str().unwrap()).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn arguments_have_a_fixed_order() {
        assert_eq!(
            line(&spec(), None),
            "--remote-debugging-pipe|--no-first-run|--no-default-browser-check|--disable-background-networking\
             |--disable-component-update|--disable-sync|--disable-quic|--disable-default-apps\
             |--disable-client-side-phishing-detection|--disable-component-extensions-with-background-pages\
             |--disable-search-engine-choice-screen|--password-store=basic|--use-mock-keychain\
             |--user-data-dir=/p q/profile|--headless=new|--disable-gpu|--hide-scrollbars|--mute-audio\
             |--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,DeferRendererTasksAfterInput|about:blank"
        );
        let bare = LaunchSpec { start_window: false, ..spec() };
        assert!(line(&bare, None).ends_with("|--no-startup-window"));
        let headed = LaunchSpec {
            display: Display::Headed,
            window: Some(WindowSize { width: 800, height: 600 }),
            proxy: Some("http://127.0.0.1:3128".to_owned()),
            extra_arguments: vec!["--lang=de".to_owned()],
            debugging_port: Some(0),
            ..spec()
        };
        let text = line(&headed, Some(SandboxObstacle::Root));
        assert!(!text.contains("--headless"));
        assert!(text.ends_with(
            "|--window-size=800,600|--proxy-server=http://127.0.0.1:3128|--remote-debugging-port=0|--no-sandbox|--lang=de|about:blank"
        ));
    }

    #[test]
    fn c4_extensions_of_other_profiles_are_disabled() {
        assert!(!line(&spec(), None).contains("--disable-extensions"));
        let foreign = LaunchSpec { without_extensions: true, ..spec() };
        assert!(line(&foreign, None).contains("|--disable-extensions|--no-experiments|"));
        assert_ne!(foreign.options_digest(), spec().options_digest());
        let named = LaunchSpec {
            extra_arguments: vec!["--load-extension=/a,/b".to_owned()],
            allow_dangerous: true,
            ..foreign
        };
        let text = line(&named, None);
        assert!(
            text.contains("|--disable-extensions-except=/a,/b|") && !text.contains("--disable-extensions|")
        );
    }

    #[test]
    fn sandbox_is_disabled_only_where_it_cannot_work() {
        assert!(!line(&spec(), None).contains("--no-sandbox"));
        assert!(line(&spec(), Some(SandboxObstacle::Container)).contains("--no-sandbox"));
        let required = LaunchSpec { sandbox: SandboxMode::Required, ..spec() };
        assert!(!line(&required, Some(SandboxObstacle::Root)).contains("--no-sandbox"));
    }

    #[test]
    fn t36_a_refused_option_stops_the_launch() {
        let with = |change: fn(&mut LaunchSpec)| {
            let mut spec = spec();
            change(&mut spec);
            spec.arguments(None).unwrap_err().to_string()
        };
        assert!(with(|spec| spec.extra_arguments = vec!["--no-sandbox".into()]).contains("--no-sandbox"));
        assert!(
            with(|spec| drop(spec.environment.insert("LD_PRELOAD".into(), "x".into())))
                .contains("LD_PRELOAD")
        );
        assert!(with(|spec| spec.proxy = Some("http://u:p@h:1".into())).contains("process list"));
        assert!(with(|spec| spec.proxy = Some("h:1 --no-sandbox".into())).contains("not a proxy"));
        assert!(with(|spec| spec.extra_arguments = vec!["--a".into(); 1000]).contains("too many"));
    }

    #[test]
    fn options_digest_ignores_names() {
        let renamed = LaunchSpec { id: BrowserId::new("b2"), linger_ms: 1, ..spec() };
        assert_eq!(spec().options_digest(), renamed.options_digest());
        let other = LaunchSpec { display: Display::Headed, ..spec() };
        assert_ne!(spec().options_digest(), other.options_digest());
    }

    #[test]
    fn json_with_required_fields_only_is_valid() {
        let text = r#"{"id":"b1","executable":"/usr/bin/chromium","profile":"/p q/profile"}"#;
        assert_eq!(serde_json::from_str::<LaunchSpec>(text).unwrap(), spec());
    }
}
