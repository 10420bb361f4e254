//! Finds or launches the browser of a Chrome shim on the Windows around WSL, through PowerShell.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tabwire_api::api::{ChromeOpening, WindowsBrowserRequest, WindowsPort};
use tabwire_api::{ErrorCode, Failure, UpstreamKind};
use tabwire_browser::{AttachTarget, Display, LaunchSpec, Ownership, attach, new_browser_id};

use crate::browser::background::in_background;
use crate::browser::link::BrowserLink;
use crate::browser::manager::{BrowserManager, KEEPER_DEADLINE};
use crate::browser::served::ServedBrowser;
use crate::wsl::host::{Host, LiveBrowser, check_display};
use crate::wsl::local::apply_opening;
use crate::wsl::powershell::{POWERSHELL_TIMEOUT, Powershell, PowershellCommand};
use crate::wsl::protocol::{
    FindResult, FoundBrowser, LaunchResponse, PortResponse, Request, StopResponse, VersionResponse,
};

/// How long PowerShell may take to start a browser. A virus scanner may inspect it first.
const POWERSHELL_LAUNCH: Duration = Duration::from_secs(15);

/// How long a browser on Windows may take until its port responds.
const WINDOWS_BROWSER_START: Duration = Duration::from_secs(30);

/// Pause between two polls of that port.
const WINDOWS_PORT_POLL: Duration = Duration::from_millis(200);

/// The Windows around this system, for the browser of one Chrome shim.
#[derive(Debug)]
pub(crate) struct WindowsHost<'a> {
    browsers: &'a BrowserManager,
    opening: &'a ChromeOpening,
    windows: &'a WindowsBrowserRequest,
    powershell: Arc<Powershell>,
}

impl<'a> WindowsHost<'a> {
    /// Connects to PowerShell, and starts it if necessary.
    ///
    /// # Errors
    /// When it does not start.
    pub(crate) async fn new(
        browsers: &'a BrowserManager,
        opening: &'a ChromeOpening,
        windows: &'a WindowsBrowserRequest,
    ) -> Result<Self, Failure> {
        let command = PowershellCommand {
            program: windows.powershell.clone(),
            script: windows.script.clone(),
            environment: windows.environment.clone(),
        };
        let powershell = browsers.powershell.obtain(&command, &browsers.tasks).await?;
        Ok(Self { browsers, opening, windows, powershell })
    }

    /// The browser's arguments, without refused flags.
    fn arguments(&self, port: u16) -> Result<Vec<String>, Failure> {
        let profile = PathBuf::from(&self.windows.profile);
        let mut spec = LaunchSpec::new(new_browser_id()?, PathBuf::new(), profile);
        apply_opening(&mut spec, self.opening);
        spec.debugging_port = Some(port);
        let ours = spec.arguments(None)?.into_iter().map(|argument| argument.to_string_lossy().into_owned());
        let mut arguments: Vec<String> =
            ours.filter(|argument| argument != "--remote-debugging-pipe").collect();
        arguments.insert(0, "--remote-debugging-address=127.0.0.1".to_owned());
        Ok(arguments)
    }

    async fn free_port(&self) -> Result<u16, Failure> {
        let (port, fixed) = match self.windows.port {
            WindowsPort::Any => (None, false),
            WindowsPort::Preferred(port) => (Some(port), false),
            WindowsPort::Fixed(port) => (Some(port), true),
        };
        let response: PortResponse =
            self.powershell.request(&Request::Port { preferred: port, fixed }, POWERSHELL_TIMEOUT).await?;
        Ok(response.port)
    }

    /// Polls the browser's port for its version until it responds.
    async fn version(&self, port: u16, timeout: Duration) -> Result<Value, Failure> {
        let deadline = Instant::now() + timeout;
        loop {
            let version = match self.windows.shares_loopback {
                true => self.version_from_here(port).await,
                false => {
                    let request = Request::Version { port };
                    let response: VersionResponse =
                        self.powershell.request(&request, POWERSHELL_TIMEOUT).await?;
                    response.version
                }
            };
            let is_there =
                |version: &Value| version.get("webSocketDebuggerUrl").is_some_and(Value::is_string);
            if let Some(version) = version.filter(is_there) {
                return Ok(version);
            }
            if Instant::now() >= deadline {
                return Err(silent(port, timeout));
            }
            tokio::time::sleep(WINDOWS_PORT_POLL).await;
        }
    }

    async fn version_from_here(&self, port: u16) -> Option<Value> {
        let address = AttachTarget::parse(&port.to_string()).ok()?;
        let found = in_background(move || attach::discover(&address, None, Instant::now() + KEEPER_DEADLINE));
        let found = found.await.ok()?;
        Some(serde_json::json!({"webSocketDebuggerUrl": found.expose().as_str(), "Browser": found.product()}))
    }

    /// Connects to a browser: directly where WSL shares the loopback of Windows, else through PowerShell.
    async fn serve(
        &self,
        browser: FoundBrowser,
        port: u16,
        ownership: Ownership,
        timeout: Duration,
    ) -> Result<Arc<ServedBrowser>, Failure> {
        let version = self.version(port, timeout).await?;
        let url = version.get("webSocketDebuggerUrl").and_then(Value::as_str).unwrap_or_default();
        let link = if self.windows.shares_loopback {
            BrowserLink::attach(url, &[]).await.map_err(tabwire_cdp::TransportError::into_failure)?
        } else {
            BrowserLink::of_relay(self.powershell.relay(url, POWERSHELL_TIMEOUT).await?)
        };
        tracing::info!(
            port,
            pid = browser.pid,
            profile = %self.windows.profile,
            shares_loopback = self.windows.shares_loopback,
            "connected to a browser on Windows"
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
        self.browsers.serve_as(link, make).await
    }
}

impl Host for WindowsHost<'_> {
    fn profile(&self) -> String {
        self.windows.profile.clone()
    }

    fn display(&self) -> Display {
        if self.opening.headless { Display::Headless } else { Display::Headed }
    }

    async fn find(&self) -> Result<Option<LiveBrowser>, Failure> {
        let profile = &self.windows.profile;
        let is_it =
            |served: &ServedBrowser| served.windows.as_ref().is_some_and(|windows| windows.is_on(profile));
        if let Some(served) = self.browsers.find(is_it) {
            return Ok(Some(LiveBrowser::served(served)));
        }
        let response: FindResult =
            self.powershell.request(&Request::Find { profile }, POWERSHELL_TIMEOUT).await?;
        let Some(browser) = response.browser else { return Ok(None) };
        let display = if browser.headless { Display::Headless } else { Display::Headed };
        let Some(port) = browser.port else { return Err(without_port(profile, browser.pid)) };
        check_display(Some(display), self)?;
        // The same directory may have another spelling.
        let has_port =
            |served: &ServedBrowser| served.windows.as_ref().is_some_and(|windows| windows.port == port);
        let served = match self.browsers.find(has_port) {
            Some(served) => served,
            None => {
                let is_ours = self.browsers.powershell.has_launched(browser.pid, port);
                let ownership = if is_ours { Ownership::Launched } else { Ownership::Attached };
                self.serve(browser, port, ownership, POWERSHELL_TIMEOUT).await?
            }
        };
        Ok(Some(LiveBrowser { served, display: Some(display) }))
    }

    async fn launch(&self) -> Result<Arc<ServedBrowser>, Failure> {
        let port = self.free_port().await?;
        let arguments = self.arguments(port)?;
        let request = Request::Launch {
            executable: self.windows.executable.as_deref(),
            arguments: &arguments,
            headless: self.opening.headless,
            profile: &self.windows.profile,
            port,
        };
        let LaunchResponse { pid, executable } = self.powershell.request(&request, POWERSHELL_LAUNCH).await?;
        self.browsers.powershell.note_launched(pid, port);
        let headless = self.opening.headless;
        let browser = FoundBrowser { pid, port: Some(port), headless, executable };
        self.serve(browser, port, Ownership::Launched, WINDOWS_BROWSER_START).await
    }
}

fn silent(port: u16, timeout: Duration) -> Failure {
    let message =
        format!("The browser on Windows did not respond on its port {port} within {} s.", timeout.as_secs());
    Failure::new(ErrorCode::LaunchFailed, message)
        .with_remedy("Close every Chrome window on that profile in Windows, then retry.")
}

fn without_port(profile: &str, pid: u32) -> Failure {
    let message = format!(
        "A browser on Windows (process {pid}) runs on {profile} without a debugging port, and Chrome allows one process per profile."
    );
    Failure::new(ErrorCode::ProfileLocked, message)
        .with_remedy("Close it in Windows, or give the launcher another profile directory.")
}

/// A browser on Windows.
#[derive(Debug)]
pub(crate) struct WindowsBrowser {
    /// The PowerShell process, kept alive while the browser is used.
    pub(crate) powershell: Arc<Powershell>,
    /// Its profile directory, as the launcher gave it.
    pub(crate) profile: String,
    /// Its debugging port there.
    pub(crate) port: u16,
    pub(crate) pid: u32,
    /// Its program, if known.
    pub(crate) executable: Option<String>,
    pub(crate) display: Display,
    /// Its product and version.
    pub(crate) product: Option<String>,
}

impl WindowsBrowser {
    /// Ends it, if the main process on its profile and port still has the same program and the same display mode.
    ///
    /// # Errors
    /// When PowerShell fails. A browser that is gone is not a failure.
    pub(crate) async fn stop(&self) -> Result<(), Failure> {
        let request = Request::Stop {
            profile: &self.profile,
            port: self.port,
            headless: self.display == Display::Headless,
            executable: self.executable.as_deref(),
        };
        let response: StopResponse = self.powershell.request(&request, POWERSHELL_TIMEOUT).await?;
        tracing::info!(stopped = ?response.stopped, "ended a browser on Windows");
        Ok(())
    }

    /// Whether it runs on a profile, by the spelling of the path.
    pub(crate) fn is_on(&self, profile: &str) -> bool {
        normalized(&self.profile) == normalized(profile)
    }
}

/// A normalised path. Environment variables in it are expanded on Windows only.
fn normalized(profile: &str) -> String {
    profile.replace('/', "\\").trim_end_matches('\\').to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::normalized;

    #[test]
    fn spellings_of_one_path_are_equal() {
        assert_eq!(normalized(r"C:\Users\Me\P\"), normalized("c:/users/me/p"));
        assert_ne!(normalized(r"%TEMP%\a"), normalized(r"%TEMP%\b"));
    }
}
