//! The user's clicks in the extension's popup and options: answers to approvals, revoked grants; and the tabs whose
//! standing these pages show.

use serde::Deserialize;

/// The first bytes of every such message; the extension writes `event` first.
const MESSAGE_PREFIX: &[u8] = br#"{"event":"user","#;

/// Longest accepted id.
const ID_BYTES: usize = 2_048;

/// Most URLs whose standing is shown, and their longest length.
const SHOWN_URLS: usize = 64;
const URL_BYTES: usize = 4_096;

/// A click of the user in the extension.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase", tag = "type")]
pub enum UserMessage {
    /// Answers an approval.
    Answer {
        /// The approval's id.
        approval: String,
        /// `once`, `session`, `agent`, `always` or `no`.
        answer: String,
    },
    /// Revokes a grant.
    Revoke {
        /// The grant's id.
        grant: String,
    },
    /// The popup shows these tabs, which the user shared: the next notifications say what the policy allows there.
    Show {
        /// Their URLs.
        urls: Vec<String>,
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
        let is_valid = match &data {
            Self::Answer { approval: id, .. } | Self::Revoke { grant: id } => id.len() <= ID_BYTES,
            Self::Show { urls } => urls.len() <= SHOWN_URLS && urls.iter().all(|url| url.len() <= URL_BYTES),
        };
        is_valid.then_some(data)
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
        let show = br#"{"event":"user","data":{"type":"show","urls":["https://a.test/"]}}"#;
        assert_eq!(
            UserMessage::find(show),
            Some(UserMessage::Show { urls: vec!["https://a.test/".to_owned()] })
        );
        let many = format!(r#"{{"event":"user","data":{{"type":"show","urls":{:?}}}}}"#, vec!["a"; 100]);
        let long =
            format!(r#"{{"event":"user","data":{{"type":"revoke","grant":"{}"}}}}"#, "g".repeat(5_000));
        for other in [
            r#"{"event":"cdp","tab":1,"method":"Page.x","params":{"type":"revoke"}}"#,
            r#"{"event":"user","data":{"type":"allow","grant":"*"}}"#,
            r#"{"event":"user","#,
            &long,
            &many,
        ] {
            assert_eq!(UserMessage::find(other.as_bytes()), None, "{other}");
        }
    }
}
