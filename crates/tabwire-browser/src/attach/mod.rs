//! Finds the websocket of a browser that Tabwire did not start. Such a browser is `Ownership::Attached` and is never closed.

mod browser_run;
mod http_page;
mod owner_port;

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use tabwire_secrets::mask_endpoint;
use url::{Host, Url};

pub use browser_run::BrowserRun;

use self::http_page::HttpGet;
use self::owner_port::find_owner_port;
use crate::error::{AttachFault, BrowserError};
use crate::files::atomic_file;
use crate::launch::browser_kind::{BrowserKind, Channel};

/// Longest name of an attached browser that is shown to the user.
const PRODUCT_BYTES: usize = 100;

/// Longest `DevToolsActivePort` file that is read.
const ACTIVE_PORT_BYTES: usize = 4096;

/// Where a debugging port describes the browser.
const VERSION_PATH: &str = "/json/version";

/// Longest HTTP response that discovery of an attached browser reads.
const DISCOVERY_BYTES: usize = 64 * 1024;

/// The browser to attach to, as the user names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttachTarget {
    /// A debugging port, over HTTP or HTTPS. Path and query are those of a server in front of the browser.
    Http(Url),
    /// The websocket itself.
    Websocket(Url),
    /// The profile directory of a browser with debugging on.
    Profile(PathBuf),
    /// The user's own browser of that kind, with debugging turned on in it.
    Channel(BrowserKind, Channel),
    /// The first of the user's own browsers that has debugging turned on.
    Any,
}

/// A header of the requests to a remote browser, without characters that end a line.
#[derive(Clone, PartialEq, Eq)]
pub struct RequestHeader {
    pub(crate) name: String,
    pub(crate) value: String,
}

impl RequestHeader {
    /// Parses `Name: value`. The value can be a credential, so no error contains it.
    ///
    /// # Errors
    /// When the text is no header, or one that the request sets itself.
    pub fn parse(text: &str) -> Result<Self, BrowserError> {
        let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        let own = ["host", "connection", "accept", "origin", "content-length", "transfer-encoding"];
        let (name, value) = text.split_once(':').unwrap_or_default();
        let (name, value) = (name.trim(), value.trim());
        let is_name = !name.is_empty()
            && name.bytes().all(is_token)
            && !own.contains(&name.to_ascii_lowercase().as_str());
        let is_value = value.bytes().all(|byte| byte == b'\t' || (b' '..=b'~').contains(&byte));
        if is_name && is_value {
            return Ok(Self { name: name.to_owned(), value: value.to_owned() });
        }
        Err(BrowserError::BadHeader {
            name: name.chars().filter(|c| c.is_ascii_graphic()).take(80).collect(),
        })
    }
}

impl RequestHeader {
    /// Name and value.
    #[must_use]
    pub fn expose(&self) -> (&str, &str) {
        (&self.name, &self.value)
    }
}

impl fmt::Debug for RequestHeader {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "RequestHeader({})", self.name)
    }
}

impl AttachTarget {
    /// Whether the target stays the same after a browser restart. A profile or channel does; a port can belong to an
    /// unrelated browser by then.
    #[must_use]
    pub const fn names_a_profile(&self) -> bool {
        matches!(self, Self::Profile(_) | Self::Channel(..))
    }
}

/// The websocket of a browser, possibly with a secret in its path or query.
#[derive(Clone)]
pub struct WebsocketUrl {
    url: Url,
    /// The browser's product name, if discovery received it.
    product: Option<String>,
}

impl PartialEq for WebsocketUrl {
    fn eq(&self, other: &Self) -> bool {
        self.url == other.url
    }
}

impl WebsocketUrl {
    const fn new(url: Url) -> Self {
        Self { url, product: None }
    }

    /// The whole URL, including secrets.
    #[must_use]
    pub fn expose(&self) -> &Url {
        &self.url
    }

    /// The browser's product name, if discovery received it.
    #[must_use]
    pub fn product(&self) -> Option<&str> {
        self.product.as_deref()
    }

    /// The debugging port, if it is a plain one on this machine.
    #[must_use]
    pub fn local_port(&self) -> Option<u16> {
        let is_local = match self.url.host()? {
            Host::Domain(name) => name == "localhost",
            Host::Ipv4(address) => address.is_loopback(),
            Host::Ipv6(_) => false,
        };
        self.url.port().filter(|_| is_local && self.url.scheme() == "ws")
    }

    /// The run of the browser, if the URL names one.
    #[must_use]
    pub fn run(&self) -> Option<BrowserRun> {
        BrowserRun::find(&self.url)
    }
}

impl fmt::Display for WebsocketUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&mask_endpoint(self.url.as_str()))
    }
}

impl fmt::Debug for WebsocketUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "WebsocketUrl({})", mask_endpoint(self.url.as_str()))
    }
}

impl AttachTarget {
    /// Parses a port, an `http://`, `https://`, `ws://` or `wss://` URL, a directory, a channel's name, or `auto`.
    ///
    /// # Errors
    /// When the text is none of these.
    pub fn parse(text: &str) -> Result<Self, BrowserError> {
        let bad = || BrowserError::BadUrl { text: text.chars().take(80).collect() };
        let text = text.trim();
        if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
            let port: u16 = text.parse().ok().filter(|port| *port > 0).ok_or_else(bad)?;
            return Ok(Self::Http(at_loopback("http", port, "/")?));
        }
        if text.starts_with('/') || text.starts_with("./") || text.starts_with("../") {
            return Ok(Self::Profile(PathBuf::from(text)));
        }
        if text.eq_ignore_ascii_case("auto") {
            return Ok(Self::Any);
        }
        if let Some((kind, channel)) = BrowserKind::find(text) {
            return Ok(Self::Channel(kind, channel));
        }
        let with_scheme = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let url = Url::parse(&with_scheme).map_err(|_| bad())?;
        let has_host = url.host_str().is_some_and(|host| !host.is_empty());
        match url.scheme() {
            "ws" | "wss" if has_host => Ok(Self::Websocket(url)),
            // A name without a port is more likely a misspelled channel than a server.
            "http" if has_host && (text.contains("://") || url.port().is_some()) => Ok(Self::Http(url)),
            "https" if has_host => Ok(Self::Http(url)),
            _ => Err(bad()),
        }
    }
}

fn at_loopback(scheme: &str, port: u16, path: &str) -> Result<Url, BrowserError> {
    let text = format!("{scheme}://127.0.0.1:{port}{path}");
    Url::parse(&text).map_err(|_| BrowserError::BadUrl { text })
}

/// Finds the websocket of a target.
///
/// `home` is the home directory with the default profiles of the channels.
///
/// # Errors
/// `NO_BACKEND` when no CDP endpoint responds in time.
pub fn discover(
    address: &AttachTarget,
    home: Option<&Path>,
    deadline: Instant,
) -> Result<WebsocketUrl, BrowserError> {
    discover_with_headers(address, home, &[], deadline)
}

/// Finds the websocket of a target, with headers for the server that an `http://` or `https://` URL names. No other
/// target gets them.
///
/// # Errors
/// `NO_BACKEND` when no CDP endpoint responds in time.
pub fn discover_with_headers(
    address: &AttachTarget,
    home: Option<&Path>,
    headers: &[RequestHeader],
    deadline: Instant,
) -> Result<WebsocketUrl, BrowserError> {
    match address {
        AttachTarget::Websocket(url) => Ok(WebsocketUrl::new(url.clone())),
        AttachTarget::Http(url) => ask_version(url, headers, deadline),
        AttachTarget::Profile(profile) => discover_profile(profile, deadline),
        AttachTarget::Any => {
            let mut last = None;
            for (kind, channel) in BrowserKind::all() {
                match discover(&AttachTarget::Channel(kind, channel), home, deadline) {
                    Ok(found) => return Ok(found),
                    // A stale port file of one browser must not stop the search for others.
                    Err(BrowserError::Unreachable { why: AttachFault::NoPortFile, .. }) => {}
                    Err(error) => last = Some(error),
                }
            }
            let nothing = || BrowserError::Unreachable {
                address: "a browser with remote debugging".to_owned(),
                why: AttachFault::NoPortFile,
            };
            Err(last.unwrap_or_else(nothing))
        }
        AttachTarget::Channel(kind, channel) => {
            let directories = default_profiles(*kind, *channel);
            let profiles = home.into_iter().flat_map(|home| directories.iter().map(|place| home.join(place)));
            let is_debugged =
                |profile: &PathBuf| profile.join(PORT_FILE).exists() || find_owner_port(profile).is_some();
            let debugged = profiles.into_iter().find(is_debugged);
            let profile = debugged.ok_or_else(|| BrowserError::Unreachable {
                address: kind.to_string(),
                why: AttachFault::NoPortFile,
            })?;
            discover_profile(&profile, deadline)
        }
    }
}

/// The file that a browser with remote debugging keeps in its profile: port and websocket path.
const PORT_FILE: &str = "DevToolsActivePort";

/// Chrome with the toggle at chrome://inspect serves no HTTP discovery (404); only the port file has the path.
fn discover_profile(profile: &Path, deadline: Instant) -> Result<WebsocketUrl, BrowserError> {
    if let Some(port) = find_owner_port(profile) {
        return ask_version(&at_loopback("http", port, "/")?, &[], deadline);
    }
    let failed = |why| BrowserError::Unreachable { address: profile.display().to_string(), why };
    let content = atomic_file::read(&profile.join(PORT_FILE), ACTIVE_PORT_BYTES)
        .map_err(|_| failed(AttachFault::NoPortFile))?;
    let (port, path) = parse_port_file(&content).ok_or_else(|| failed(AttachFault::BadPortFile))?;
    let described = at_loopback("ws", port, path).map(WebsocketUrl::new)?;
    match ask_version(&at_loopback("http", port, "/")?, &[], deadline) {
        Err(BrowserError::Unreachable { why: AttachFault::Status(404), .. }) => Ok(described),
        // The browser that wrote the file has ended, and another browser has its port now.
        Ok(responded) if responded.run().is_some() && responded.run() != described.run() => {
            Err(failed(AttachFault::OtherBrowser(port)))
        }
        responded => responded,
    }
}

fn parse_port_file(content: &[u8]) -> Option<(u16, &str)> {
    let mut lines = std::str::from_utf8(content).ok()?.lines();
    let port = lines.next()?.trim().parse().ok().filter(|port| *port > 0)?;
    let path = lines.next()?.trim();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.".contains(&byte);
    (path.starts_with('/') && path.bytes().all(plain)).then_some((port, path))
}

/// The default profiles below a home directory. Tabwire only attaches to browsers that run on them.
fn default_profiles(kind: BrowserKind, channel: Channel) -> &'static [&'static str] {
    use {BrowserKind as Kind, Channel as From};
    match (kind, channel) {
        // It has no debugging port of this protocol.
        (BrowserKind::Firefox, _) => &[],
        (Kind::Chrome, From::Stable) => {
            &[".config/google-chrome", "Library/Application Support/Google/Chrome"]
        }
        (Kind::Chrome, From::Beta) => {
            &[".config/google-chrome-beta", "Library/Application Support/Google/Chrome Beta"]
        }
        (Kind::Chrome, From::Dev) => {
            &[".config/google-chrome-unstable", "Library/Application Support/Google/Chrome Dev"]
        }
        (Kind::Chrome, From::Canary) => {
            &[".config/google-chrome-canary", "Library/Application Support/Google/Chrome Canary"]
        }
        (Kind::Chromium, _) => {
            &[".config/chromium", "snap/chromium/common/chromium", "Library/Application Support/Chromium"]
        }
        (Kind::Edge, From::Stable) => {
            &[".config/microsoft-edge", "Library/Application Support/Microsoft Edge"]
        }
        (Kind::Edge, From::Beta) => {
            &[".config/microsoft-edge-beta", "Library/Application Support/Microsoft Edge Beta"]
        }
        (Kind::Edge, From::Dev) => {
            &[".config/microsoft-edge-dev", "Library/Application Support/Microsoft Edge Dev"]
        }
        (Kind::Edge, From::Canary) => &["Library/Application Support/Microsoft Edge Canary"],
        (Kind::Brave, From::Stable) => &[
            ".config/BraveSoftware/Brave-Browser",
            "Library/Application Support/BraveSoftware/Brave-Browser",
        ],
        (Kind::Brave, From::Beta) => &[
            ".config/BraveSoftware/Brave-Browser-Beta",
            "Library/Application Support/BraveSoftware/Brave-Browser-Beta",
        ],
        (Kind::Brave, From::Dev | From::Canary) => &[
            ".config/BraveSoftware/Brave-Browser-Nightly",
            "Library/Application Support/BraveSoftware/Brave-Browser-Nightly",
        ],
    }
}

/// The path of the discovery request. A server in front of a browser can have a path of its own and a secret in its query.
fn version_path(url: &Url) -> String {
    let base = url.path().trim_end_matches('/');
    let path = if base.ends_with(VERSION_PATH) { base.to_owned() } else { format!("{base}{VERSION_PATH}") };
    url.query().map_or_else(|| path.clone(), |query| format!("{path}?{query}"))
}

fn ask_version(
    url: &Url,
    headers: &[RequestHeader],
    deadline: Instant,
) -> Result<WebsocketUrl, BrowserError> {
    let failed = |why| BrowserError::Unreachable { address: mask_endpoint(url.as_str()), why };
    let path = version_path(url);
    let request = HttpGet { server: url, path: &path, headers, limit: DISCOVERY_BYTES };
    let (status, body) = http_page::fetch(&request, deadline)
        .map_err(|error| failed(AttachFault::Connection(error.to_string())))?;
    if status != 200 {
        return Err(failed(AttachFault::Status(status)));
    }
    let response: serde_json::Value =
        serde_json::from_slice(&body).map_err(|_| failed(AttachFault::NoWebsocket))?;
    let named = response.get("webSocketDebuggerUrl").and_then(serde_json::Value::as_str);
    let mut websocket =
        named.and_then(|named| Url::parse(named).ok()).ok_or_else(|| failed(AttachFault::NoWebsocket))?;
    if !matches!(websocket.scheme(), "ws" | "wss") {
        return Err(failed(AttachFault::NoWebsocket));
    }
    // The host in the response may be unreachable from here (containers, port forwarding): keep the requested host.
    let scheme = if url.scheme() == "https" { "wss" } else { websocket.scheme() }.to_owned();
    let moved = websocket.set_scheme(&scheme).is_ok()
        && websocket.set_host(url.host_str()).is_ok()
        && websocket.set_port(url.port()).is_ok();
    if !moved {
        return Err(failed(AttachFault::NoWebsocket));
    }
    // A server that wants a secret in the query of one request wants it in the next one too.
    if websocket.query().is_none() {
        websocket.set_query(url.query());
    }
    let product = response.get("Browser").and_then(serde_json::Value::as_str).filter(|name| is_product(name));
    Ok(WebsocketUrl { url: websocket, product: product.map(str::to_owned) })
}

/// Fetches a path of a debugging port on this machine, up to `limit` bytes.
///
/// # Errors
/// `NO_BACKEND` when the port does not respond in time, or responds with another status than 200.
pub fn ask_port(port: u16, path: &str, limit: usize, deadline: Instant) -> Result<Vec<u8>, BrowserError> {
    let url = at_loopback("http", port, "/")?;
    let failed = |why| BrowserError::Unreachable { address: mask_endpoint(url.as_str()), why };
    let request = HttpGet { server: &url, path, headers: &[], limit };
    let fetched = http_page::fetch(&request, deadline);
    match fetched.map_err(|error| failed(AttachFault::Connection(error.to_string())))? {
        (200, body) => Ok(body),
        (status, _) => Err(failed(AttachFault::Status(status))),
    }
}

/// Whether a text is safe to show as a browser's name.
fn is_product(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_. ".contains(&byte);
    name.len() <= PRODUCT_BYTES && name.bytes().all(plain)
}

#[cfg(test)]
mod tests;
