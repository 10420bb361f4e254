//! Finding the frame an element is in, when the page has several that must be asked one by one.

use futures_util::future::select_ok;
use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_cdp::Deadline;
use tabwire_wire::{ErrorCode, Failure, FrameId};

use crate::driver::Frame;
use crate::element::{Aim, TargetArguments, milliseconds_left, with_grace};
use crate::limits::FRAME_LOOK;
use crate::page::Page;
use crate::snapshot::{DocumentName, ElementHandle, ElementKey, ElementRef};
use crate::waiting::told_or_left;

/// What one frame's agent found.
#[derive(Debug, Deserialize)]
pub(crate) struct Located {
    #[serde(default)]
    pub(crate) document: Option<DocumentName>,
    pub(crate) total: u32,
    #[serde(default)]
    pub(crate) matches: Vec<Match>,
}

/// An element that matches.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Match {
    pub(crate) key: ElementKey,
    #[serde(default)]
    pub(crate) role: String,
    #[serde(default)]
    pub(crate) name: String,
}

impl Page {
    /// The frame to look in, and which of its matches is meant.
    pub(crate) async fn choose_frame(
        &self,
        spec: &Value,
        target: &TargetArguments,
        deadline: Deadline,
    ) -> Result<(FrameId, Option<u32>), Failure> {
        let main = (self.scope_or_main(), target.nth);
        if self.scope_frames().len() <= 1 {
            return Ok(main);
        }
        loop {
            let frames = self.scope_frames();
            let found = self.locate_everywhere(&frames, spec, deadline).await?;
            let matching = found.iter().filter(|(_, located)| located.total > 0).count();
            if matching > 1 && target.nth.is_none() {
                return Err(self.ambiguous(&target.target, &found));
            }
            let mut nth = target.nth.unwrap_or(1);
            for (frame, located) in &found {
                if nth <= located.total {
                    return Ok((frame.clone(), target.nth.map(|_| nth)));
                }
                nth -= located.total;
            }
            let waited = if matching == 0 { self.wait_in_any(&frames, spec, deadline).await? } else { false };
            if !waited {
                // The main frame's agent tells what it found and what came near.
                return Ok(main);
            }
        }
    }

    /// Asks every frame at once what matches.
    pub(crate) async fn locate_everywhere(
        &self,
        frames: &[Frame],
        spec: &Value,
        deadline: Deadline,
    ) -> Result<Vec<(FrameId, Located)>, Failure> {
        let argument = json!({"spec": spec});
        let ask = |frame: &Frame| self.driver().call(&frame.id, "locate", &argument, deadline);
        let asked: Vec<_> = frames.iter().map(ask).collect();
        let mut found = Vec::new();
        for (frame, answer) in frames.iter().zip(asked) {
            match self.unless_blocked(answer).await {
                Ok(value) => {
                    if let Ok(located) = serde_json::from_value::<Located>(value) {
                        found.push((frame.id.clone(), located));
                    }
                }
                // A bad selector is bad in every frame.
                Err(failure) if matches!(failure.code, ErrorCode::BadArgs | ErrorCode::DialogOpen) => {
                    return Err(failure);
                }
                // A frame that went meanwhile or cannot be asked has no matches.
                Err(failure) => tracing::debug!(%failure, frame = %frame.id, "a frame was not searched"),
            }
        }
        Ok(found)
    }

    /// The frame that an element came in which was looked for when there was but one frame. Never ends if it comes in
    /// none: the first frame's agent has the last word.
    pub(crate) async fn comes_elsewhere(&self, aim: &Aim, deadline: Deadline) -> FrameId {
        let Some(target) = &aim.guess else { return std::future::pending().await };
        let is_whole_page = aim.frame == *self.main_frame();
        let known = if is_whole_page { vec![aim.frame.clone()] } else { self.asked_frames() };
        self.driver().frames_other_than(known).await;
        match self.choose_frame(&aim.spec, target, deadline).await {
            Ok((frame, _)) if frame != aim.frame => frame,
            _ => std::future::pending().await,
        }
    }

    /// Waits until some frame has a match, or there are other frames to look in; false when neither was in time.
    async fn wait_in_any(&self, frames: &[Frame], spec: &Value, deadline: Deadline) -> Result<bool, Failure> {
        let is_whole_page = frames.first().is_none_or(|first| first.id == *self.main_frame());
        let known = frames.iter().map(|frame| frame.id.clone()).collect();
        let others = self.driver().frames_other_than(if is_whole_page { known } else { self.asked_frames() });
        let argument = json!({"spec": spec, "state": "attached", "timeout": milliseconds_left(deadline)});
        let grace = with_grace(deadline);
        let waits = frames.iter().map(|frame| self.driver().call(&frame.id, "waitFor", &argument, grace));
        let waits: Vec<_> = waits.collect();
        self.unless_blocked(async {
            tokio::select! {
                biased;
                waited = select_ok(waits.into_iter().map(told_or_left)) => match waited {
                    Ok((true, _)) => Ok(true),
                    Ok((false, _)) => {
                        tokio::time::sleep(FRAME_LOOK).await;
                        Ok(self.may_change(deadline))
                    }
                    Err(_) => Ok(false),
                },
                () = others => Ok(self.may_change(deadline)),
            }
        })
        .await
    }

    /// All frames that have to be asked by themselves, wherever they are.
    pub(crate) fn asked_frames(&self) -> Vec<FrameId> {
        self.driver().frames().into_iter().map(|frame| frame.id).collect()
    }

    /// Several frames have matches: lists them with refs.
    fn ambiguous(&self, target: &str, found: &[(FrameId, Located)]) -> Failure {
        let total: u32 = found.iter().map(|(_, located)| located.total).sum();
        let mut listed = Vec::new();
        for (frame, located) in found {
            let Some(document) = &located.document else { continue };
            listed.extend(located.matches.iter().map(|found| self.told(frame, document, found)));
        }
        several(&format!("`{target}` matches {total} elements"), &listed)
    }

    /// The ref of an element that a frame's agent speaks of.
    pub(crate) fn mint(&self, frame: &FrameId, document: &DocumentName, key: ElementKey) -> ElementRef {
        let handle = ElementHandle { frame: frame.clone(), document: document.clone(), key };
        self.refs().mint(&handle)
    }

    fn told(&self, frame: &FrameId, document: &DocumentName, found: &Match) -> Told {
        Told {
            name: self.mint(frame, document, found.key),
            role: found.role.clone(),
            text: found.name.clone(),
        }
    }

    /// Adds refs for the elements that a frame's agent speaks of in a failure.
    pub(crate) fn with_refs(&self, frame: &FrameId, mut failure: Failure) -> Failure {
        #[derive(Deserialize)]
        struct Details {
            document: DocumentName,
            #[serde(default)]
            matches: Vec<Match>,
            by: Option<Match>,
            #[serde(default)]
            similar: Vec<Match>,
        }
        let details = std::mem::take(&mut failure.details);
        let Ok(details) = serde_json::from_value::<Details>(details) else { return failure };
        let tell = |found: &Match| self.told(frame, &details.document, found);
        if !details.matches.is_empty() {
            let listed: Vec<Told> = details.matches.iter().map(tell).collect();
            return several(failure.message.trim_end_matches('.'), &listed);
        }
        if let Some(by) = details.by.as_ref().map(tell) {
            failure.message = format!("{} [{}].", failure.message.trim_end_matches('.'), by.name);
            failure.details = json!({"covered_by": by.to_json()});
        }
        if !details.similar.is_empty() {
            let similar: Vec<Told> = details.similar.iter().map(tell).collect();
            failure.hint = Some(format!("On the page there is: {}.", listing(&similar)));
        }
        failure
    }
}

/// An element as failures speak of it.
struct Told {
    name: ElementRef,
    role: String,
    text: String,
}

impl Told {
    fn to_json(&self) -> Value {
        json!({"ref": self.name, "role": self.role, "name": self.text})
    }
}

fn listing(told: &[Told]) -> String {
    let lines: Vec<String> =
        told.iter().map(|told| format!("{} {:?} [{}]", told.role, told.text, told.name)).collect();
    lines.join(", ")
}

fn several(what: &str, told: &[Told]) -> Failure {
    Failure::new(ErrorCode::BadArgs, format!("{what}: {}.", listing(told)))
        .with_hint("Use one of the refs, pass --nth, or say more precisely what is meant.")
        .with_details(json!({"elements": told.iter().map(Told::to_json).collect::<Vec<_>>()}))
}
