//! The options that say how a session gets its browser, as they are typed.

use std::path::PathBuf;

use clap::Args;
use tabwire_wire::api::{Isolation, PolicyProfile, SessionOptions};
use tabwire_wire::{ErrorCode, Failure};

use crate::cli::parse_size;

/// How a session gets its browser.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Browser (when the session has none yet)")]
pub(crate) struct SessionFlags {
    /// Which browser: chromium, chrome, edge, brave, a channel such as chrome-beta, or a path.
    #[arg(long, value_name = "BROWSER")]
    browser: Option<String>,
    /// Show a window.
    #[arg(long, overrides_with = "headless")]
    headed: bool,
    /// Show no window, which is how it is unless configured otherwise.
    #[arg(long, overrides_with = "headed")]
    headless: bool,
    /// Keep a profile: a name, or a directory (with a slash).
    #[arg(long, value_name = "PROFILE")]
    profile: Option<String>,
    /// Load the extensions and native messaging hosts of a profile directory that Tabwire did not make. They run
    /// programs: only for a profile that you trust.
    #[arg(long)]
    profile_extensions: bool,
    /// Attach to a running browser: a port, an http, ws or wss address, a profile directory, or a channel.
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["browser", "headed", "profile"])]
    cdp: Option<String>,
    /// Which way to a browser: `launch`, `extension` for your own browser (see `tabwire extension`),
    /// `extension:NAME` if several are connected, or `auto`: your own if it is connected and answers, else launch.
    #[arg(long, value_name = "UPSTREAM", value_parser = parse_upstream)]
    #[arg(conflicts_with_all = ["cdp", "browser", "headed", "profile"])]
    upstream: Option<Upstream>,
    /// A header for a remote browser, `Name: value`, or `@FILE` with one a line; may be repeated.
    #[arg(long = "cdp-header", value_name = "HEADER", requires = "cdp")]
    cdp_headers: Vec<String>,
    /// A flag for the browser, `--name=value`; may be repeated.
    #[arg(long = "browser-arg", value_name = "FLAG", allow_hyphen_values = true)]
    browser_arguments: Vec<String>,
    /// Let browser flags through that run programs or weaken its sandbox.
    #[arg(long)]
    allow_dangerous_browser_args: bool,
    /// A proxy for all traffic, e.g. http://host:port.
    #[arg(long, value_name = "PROXY")]
    proxy: Option<String>,
    /// Serve one CDP client at a time; a second one gets 409 until the first has left.
    #[arg(long)]
    single_client: bool,
    /// Window size, e.g. 1280x800.
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    window: Option<(u16, u16)>,
    /// What the session shares with others of the project: nothing (own), a browser (context: logins of its own), or
    /// the logins too (shared: tabs of its own).
    #[arg(long, value_name = "KIND", value_parser = parse_isolation)]
    isolation: Option<Isolation>,
    /// Save cookies and local storage every 30 s and at the end, and put them back into the session's next browser.
    #[arg(long)]
    save_state: bool,
    /// A file whose first line seals what is saved.
    #[arg(long, value_name = "FILE", requires = "save_state")]
    state_passphrase_file: Option<PathBuf>,
    /// What may be done: `guarded` refuses what was not granted, reading included; `open` refuses what was denied.
    #[arg(long, value_name = "POLICY", value_parser = parse_policy)]
    policy: Option<PolicyProfile>,
    /// Start the session's browser anew when it runs with other options.
    #[arg(long)]
    pub(crate) restart: bool,
}

/// What commands that start a session take besides; `emulate` has an option of the same name for one tab.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct ViewFlags {
    /// The size that pages see, whatever the window has, e.g. 1280x720.
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    viewport: Option<(u16, u16)>,
}

impl ViewFlags {
    /// The options with the session's view of pages.
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
            policy: self.policy,
        })
    }
}

/// Headers as given, and those in files: a credential in a file shows in no process list.
pub(crate) fn read_headers(given: Vec<String>) -> Result<Vec<String>, Failure> {
    let mut headers = Vec::new();
    for header in given {
        let Some(path) = header.strip_prefix('@') else {
            headers.push(header);
            continue;
        };
        let text = std::fs::read_to_string(path).map_err(|error| {
            Failure::new(ErrorCode::BadArgs, format!("The header file {path} cannot be read: {error}."))
        })?;
        headers.extend(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned));
    }
    Ok(headers)
}

/// A profile directory means one seen from here, not from the daemon.
fn absolute(profile: String) -> String {
    if !profile.contains('/') {
        return profile;
    }
    std::path::absolute(&profile).map_or(profile, |path| path.display().to_string())
}

/// Which way to a browser, as the session's options name it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Upstream(String);

fn parse_upstream(text: &str) -> Result<Upstream, String> {
    let found = find_upstream(text).map(Upstream);
    found.ok_or_else(|| "expected auto, launch, extension or extension:NAME".to_owned())
}

/// A way to a browser as the session's options name it; nothing for what is none.
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
