//! Options that select and configure the browser of a session.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use tabwire_api::api::{Isolation, PolicyProfile, SessionOptions};
use tabwire_api::{ErrorCode, Failure};

use crate::cli::{parse_duration, parse_size};

/// Options of browsers that Tabwire launches or attaches to.
const NOT_RENTED: [&str; 8] =
    ["browser", "headed", "profile", "cdp", "upstream", "browser_arguments", "proxy", "hide_automation"];

/// The same without `browser`, which a Grid can be asked for.
const NOT_OF_GRIDS: [&str; 7] =
    ["headed", "profile", "cdp", "upstream", "browser_arguments", "proxy", "hide_automation"];

/// Longest file of capabilities.
const CAPABILITY_BYTES: u64 = 64 * 1024;

/// Options of the session's browser.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Browser options (for a session without a browser)")]
pub(crate) struct SessionFlags {
    /// Use this browser: chromium, chrome, edge, brave, firefox, a channel such as chrome-beta, or a path.
    #[arg(long, value_name = "BROWSER")]
    browser: Option<String>,
    /// Show a window.
    #[arg(long, alias = "headful", overrides_with = "headless")]
    headed: bool,
    /// Run without a window (default).
    #[arg(long, overrides_with = "headed")]
    headless: bool,
    /// Use a persistent profile: a name, or a directory (with a slash). Default: a temporary profile.
    #[arg(long, value_name = "PROFILE")]
    profile: Option<String>,
    /// Load extensions and native messaging hosts of a profile directory that Tabwire did not create. They can run
    /// programs: use it only with a profile that you trust.
    #[arg(long)]
    profile_extensions: bool,
    /// Attach to a running browser: a port, an http(s) or ws(s) URL, a profile directory, or a channel.
    #[arg(long, value_name = "BROWSER", conflicts_with_all = ["browser", "headed", "profile"])]
    #[arg(group = "remote_url")]
    cdp: Option<String>,
    /// launch: start a browser (default); extension: your own browser (see `tabwire extension`); extension:NAME: one of
    /// several; auto: your own if it is connected, else launch.
    #[arg(long, value_name = "UPSTREAM", value_parser = parse_upstream)]
    #[arg(conflicts_with_all = ["cdp", "browser", "headed", "profile"])]
    upstream: Option<Upstream>,
    /// Rent a browser from a Selenium Grid: the URL of its router or hub. It is released when the session closes.
    #[arg(long, value_name = "URL", group = "remote_url", conflicts_with_all = NOT_OF_GRIDS)]
    grid: Option<String>,
    /// Ask the Grid for these capabilities: a JSON file (default: any Chrome; `--browser firefox` alone is any Firefox).
    #[arg(long, value_name = "FILE", conflicts_with_all = ["provider", "browser"])]
    capabilities: Option<PathBuf>,
    /// Rent a browser from a provider that `tabwire provider add` has added. It is released when the session closes.
    #[arg(long, value_name = "PROVIDER", conflicts_with_all = NOT_RENTED, conflicts_with = "grid")]
    provider: Option<String>,
    /// How long to wait for a browser of a Grid or provider (default: 120s).
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    rent_wait: Option<Duration>,
    /// A header for a remote browser or a Grid: `Name: value`, or `@FILE` with one per line; repeatable.
    #[arg(long = "cdp-header", value_name = "HEADER", requires = "remote_url")]
    cdp_headers: Vec<String>,
    /// Pass a flag to the browser: `--name=value`; repeatable.
    #[arg(long = "browser-arg", value_name = "FLAG", allow_hyphen_values = true)]
    browser_arguments: Vec<String>,
    /// Accept browser flags that run programs or weaken the sandbox.
    #[arg(long)]
    allow_dangerous_browser_args: bool,
    /// Use a proxy for all traffic: http://host:port.
    #[arg(long, value_name = "PROXY")]
    proxy: Option<String>,
    /// Hide from pages that the browser is automated (`navigator.webdriver`, `HeadlessChrome` in the user agent). Refused in
    /// guarded sessions unless your own configuration sets `hide_automation`.
    #[arg(long, conflicts_with_all = ["cdp", "upstream"])]
    hide_automation: bool,
    /// Accept one CDP client at a time; others get status 409.
    #[arg(long)]
    single_client: bool,
    /// Window size: 1280x800.
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    window: Option<(u16, u16)>,
    /// own: separate browser; context: separate cookies; shared: separate tabs only.
    #[arg(long, value_name = "KIND", value_parser = parse_isolation)]
    isolation: Option<Isolation>,
    /// Save cookies and local storage every 30 s and at the end, and restore them in the session's next browser.
    #[arg(long)]
    save_state: bool,
    /// Encrypt saved state with the passphrase on the first line of FILE.
    #[arg(long, value_name = "FILE", requires = "save_state")]
    state_passphrase_file: Option<PathBuf>,
    /// Keep a screenshot of the page after every action, for the dashboard and `log export --html`.
    #[arg(long)]
    trail: bool,
    /// guarded: allow only what is granted, reading included; open: allow what is not denied.
    #[arg(long, value_name = "POLICY", value_parser = parse_policy)]
    policy: Option<PolicyProfile>,
    /// Restart the session's browser if it runs with other options.
    #[arg(long)]
    pub(crate) restart: bool,
}

/// Further options of commands that start a session; `emulate` has an option of the same name for one tab.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ViewFlags {
    /// First load cookies and local storage from FILE, as `state save` or Playwright wrote it.
    #[arg(long, value_name = "FILE")]
    pub(crate) auth: Option<PathBuf>,
    /// Viewport size of pages, independent of the window (without a window, pages have 1280x720).
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    viewport: Option<(u16, u16)>,
}

impl ViewFlags {
    pub(crate) fn add_to(self, options: SessionOptions) -> SessionOptions {
        SessionOptions { viewport: self.viewport, ..options }
    }
}

impl SessionFlags {
    pub(crate) fn into_options(self) -> Result<SessionOptions, Failure> {
        Ok(SessionOptions {
            browser: self.browser,
            headed: (self.headed || self.headless).then_some(self.headed),
            profile: self.profile.map(absolute),
            profile_extensions: self.profile_extensions.then_some(true),
            cdp: self.cdp.or(self.upstream.map(|Upstream(cdp)| cdp)),
            grid: self.grid,
            capabilities: self.capabilities.as_deref().map(read_capabilities).transpose()?,
            provider: self.provider,
            rent_wait_seconds: self.rent_wait.map(|wait| wait.as_secs().max(1)),
            headers: read_headers(self.cdp_headers)?,
            browser_arguments: self.browser_arguments,
            allow_dangerous_arguments: self.allow_dangerous_browser_args.then_some(true),
            proxy: self.proxy,
            single_client: self.single_client.then_some(true),
            window: self.window,
            viewport: None,
            isolation: self.isolation,
            save_state: self.save_state.then_some(true),
            state_passphrase_file: self
                .state_passphrase_file
                .map(|path| std::path::absolute(&path).unwrap_or(path)),
            trail: self.trail.then_some(true),
            policy: self.policy,
            hide_automation: self.hide_automation.then_some(true),
            display: tabwire_api::api::DisplayVariables::default(),
        })
    }
}

/// Reads the capabilities for a Grid. They can hold a credential, so no error contains them.
pub(crate) fn read_capabilities(path: &Path) -> Result<serde_json::Value, Failure> {
    let bad = |why: String| {
        let message = format!("Cannot read the capabilities in {}: {why}.", path.display());
        Failure::new(ErrorCode::BadArgs, message)
            .with_remedy("Give a file with a JSON object such as {\"browserName\": \"chrome\"}.")
    };
    let size = std::fs::metadata(path).map_err(|error| bad(error.to_string()))?.len();
    if size > CAPABILITY_BYTES {
        return Err(bad(format!("it has {size} bytes, and {CAPABILITY_BYTES} are allowed")));
    }
    let text = std::fs::read_to_string(path).map_err(|error| bad(error.to_string()))?;
    let read: Result<serde_json::Value, _> = serde_json::from_str(&text);
    let value = read.map_err(|error| bad(format!("invalid JSON at line {}", error.line())))?;
    if value.is_object() { Ok(value) } else { Err(bad("it is not a JSON object".to_owned())) }
}

/// Reads headers, also from files: a credential in a file is not visible in the process list.
pub(crate) fn read_headers(given: Vec<String>) -> Result<Vec<String>, Failure> {
    let mut headers = Vec::new();
    for header in given {
        let Some(path) = header.strip_prefix('@') else {
            headers.push(header);
            continue;
        };
        let text = std::fs::read_to_string(path).map_err(|error| {
            Failure::new(ErrorCode::BadArgs, format!("Cannot read the header file {path}: {error}."))
        })?;
        headers.extend(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned));
    }
    Ok(headers)
}

/// Makes a profile directory absolute: the daemon has another working directory.
fn absolute(profile: String) -> String {
    if !profile.contains('/') {
        return profile;
    }
    std::path::absolute(&profile).map_or(profile, |path| path.display().to_string())
}

/// The value of `--upstream` as `SessionOptions::cdp`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Upstream(String);

fn parse_upstream(text: &str) -> Result<Upstream, String> {
    let found = find_upstream(text).map(Upstream);
    found.ok_or_else(|| "expected auto, launch, extension or extension:NAME".to_owned())
}

/// The value of `--upstream` as `SessionOptions::cdp`; `None` if invalid.
pub(crate) fn find_upstream(text: &str) -> Option<String> {
    let given = SessionOptions { cdp: Some(text.to_owned()), ..SessionOptions::default() };
    match text {
        "auto" => Some(SessionOptions::AUTO.to_owned()),
        "launch" => Some(SessionOptions::LAUNCH.to_owned()),
        _ => given.extension().map(|_| text.to_owned()),
    }
}

pub(crate) fn parse_policy(text: &str) -> Result<PolicyProfile, String> {
    PolicyProfile::find(text).ok_or_else(|| "expected guarded or open".to_owned())
}

fn parse_isolation(text: &str) -> Result<Isolation, String> {
    Isolation::find(text).ok_or_else(|| "expected own, context or shared".to_owned())
}
