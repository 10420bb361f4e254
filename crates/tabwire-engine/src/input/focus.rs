//! The element that has the keyboard focus, in any frame.

use serde_json::json;
use tabwire_api::{Failure, FrameId};
use tabwire_cdp::Deadline;

use crate::input::element::{Element, ElementInfo, TargetArguments};
use crate::page::Page;

impl Page {
    /// The element that receives keys: focuses the given element, or returns the focused one.
    pub(crate) async fn key_target(
        &self,
        target: Option<&TargetArguments>,
        deadline: Deadline,
    ) -> Result<Element, Failure> {
        match target {
            Some(target) => self.prepare(target, "focus", json!({}), deadline).await,
            None => {
                let frame = self.focused_frame(deadline).await?;
                self.observe_frame(frame, deadline).await
            }
        }
    }

    /// The page's root element, whose changes are observed from now on.
    pub(crate) async fn observe_page(&self, deadline: Deadline) -> Result<Element, Failure> {
        self.observe_frame(self.main_frame().clone(), deadline).await
    }

    async fn observe_frame(&self, frame: FrameId, deadline: Deadline) -> Result<Element, Failure> {
        let info: ElementInfo = self.call_in(&frame, "focusedElement", &json!({}), deadline).await?;
        Ok(Element { frame, info, world: None })
    }

    /// The root frame that contains the focused element.
    async fn focused_frame(&self, deadline: Deadline) -> Result<FrameId, Failure> {
        let frames = self.session().readable_roots();
        if frames.len() > 1 {
            let ask = |frame: &FrameId| self.session().call(frame, "hasKeyboardFocus", &json!({}), deadline);
            let asked: Vec<_> = frames.iter().map(|frame| (frame.id.clone(), ask(&frame.id))).collect();
            for (frame, response) in asked {
                // A frame that does not respond is gone.
                if self.unless_blocked(response).await.is_ok_and(|has| has == json!(true)) {
                    return Ok(frame);
                }
            }
        }
        Ok(self.main_frame().clone())
    }
}

impl Element {
    /// Its description in results; `None` for the page itself.
    pub(crate) fn label(&self) -> Option<String> {
        (!self.info.role.is_empty() || !self.info.name.is_empty()).then(|| self.description())
    }
}
