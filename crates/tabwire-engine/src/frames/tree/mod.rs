//! The frame tree of one page: parents, the session of each frame, and its execution contexts. Updated by events.

mod early_contexts;
mod lookup;

use std::collections::{HashMap, HashSet};

use serde::Deserialize;
use tabwire_api::{CdpSessionId, FrameId};
use tabwire_cdp::CdpSession;

use self::early_contexts::EarlyContexts;
use crate::cdp::ClickListeners;
use crate::frames::shown_documents::DocumentHistory;

/// A root frame: no agent of a frame above can read its document, so it needs a call of its own. The agent of a root
/// frame also reads the frames below it that are same-origin and in the same process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) id: FrameId,
    /// The root frame above; `None` for the main frame.
    pub(crate) parent: Option<FrameId>,
    /// The frame whose document has the element that embeds this frame: `parent`, or a frame that it can read.
    pub(crate) owner_frame: Option<FrameId>,
    pub(crate) url: String,
}

/// Any frame of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FrameInfo {
    pub(crate) id: FrameId,
    /// `None` for the main frame.
    pub(crate) parent: Option<FrameId>,
    /// The frame's `name`; empty without one.
    pub(crate) name: String,
    pub(crate) url: String,
}

/// A `Runtime.ExecutionContextId`; unique within one session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(transparent)]
pub(crate) struct ContextId(i64);

impl ContextId {
    pub(crate) const fn number(self) -> i64 {
        self.0
    }
}

#[derive(Debug)]
struct Entry {
    parent: Option<FrameId>,
    name: String,
    url: String,
    origin: String,
    session: CdpSession,
    /// The context of the page agent.
    agent_context: Option<ContextId>,
    /// The context of the page's own scripts.
    main_context: Option<ContextId>,
    /// The origin of the main context. An `about:blank` document may have the origin of the frame that made it.
    main_origin: Option<String>,
    /// The agent context above that knows which element embeds this frame.
    owner_known_in: Option<ContextId>,
    /// Where the frame navigates to, until the response begins.
    pending_url: Option<String>,
    /// The click listeners of the document, with the agent context that knows them.
    listeners: Option<(ContextId, ClickListeners)>,
}

/// What an update of a document's click listeners needs.
#[derive(Debug)]
pub(crate) struct ListenerScope {
    pub(crate) session: CdpSession,
    /// The agent's context.
    pub(crate) context: ContextId,
    pub(crate) main_context: ContextId,
    pub(crate) listeners: ClickListeners,
}

/// A `Page.Frame`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FrameDescription {
    pub(crate) id: FrameId,
    #[serde(default)]
    pub(crate) parent_id: Option<FrameId>,
    #[serde(default)]
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) url: String,
    #[serde(default)]
    pub(crate) security_origin: String,
}

/// A `Page.FrameTree`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FrameBranch {
    pub(crate) frame: FrameDescription,
    #[serde(default)]
    pub(crate) child_frames: Vec<FrameBranch>,
}

impl Entry {
    fn clear_contexts(&mut self) {
        self.agent_context = None;
        self.main_context = None;
        self.main_origin = None;
    }
}

/// The frames of one page.
#[derive(Debug, Default)]
pub(crate) struct FrameTree {
    frames: HashMap<FrameId, Entry>,
    /// In the order of their first event, which puts parents before children.
    order: Vec<FrameId>,
    shown: DocumentHistory,
    /// Changes that the events of a session have made: frames that navigated, left or moved to another process.
    changes: HashMap<CdpSessionId, u64>,
    /// Sessions of frames that are gone, which end later than their frames.
    former: HashSet<CdpSessionId>,
    early_contexts: EarlyContexts,
}

/// How often the frames of a session had changed when they were requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TreeMark(u64);

impl FrameTree {
    /// A mark to take before `Page.getFrameTree` is sent.
    pub(crate) fn mark(&self, session: &CdpSession) -> TreeMark {
        TreeMark(session.id().and_then(|id| self.changes.get(id)).copied().unwrap_or_default())
    }

    /// Merges the response to `Page.getFrameTree` of one process. Returns false, and merges nothing, if events have changed
    /// the frames since the mark: the response may list frames of an earlier document.
    #[must_use]
    pub(crate) fn merge_listed(&mut self, branch: FrameBranch, session: &CdpSession, mark: TreeMark) -> bool {
        let is_current = self.mark(session) == mark;
        if is_current {
            self.merge_branch(branch, session);
        }
        is_current
    }

    fn count_change(&mut self, session: &CdpSession) {
        if let Some(id) = session.id() {
            *self.changes.entry(id.clone()).or_default() += 1;
        }
    }

    /// Whether the frames of a session are no longer on the page. Its events may be read late.
    fn is_over(&self, session: &CdpSession) -> bool {
        session.is_gone() || session.id().is_some_and(|id| self.former.contains(id))
    }

    fn merge_branch(&mut self, branch: FrameBranch, session: &CdpSession) {
        if self.is_in_other_process(&branch.frame.id, session) {
            return;
        }
        let is_known = self.frames.get(&branch.frame.id).is_some_and(|entry| !entry.url.is_empty());
        if is_known && branch.frame.url.is_empty() {
            // The response is older than the event of the frame's first document.
            self.attached(&branch.frame.id, branch.frame.parent_id.as_ref(), session);
        } else {
            self.navigated(branch.frame, session);
        }
        for child in branch.child_frames {
            self.merge_branch(child, session);
        }
    }

    /// Whether a frame is in the process of another session. A list does not bring it back: the browser reports the new
    /// process when the response of the navigation begins, and the former process lists the frame until it has swapped it
    /// out, which can take as long as the new process stays paused. Events report a frame that really comes back.
    fn is_in_other_process(&self, frame: &FrameId, session: &CdpSession) -> bool {
        let Some(entry) = self.frames.get(frame) else { return false };
        entry.session.id() != session.id() && !self.is_over(&entry.session)
    }

    pub(crate) fn attached(&mut self, frame: &FrameId, parent: Option<&FrameId>, session: &CdpSession) {
        if self.is_over(session) && parent.is_some() {
            return;
        }
        if self.frames.contains_key(frame) {
            return self.move_to(frame, parent, session);
        }
        let early = self.early_contexts.take(frame, session);
        let (main_context, main_origin) = early.map(|early| (early.context, early.origin)).unzip();
        let entry = Entry {
            parent: parent.cloned(),
            name: String::new(),
            url: String::new(),
            origin: String::new(),
            session: session.clone(),
            agent_context: None,
            main_context,
            main_origin,
            owner_known_in: None,
            pending_url: None,
            listeners: None,
        };
        self.frames.insert(frame.clone(), entry);
        self.order.push(frame.clone());
    }

    /// A frame of a process (`above`) got a process of its own.
    pub(crate) fn child_attached(
        &mut self,
        frame: &FrameId,
        (parent, url): (Option<&FrameId>, String),
        child: &CdpSession,
        above: &CdpSession,
    ) {
        if self.is_over(above) {
            self.former.extend(child.id().cloned());
            return;
        }
        self.attached(frame, parent, child);
        self.set_url(frame, url);
    }

    /// A known frame is in the process of this session.
    fn move_to(&mut self, frame: &FrameId, parent: Option<&FrameId>, session: &CdpSession) {
        let Some(entry) = self.frames.get(frame) else { return };
        let before = entry.session.clone();
        let is_root =
            |parent: &FrameId| self.frames.get(parent).is_none_or(|above| above.session.id() != before.id());
        let was_root = entry.parent.as_ref().is_some_and(is_root);
        let has_moved = before.id() != session.id();
        if has_moved {
            // A list that the former process sends now is older than this.
            self.count_change(&before);
            if was_root {
                self.former.extend(before.id().cloned());
            }
        }
        if let Some(entry) = self.frames.get_mut(frame) {
            if has_moved {
                entry.session = session.clone();
                entry.clear_contexts();
            }
            if entry.parent.is_none() {
                entry.parent = parent.cloned();
            }
        }
    }

    /// A frame committed another document. The frames of the former document are removed: Chrome reports them as detached
    /// only when the process stays the same, and those in other processes when their processes have ended.
    ///
    /// A document from the back/forward cache keeps its frames in other processes: Chrome attaches to them before.
    pub(crate) fn committed(&mut self, frame: FrameDescription, session: &CdpSession, is_restored: bool) {
        if self.is_over(session) && frame.parent_id.is_some() {
            return;
        }
        // Chrome reports no end of the frames of a document that another one replaces.
        let is_former = |entry: &Entry| {
            entry.parent.as_ref() == Some(&frame.id) && (!is_restored || entry.session.id() == session.id())
        };
        let former: Vec<FrameId> =
            self.frames.iter().filter(|(_, entry)| is_former(entry)).map(|(id, _)| id.clone()).collect();
        for child in former {
            self.remove_with_processes(&child, session);
        }
        self.count_change(session);
        self.navigated(frame, session);
    }

    /// Removes a frame and those below it. Late events of their own processes do not bring them back.
    fn remove_with_processes(&mut self, frame: &FrameId, above: &CdpSession) {
        if let Some(entry) = self.frames.get(frame)
            && entry.session.id() != above.id()
        {
            self.former.extend(entry.session.id().cloned());
        }
        let below: Vec<FrameId> = self
            .frames
            .iter()
            .filter(|(_, entry)| entry.parent.as_ref() == Some(frame))
            .map(|(id, _)| id.clone())
            .collect();
        for child in below {
            self.remove_with_processes(&child, above);
        }
        self.remove(frame);
    }

    fn navigated(&mut self, frame: FrameDescription, session: &CdpSession) {
        let id = frame.id.clone();
        self.attached(&id, frame.parent_id.as_ref(), session);
        if let Some(entry) = self.frames.get_mut(&id) {
            entry.name = frame.name;
            entry.url = frame.url;
            entry.origin = frame.security_origin;
            entry.pending_url = None;
        }
        self.note_shown(&id);
    }

    fn note_shown(&mut self, frame: &FrameId) {
        if let Some(url) = self.policy_url(frame) {
            self.shown.add(&url);
        }
    }

    pub(crate) fn shown(&self) -> &DocumentHistory {
        &self.shown
    }

    /// A frame started to navigate, or stopped.
    pub(crate) fn set_pending_url(&mut self, frame: &FrameId, url: Option<String>) {
        if let Some(entry) = self.frames.get_mut(frame) {
            entry.pending_url = url;
        }
    }

    pub(crate) fn set_url(&mut self, frame: &FrameId, url: String) {
        if let Some(entry) = self.frames.get_mut(frame) {
            entry.url = url;
            self.note_shown(frame);
        }
    }

    /// Removes a frame and those below it, unless another process has it by now.
    pub(crate) fn detached(&mut self, frame: &FrameId, session: &CdpSession) {
        // A frame that moved to another process is also reported as detached by its former one, sometimes
        // later.
        let is_current = self.frames.get(frame).is_some_and(|entry| entry.session.id() == session.id());
        self.count_change(session);
        self.early_contexts.remove_frame(frame);
        if is_current {
            self.remove(frame);
        }
    }

    fn remove(&mut self, frame: &FrameId) {
        let below: Vec<FrameId> = self
            .frames
            .iter()
            .filter(|(_, entry)| entry.parent.as_ref() == Some(frame))
            .map(|(id, _)| id.clone())
            .collect();
        self.frames.remove(frame);
        self.order.retain(|id| id != frame);
        for child in below {
            self.remove(&child);
        }
    }

    /// A process is gone. Removes its frames.
    pub(crate) fn session_ended(&mut self, session: &CdpSessionId) {
        self.former.remove(session);
        self.changes.remove(session);
        self.early_contexts.remove_session(Some(session));
        let lost: HashSet<FrameId> = self
            .frames
            .iter()
            .filter(|(_, entry)| entry.session.id() == Some(session))
            .map(|(id, _)| id.clone())
            .collect();
        for frame in lost {
            self.remove(&frame);
        }
    }

    pub(crate) fn set_agent_context(&mut self, frame: &FrameId, context: ContextId, session: &CdpSession) {
        if let Some(entry) = self.frames.get_mut(frame)
            && entry.session.id() == session.id()
        {
            entry.agent_context = Some(context);
        }
    }

    pub(crate) fn set_main_context(
        &mut self,
        frame: &FrameId,
        context: ContextId,
        origin: &str,
        session: &CdpSession,
    ) {
        if let Some(entry) = self.frames.get_mut(frame)
            && entry.session.id() == session.id()
        {
            entry.main_context = Some(context);
            entry.main_origin = Some(origin.to_owned());
            self.note_shown(frame);
        } else if !self.frames.contains_key(frame) && !self.is_over(session) {
            self.early_contexts.insert(frame, context, origin, session);
        }
    }

    pub(crate) fn remove_context(&mut self, context: ContextId, session: &CdpSession) {
        self.early_contexts.remove_context(context, session.id());
        for entry in self.frames.values_mut().filter(|entry| entry.session.id() == session.id()) {
            entry.agent_context.take_if(|known| *known == context);
            if entry.main_context.take_if(|known| *known == context).is_some() {
                entry.main_origin = None;
            }
        }
    }

    pub(crate) fn clear_contexts(&mut self, session: &CdpSession) {
        self.early_contexts.remove_session(session.id());
        for entry in self.frames.values_mut().filter(|entry| entry.session.id() == session.id()) {
            entry.clear_contexts();
        }
    }

    /// The click listeners of a frame's document; an empty table for a new document.
    pub(crate) fn listener_scope(&mut self, frame: &FrameId) -> Option<ListenerScope> {
        let entry = self.frames.get_mut(frame)?;
        let (context, main_context) = (entry.agent_context?, entry.main_context?);
        let known = entry.listeners.take().filter(|(known, _)| *known == context);
        let (_, listeners) =
            entry.listeners.insert(known.unwrap_or_else(|| (context, ClickListeners::default())));
        let listeners = listeners.clone();
        Some(ListenerScope { session: entry.session.clone(), context, main_context, listeners })
    }

    pub(crate) fn set_owner_known(&mut self, frame: &FrameId, above: ContextId) {
        if let Some(entry) = self.frames.get_mut(frame) {
            entry.owner_known_in = Some(above);
        }
    }
}
