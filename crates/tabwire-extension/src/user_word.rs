//! What the user says in the extension: answers to questions, and grants taken back. Types only.

use serde::Deserialize;

/// What every such frame begins with; the extension writes the event first.
const BEGINNING: &[u8] = br#"{"event":"user","#;

/// Longest id or site that is taken.
const NAME_BYTES: usize = 2_048;

/// Something the user said in the extension, by a click of their own.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase", tag = "says")]
pub enum UserWord {
    /// Answers a question.
    Answer {
        /// The question's id.
        question: String,
        /// `once`, `session`, `always` or `no`.
        answer: String,
    },
    /// Takes back what was granted.
    Revoke {
        /// The grant's id.
        grant: String,
    },
}

#[derive(Deserialize)]
struct Frame {
    with: UserWord,
}

impl UserWord {
    /// Finds what the user said in a frame of the extension's; nothing in frames that are about something else.
    #[must_use]
    pub fn find(frame: &[u8]) -> Option<Self> {
        if !frame.starts_with(BEGINNING) {
            return None;
        }
        let Frame { with } = serde_json::from_slice(frame).ok()?;
        let (Self::Answer { question: name, .. } | Self::Revoke { grant: name }) = &with;
        (name.len() <= NAME_BYTES).then_some(with)
    }
}

#[cfg(test)]
mod tests {
    use super::UserWord;

    #[test]
    fn words_are_found_and_everything_else_is_left_alone() {
        let answer = br#"{"event":"user","with":{"says":"answer","question":"a3","answer":"once"}}"#;
        let expected = UserWord::Answer { question: "a3".to_owned(), answer: "once".to_owned() };
        assert_eq!(UserWord::find(answer), Some(expected));
        let revoke = br#"{"event":"user","with":{"says":"revoke","grant":"g1"}}"#;
        assert_eq!(UserWord::find(revoke), Some(UserWord::Revoke { grant: "g1".to_owned() }));
        let long =
            format!(r#"{{"event":"user","with":{{"says":"revoke","grant":"{}"}}}}"#, "g".repeat(5_000));
        for other in [
            r#"{"event":"cdp","tab":1,"method":"Page.x","params":{"says":"revoke"}}"#,
            r#"{"event":"user","with":{"says":"allow","grant":"*"}}"#,
            r#"{"event":"user","#,
            &long,
        ] {
            assert_eq!(UserWord::find(other.as_bytes()), None, "{other}");
        }
    }
}
