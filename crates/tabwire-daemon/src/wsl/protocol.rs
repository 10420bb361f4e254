//! The protocol with PowerShell: one line of JSON per message.

use bytes::{BufMut, BytesMut};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The protocol version. Other versions are refused.
pub(crate) const PROTOCOL: u32 = 1;

/// The id of a request to PowerShell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct RequestId(pub(crate) u64);

/// The id of a relay that PowerShell holds open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct RelayId(pub(crate) u64);

/// A request to PowerShell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub(crate) enum Request<'a> {
    /// Finds the newest browser on a profile.
    Find { profile: &'a str },
    /// Finds a free port.
    Port { preferred: Option<u16>, fixed: bool },
    /// Starts a browser. PowerShell expands variables in the arguments. Profile and port identify it when PowerShell ends it.
    Launch {
        executable: Option<&'a str>,
        arguments: &'a [String],
        headless: bool,
        profile: &'a str,
        port: u16,
    },
    /// Reads the version from a browser's port.
    Version { port: u16 },
    /// Ends the browser on a profile and port, if program and display mode match.
    Stop { profile: &'a str, port: u16, headless: bool, executable: Option<&'a str> },
    /// Opens a relay to a websocket.
    Open { relay: RelayId, url: &'a str, milliseconds: u64 },
    /// Closes a relay.
    Close { relay: RelayId },
}

impl Request<'_> {
    /// Its name, for failures and logs.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Find { .. } => "find a browser",
            Self::Port { .. } => "find a free port",
            Self::Launch { .. } => "start a browser",
            Self::Version { .. } => "read a browser's version",
            Self::Stop { .. } => "end a browser",
            Self::Open { .. } => "open a relay",
            Self::Close { .. } => "close a relay",
        }
    }

    /// The request as a line.
    pub(crate) fn line(&self, id: RequestId) -> BytesMut {
        #[derive(Serialize)]
        struct NumberedRequest<'a> {
            id: RequestId,
            #[serde(flatten)]
            request: &'a Request<'a>,
        }
        let mut line = serde_json::to_vec(&NumberedRequest { id, request: self }).unwrap_or_default();
        line.push(b'\n');
        BytesMut::from(line.as_slice())
    }
}

/// A browser that PowerShell found.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct FoundBrowser {
    pub(crate) pid: u32,
    /// Its debugging port, if it has one.
    pub(crate) port: Option<u16>,
    pub(crate) headless: bool,
    #[serde(default)]
    pub(crate) executable: Option<String>,
}

/// The response to `Find`.
#[derive(Debug, Deserialize)]
pub(crate) struct FindResult {
    pub(crate) browser: Option<FoundBrowser>,
}

/// The response to `Port`.
#[derive(Debug, Deserialize)]
pub(crate) struct PortResponse {
    pub(crate) port: u16,
}

/// The response to `Launch`.
#[derive(Debug, Deserialize)]
pub(crate) struct LaunchResponse {
    pub(crate) pid: u32,
    #[serde(default)]
    pub(crate) executable: Option<String>,
}

/// The response to `Version`. Empty while the browser does not listen yet.
#[derive(Debug, Deserialize)]
pub(crate) struct VersionResponse {
    pub(crate) version: Option<Value>,
}

/// The response to `Stop`.
#[derive(Debug, Deserialize)]
pub(crate) struct StopResponse {
    pub(crate) stopped: Vec<u32>,
}

/// A line from PowerShell.
#[derive(Debug, PartialEq)]
pub(crate) enum Message {
    /// The script runs, with this protocol version.
    Ready(u32),
    /// The response to a request.
    Response(RequestId, Result<Value, String>),
    /// A frame from a relay.
    Frame(RelayId, BytesMut),
    /// A relay broke, with this signal.
    Closed(RelayId, String),
    /// Any other line.
    Unknown,
}

/// The start of every line with a frame, after the relay's id.
const FRAME: &[u8] = br#","frame":"#;

/// The start of every line about a relay.
const RELAY: &[u8] = br#"{"relay":"#;

/// Parses a line from PowerShell. Frames are cut out without parsing.
pub(crate) fn read_line(mut line: BytesMut) -> Message {
    while line.last().is_some_and(u8::is_ascii_whitespace) {
        line.truncate(line.len() - 1);
    }
    if let Some((relay, start)) = frame_start(&line)
        && line.last() == Some(&b'}')
    {
        line.truncate(line.len() - 1);
        return Message::Frame(relay, line.split_off(start));
    }
    read_rest(&line).unwrap_or(Message::Unknown)
}

/// The relay of a frame, and the offset of the frame.
fn frame_start(line: &[u8]) -> Option<(RelayId, usize)> {
    let rest = line.strip_prefix(RELAY)?;
    let digits = rest.iter().take(20).take_while(|byte| byte.is_ascii_digit()).count();
    let number = std::str::from_utf8(rest.get(..digits)?).ok()?.parse().ok()?;
    rest.get(digits..)?.starts_with(FRAME).then_some((RelayId(number), RELAY.len() + digits + FRAME.len()))
}

fn read_rest(line: &[u8]) -> Option<Message> {
    #[derive(Deserialize)]
    struct Ready {
        protocol: u32,
    }
    #[derive(Deserialize)]
    struct CloseMessage {
        signal: String,
        #[serde(default)]
        code: String,
    }
    #[derive(Deserialize)]
    struct Line {
        ready: Option<Ready>,
        id: Option<RequestId>,
        result: Option<Value>,
        error: Option<String>,
        relay: Option<RelayId>,
        closed: Option<CloseMessage>,
    }
    let line: Line = serde_json::from_slice(line).ok()?;
    match line {
        Line { ready: Some(ready), .. } => Some(Message::Ready(ready.protocol)),
        Line { relay: Some(relay), closed: Some(closed), .. } => {
            Some(Message::Closed(relay, format!("{} {}", closed.signal, closed.code)))
        }
        Line { id: Some(id), error: Some(error), .. } => Some(Message::Response(id, Err(error))),
        Line { id: Some(id), result: Some(result), .. } => Some(Message::Response(id, Ok(result))),
        _ => None,
    }
}

/// The line that carries a frame to a relay. A line break in JSON can only be white space, and becomes a blank.
pub(crate) fn frame_line(relay: RelayId, frame: &[u8]) -> BytesMut {
    let head = format!("{{\"relay\":{}", relay.0);
    let mut line = BytesMut::with_capacity(head.len() + FRAME.len() + frame.len() + 2);
    line.put_slice(head.as_bytes());
    line.put_slice(FRAME);
    let start = line.len();
    line.put_slice(frame);
    for byte in line.iter_mut().skip(start).filter(|byte| matches!(byte, b'\n' | b'\r')) {
        *byte = b' ';
    }
    line.put_slice(b"}\n");
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Message {
        read_line(BytesMut::from(line))
    }

    #[test]
    fn requests_are_one_line_with_an_id_and_what_to_do() {
        let request = Request::Port { preferred: Some(9222), fixed: true };
        let line = request.line(RequestId(7));
        assert_eq!(&line[..], b"{\"id\":7,\"do\":\"port\",\"preferred\":9222,\"fixed\":true}\n");
        let request = Request::Find { profile: "%TEMP%\\a\nb" };
        let line = request.line(RequestId(1));
        assert_eq!(
            line.iter().filter(|byte| **byte == b'\n').count(),
            1,
            "a line break in a name is escaped"
        );
    }

    #[test]
    fn frames_pass_as_they_are_in_both_directions() {
        let frame = r#"{"id":1,"method":"A.b","params":{"x":"}"}}"#;
        let line = frame_line(RelayId(3), frame.as_bytes());
        assert_eq!(String::from_utf8_lossy(&line), format!("{{\"relay\":3,\"frame\":{frame}}}\n"));
        assert_eq!(read_line(line), Message::Frame(RelayId(3), BytesMut::from(frame)));
        let spread = "{\n  \"id\": 1,\r\n  \"method\": \"A.b\"\n}";
        let line = frame_line(RelayId(3), spread.as_bytes());
        assert_eq!(line.iter().filter(|byte| matches!(**byte, b'\n' | b'\r')).count(), 1);
        let Message::Frame(_, back) = read_line(line) else { panic!("no frame") };
        assert_eq!(serde_json::from_slice::<Value>(&back).unwrap()["method"], "A.b");
    }

    #[test]
    fn responses_failures_and_broken_relays_are_parsed() {
        assert_eq!(read("{\"ready\":{\"protocol\":1,\"powershell\":\"5.1\"}}\r\n"), Message::Ready(1));
        assert_eq!(
            read(r#"{"result":{"port":9},"id":4}"#),
            Message::Response(RequestId(4), Ok(serde_json::json!({"port": 9})))
        );
        assert_eq!(read(r#"{"id":4,"error":"no"}"#), Message::Response(RequestId(4), Err("no".to_owned())));
        let closed = r#"{"relay":2,"closed":{"signal":"READER_ERROR","code":"ConnectionClosedPrematurely"}}"#;
        assert_eq!(
            read(closed),
            Message::Closed(RelayId(2), "READER_ERROR ConnectionClosedPrematurely".to_owned())
        );
    }

    #[test]
    fn other_lines_are_unknown() {
        for line in [
            "",
            "#< CLIXML",
            "{",
            "{\"relay\":1,\"frame\":",
            "[]",
            "{\"relay\":-1,\"frame\":{}}",
            "{\"id\":1}",
        ] {
            assert_eq!(read(line), Message::Unknown, "{line}");
        }
    }
}
