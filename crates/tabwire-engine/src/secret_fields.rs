//! The fields for secrets on a page, all frames' together. Knows nothing of what is done about them.

use serde::Deserialize;
use serde_json::json;
use tabwire_cdp::Deadline;
use tabwire_wire::{ErrorCode, Failure};

use crate::element::Rectangle;
use crate::page::Page;

/// Where secrets stand on a page, and which.
#[derive(Default, Deserialize)]
pub(crate) struct SecretFields {
    /// In the tab's view.
    pub(crate) boxes: Vec<Rectangle>,
    /// Never to be written anywhere.
    pub(crate) values: Vec<String>,
}

impl Page {
    /// The fields for secrets, and fields in which one of these values stands.
    pub(crate) async fn secret_fields(
        &self,
        known: &[String],
        deadline: Deadline,
    ) -> Result<SecretFields, Failure> {
        let argument = json!({"known": known});
        let mut all: SecretFields = self.call("secretFields", &argument, deadline).await?;
        let frames = self.driver().frames();
        for frame in frames.iter().filter(|frame| frame.parent.is_some()) {
            let inside: Result<SecretFields, Failure> =
                self.call_in(&frame.id, "secretFields", &argument, deadline).await;
            let inside = match inside {
                Ok(inside) => inside,
                Err(failure) if failure.code == ErrorCode::DialogOpen => return Err(failure),
                // A frame that went meanwhile shows nothing.
                Err(_) => continue,
            };
            all.values.extend(inside.values);
            if inside.boxes.is_empty() {
                continue;
            }
            let offset = self.frame_offset(frame, &frames, deadline).await?;
            all.boxes.extend(inside.boxes.into_iter().map(|inner| offset.apply(inner)));
        }
        Ok(all)
    }
}
