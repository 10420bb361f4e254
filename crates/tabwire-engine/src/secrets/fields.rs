//! The secret fields of a page, in all frames.

use serde::Deserialize;
use serde_json::json;
use tabwire_api::{ErrorCode, Failure};
use tabwire_cdp::Deadline;

use crate::input::element::Rectangle;
use crate::page::Page;

/// Positions and values of secret fields.
#[derive(Default, Deserialize)]
pub(crate) struct SecretFields {
    /// In the viewport of the tab.
    pub(crate) boxes: Vec<Rectangle>,
    /// Must never be written anywhere.
    pub(crate) values: Vec<String>,
}

impl Page {
    /// The secret fields, and fields that contain one of these values.
    pub(crate) async fn secret_fields(
        &self,
        known: &[String],
        deadline: Deadline,
    ) -> Result<SecretFields, Failure> {
        let argument = json!({"known": known});
        let mut all: SecretFields = self.call("secretFields", &argument, deadline).await?;
        let frames = self.session().readable_roots();
        for frame in frames.iter().filter(|frame| frame.parent.is_some()) {
            let inside: Result<SecretFields, Failure> =
                self.call_in(&frame.id, "secretFields", &argument, deadline).await;
            let inside = match inside {
                Ok(inside) => inside,
                Err(failure) if failure.code == ErrorCode::DialogOpen => return Err(failure),
                // A frame that went away shows nothing.
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
