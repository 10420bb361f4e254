//! The Windows around a WSL system as a place where the browsers of stand-ins run, reached through PowerShell.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tabwire_browser::{AttachAddress, Display, LaunchSpec, Ownership, attach, new_browser_id};
use tabwire_wire::api::{ChromeOpening, WindowsPort, WindowsWish};
use tabwire_wire::{ErrorCode, Failure, UpstreamKind};

use crate::browser_link::BrowserLink;
use crate::fleet::{Fleet, in_background};
use crate::host::{Found, Host, check_display};
use crate::limits::{
    KEEPER_DEADLINE, POWERSHELL_LAUNCH, POWERSHELL_PATIENCE, WINDOWS_BROWSER_START, WINDOWS_PORT_LOOK,
};
use crate::local_host::wish_into;
use crate::powershell::{Powershell, PowershellCommand};
use crate::powershell_word::{FindAnswer, FoundBrowser, LaunchAnswer, PortAnswer, VersionAnswer, Word};
use crate::served_browser::ServedBrowser;
use crate::windows_browser::WindowsBrowser;

/// The Windows around this system, asked for one browser.
#[derive(Debug)]
pub(crate) struct WindowsHost<'a> {
    fleet: &'a Fleet,
    wish: &'a ChromeOpening,
    windows: &'a WindowsWish,
    powershell: Arc<Powershell>,
}

impl<'a> WindowsHost<'a> {
    /// Starts PowerShell, unless it runs.
    ///
    /// # Errors
    /// When it does not start.
    pub(crate) async fn new(
        fleet: &'a Fleet,
        wish: &'a ChromeOpening,
        windows: &'a WindowsWish,
    ) -> Result<Self, Failure> {
        let command = PowershellCommand {
            program: windows.powershell.clone(),
            script: windows.script.clone(),
            environment: windows.environment.clone(),
        };
        let powershell = fleet.powershell.obtain(&command, &fleet.tasks).await?;
        Ok(Self { fleet, wish, windows, powershell })
    }

    /// The browser's arguments, as the table of refused flags lets them pass.
    fn arguments(&self, port: u16) -> Result<Vec<String>, Failure> {
        let profile = PathBuf::from(&self.windows.profile);
        let mut spec = LaunchSpec::new(new_browser_id()?, PathBuf::new(), profile);
        wish_into(&mut spec, self.wish);
        spec.debugging_port = Some(port);
        let ours = spec.arguments(None)?.into_iter().map(|argument| argument.to_string_lossy().into_owned());
        let mut arguments: Vec<String> =
            ours.filter(|argument| argument != "--remote-debugging-pipe").collect();
        arguments.insert(0, "--remote-debugging-address=127.0.0.1".to_owned());
        Ok(arguments)
    }

    async fn free_port(&self) -> Result<u16, Failure> {
        let (wish, fixed) = match self.windows.port {
            WindowsPort::Any => (None, false),
            WindowsPort::Wished(port) => (Some(port), false),
            WindowsPort::Fixed(port) => (Some(port), true),
        };
        let answer: PortAnswer =
            self.powershell.ask(&Word::Port { wish, fixed }, POWERSHELL_PATIENCE).await?;
        Ok(answer.port)
    }

    /// Asks a browser's port what it is, until it answers.
    async fn version(&self, port: u16, patience: Duration) -> Result<Value, Failure> {
        let deadline = Instant::now() + patience;
        loop {
            let version = match self.windows.shares_loopback {
                true => self.version_from_here(port).await,
                false => {
                    let word = Word::Version { port };
                    let answer: VersionAnswer = self.powershell.ask(&word, POWERSHELL_PATIENCE).await?;
                    answer.version
                }
            };
            let is_there =
                |version: &Value| version.get("webSocketDebuggerUrl").is_some_and(Value::is_string);
            if let Some(version) = version.filter(is_there) {
                return Ok(version);
            }
            if Instant::now() >= deadline {
                return Err(silent(port, patience));
            }
            tokio::time::sleep(WINDOWS_PORT_LOOK).await;
        }
    }

    async fn version_from_here(&self, port: u16) -> Option<Value> {
        let address = AttachAddress::parse(&port.to_string()).ok()?;
        let found = in_background(move || attach::discover(&address, None, Instant::now() + KEEPER_DEADLINE));
        let found = found.await.ok()?;
        Some(serde_json::json!({"webSocketDebuggerUrl": found.expose().as_str(), "Browser": found.product()}))
    }

    /// Connects to a browser, directly where there is one loopback, else through PowerShell.
    async fn serve(
        &self,
        browser: FoundBrowser,
        port: u16,
        ownership: Ownership,
        patience: Duration,
    ) -> Result<Arc<ServedBrowser>, Failure> {
        let version = self.version(port, patience).await?;
        let url = version.get("webSocketDebuggerUrl").and_then(Value::as_str).unwrap_or_default();
        let link = if self.windows.shares_loopback {
            BrowserLink::attach(url, &[]).await.map_err(tabwire_cdp::TransportError::into_failure)?
        } else {
            BrowserLink::of_relay(self.powershell.relay(url, POWERSHELL_PATIENCE).await?)
        };
        tracing::info!(
            port,
            pid = browser.pid,
            profile = %self.windows.profile,
            shares_loopback = self.windows.shares_loopback,
            "a browser of Windows is used"
        );
        let windows = WindowsBrowser {
            powershell: Arc::clone(&self.powershell),
            profile: self.windows.profile.clone(),
            port,
            pid: browser.pid,
            executable: browser.executable.filter(|program| program.contains('\\')),
            display: if browser.headless { Display::Headless } else { Display::Headed },
            product: version.get("Browser").and_then(Value::as_str).map(str::to_owned),
        };
        let make = |hub, _: UpstreamKind| {
            let served = ServedBrowser::new(hub, UpstreamKind::Websocket, ownership, None, None);
            served.with_windows(windows)
        };
        self.fleet.serve_as(link, make).await
    }
}

impl Host for WindowsHost<'_> {
    fn profile(&self) -> String {
        self.windows.profile.clone()
    }

    fn display(&self) -> Display {
        if self.wish.headless { Display::Headless } else { Display::Headed }
    }

    async fn find(&self) -> Result<Option<Found>, Failure> {
        let profile = &self.windows.profile;
        let is_it =
            |served: &ServedBrowser| served.windows.as_ref().is_some_and(|windows| windows.is_on(profile));
        if let Some(served) = self.fleet.find(is_it) {
            return Ok(Some(Found::served(served)));
        }
        let answer: FindAnswer = self.powershell.ask(&Word::Find { profile }, POWERSHELL_PATIENCE).await?;
        let Some(browser) = answer.browser else { return Ok(None) };
        let display = if browser.headless { Display::Headless } else { Display::Headed };
        let Some(port) = browser.port else { return Err(without_port(profile, browser.pid)) };
        check_display(Some(display), self)?;
        // The same directory may go by another name.
        let has_port =
            |served: &ServedBrowser| served.windows.as_ref().is_some_and(|windows| windows.port == port);
        let served = match self.fleet.find(has_port) {
            Some(served) => served,
            None => {
                let is_ours = self.fleet.powershell.has_launched(browser.pid, port);
                let ownership = if is_ours { Ownership::Launched } else { Ownership::Attached };
                self.serve(browser, port, ownership, POWERSHELL_PATIENCE).await?
            }
        };
        Ok(Some(Found { served, display: Some(display) }))
    }

    async fn launch(&self) -> Result<Arc<ServedBrowser>, Failure> {
        let port = self.free_port().await?;
        let arguments = self.arguments(port)?;
        let word = Word::Launch {
            executable: self.windows.executable.as_deref(),
            arguments: &arguments,
            headless: self.wish.headless,
            profile: &self.windows.profile,
            port,
        };
        let LaunchAnswer { pid, executable } = self.powershell.ask(&word, POWERSHELL_LAUNCH).await?;
        self.fleet.powershell.note_launched(pid, port);
        let headless = self.wish.headless;
        let browser = FoundBrowser { pid, port: Some(port), headless, executable };
        self.serve(browser, port, Ownership::Launched, WINDOWS_BROWSER_START).await
    }
}

fn silent(port: u16, patience: Duration) -> Failure {
    let message =
        format!("The browser of Windows did not answer on its port {port} within {} s.", patience.as_secs());
    Failure::new(ErrorCode::LaunchFailed, message)
        .with_hint("Close every Chrome window on that profile in Windows, then try again.")
}

fn without_port(profile: &str, pid: u32) -> Failure {
    let message = format!(
        "A browser of Windows (process {pid}) runs on {profile} without a debugging port, and a second one cannot."
    );
    Failure::new(ErrorCode::ProfileLocked, message)
        .with_hint("Close it in Windows, or give the launcher another profile directory.")
}
