//! What a page of the dashboard sends over the websocket of a live view.

use schemars::JsonSchema;
use serde::Deserialize;
use tabwire_api::TabId;
use tabwire_engine::{Steering, UserInput};

use crate::control::Scope;

/// The first message: the key, and the session to show. Without a session, small images of all sessions are sent.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ViewOpening")]
pub(in crate::dashboard) struct Opening {
    pub(super) key: String,
    pub(super) session: Option<String>,
    #[schemars(with = "Option<String>")]
    pub(super) tab: Option<TabId>,
}

/// A later message.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub(in crate::dashboard) enum PageMessage {
    /// A frame was drawn, and all before it.
    Drawn { seq: u32 },
    /// The size of the canvas in device pixels.
    Size { width: u32, height: u32 },
    /// Whether the user can see the view.
    Visible { visible: bool },
    /// The tab to show; none follows the agent.
    Tab {
        /// Its id.
        #[schemars(with = "Option<String>")]
        tab: Option<TabId>,
    },
    /// The user takes over the tab.
    Take,
    /// The user gives it back.
    Give,
    /// Mouse, touch or keyboard of the user.
    Input { input: UserInput },
    /// The user's answer to the open dialog.
    Dialog { accept: bool, text: Option<String> },
    /// A part of a file that the user chose. It comes as a binary message.
    #[serde(skip)]
    File(FilePart),
    /// Gives the chosen files to the page; none cancels.
    Choose,
    /// Back, forward or reload.
    Go { to: Steering },
    /// Actions wait.
    Pause { scope: Scope },
    /// Running actions end, and new ones fail.
    Stop { scope: Scope },
    /// Ends a pause or stop.
    Resume { scope: Scope },
}

/// The first byte of a part of a file, which no JSON begins with.
const PART: u8 = 1;

/// A part of a file: after the first byte its number in the choice, the length of its name, the name, and content. A new
/// number begins a file.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::dashboard) struct FilePart {
    pub(super) file: u8,
    pub(super) name: String,
    pub(super) content: Vec<u8>,
}

impl PageMessage {
    /// Reads a message; none if it is not understood.
    pub(super) fn read(message: &[u8]) -> Option<Self> {
        let [PART, file, length, rest @ ..] = message else { return serde_json::from_slice(message).ok() };
        let (name, content) = rest.split_at_checked(usize::from(*length))?;
        let name = str::from_utf8(name).ok()?.to_owned();
        Some(Self::File(FilePart { file: *file, name, content: content.to_vec() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_and_unknown_ones_are_refused() {
        let read = |text: &str| PageMessage::read(text.as_bytes());
        for text in [
            r#"{"type":"drawn","seq":7}"#,
            r#"{"type":"take"}"#,
            r#"{"type":"tab","tab":null}"#,
            r#"{"type":"go","to":"back"}"#,
            r#"{"type":"pause","scope":"all"}"#,
            r#"{"type":"stop","scope":{"agent":"Codex"}}"#,
            r#"{"type":"input","input":{"kind":"text","text":"a"}}"#,
        ] {
            assert!(read(text).is_some(), "{text}");
        }
        for text in [
            r#"{"type":"drawn","seq":-1}"#,
            r#"{"type":"drawn","seq":1,"more":1}"#,
            r#"{"type":"go","to":"https://a.test"}"#,
            r#"{"type":"stop","scope":{"agent":"a","session":"b"}}"#,
            r#"{"type":"eval","code":"1"}"#,
        ] {
            assert!(read(text).is_none(), "{text}");
        }
        let part = PageMessage::read(b"\x01\x02\x05a.txthello").expect("a part");
        let wanted = FilePart { file: 2, name: "a.txt".to_owned(), content: b"hello".to_vec() };
        assert!(matches!(part, PageMessage::File(part) if part == wanted));
        assert!(PageMessage::read(b"\x01\x02\x05a").is_none() && PageMessage::read(b"\x01").is_none());
        assert!(serde_json::from_str::<Opening>(r#"{"key":"k","url":"x"}"#).is_err());
    }
}
