//! Both peeks at a frame never panic, return spans inside it, and agree with a full parse.
//!
//! The constant-time path for browsers' frames relies on the order that Chrome writes: `id` and `result` or
//! `error`, or `method` and `params`, then at most `sessionId`. Frames that begin that way and have further
//! members only must not panic.

use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use tabwire_cdp::envelope::{BrowserFrameKind, PeekError, peek_browser_frame, peek_client_frame};

/// The members of an object, in order, with duplicates.
struct Members(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

/// The result of a full parse of a frame.
struct Reference {
    members: Vec<(String, Box<RawValue>)>,
}

impl Reference {
    /// `None` when the frame is not an object, or has a routing member twice.
    fn parse(frame: &[u8]) -> Option<Self> {
        serde_json::from_slice::<Value>(frame).ok()?;
        let Members(members) = serde_json::from_slice(frame).ok()?;
        let reference = Self { members };
        let once = |name: &str| reference.members.iter().filter(|(key, _)| key == name).count() <= 1;
        ["id", "method", "sessionId", "params"].into_iter().all(once).then_some(reference)
    }

    fn raw(&self, name: &str) -> Option<&str> {
        let found = self.members.iter().find(|(key, _)| key == name)?.1.get();
        (found != "null").then_some(found)
    }

    fn text(&self, name: &str) -> Option<String> {
        serde_json::from_str(self.raw(name)?).ok()
    }

    /// An integer; `-0` is one too.
    fn number(&self, name: &str) -> Option<i64> {
        self.raw(name)?.parse().ok()
    }

    fn session(&self) -> Option<String> {
        self.text("sessionId").filter(|session| !session.is_empty())
    }

    /// Whether it begins in Chrome's order but has members that Chrome does not write.
    fn is_beyond_chrome(&self) -> bool {
        let keys: Vec<&str> = self.members.iter().map(|(key, _)| key.as_str()).collect();
        let rest = match keys.as_slice() {
            ["id", "result" | "error", rest @ ..] | ["method", "params", rest @ ..] => rest,
            _ => return false,
        };
        !matches!(rest, [] | ["sessionId"])
    }

    /// Whether a routing member has a type that the protocol does not allow, or is written with escapes.
    fn is_odd(&self) -> bool {
        let odd_text =
            |name: &str| self.raw(name).is_some_and(|raw| !raw.starts_with('"') || raw.contains('\\'));
        odd_text("method") || odd_text("sessionId")
    }
}

/// Peeks at one frame as a browser's and as a client's.
pub(crate) fn check(data: &[u8]) {
    let reference = Reference::parse(data);
    check_browser(data, reference.as_ref());
    check_client(data, reference.as_ref());
}

fn at(data: &[u8], span: &Range<usize>) -> String {
    String::from_utf8_lossy(data.get(span.clone()).expect("a span lies in its frame")).into_owned()
}

fn check_browser(data: &[u8], reference: Option<&Reference>) {
    let peeked = peek_browser_frame(data);
    if let Ok(envelope) = &peeked {
        if let BrowserFrameKind::Response { id, id_span } = &envelope.kind {
            assert_eq!(at(data, id_span).parse(), Ok(*id), "the span is the id's");
        }
        if let Some(member) = &envelope.session_member {
            assert!(at(data, member).contains(envelope.session.expect("a member has a session")));
        }
    }
    let Some(reference) = reference.filter(|reference| !reference.is_beyond_chrome()) else { return };
    let Ok(envelope) = peeked else {
        let id_is_odd = reference.raw("id").is_some_and(|raw| raw.parse::<u64>().is_err());
        assert!(reference.is_odd() || id_is_odd, "a frame with plain members is understood");
        return;
    };
    match envelope.kind {
        BrowserFrameKind::Response { id, .. } => {
            assert_eq!(reference.raw("id"), Some(id.to_string().as_str()));
        }
        BrowserFrameKind::Event { method } => {
            assert_eq!((reference.raw("id"), reference.text("method").as_deref()), (None, Some(method)));
        }
        BrowserFrameKind::Neither => assert_eq!((reference.raw("id"), reference.raw("method")), (None, None)),
    }
    assert_eq!(envelope.session, reference.session().as_deref());
    if let Some(member) = envelope.session_member {
        let mut cut = data.to_vec();
        cut.drain(member);
        let left = Reference::parse(&cut).expect("without its session the frame is still an object");
        assert_eq!(left.raw("sessionId"), None);
        assert_eq!(left.members.len() + 1, reference.members.len());
    }
}

fn check_client(data: &[u8], reference: Option<&Reference>) {
    match (peek_client_frame(data), reference) {
        (Ok(envelope), Some(reference)) => {
            assert_eq!(at(data, &envelope.id_span).parse(), Ok(envelope.id), "the span is the id's");
            assert_eq!(reference.number("id"), Some(envelope.id));
            assert_eq!(reference.text("method").as_deref(), Some(envelope.method));
            assert_eq!(reference.session().as_deref(), envelope.session);
            assert_eq!(envelope.params.map(RawValue::get), reference.raw("params"));
        }
        (Ok(_), None) => {
            // The peek is lenient only about unread parts: strings that are not UTF-8, or great depth.
            let first = data.iter().find(|byte| !byte.is_ascii_whitespace());
            assert_eq!(first, Some(&b'{'), "a command is an object");
        }
        (Err(PeekError::Malformed(_)), Some(reference)) => assert!(reference.is_odd()),
        (Err(PeekError::BadSession { id }), Some(reference)) => {
            // A text with escapes is refused too: no session id has any.
            let is_null = reference.raw("sessionId").is_none_or(|raw| raw == "null");
            assert_eq!((reference.number("id"), reference.is_odd() || is_null), (Some(id), true));
        }
        (Err(PeekError::NoId), Some(reference)) => {
            assert!(reference.raw("id").is_none_or(|raw| raw.parse::<i64>().is_err()));
        }
        (Err(PeekError::NoMethod { id }), Some(reference)) => {
            assert_eq!((reference.raw("method"), reference.number("id")), (None, Some(id)));
        }
        (Err(_), None) => {}
    }
}
