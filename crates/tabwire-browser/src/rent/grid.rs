//! The protocol of a Selenium Grid: requests and responses.
//!
//! Grid 4.48 was driven. `POST /session` wants `charset=utf-8` in its content type, waits in a queue while no slot is free,
//! and responds with `se:cdp`, the websocket of the browser behind the router; for a Firefox with `webSocketUrl`, which ends
//! with `/se/bidi`. `/status` lists nodes, slots and sessions.

mod status;

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_secrets::mask_endpoint;
use url::Url;

pub use self::status::{GridNode, GridSlot, GridStatus};
use crate::attach::RequestHeader;
use crate::rent::{RentRequest, shown_text};

/// The capability that names a session. Slots are matched without it, and `/status` shows it.
const NAME: &str = "se:name";

/// The capability that keeps downloads on the node and gives them to the client.
const DOWNLOADS: &str = "se:downloadsEnabled";

/// The name of the browser that is driven over WebDriver BiDi.
const FIREFOX: &str = "firefox";

/// Bytes of capabilities that a request may have.
const CAPABILITY_BYTES: usize = 64 * 1024;

/// A Selenium Grid, or a server that speaks its protocol.
#[derive(Clone, PartialEq, Eq)]
pub struct Grid {
    /// Without user name, password and trailing slash.
    url: Url,
    headers: Vec<RequestHeader>,
}

/// A session that a Grid has created.
#[derive(Clone, PartialEq, Eq)]
pub struct GridSession {
    /// Its id, with which every client that reaches the Grid can use and end it.
    pub id: String,
    /// The websocket of its browser; `None` where the node offers none.
    pub address: Option<Url>,
    /// The browser's name and version.
    pub product: String,
    /// Whether the node keeps downloads for the client.
    pub keeps_downloads: bool,
    /// The user agent of a Firefox, whose websocket speaks WebDriver BiDi.
    pub firefox: Option<String>,
}

/// What a Grid's refusal of a session means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotState {
    /// No node is up.
    NoNode,
    /// No node offers such a browser.
    NoMatch,
    /// All slots that match are in use.
    Full {
        /// Slots in use.
        used: usize,
        /// Slots that could serve the request.
        slots: usize,
    },
    /// A slot is free.
    Free,
}

impl fmt::Debug for Grid {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Grid({self})")
    }
}

/// Scheme, host and port: the rest can hold a credential.
impl fmt::Display for Grid {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&mask_endpoint(&self.url.origin().ascii_serialization()))
    }
}

impl fmt::Debug for GridSession {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "GridSession({})", self.product)
    }
}

impl Grid {
    /// Parses a Grid's URL. A user name and a password in it become a header.
    ///
    /// # Errors
    /// When it is no `http` or `https` URL, or a header is invalid.
    pub fn parse(url: &str, headers: &[String]) -> Result<Self, Failure> {
        let bad = || {
            Failure::new(ErrorCode::BadArgs, "The URL of the Grid is not an http or https URL.")
                .with_remedy("Give it as http://grid.example:4444.")
        };
        let text = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
        let mut url = Url::parse(text.trim()).map_err(|_| bad())?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
            return Err(bad());
        }
        let mut given =
            headers.iter().map(|header| RequestHeader::parse(header)).collect::<Result<Vec<_>, _>>()?;
        if !url.username().is_empty() || url.password().is_some() {
            let word = format!("{}:{}", decoded(url.username()), decoded(url.password().unwrap_or_default()));
            given.push(RequestHeader::parse(&format!("Authorization: Basic {}", STANDARD.encode(word)))?);
        }
        let cleared = url.set_username("").is_ok() && url.set_password(None).is_ok();
        if !cleared {
            return Err(bad());
        }
        url.set_fragment(None);
        let path = url.path().trim_end_matches('/').to_owned();
        url.set_path(&path);
        Ok(Self { url, headers: given })
    }

    /// The headers of every request, for its websocket too.
    #[must_use]
    pub fn headers(&self) -> &[RequestHeader] {
        &self.headers
    }

    fn request(&self, method: &str, path: &str, body: Option<Value>) -> RentRequest {
        let mut url = self.url.clone();
        let whole = format!("{}{path}", url.path().trim_end_matches('/'));
        url.set_path(&whole);
        RentRequest { method: method.to_owned(), url, headers: self.headers.clone(), body }
    }

    /// Creates a session. `name` is unique: by it a session is found whose response was lost.
    ///
    /// # Errors
    /// When the capabilities are no object of the W3C form, or name a browser that cannot be used.
    pub fn create(&self, name: &str, capabilities: Option<&Value>) -> Result<RentRequest, Failure> {
        let capabilities = with_name(capabilities, name)?;
        Ok(self.request("POST", "/session", Some(json!({"capabilities": capabilities}))))
    }

    /// Ends a session and frees its slot.
    #[must_use]
    pub fn release(&self, id: &str) -> RentRequest {
        self.request("DELETE", &format!("/session/{}", encoded(id)), None)
    }

    /// Uses a session without touching its page, so that the Grid does not end it as idle.
    #[must_use]
    pub fn keep_alive(&self, id: &str) -> RentRequest {
        self.request("GET", &format!("/session/{}/timeouts", encoded(id)), None)
    }

    /// Lists nodes, slots and sessions.
    #[must_use]
    pub fn status(&self) -> RentRequest {
        self.request("GET", "/status", None)
    }

    /// Lists the requests that wait for a slot.
    #[must_use]
    pub fn queue(&self) -> RentRequest {
        self.request("GET", "/se/grid/newsessionqueue/queue", None)
    }

    /// Puts a file on the node: a zip archive with one file.
    #[must_use]
    pub fn upload(&self, id: &str, archive: &[u8]) -> RentRequest {
        let body = json!({"file": STANDARD.encode(archive)});
        self.request("POST", &format!("/session/{}/se/file", encoded(id)), Some(body))
    }

    /// Lists the downloads on the node.
    #[must_use]
    pub fn list_downloads(&self, id: &str) -> RentRequest {
        self.request("GET", &format!("/session/{}/se/files", encoded(id)), None)
    }

    /// Gets a download of the node, as a zip archive.
    #[must_use]
    pub fn download(&self, id: &str, name: &str) -> RentRequest {
        self.request("POST", &format!("/session/{}/se/files", encoded(id)), Some(json!({"name": name})))
    }

    /// Reads the response to `create`.
    ///
    /// # Errors
    /// When no session was created; the failure says why as far as the response tells.
    pub fn read_session(&self, status: u16, body: &[u8]) -> Result<GridSession, Failure> {
        let value: Value = serde_json::from_slice(body).unwrap_or_default();
        let value = value.get("value").unwrap_or(&Value::Null);
        let id = value.get("sessionId").and_then(Value::as_str).filter(|id| !id.is_empty());
        let Some(id) = id.filter(|_| status == 200) else { return Err(self.refused(status, value)) };
        let empty = Map::new();
        let capabilities = value.get("capabilities").and_then(Value::as_object).unwrap_or(&empty);
        let text = |name: &str| capabilities.get(name).and_then(Value::as_str).unwrap_or_default();
        let is_firefox = text("browserName").eq_ignore_ascii_case(FIREFOX);
        let address = if is_firefox { "webSocketUrl" } else { "se:cdp" };
        let product = format!("{} {}", shown_text(text("browserName")), shown_text(text("browserVersion")));
        Ok(GridSession {
            id: id.to_owned(),
            address: self.reachable(text(address)),
            firefox: is_firefox.then(|| shown_text(text("userAgent"))),
            product: product.trim().to_owned(),
            keeps_downloads: capabilities.get(DOWNLOADS) == Some(&Value::Bool(true)),
        })
    }

    /// The websocket as it is reached from here. The Grid names its own host as it knows itself, which may be unreachable
    /// from here (containers, port forwarding), so the requested host is kept for the Grid's own path.
    fn reachable(&self, given: &str) -> Option<Url> {
        let mut found = Url::parse(given).ok().filter(|url| matches!(url.scheme(), "ws" | "wss"))?;
        let is_own = ["/se/cdp", "/se/bidi"].iter().any(|end| found.path().ends_with(end));
        if is_own && found.path().contains("/session/") {
            let scheme = if self.url.scheme() == "https" { "wss" } else { "ws" };
            let moved = found.set_scheme(scheme).is_ok()
                && found.set_host(self.url.host_str()).is_ok()
                && found.set_port(self.url.port()).is_ok();
            return moved.then_some(found);
        }
        Some(found)
    }

    /// Whether a websocket is served by the Grid itself, which then gets the Grid's headers.
    #[must_use]
    pub fn serves(&self, address: &Url) -> bool {
        address.host_str() == self.url.host_str()
            && address.port_or_known_default() == self.url.port_or_known_default()
    }

    fn refused(&self, status: u16, value: &Value) -> Failure {
        let error = value.get("error").and_then(Value::as_str).unwrap_or_default();
        let message = shown_text(value.get("message").and_then(Value::as_str).unwrap_or_default());
        let says = if message.is_empty() { String::new() } else { format!(": {message}") };
        match (status, error) {
            (401 | 403, _) => {
                Failure::new(ErrorCode::NoBackend, format!("The Grid at {self} refuses the credentials."))
                    .with_remedy("Give user name and password in the URL, or a header with --cdp-header.")
            }
            (_, "session not created") => Failure::new(
                ErrorCode::LaunchFailed,
                format!("The Grid at {self} did not start a browser{says}."),
            )
            .with_remedy("Look at the Grid's own page and at the log of its node."),
            (_, "invalid argument" | "unsupported operation") => Failure::new(
                ErrorCode::BadArgs,
                format!("The Grid at {self} refuses the capabilities{says}."),
            )
            .with_remedy(Remedy::new("Correct the file of {}.", [Step::argument("capabilities")])),
            (404 | 405, _) | (200, _) => {
                Failure::new(ErrorCode::NoBackend, format!("The server at {self} is not a Selenium Grid."))
                    .with_remedy("Give the URL of the Grid's router or hub, for example http://grid:4444.")
            }
            _ => Failure::new(
                ErrorCode::NoBackend,
                format!("The Grid at {self} responded with HTTP status {status}{says}."),
            )
            .with_remedy("Look at the Grid's own page, and retry when it is ready."),
        }
    }

    /// The failure when no session came before the time was over, or the Grid gave up.
    #[must_use]
    pub fn no_slot(&self, state: SlotState, waited: Option<u64>, queued: Option<usize>) -> Failure {
        let within = waited.map_or_else(|| "in time".to_owned(), |seconds| format!("within {seconds} s"));
        let others = match queued {
            None | Some(0) => String::new(),
            Some(1) => ", and 1 request waits".to_owned(),
            Some(count) => format!(", and {count} requests wait"),
        };
        match state {
            SlotState::NoNode => {
                Failure::new(ErrorCode::NoBackend, format!("The Grid at {self} has no node that is up."))
                    .with_remedy("Start a node, or wait until one has registered.")
            }
            SlotState::NoMatch => Failure::new(
                ErrorCode::NoBackend,
                format!("No node of the Grid at {self} offers a browser with these capabilities."),
            )
            .with_remedy(Remedy::new(
                "Compare the file of {} with the nodes on the Grid's own page.",
                [Step::argument("capabilities")],
            )),
            SlotState::Full { used, slots } => Failure::new(
                ErrorCode::Backpressure,
                format!(
                    "The Grid at {self} is full: {used} of {slots} slots are in use{others}; none became free {within}."
                ),
            )
            .with_remedy(Remedy::new(
                "Close sessions that are not needed, add nodes, or wait longer with {}.",
                [Step::argument("rent_wait")],
            )),
            SlotState::Free => Failure::new(
                ErrorCode::Timeout,
                format!("The Grid at {self} started no browser {within}, although a slot is free{others}."),
            )
            .with_remedy(Remedy::new(
                "Look at the log of its nodes, or wait longer with {}.",
                [Step::argument("rent_wait")],
            )),
        }
    }
}

/// The capabilities of a request in the W3C form, with the session's name.
///
/// A file can hold `{"capabilities": ...}`, `{"alwaysMatch": ...}` or the plain capabilities.
fn with_name(given: Option<&Value>, name: &str) -> Result<Value, Failure> {
    let bad = |message: &str| {
        Failure::new(ErrorCode::BadArgs, message.to_owned())
            .with_remedy("Give an object such as {\"browserName\": \"chrome\"}.")
    };
    let default = json!({"browserName": "chrome"});
    let given = given.unwrap_or(&default);
    if given.to_string().len() > CAPABILITY_BYTES {
        return Err(bad("The capabilities are too long."));
    }
    let given = given.get("capabilities").unwrap_or(given);
    let is_w3c = given.get("alwaysMatch").is_some() || given.get("firstMatch").is_some();
    let (always, first) = if is_w3c {
        (given.get("alwaysMatch").cloned().unwrap_or(json!({})), given.get("firstMatch").cloned())
    } else {
        (given.clone(), None)
    };
    let Value::Object(mut always) = always else {
        return Err(bad("The capabilities are not a JSON object."));
    };
    let mut first = match first {
        None => vec![json!({})],
        Some(Value::Array(choices)) if !choices.is_empty() => choices,
        Some(_) => return Err(bad("`firstMatch` is not a list.")),
    };
    if !first.iter().all(Value::is_object) {
        return Err(bad("`firstMatch` is not a list of objects."));
    }
    for choice in std::iter::once(&always).chain(first.iter().filter_map(Value::as_object)) {
        refuse_other_engines(choice)?;
    }
    ask_for_bidi(&mut always);
    first.iter_mut().filter_map(Value::as_object_mut).for_each(ask_for_bidi);
    let has_browser = |choice: &Map<String, Value>| choice.contains_key("browserName");
    if !has_browser(&always) && !first.iter().filter_map(Value::as_object).all(has_browser) {
        always.insert("browserName".to_owned(), json!("chrome"));
    }
    let own = always.get(NAME).and_then(Value::as_str).map(|own| format!("{own} ")).unwrap_or_default();
    always.insert(NAME.to_owned(), json!(format!("{own}{name}")));
    // A node without managed downloads does not match the capability, so it is an alternative.
    let first = if always.contains_key(DOWNLOADS) || first.len() > 1 {
        first
    } else {
        let mut preferred = first.first().cloned().unwrap_or_default();
        if let Some(members) = preferred.as_object_mut() {
            members.entry(DOWNLOADS).or_insert(json!(true));
        }
        std::iter::once(preferred).chain(first).collect()
    };
    Ok(json!({"alwaysMatch": always, "firstMatch": first}))
}

/// A Firefox gets a websocket of WebDriver BiDi only on request. Its dialogs stay open until a client closes them.
fn ask_for_bidi(choice: &mut Map<String, Value>) {
    let name = choice.get("browserName").and_then(Value::as_str).unwrap_or_default();
    if name.eq_ignore_ascii_case(FIREFOX) {
        choice.insert("webSocketUrl".to_owned(), json!(true));
        choice.entry("unhandledPromptBehavior").or_insert(json!("ignore"));
    }
}

/// Only Chromium browsers and Firefox offer a protocol that is spoken.
fn refuse_other_engines(choice: &Map<String, Value>) -> Result<(), Failure> {
    let Some(name) = choice.get("browserName").and_then(Value::as_str) else { return Ok(()) };
    let is_known = ["chrome", "chromium", "MicrosoftEdge", "msedge", "chrome-headless-shell", FIREFOX]
        .iter()
        .any(|known| known.eq_ignore_ascii_case(name));
    if is_known {
        return Ok(());
    }
    let message =
        format!("A Grid's {} cannot be used: only Chromium browsers and Firefox can.", shown_text(name));
    Err(Failure::new(ErrorCode::NoBackend, message)
        .with_remedy("Set `browserName` to `chrome`, `MicrosoftEdge` or `firefox` in the capabilities."))
}

/// A part of a path.
fn encoded(part: &str) -> String {
    url::form_urlencoded::byte_serialize(part.as_bytes()).collect()
}

fn decoded(part: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = part.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|pair| std::str::from_utf8(pair).ok());
        match hex.and_then(|pair| u8::from_str_radix(pair, 16).ok()).filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests;
