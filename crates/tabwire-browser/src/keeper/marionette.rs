//! Firefox's Marionette: the keeper creates a WebDriver session over it and holds it as long as the connection is open.
//!
//! A session that a websocket creates is lost for good when that websocket closes. One of Marionette survives the daemon:
//! the next one connects to the same websocket URL.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use super::control_message::BidiSession;
use crate::error::LaunchFault;
use crate::launch::firefox::read_port;

/// Longest message that is read.
const MESSAGE_BYTES: usize = 256 * 1024;

/// How long connecting to a port of this machine may take.
const CONNECT: Duration = Duration::from_secs(1);

/// The first version with all that the emulated browser needs.
const FIRST_VERSION: u32 = 153;

/// How far the session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Firefox does not listen yet.
    Port,
    /// It has not said what it is.
    Hello,
    /// The session was requested.
    Session,
    /// The id of the first tab was requested.
    Anchor,
    /// Firefox was told to accept no other connection.
    Closing,
    Ready,
}

/// A connection to Marionette.
#[derive(Debug)]
pub struct Marionette {
    profile: PathBuf,
    stream: Option<TcpStream>,
    input: Vec<u8>,
    step: Step,
    last: u64,
    session: Option<BidiSession>,
}

impl Marionette {
    /// A connection to the Firefox that starts on this profile.
    #[must_use]
    pub fn new(profile: &Path) -> Self {
        Self {
            profile: profile.to_owned(),
            stream: None,
            input: Vec::new(),
            step: Step::Port,
            last: 0,
            session: None,
        }
    }

    /// The session, once it exists.
    #[must_use]
    pub fn session(&self) -> Option<&BidiSession> {
        self.session.as_ref()
    }

    /// Goes on as far as possible without waiting; the product once the session is ready.
    ///
    /// # Errors
    /// When Firefox creates no session.
    pub fn advance(&mut self) -> Result<Option<String>, LaunchFault> {
        loop {
            match self.step {
                Step::Port => match self.connect() {
                    Some(stream) => {
                        self.stream = Some(stream);
                        self.step = Step::Hello;
                    }
                    None => return Ok(None),
                },
                Step::Ready => {
                    return Ok(self.session.as_ref().map(|session| session.product.clone()));
                }
                _ => match self.read_message()? {
                    Some(message) => self.take(&message)?,
                    None => return Ok(None),
                },
            }
        }
    }

    fn connect(&self) -> Option<TcpStream> {
        let port = read_port(&self.profile)?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let stream = TcpStream::connect_timeout(&address, CONNECT).ok()?;
        stream.set_nonblocking(true).ok()?;
        Some(stream)
    }

    fn take(&mut self, message: &Value) -> Result<(), LaunchFault> {
        let outcome = match self.step {
            Step::Hello => Value::Null,
            _ => result_of(message)?,
        };
        match self.step {
            Step::Hello => {
                // A dialog stays open until a client closes it.
                let wanted = json!({"webSocketUrl": true, "unhandledPromptBehavior": {"default": "ignore"}});
                self.request("WebDriver:NewSession", &wanted)?;
                self.step = Step::Session;
            }
            Step::Session => {
                self.session = Some(read_session(&outcome)?);
                self.request("WebDriver:GetWindowHandle", &json!({}))?;
                self.step = Step::Anchor;
            }
            Step::Anchor => {
                let anchor = outcome.get("value").and_then(Value::as_str).map(str::to_owned);
                if let Some(session) = &mut self.session {
                    session.anchor = anchor;
                }
                // Any process of this machine could connect otherwise.
                self.request("Marionette:AcceptConnections", &json!({"value": false}))?;
                self.step = Step::Closing;
            }
            Step::Closing => self.step = Step::Ready,
            Step::Port | Step::Ready => {}
        }
        Ok(())
    }

    /// Tells Firefox to quit; false when it cannot be told.
    pub(super) fn quit(&mut self) -> bool {
        self.step == Step::Ready && self.request("Marionette:Quit", &json!({"flags": ["eForceQuit"]})).is_ok()
    }

    fn request(&mut self, name: &str, params: &Value) -> Result<(), LaunchFault> {
        self.last += 1;
        let body = json!([0, self.last, name, params]).to_string();
        let message = format!("{}:{body}", body.len());
        let stream = self.stream.as_mut().ok_or_else(closed)?;
        // A new connection takes a message of this size at once.
        stream.write_all(message.as_bytes()).map_err(|error| LaunchFault::NoSession(error.to_string()))
    }

    /// The next complete message: its length, a colon, JSON.
    fn read_message(&mut self) -> Result<Option<Value>, LaunchFault> {
        let stream = self.stream.as_mut().ok_or_else(closed)?;
        let mut buffer = [0; 4096];
        loop {
            match stream.read(&mut buffer) {
                Ok(0) => return Err(closed()),
                Ok(read) => self.input.extend_from_slice(buffer.get(..read).unwrap_or_default()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(LaunchFault::NoSession(error.to_string())),
            }
            if self.input.len() > MESSAGE_BYTES {
                return Err(LaunchFault::NoSession("a message of Firefox is too long".to_owned()));
            }
        }
        split_message(&mut self.input)
    }
}

/// Takes the first complete message out of the bytes.
fn split_message(input: &mut Vec<u8>) -> Result<Option<Value>, LaunchFault> {
    let wrong = || LaunchFault::NoSession("a message of Firefox is malformed".to_owned());
    let Some(colon) = input.iter().position(|byte| *byte == b':') else {
        return if input.len() > 10 { Err(wrong()) } else { Ok(None) };
    };
    let length = std::str::from_utf8(&input[..colon]).ok().and_then(|text| text.parse::<usize>().ok());
    let length = length.filter(|length| *length <= MESSAGE_BYTES).ok_or_else(wrong)?;
    let end = colon + 1 + length;
    if input.len() < end {
        return Ok(None);
    }
    let rest = input.split_off(end);
    let message = std::mem::replace(input, rest);
    serde_json::from_slice(&message[colon + 1..]).map(Some).map_err(|_| wrong())
}

/// The result of a response: `[1, id, error, result]`.
fn result_of(message: &Value) -> Result<Value, LaunchFault> {
    match message.get(2) {
        Some(Value::Null) => Ok(message.get(3).cloned().unwrap_or_default()),
        Some(error) => {
            let text = error.get("message").and_then(Value::as_str).unwrap_or_default();
            Err(LaunchFault::NoSession(text.chars().take(300).collect()))
        }
        None => Err(LaunchFault::NoSession("a response of Firefox is malformed".to_owned())),
    }
}

fn read_session(outcome: &Value) -> Result<BidiSession, LaunchFault> {
    let member = |name: &str| {
        let found = outcome.get("capabilities").and_then(|capabilities| capabilities.get(name));
        found.and_then(Value::as_str).map(|text| text.chars().take(500).collect::<String>())
    };
    let version = member("browserVersion").unwrap_or_default();
    let major: u32 = version.split('.').next().and_then(|part| part.parse().ok()).unwrap_or_default();
    if major < FIRST_VERSION {
        return Err(LaunchFault::TooOld(version));
    }
    let missing = || LaunchFault::NoSession("Firefox offers no WebDriver BiDi".to_owned());
    let url = member("webSocketUrl").filter(|url| url.starts_with("ws://")).ok_or_else(missing)?;
    Ok(BidiSession {
        url,
        anchor: None,
        product: format!("Firefox/{version}"),
        user_agent: member("userAgent").unwrap_or_default(),
    })
}

fn closed() -> LaunchFault {
    LaunchFault::NoSession("Firefox closed the connection".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_split_and_malformed_ones_are_errors() {
        let mut input = b"3:[1]5:[2".to_vec();
        assert_eq!(split_message(&mut input), Ok(Some(json!([1]))));
        assert_eq!(split_message(&mut input), Ok(None));
        input.extend_from_slice(b",3]");
        assert_eq!(split_message(&mut input), Ok(Some(json!([2, 3]))));
        for wrong in ["x:[]", "99999999:", "abcdefghijkl", "2:}}"] {
            assert!(split_message(&mut wrong.as_bytes().to_vec()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_old_firefox_and_one_without_bidi_are_refused() {
        let session = |version: &str, url: Option<&str>| {
            read_session(&json!({"capabilities": {"browserVersion": version, "webSocketUrl": url}}))
        };
        assert!(matches!(session("152.0", Some("ws://x")), Err(LaunchFault::TooOld(_))));
        assert!(matches!(session("153.0", None), Err(LaunchFault::NoSession(_))));
        assert_eq!(session("153.7.0", Some("ws://x")).unwrap().product, "Firefox/153.7.0");
        assert!(result_of(&json!([1, 1, {"message": "no"}, null])).is_err());
    }
}
