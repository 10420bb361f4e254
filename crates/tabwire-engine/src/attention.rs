//! Where the keyboard's keys go: the element that has the focus, in whatever frame. Knows nothing of keys.

use serde_json::json;
use tabwire_cdp::Deadline;
use tabwire_wire::{Failure, FrameId};

use crate::element::{Element, Prepared, TargetArguments};
use crate::page::Page;

impl Page {
    /// The element that keys go to: the one that is named, which gets the focus, or the one that has it.
    pub(crate) async fn attend(
        &self,
        target: Option<&TargetArguments>,
        deadline: Deadline,
    ) -> Result<Element, Failure> {
        match target {
            Some(target) => self.prepare(target, "focus", json!({}), deadline).await,
            None => {
                let frame = self.frame_with_keys(deadline).await?;
                self.attend_in(frame, deadline).await
            }
        }
    }

    /// The page as a whole, watched from now on.
    pub(crate) async fn attend_page(&self, deadline: Deadline) -> Result<Element, Failure> {
        self.attend_in(self.main_frame().clone(), deadline).await
    }

    async fn attend_in(&self, frame: FrameId, deadline: Deadline) -> Result<Element, Failure> {
        let prepared: Prepared = self.call_in(&frame, "attend", &json!({}), deadline).await?;
        Ok(Element { frame, prepared, world: None })
    }

    /// The frame whose agent knows the element that has the focus.
    async fn frame_with_keys(&self, deadline: Deadline) -> Result<FrameId, Failure> {
        let frames = self.driver().frames();
        if frames.len() > 1 {
            let ask = |frame: &FrameId| self.driver().call(frame, "hasKeys", &json!({}), deadline);
            let asked: Vec<_> = frames.iter().map(|frame| (frame.id.clone(), ask(&frame.id))).collect();
            for (frame, answer) in asked {
                // A frame that does not answer has gone, and the keys with it.
                if self.unless_blocked(answer).await.is_ok_and(|has| has == json!(true)) {
                    return Ok(frame);
                }
            }
        }
        Ok(self.main_frame().clone())
    }
}

impl Element {
    /// How it is called in answers, unless it is the page itself.
    pub(crate) fn words(&self) -> Option<String> {
        (!self.prepared.role.is_empty() || !self.prepared.name.is_empty()).then(|| self.description())
    }
}
