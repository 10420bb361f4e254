//! Content of prompts and of messages.

use serde_json::{Value, json};

use crate::protocol::text::cut;

/// A part of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Text.
    Text(String),
    /// An image as base64.
    Image {
        /// Its MIME type.
        mime_type: String,
        /// Its bytes in base64.
        data: String,
    },
    /// A text file.
    File {
        /// Its name.
        name: String,
        /// Its text.
        text: String,
    },
}

impl Content {
    /// The block that is sent. Agents that take no embedded files get them as text.
    pub(crate) fn to_json(&self, embeds: bool) -> Value {
        match self {
            Self::File { name, text } if embeds => {
                let uri = format!("attachment:///{}", percent_encoded(name));
                json!({"type": "resource", "resource": {"uri": uri, "mimeType": "text/plain", "text": text}})
            }
            Self::File { name, text } => {
                json!({"type": "text", "text": format!("The file {name:?}:\n\n{text}\n\n(end of the file)\n")})
            }
            Self::Text(text) => json!({"type": "text", "text": text}),
            Self::Image { mime_type, data } => json!({"type": "image", "mimeType": mime_type, "data": data}),
        }
    }
}

/// A name as a segment of a path.
fn percent_encoded(name: &str) -> String {
    let encode = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    name.bytes().map(encode).collect()
}

/// The text of a content block. Other kinds are named, because their data is not for a transcript.
pub(crate) fn block_text(block: &Value, limit: usize) -> Option<String> {
    match block.get("type").and_then(Value::as_str)? {
        "text" => block.get("text").and_then(Value::as_str).map(|text| cut(text, limit).to_owned()),
        "image" => Some("[image]".to_owned()),
        "audio" => Some("[audio]".to_owned()),
        "resource_link" => {
            let uri = block.get("uri").and_then(Value::as_str).unwrap_or_default();
            Some(format!("[{}]", cut(uri, crate::limits::NAME_BYTES)))
        }
        "resource" => {
            let text = block["resource"].get("text").and_then(Value::as_str);
            Some(text.map_or_else(|| "[resource]".to_owned(), |text| cut(text, limit).to_owned()))
        }
        _ => None,
    }
}

/// The text of a tool call's content: blocks, changed files, terminals.
pub(crate) fn tool_text(content: &Value, limit: usize) -> String {
    let mut text = String::new();
    for part in content.as_array().map(Vec::as_slice).unwrap_or_default() {
        let room = limit.saturating_sub(text.len());
        if room == 0 {
            break;
        }
        let piece = match part.get("type").and_then(Value::as_str) {
            Some("content") => block_text(&part["content"], room),
            Some("diff") => part
                .get("path")
                .and_then(Value::as_str)
                .map(|path| format!("[change of {}]", cut(path, room))),
            Some("terminal") => None,
            // Some agents put the block itself here.
            _ => block_text(part, room),
        };
        let Some(piece) = piece else { continue };
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&piece);
    }
    cut(&text, limit).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_embedded_or_sent_as_text() {
        let file = Content::File { name: "a b.txt".to_owned(), text: "A".to_owned() };
        let resource = json!({"uri": "attachment:///a%20b.txt", "mimeType": "text/plain", "text": "A"});
        assert_eq!(file.to_json(true), json!({"type": "resource", "resource": resource}));
        let block = file.to_json(false);
        assert_eq!(block["type"], "text");
        assert_eq!(block["text"], "The file \"a b.txt\":\n\nA\n\n(end of the file)\n");
    }
}
