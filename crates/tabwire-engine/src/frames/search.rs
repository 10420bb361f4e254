//! Finds the frame that has an element, when the page has several root frames.

use std::time::Duration;

use futures_util::future::select_ok;
use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure, FrameId, Remedy, Step};
use tabwire_cdp::Deadline;

use crate::frames::tree::Frame;
use crate::input::element::{ResolvedTarget, TargetArguments, milliseconds_left, with_grace};
use crate::page::Page;
use crate::page::wait::held_or_navigated;
use crate::snapshot::{DocumentName, ElementHandle, ElementKey, ElementRef};

/// Pause before a frame is searched again whose document was replaced during the search.
pub(crate) const RETRY_INTERVAL: Duration = Duration::from_millis(20);

/// The result of the agent function `locate` in one frame.
#[derive(Debug, Deserialize)]
pub(crate) struct LocateResult {
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
    /// The frame that has the target, and the index of the match within that frame.
    pub(crate) async fn find_frame_of_target(
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
                // The main frame's agent reports what it found and what is similar.
                return Ok(main);
            }
        }
    }

    /// Locates an element in all frames at once.
    pub(crate) async fn locate_everywhere(
        &self,
        frames: &[Frame],
        spec: &Value,
        deadline: Deadline,
    ) -> Result<Vec<(FrameId, LocateResult)>, Failure> {
        let argument = json!({"spec": spec});
        let locate = |frame: &Frame| self.session().call(&frame.id, "locate", &argument, deadline);
        let pending: Vec<_> = frames.iter().map(locate).collect();
        let mut found = Vec::new();
        for (frame, located) in frames.iter().zip(pending) {
            match self.unless_blocked(located).await {
                Ok(value) => {
                    if let Ok(located) = serde_json::from_value::<LocateResult>(value) {
                        found.push((frame.id.clone(), located));
                    }
                }
                // An invalid selector is invalid in every frame.
                Err(failure) if matches!(failure.code, ErrorCode::BadArgs | ErrorCode::DialogOpen) => {
                    return Err(failure);
                }
                // A frame that is gone or does not respond has no matches.
                Err(failure) => tracing::debug!(%failure, frame = %frame.id, "a frame was not searched"),
            }
        }
        Ok(found)
    }

    /// Resolves when the target appears in another frame than the one it was resolved to. Never resolves otherwise:
    /// the first frame's agent decides then.
    pub(crate) async fn appears_elsewhere(&self, resolved: &ResolvedTarget, deadline: Deadline) -> FrameId {
        let Some(target) = &resolved.guess else { return std::future::pending().await };
        let is_whole_page = resolved.frame == *self.main_frame();
        let known = if is_whole_page { vec![resolved.frame.clone()] } else { self.root_ids() };
        self.session().frames_differ_from(known).await;
        match self.find_frame_of_target(&resolved.spec, target, deadline).await {
            Ok((frame, _)) if frame != resolved.frame => frame,
            _ => std::future::pending().await,
        }
    }

    /// Waits until a frame has a match, or the frames change; false when neither happened in time.
    async fn wait_in_any(&self, frames: &[Frame], spec: &Value, deadline: Deadline) -> Result<bool, Failure> {
        let is_whole_page = frames.first().is_none_or(|first| first.id == *self.main_frame());
        let known = frames.iter().map(|frame| frame.id.clone()).collect();
        let changed = self.session().frames_differ_from(if is_whole_page { known } else { self.root_ids() });
        let argument = json!({"spec": spec, "state": "attached", "timeout": milliseconds_left(deadline)});
        let grace = with_grace(deadline);
        let waits = frames.iter().map(|frame| self.session().call(&frame.id, "waitFor", &argument, grace));
        let waits: Vec<_> = waits.collect();
        self.unless_blocked(async {
            tokio::select! {
                biased;
                waited = select_ok(waits.into_iter().map(held_or_navigated)) => match waited {
                    Ok((true, _)) => Ok(true),
                    Ok((false, _)) => {
                        tokio::time::sleep(RETRY_INTERVAL).await;
                        Ok(self.may_change(deadline))
                    }
                    Err(_) => Ok(false),
                },
                () = changed => Ok(self.may_change(deadline)),
            }
        })
        .await
    }

    /// The ids of all readable root frames.
    pub(crate) fn root_ids(&self) -> Vec<FrameId> {
        self.session().readable_roots().into_iter().map(|frame| frame.id).collect()
    }

    /// The failure when several frames have matches, with their refs.
    fn ambiguous(&self, target: &str, found: &[(FrameId, LocateResult)]) -> Failure {
        let total: u32 = found.iter().map(|(_, located)| located.total).sum();
        let mut listed = Vec::new();
        for (frame, located) in found {
            let Some(document) = &located.document else { continue };
            listed.extend(located.matches.iter().map(|found| self.with_ref(frame, document, found)));
        }
        several(&format!("`{target}` matches {total} elements"), &listed)
    }

    /// The ref of an element that a frame's agent reported.
    pub(crate) fn mint(&self, frame: &FrameId, document: &DocumentName, key: ElementKey) -> ElementRef {
        let handle = ElementHandle { frame: frame.clone(), document: document.clone(), key };
        self.refs().mint(&handle)
    }

    fn with_ref(&self, frame: &FrameId, document: &DocumentName, found: &Match) -> ReferencedMatch {
        ReferencedMatch {
            name: self.mint(frame, document, found.key),
            role: found.role.clone(),
            text: found.name.clone(),
        }
    }

    /// Adds refs to the elements in an agent's failure.
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
        let with_ref = |found: &Match| self.with_ref(frame, &details.document, found);
        if !details.matches.is_empty() {
            let listed: Vec<ReferencedMatch> = details.matches.iter().map(with_ref).collect();
            return several(failure.message.trim_end_matches('.'), &listed);
        }
        if let Some(by) = details.by.as_ref().map(with_ref) {
            failure.message = format!("{} [{}].", failure.message.trim_end_matches('.'), by.name);
            failure.details = json!({"covered_by": by.to_json()});
        }
        if !details.similar.is_empty() {
            let similar: Vec<ReferencedMatch> = details.similar.iter().map(with_ref).collect();
            failure.remedy = Some(format!("Similar elements on the page: {}.", listing(&similar)).into());
        }
        failure
    }
}

/// A match with its ref, for failures.
struct ReferencedMatch {
    name: ElementRef,
    role: String,
    text: String,
}

impl ReferencedMatch {
    fn to_json(&self) -> Value {
        json!({"ref": self.name, "role": self.role, "name": self.text})
    }
}

fn listing(matches: &[ReferencedMatch]) -> String {
    let lines: Vec<String> =
        matches.iter().map(|found| format!("{} {:?} [{}]", found.role, found.text, found.name)).collect();
    lines.join(", ")
}

fn several(what: &str, matches: &[ReferencedMatch]) -> Failure {
    Failure::new(ErrorCode::BadArgs, format!("{what}: {}.", listing(matches)))
        .with_remedy(Remedy::new(
            "Use one of the refs, set {}, or make the target more specific.",
            [Step::argument("nth")],
        ))
        .with_details(json!({"elements": matches.iter().map(ReferencedMatch::to_json).collect::<Vec<_>>()}))
}
