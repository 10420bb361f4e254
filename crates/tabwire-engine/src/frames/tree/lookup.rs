//! What the frame tree knows of a frame: its session, contexts, root and URL.

use std::collections::HashSet;

use tabwire_api::FrameId;
use tabwire_cdp::CdpSession;

use crate::frames::policy::inherits_origin;
use crate::frames::tree::{ContextId, Entry, Frame, FrameInfo, FrameTree};

/// The origin of a sandboxed document.
const OPAQUE: &str = "null";

impl FrameTree {
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
        // In Firefox, where all frames have one session, its origin tells it apart.
        let inherits = inherits_origin(&entry.url) && entry.origin != OPAQUE;
        // A frame that a script fills with `document.open` gets the URL of the script's page without a navigation.
        let origin = match entry.origin.as_str() {
            "" => entry.main_origin.as_deref().unwrap_or_default(),
            origin => origin,
        };
        above.session.id() != entry.session.id() || !inherits && above.origin != origin
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

    pub(crate) fn pending_url(&self, frame: &FrameId) -> Option<String> {
        self.frames.get(frame)?.pending_url.clone()
    }
}
