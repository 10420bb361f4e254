//! The frames of one page: who is above whom, which process serves each, and where its agent runs.
//!
//! Fed with events; knows nothing of how they arrive.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::Deserialize;
use tabwire_cdp::CdpSession;
use tabwire_wire::{CdpSessionId, FrameId};

use crate::driver::{Frame, ListedFrame};
use crate::frame_policy::inherits_origin;
use crate::listeners::Listeners;
use crate::shown_documents::ShownDocuments;

/// The world of a frame in which the agent runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(transparent)]
pub(crate) struct WorldId(i64);

impl WorldId {
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
    world: Option<WorldId>,
    /// The world of the page's own scripts.
    own_world: Option<WorldId>,
    /// The origin of that world; a document without a URL of its own may have that of the frame which made it.
    own_origin: Option<String>,
    /// The parent's world that knows which element holds this frame.
    named_in: Option<WorldId>,
    /// Where it is on its way to, until the answer from there begins.
    leaving_for: Option<String>,
    /// What is known of listeners in the frame's document, with the world that it was told to.
    listeners: Option<(WorldId, Arc<Listeners>)>,
}

/// A frame whose listeners can be found out.
#[derive(Debug)]
pub(crate) struct ListenedFrame {
    pub(crate) session: CdpSession,
    /// The agent's world.
    pub(crate) world: WorldId,
    /// The world of the page's own scripts.
    pub(crate) own_world: WorldId,
    pub(crate) listeners: Arc<Listeners>,
}

/// A frame as the browser describes it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FrameDescription {
    pub(crate) id: FrameId,
    #[serde(default)]
    pub(crate) parent_id: Option<FrameId>,
    /// What the page calls it.
    #[serde(default)]
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) url: String,
    #[serde(default)]
    pub(crate) security_origin: String,
}

/// A frame with those below it, as the browser lists them.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FrameBranch {
    pub(crate) frame: FrameDescription,
    #[serde(default)]
    pub(crate) child_frames: Vec<FrameBranch>,
}

/// The frames of one page.
#[derive(Debug, Default)]
pub(crate) struct FrameTable {
    frames: HashMap<FrameId, Entry>,
    /// In the order they were first seen, which puts parents before children.
    order: Vec<FrameId>,
    /// The documents that were shown, to be judged by what happened meanwhile.
    shown: ShownDocuments,
}

impl FrameTable {
    /// Takes a process's own list of its frames.
    pub(crate) fn list(&mut self, branch: FrameBranch, session: &CdpSession) {
        let is_known = self.frames.get(&branch.frame.id).is_some_and(|entry| !entry.url.is_empty());
        if is_known && branch.frame.url.is_empty() {
            // The list is from before the frame's first document, and that has been told of meanwhile.
            self.attached(&branch.frame.id, branch.frame.parent_id.as_ref(), session);
        } else {
            self.navigated(branch.frame, session);
        }
        for child in branch.child_frames {
            self.list(child, session);
        }
    }

    pub(crate) fn attached(&mut self, frame: &FrameId, parent: Option<&FrameId>, session: &CdpSession) {
        if let Some(entry) = self.frames.get_mut(frame) {
            if entry.session.id() != session.id() {
                entry.session = session.clone();
                entry.world = None;
                entry.own_world = None;
                entry.own_origin = None;
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
            world: None,
            own_world: None,
            own_origin: None,
            named_in: None,
            leaving_for: None,
            listeners: None,
        };
        self.frames.insert(frame.clone(), entry);
        self.order.push(frame.clone());
    }

    /// A frame has committed another document. The frames of its former document are gone: the browser reports each
    /// of them only when the process stays the same. Those in processes of their own go with their sessions.
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
            entry.leaving_for = None;
        }
        self.note_shown(&id);
    }

    fn note_shown(&mut self, frame: &FrameId) {
        if let Some(url) = self.judged_url(frame) {
            self.shown.add(&url);
        }
    }

    /// The documents that were shown so far.
    pub(crate) fn shown(&self) -> &ShownDocuments {
        &self.shown
    }

    /// A frame begins to go elsewhere, or does so no more.
    pub(crate) fn leaves(&mut self, frame: &FrameId, address: Option<String>) {
        if let Some(entry) = self.frames.get_mut(frame) {
            entry.leaving_for = address;
        }
    }

    /// Where a frame is on its way to.
    pub(crate) fn leaving_for(&self, frame: &FrameId) -> Option<String> {
        self.frames.get(frame)?.leaving_for.clone()
    }

    pub(crate) fn moved_within(&mut self, frame: &FrameId, url: String) {
        if let Some(entry) = self.frames.get_mut(frame) {
            entry.url = url;
            self.note_shown(frame);
        }
    }

    /// Forgets a frame and those below it; one that another process has taken over meanwhile stays.
    pub(crate) fn detached(&mut self, frame: &FrameId, session: &CdpSession) {
        let is_theirs = self.frames.get(frame).is_some_and(|entry| entry.session.id() == session.id());
        if is_theirs {
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

    /// A process is gone, and its frames with it.
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

    pub(crate) fn world_made(&mut self, frame: &FrameId, world: WorldId, session: &CdpSession) {
        if let Some(entry) = self.frames.get_mut(frame)
            && entry.session.id() == session.id()
        {
            entry.world = Some(world);
        }
    }

    pub(crate) fn own_world_made(
        &mut self,
        frame: &FrameId,
        world: WorldId,
        origin: &str,
        session: &CdpSession,
    ) {
        if let Some(entry) = self.frames.get_mut(frame)
            && entry.session.id() == session.id()
        {
            entry.own_world = Some(world);
            entry.own_origin = Some(origin.to_owned());
            self.note_shown(frame);
        }
    }

    pub(crate) fn world_gone(&mut self, world: WorldId, session: &CdpSession) {
        for entry in self.frames.values_mut().filter(|entry| entry.session.id() == session.id()) {
            entry.world.take_if(|known| *known == world);
            if entry.own_world.take_if(|known| *known == world).is_some() {
                entry.own_origin = None;
            }
        }
    }

    pub(crate) fn worlds_cleared(&mut self, session: &CdpSession) {
        for entry in self.frames.values_mut().filter(|entry| entry.session.id() == session.id()) {
            entry.world = None;
            entry.own_world = None;
            entry.own_origin = None;
        }
    }

    /// The process that serves a frame and the world its agent runs in.
    pub(crate) fn find(&self, frame: &FrameId) -> Option<(CdpSession, Option<WorldId>)> {
        self.frames.get(frame).map(|entry| (entry.session.clone(), entry.world))
    }

    /// The frame that a world of a process belongs to.
    pub(crate) fn frame_of_world(&self, session: &CdpSession, world: WorldId) -> Option<FrameId> {
        let has = |entry: &Entry| {
            entry.session.id() == session.id() && [entry.own_world, entry.world].contains(&Some(world))
        };
        self.frames.iter().find(|(_, entry)| has(entry)).map(|(id, _)| id.clone())
    }

    /// The first frame that a process serves.
    pub(crate) fn root_of_session(&self, session: &CdpSession) -> Option<FrameId> {
        let is_served =
            |id: &&FrameId| self.frames.get(*id).is_some_and(|entry| entry.session.id() == session.id());
        self.order.iter().filter(is_served).min_by_key(|id| self.depth(id)).cloned()
    }

    /// What is known of listeners in the document that a frame shows, which begins with nothing.
    pub(crate) fn listeners(&mut self, frame: &FrameId) -> Option<ListenedFrame> {
        let entry = self.frames.get_mut(frame)?;
        let (world, own_world) = (entry.world?, entry.own_world?);
        let known = entry.listeners.take().filter(|(known, _)| *known == world);
        let (_, listeners) = entry.listeners.insert(known.unwrap_or_else(|| (world, Arc::default())));
        let listeners = Arc::clone(listeners);
        Some(ListenedFrame { session: entry.session.clone(), world, own_world, listeners })
    }

    /// The frame that is asked on behalf of this one: itself, or the nearest above that can read it.
    pub(crate) fn root_of(&self, frame: &FrameId) -> Option<FrameId> {
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
        // Documents without an address of their own have the origin of the one above; the browser does not say so.
        // Sandboxed ones, which have not, live in a process of their own.
        let inherits = inherits_origin(&entry.url);
        above.session.id() != entry.session.id() || !inherits && above.origin != entry.origin
    }

    /// The frames that have to be asked by themselves, parents before children.
    pub(crate) fn roots(&self) -> Vec<Frame> {
        let mut roots: Vec<Frame> = Vec::new();
        for id in &self.order {
            let Some(entry) = self.frames.get(id) else { continue };
            let parent = entry.parent.as_ref();
            if parent.is_none_or(|parent| self.is_root(entry, parent)) {
                let holder = parent.cloned();
                let parent = parent.and_then(|parent| self.root_of(parent));
                roots.push(Frame { id: id.clone(), parent, holder, url: entry.url.clone() });
            }
        }
        // A frame that moved to another process keeps its place among its elders.
        roots.sort_by_key(|frame| self.depth(&frame.id));
        roots
    }

    /// The URL that a frame is judged by: that of the frame which is asked on its behalf, or the origin that its
    /// document has when it has no URL of its own.
    pub(crate) fn judged_url(&self, frame: &FrameId) -> Option<String> {
        let mut id = frame;
        // A tree of frames is not deeper than it has frames, whatever the browser reports.
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

    /// The origin of a document without a URL of its own, when it is that of another site than the frame above.
    fn foreign_origin(&self, entry: &Entry, parent: &FrameId) -> Option<String> {
        let origin = entry.own_origin.as_deref().filter(|origin| origin.starts_with("http"))?;
        let above = self.frames.get(parent)?;
        let is_same = above.origin == origin || above.own_origin.as_deref() == Some(origin);
        (!is_same).then(|| format!("{origin}/"))
    }

    /// Every frame that is judged by itself, with the URL it is judged by; the main one first.
    pub(crate) fn judged(&self) -> Vec<(FrameId, String)> {
        let is_judged = |id: &FrameId| {
            let entry = self.frames.get(id)?;
            let is_own = entry.parent.as_ref().is_none_or(|parent| {
                self.is_root(entry, parent)
                    || inherits_origin(&entry.url) && self.foreign_origin(entry, parent).is_some()
            });
            is_own.then(|| Some((id.clone(), self.judged_url(id)?)))?
        };
        let mut judged: Vec<_> = self.order.iter().filter_map(is_judged).collect();
        judged.sort_by_key(|(id, _)| self.depth(id));
        judged
    }

    /// Every frame, parents before children.
    pub(crate) fn all(&self) -> Vec<ListedFrame> {
        let listed = |id: &FrameId| {
            let entry = self.frames.get(id)?;
            let (parent, name, url) = (entry.parent.clone(), entry.name.clone(), entry.url.clone());
            Some(ListedFrame { id: id.clone(), parent, name, url })
        };
        let mut all: Vec<ListedFrame> = self.order.iter().filter_map(listed).collect();
        all.sort_by_key(|frame| self.depth(&frame.id));
        all
    }

    /// The process that serves a frame and the world of the page's own scripts in it.
    pub(crate) fn find_own_world(&self, frame: &FrameId) -> Option<(CdpSession, Option<WorldId>)> {
        self.frames.get(frame).map(|entry| (entry.session.clone(), entry.own_world))
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

    /// Whether the world above already knows which element holds this frame.
    pub(crate) fn is_named(&self, frame: &FrameId, above: WorldId) -> bool {
        self.frames.get(frame).is_some_and(|entry| entry.named_in == Some(above))
    }

    pub(crate) fn named(&mut self, frame: &FrameId, above: WorldId) {
        if let Some(entry) = self.frames.get_mut(frame) {
            entry.named_in = Some(above);
        }
    }

    /// Every process that serves frames of the page.
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
