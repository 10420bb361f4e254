//! The frame tree of one page: parents, the session of each frame, and its execution contexts. Updated by events.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;
use tabwire_api::{CdpSessionId, FrameId};
use tabwire_cdp::CdpSession;

use crate::cdp::ClickListeners;
use crate::frames::policy::inherits_origin;
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
}

impl FrameTree {
    /// Merges the response to `Page.getFrameTree` of one process.
    pub(crate) fn merge_listed(&mut self, branch: FrameBranch, session: &CdpSession) {
        let is_known = self.frames.get(&branch.frame.id).is_some_and(|entry| !entry.url.is_empty());
        if is_known && branch.frame.url.is_empty() {
            // The response is older than the event of the frame's first document.
            self.attached(&branch.frame.id, branch.frame.parent_id.as_ref(), session);
        } else {
            self.navigated(branch.frame, session);
        }
        for child in branch.child_frames {
            self.merge_listed(child, session);
        }
    }

    pub(crate) fn attached(&mut self, frame: &FrameId, parent: Option<&FrameId>, session: &CdpSession) {
        if let Some(entry) = self.frames.get_mut(frame) {
            if entry.session.id() != session.id() {
                entry.session = session.clone();
                entry.clear_contexts();
            }
            if entry.parent.is_none() {
                entry.parent = parent.cloned();
            }
            return;
        }
        let entry = Entry {
            parent: parent.cloned(),
            name: String::new(),
            url: String::new(),
            origin: String::new(),
            session: session.clone(),
            agent_context: None,
            main_context: None,
            main_origin: None,
            owner_known_in: None,
            pending_url: None,
            listeners: None,
        };
        self.frames.insert(frame.clone(), entry);
        self.order.push(frame.clone());
    }

    /// A frame committed another document. Chrome reports the frames of the former document as detached only when the
    /// process stays the same, so they are removed here. Frames in other processes go with their sessions.
    pub(crate) fn committed(&mut self, frame: FrameDescription, session: &CdpSession) {
        let is_former =
            |entry: &Entry| entry.parent.as_ref() == Some(&frame.id) && entry.session.id() == session.id();
        let former: Vec<FrameId> =
            self.frames.iter().filter(|(_, entry)| is_former(entry)).map(|(id, _)| id.clone()).collect();
        for child in former {
            self.remove(&child);
        }
        self.navigated(frame, session);
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

    pub(crate) fn pending_url(&self, frame: &FrameId) -> Option<String> {
        self.frames.get(frame)?.pending_url.clone()
    }

    pub(crate) fn set_url(&mut self, frame: &FrameId, url: String) {
        if let Some(entry) = self.frames.get_mut(frame) {
            entry.url = url;
            self.note_shown(frame);
        }
    }

    /// Removes a frame and those below it, unless another process has it by now.
    pub(crate) fn detached(&mut self, frame: &FrameId, session: &CdpSession) {
        let is_current = self.frames.get(frame).is_some_and(|entry| entry.session.id() == session.id());
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
        }
    }

    pub(crate) fn remove_context(&mut self, context: ContextId, session: &CdpSession) {
        for entry in self.frames.values_mut().filter(|entry| entry.session.id() == session.id()) {
            entry.agent_context.take_if(|known| *known == context);
            if entry.main_context.take_if(|known| *known == context).is_some() {
                entry.main_origin = None;
            }
        }
    }

    pub(crate) fn clear_contexts(&mut self, session: &CdpSession) {
        for entry in self.frames.values_mut().filter(|entry| entry.session.id() == session.id()) {
            entry.clear_contexts();
        }
    }

    /// The session of a frame and the context of its agent.
    pub(crate) fn find(&self, frame: &FrameId) -> Option<(CdpSession, Option<ContextId>)> {
        self.frames.get(frame).map(|entry| (entry.session.clone(), entry.agent_context))
    }

    /// The frame that an execution context belongs to.
    pub(crate) fn frame_of_context(&self, session: &CdpSession, context: ContextId) -> Option<FrameId> {
        let has = |entry: &Entry| {
            entry.session.id() == session.id()
                && [entry.main_context, entry.agent_context].contains(&Some(context))
        };
        self.frames.iter().find(|(_, entry)| has(entry)).map(|(id, _)| id.clone())
    }

    /// The top frame of a process.
    pub(crate) fn root_of_session(&self, session: &CdpSession) -> Option<FrameId> {
        let is_served =
            |id: &&FrameId| self.frames.get(*id).is_some_and(|entry| entry.session.id() == session.id());
        self.order.iter().filter(is_served).min_by_key(|id| self.depth(id)).cloned()
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

    /// The root frame whose agent reads this frame: itself, or the nearest root above.
    fn root_of(&self, frame: &FrameId) -> Option<FrameId> {
        let mut id = frame;
        loop {
            let entry = self.frames.get(id)?;
            match &entry.parent {
                Some(parent) if !self.is_root(entry, parent) => id = parent,
                _ => return Some(id.clone()),
            }
        }
    }

    fn is_root(&self, entry: &Entry, parent: &FrameId) -> bool {
        let Some(above) = self.frames.get(parent) else { return true };
        // An `about:` document has the origin of the frame above, which Chrome does not report in `securityOrigin`. A
        // sandboxed one, which has an opaque origin, is in another process.
        let inherits = inherits_origin(&entry.url);
        above.session.id() != entry.session.id() || !inherits && above.origin != entry.origin
    }

    /// The root frames, parents before children.
    pub(crate) fn roots(&self) -> Vec<Frame> {
        let mut roots: Vec<Frame> = Vec::new();
        for id in &self.order {
            let Some(entry) = self.frames.get(id) else { continue };
            let parent = entry.parent.as_ref();
            if parent.is_none_or(|parent| self.is_root(entry, parent)) {
                let owner_frame = parent.cloned();
                let parent = parent.and_then(|parent| self.root_of(parent));
                roots.push(Frame { id: id.clone(), parent, owner_frame, url: entry.url.clone() });
            }
        }
        // A stable sort: the order is that of first events, which an early event of a child can violate.
        roots.sort_by_key(|frame| self.depth(&frame.id));
        roots
    }

    /// The URL by which the policy judges a frame: that of its root frame, or the origin of an `about:` document.
    pub(crate) fn policy_url(&self, frame: &FrameId) -> Option<String> {
        let mut id = frame;
        // Bounded by the number of frames, in case Chrome reports a cycle.
        for _ in 0..=self.frames.len() {
            let entry = self.frames.get(id)?;
            let Some(parent) = &entry.parent else { return Some(entry.url.clone()) };
            if inherits_origin(&entry.url) {
                if let Some(origin) = self.foreign_origin(entry, parent) {
                    return Some(origin);
                }
            } else if self.is_root(entry, parent) {
                return Some(entry.url.clone());
            }
            id = parent;
        }
        None
    }

    /// The origin of an `about:` document when it differs from the frame above.
    fn foreign_origin(&self, entry: &Entry, parent: &FrameId) -> Option<String> {
        let origin = entry.main_origin.as_deref().filter(|origin| origin.starts_with("http"))?;
        let above = self.frames.get(parent)?;
        let is_same = above.origin == origin || above.main_origin.as_deref() == Some(origin);
        (!is_same).then(|| format!("{origin}/"))
    }

    /// Every frame that the policy judges separately, with its policy URL; the main frame first.
    pub(crate) fn policy_urls(&self) -> Vec<(FrameId, String)> {
        let separate = |id: &FrameId| {
            let entry = self.frames.get(id)?;
            let is_own = entry.parent.as_ref().is_none_or(|parent| {
                self.is_root(entry, parent)
                    || inherits_origin(&entry.url) && self.foreign_origin(entry, parent).is_some()
            });
            is_own.then(|| Some((id.clone(), self.policy_url(id)?)))?
        };
        let mut urls: Vec<_> = self.order.iter().filter_map(separate).collect();
        urls.sort_by_key(|(id, _)| self.depth(id));
        urls
    }

    /// Every frame, parents before children.
    pub(crate) fn all(&self) -> Vec<FrameInfo> {
        let listed = |id: &FrameId| {
            let entry = self.frames.get(id)?;
            let (parent, name, url) = (entry.parent.clone(), entry.name.clone(), entry.url.clone());
            Some(FrameInfo { id: id.clone(), parent, name, url })
        };
        let mut all: Vec<FrameInfo> = self.order.iter().filter_map(listed).collect();
        all.sort_by_key(|frame| self.depth(&frame.id));
        all
    }

    /// The session of a frame and the context of the page's own scripts in it.
    pub(crate) fn find_main_context(&self, frame: &FrameId) -> Option<(CdpSession, Option<ContextId>)> {
        self.frames.get(frame).map(|entry| (entry.session.clone(), entry.main_context))
    }

    fn depth(&self, frame: &FrameId) -> usize {
        let mut depth = 0;
        let mut id = frame;
        while let Some(parent) = self.frames.get(id).and_then(|entry| entry.parent.as_ref()) {
            depth += 1;
            id = parent;
        }
        depth
    }

    /// Whether the agent context above knows which element embeds this frame.
    pub(crate) fn is_owner_known(&self, frame: &FrameId, above: ContextId) -> bool {
        self.frames.get(frame).is_some_and(|entry| entry.owner_known_in == Some(above))
    }

    pub(crate) fn set_owner_known(&mut self, frame: &FrameId, above: ContextId) {
        if let Some(entry) = self.frames.get_mut(frame) {
            entry.owner_known_in = Some(above);
        }
    }

    /// The session of every process that has frames of the page.
    pub(crate) fn sessions(&self) -> Vec<CdpSession> {
        let mut seen = HashSet::new();
        let mut sessions = Vec::new();
        for id in &self.order {
            let Some(entry) = self.frames.get(id) else { continue };
            if seen.insert(entry.session.id().cloned()) {
                sessions.push(entry.session.clone());
            }
        }
        sessions
    }
}
