//! Where the keyboard's keys go: the element that has the focus, in whatever frame. Knows nothing of keys.

use serde_json::json;
use tabwire_api::{Failure, FrameId};
use tabwire_cdp::Deadline;

use crate::input::element::{Element, ElementInfo, TargetArguments};
use crate::page::Page;

impl Page {
    /// The element that keys go to: the one that is named, which gets the focus, or the one that has it.
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

    /// The page as a whole, watched from now on.
    pub(crate) async fn observe_page(&self, deadline: Deadline) -> Result<Element, Failure> {
        self.observe_frame(self.main_frame().clone(), deadline).await
    }

    async fn observe_frame(&self, frame: FrameId, deadline: Deadline) -> Result<Element, Failure> {
        let info: ElementInfo = self.call_in(&frame, "focusedElement", &json!({}), deadline).await?;
        Ok(Element { frame, info, world: None })
    }

    /// The frame whose agent knows the element that has the focus.
    async fn focused_frame(&self, deadline: Deadline) -> Result<FrameId, Failure> {
        let frames = self.session().readable_roots();
        if frames.len() > 1 {
            let ask = |frame: &FrameId| self.session().call(frame, "hasKeyboardFocus", &json!({}), deadline);
            let asked: Vec<_> = frames.iter().map(|frame| (frame.id.clone(), ask(&frame.id))).collect();
            for (frame, response) in asked {
                // A frame that does not respond has gone, and the keys with it.
                if self.unless_blocked(response).await.is_ok_and(|has| has == json!(true)) {
                    return Ok(frame);
                }
            }
        }
        Ok(self.main_frame().clone())
    }
}

impl Element {
    /// How it is called in responses, unless it is the page itself.
    pub(crate) fn label(&self) -> Option<String> {
        (!self.info.role.is_empty() || !self.info.name.is_empty()).then(|| self.description())
    }
}
