//! Images and files beside a message.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure};

/// Largest file that is read. The daemon has limits of its own.
const FILE_BYTES: u64 = 2 * 1024 * 1024;

/// What the next message takes with it.
#[derive(Debug, Default)]
pub(super) struct Attachments {
    images: Vec<Value>,
    files: Vec<Value>,
}

impl Attachments {
    /// Reads files of the user.
    pub(super) fn read(paths: &[std::path::PathBuf]) -> Result<Self, Failure> {
        let mut found = Self::default();
        paths.iter().try_for_each(|path| found.add(path)).map(|()| found)
    }

    /// Reads a file: an image if it begins like one, else text.
    pub(super) fn add(&mut self, path: impl AsRef<Path>) -> Result<(), Failure> {
        let path = path.as_ref();
        let wrong = |why: &str| {
            Failure::new(ErrorCode::BadArgs, format!("{} cannot be attached: {why}.", path.display()))
        };
        let size = path.metadata().map_err(|error| wrong(&error.to_string()))?.len();
        if size > FILE_BYTES {
            return Err(wrong(&format!("it has more than {FILE_BYTES} bytes")));
        }
        let bytes = std::fs::read(path).map_err(|error| wrong(&error.to_string()))?;
        if is_image(&bytes) {
            self.images.push(json!({"data": STANDARD.encode(&bytes)}));
            return Ok(());
        }
        let text = String::from_utf8(bytes).map_err(|_| wrong("it is neither text nor an image"))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        self.files.push(json!({"name": name, "text": text}));
        Ok(())
    }

    /// Moves them into the body of a message.
    pub(super) fn take_into(&mut self, body: &mut Value) {
        body["images"] = Value::Array(std::mem::take(&mut self.images));
        body["files"] = Value::Array(std::mem::take(&mut self.files));
    }
}

/// Whether the bytes begin like an image that agents take. The daemon checks it again.
fn is_image(bytes: &[u8]) -> bool {
    let begins = [&b"\x89PNG\r\n"[..], b"\xff\xd8\xff", b"GIF8"].iter().any(|magic| bytes.starts_with(magic));
    begins || (bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP"))
}
