//! Messages of the user with images and files, as HTTP clients send them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use tabwire_acp::Content;
use tabwire_api::{ErrorCode, Failure};

/// Longest text of a message.
const MESSAGE_BYTES: usize = 256 * 1024;

/// Images and files of a message.
const ATTACHMENTS: usize = 8;

/// Bytes of one image.
const IMAGE_BYTES: usize = 2 * 1024 * 1024;

/// Bytes of one file.
const FILE_BYTES: usize = 256 * 1024;

/// Longest name of a file.
const NAME_BYTES: usize = 120;

/// An image in a request.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ImageBody {
    /// Its bytes in base64. The type is found in them.
    pub(crate) data: String,
}

/// A text file in a request.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileBody {
    /// Its name, without directories.
    pub(crate) name: String,
    /// Its text.
    pub(crate) text: String,
}

/// The body of `POST /v1/chats/ID/messages`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Message {
    pub(crate) text: String,
    /// Sends it into the turn that runs, if the agent can.
    pub(crate) steer: bool,
    pub(crate) images: Vec<ImageBody>,
    pub(crate) files: Vec<FileBody>,
}

/// A checked message.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prompt {
    pub(crate) text: String,
    /// What is beside the text.
    pub(crate) attachments: Vec<Content>,
}

impl Prompt {
    /// Checks a message.
    pub(crate) fn parse(message: Message) -> Result<Self, Failure> {
        let Message { text, images, files, .. } = message;
        let count = images.len() + files.len();
        if text.trim().is_empty() && count == 0 {
            return Err(wrong("`text` is empty."));
        }
        if text.len() > MESSAGE_BYTES {
            return Err(wrong(&format!("`text` is longer than {MESSAGE_BYTES} bytes.")));
        }
        if count > ATTACHMENTS {
            return Err(wrong(&format!("A message has at most {ATTACHMENTS} images and files.")));
        }
        let images = images.into_iter().map(ImageBody::check);
        let attachments = images.chain(files.into_iter().map(FileBody::check)).collect::<Result<_, _>>()?;
        Ok(Self { text, attachments })
    }

    pub(crate) fn images(&self) -> usize {
        self.attachments.iter().filter(|part| matches!(part, Content::Image { .. })).count()
    }

    pub(crate) fn files(&self) -> Vec<String> {
        let names = self.attachments.iter().filter_map(|part| match part {
            Content::File { name, .. } => Some(name.clone()),
            _ => None,
        });
        names.collect()
    }
}

impl ImageBody {
    fn check(self) -> Result<Content, Failure> {
        if self.data.len() > IMAGE_BYTES.div_ceil(3) * 4 {
            return Err(wrong(&format!("An image is larger than {IMAGE_BYTES} bytes.")));
        }
        let bytes = STANDARD.decode(&self.data).map_err(|_| wrong("The data of an image is not base64."))?;
        let mime_type =
            image_type(&bytes).ok_or_else(|| wrong("An image is not a PNG, JPEG, WebP or GIF file."))?;
        Ok(Content::Image { mime_type: mime_type.to_owned(), data: self.data })
    }
}

impl FileBody {
    fn check(self) -> Result<Content, Failure> {
        let name = tabwire_engine::plain_line(&self.name, NAME_BYTES);
        if name.trim().is_empty() || name.contains(['/', '\\']) {
            return Err(wrong("The name of a file is empty or has a directory."));
        }
        if self.text.len() > FILE_BYTES || self.text.contains('\0') {
            return Err(wrong(&format!("A file is not text, or longer than {FILE_BYTES} bytes.")));
        }
        Ok(Content::File { name, text: self.text })
    }
}

/// The MIME type of an image, by its first bytes.
pub(super) fn image_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

fn wrong(message: &str) -> Failure {
    Failure::new(ErrorCode::BadArgs, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PNG: [u8; 12] = [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0];

    fn image(bytes: &[u8]) -> ImageBody {
        ImageBody { data: STANDARD.encode(bytes) }
    }

    #[test]
    fn images_are_checked_by_their_bytes_and_everything_is_bounded() {
        let file = |name: &str, text: &str| FileBody { name: name.to_owned(), text: text.to_owned() };
        let message =
            Message { images: vec![image(&PNG)], files: vec![file("a.txt", "A")], ..Message::default() };
        let prompt = Prompt::parse(message).expect("images alone are a message");
        assert_eq!((prompt.images(), prompt.files()), (1, vec!["a.txt".to_owned()]));
        assert!(
            matches!(&prompt.attachments[0], Content::Image { mime_type, .. } if mime_type == "image/png")
        );
        let refused = |message: Message| Prompt::parse(message).expect_err("refused").message;
        assert_eq!(refused(Message::default()), "`text` is empty.");
        let with_image = |image: ImageBody| Message { images: vec![image], ..Message::default() };
        assert!(refused(with_image(image(b"<svg onload=1>"))).contains("not a PNG"));
        assert!(refused(with_image(ImageBody { data: "no base64!".to_owned() })).contains("base64"));
        assert!(refused(with_image(image(&vec![0xff; IMAGE_BYTES + 3]))).contains("larger"));
        let long = Message { text: "x".repeat(MESSAGE_BYTES + 1), ..Message::default() };
        assert!(refused(long).contains("longer"));
        for (name, text) in [("../a", "A"), ("", "A"), ("a", "\0"), ("a", &*"x".repeat(FILE_BYTES + 1))] {
            let message = Message { files: vec![file(name, text)], ..Message::default() };
            assert!(Prompt::parse(message).is_err(), "{name}");
        }
        let many = Message { images: vec![image(&PNG); ATTACHMENTS + 1], ..Message::default() };
        assert!(refused(many).contains("at most"));
    }
}
