//! The user's clicks in the extension's popup and options: answers to approvals, revoked grants.

use serde::Deserialize;

/// The first bytes of every such message; the extension writes `event` first.
const MESSAGE_PREFIX: &[u8] = br#"{"event":"user","#;

/// Longest accepted id.
const ID_BYTES: usize = 2_048;

/// A click of the user in the extension.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase", tag = "type")]
pub enum UserMessage {
    /// Answers an approval.
    Answer {
        /// The approval's id.
        approval: String,
        /// `once`, `session`, `always` or `no`.
        answer: String,
    },
    /// Revokes a grant.
    Revoke {
        /// The grant's id.
        grant: String,
    },
}

#[derive(Deserialize)]
struct Frame {
    data: UserMessage,
}

impl UserMessage {
    /// Reads a message of the extension; none when it is not a user message.
    #[must_use]
    pub fn find(frame: &[u8]) -> Option<Self> {
        if !frame.starts_with(MESSAGE_PREFIX) {
            return None;
        }
        let Frame { data } = serde_json::from_slice(frame).ok()?;
        let (Self::Answer { approval: name, .. } | Self::Revoke { grant: name }) = &data;
        (name.len() <= ID_BYTES).then_some(data)
    }
}

#[cfg(test)]
mod tests {
    use super::UserMessage;

    #[test]
    fn only_valid_user_messages_are_read() {
        let answer = br#"{"event":"user","data":{"type":"answer","approval":"a3","answer":"once"}}"#;
        let expected = UserMessage::Answer { approval: "a3".to_owned(), answer: "once".to_owned() };
        assert_eq!(UserMessage::find(answer), Some(expected));
        let revoke = br#"{"event":"user","data":{"type":"revoke","grant":"g1"}}"#;
        assert_eq!(UserMessage::find(revoke), Some(UserMessage::Revoke { grant: "g1".to_owned() }));
        let long =
            format!(r#"{{"event":"user","data":{{"type":"revoke","grant":"{}"}}}}"#, "g".repeat(5_000));
        for other in [
            r#"{"event":"cdp","tab":1,"method":"Page.x","params":{"type":"revoke"}}"#,
            r#"{"event":"user","data":{"type":"allow","grant":"*"}}"#,
            r#"{"event":"user","#,
            &long,
        ] {
            assert_eq!(UserMessage::find(other.as_bytes()), None, "{other}");
        }
    }
}
