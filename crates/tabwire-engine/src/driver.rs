//! The small set of primitives an upstream must give. Actions are written once over it.
//!
//! Only plain values cross it: no handles into the page, no protocol objects.

use std::fmt;
use std::path::PathBuf;
use std::pin::Pin;

use serde_json::Value;
use tabwire_cdp::{CdpError, Deadline, EventStream};
use tabwire_wire::{Failure, FrameId};

use crate::frame_policy::FramePolicy;
use crate::frame_table::WorldId;
use crate::shown_documents::ShownMark;
use crate::snapshot::ElementKey;

/// An answer that is on its way: what it answers was sent when it was made, not when it is first awaited.
pub(crate) type Reply<T, E = Failure> = Pin<Box<dyn Future<Output = Result<T, E>> + Send>>;

/// Where a command goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The tab's page.
    Page,
    /// The browser itself.
    Browser,
    /// A frame: the process that serves it, and for scripts the frame's own world.
    Frame(FrameId),
}

/// A frame that has to be asked by itself, because the one above it cannot read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// The browser's name for it.
    pub(crate) id: FrameId,
    /// The frame above it that has to be asked too; none for the main frame.
    pub(crate) parent: Option<FrameId>,
    /// The frame whose document has the element that holds it; one that the parent can read, or the parent itself.
    pub(crate) holder: Option<FrameId>,
    /// Where it is.
    pub(crate) url: String,
}

/// Any frame of a page, whether it has to be asked by itself or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListedFrame {
    /// The browser's name for it.
    pub(crate) id: FrameId,
    /// The frame it stands in; none for the main frame.
    pub(crate) parent: Option<FrameId>,
    /// What the page calls it; empty when it does not.
    pub(crate) name: String,
    /// Where it is.
    pub(crate) url: String,
}

/// A file input, as the page agent or the browser names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileInput {
    /// An element the agent knows.
    Element(ElementKey),
    /// A node the browser told of.
    Node(i64),
}

/// A command that is to hold in every process of a page.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Setting {
    /// What is set; a later setting with the same key takes this one's place.
    pub(crate) key: String,
    /// The command that sets it.
    pub(crate) method: &'static str,
    /// The command's parameters.
    pub(crate) params: Value,
    /// Whether processes that join later are asked for it too. One that only takes something back need not last.
    pub(crate) lasts: bool,
}

/// One page as an upstream serves it.
pub(crate) trait Driver: Send + Sync + fmt::Debug {
    /// The frames that have to be asked and may be, the main one first, parents before children.
    fn frames(&self) -> Vec<Frame>;

    /// The same with those that may not be looked into.
    fn every_frame(&self) -> Vec<Frame>;

    /// What may be done with the page's frames.
    fn policy(&self) -> &FramePolicy;

    /// The URL that a frame is judged by; none when the page has no such frame.
    fn judged_url(&self, frame: &FrameId) -> Option<String>;

    /// Every frame that is judged by itself, with the URL it is judged by; the main one first.
    fn judged_frames(&self) -> Vec<(FrameId, String)>;

    /// The moment from which shown documents can be told.
    fn shown_mark(&self) -> ShownMark;

    /// The URLs of documents that were shown since then; none when there were too many.
    fn shown_since(&self, mark: ShownMark) -> Option<Vec<String>>;

    /// Resolves when the frames that have to be asked are others than these.
    fn frames_other_than(&self, known: Vec<FrameId>) -> Pin<Box<dyn Future<Output = ()> + Send>>;

    /// Calls a function of the page agent in a frame. The answer is the function's own, its failure included.
    fn call(
        &self,
        frame: &FrameId,
        function: &'static str,
        argument: &Value,
        deadline: Deadline,
    ) -> Reply<Value>;

    /// Runs a function of the caller's in the page's own world with an element that the agent of a frame knows. The
    /// answer is an evaluation in the protocol's words.
    fn apply(&self, frame: &FrameId, key: ElementKey, function: String, deadline: Deadline) -> Reply<Value>;

    /// Sees to it that the frame above knows which of its elements holds this frame.
    fn name_frame(&self, frame: &Frame, deadline: Deadline) -> Reply<()>;

    /// Finds out which elements of a frame's document listen for clicks and tells its agent, as far as it does not
    /// know. Says within a bounded time whether the agent was told anything; the rest goes on behind.
    fn learn_listeners(&self, frame: &FrameId) -> Reply<bool>;

    /// Sends a command in the protocol's own words. Commands made one after the other arrive in that order.
    fn command(
        &self,
        place: &Place,
        method: &'static str,
        params: &Value,
        deadline: Deadline,
    ) -> Reply<Value, CdpError>;

    /// Waits until the page has taken everything it was asked for when it was taken up.
    fn prepared(&self, deadline: Deadline) -> Reply<()>;

    /// Waits until what is known of the page includes every event that has come by now.
    fn caught_up(&self, deadline: Deadline) -> Reply<()>;

    /// Makes a setting hold in every process of the page. The answer is the page's own process's.
    fn set_everywhere(&self, setting: &Setting, deadline: Deadline) -> Reply<Value, CdpError>;

    /// Takes back a setting that added a script to every process.
    fn take_back_script(&self, key: &str, deadline: Deadline) -> Reply<(), CdpError>;

    /// Listens from now on to events of the page and of its frames' processes; an event is in its stream before
    /// the answer to a command that the browser answered after it.
    fn events(&self, methods: &[&'static str]) -> Vec<EventStream>;

    /// Every frame of the page, parents before children.
    fn all_frames(&self) -> Vec<ListedFrame>;

    /// The frame that an element holds, which the agent of a frame knows; none when it is no frame's element.
    fn held_frame(&self, frame: &FrameId, key: ElementKey, deadline: Deadline) -> Reply<Option<FrameId>>;

    /// Whether the page has this frame.
    fn has_frame(&self, frame: &FrameId) -> bool;

    /// The world that the page agent of a frame's document is in; another document has another.
    fn world_of(&self, frame: &FrameId) -> Option<WorldId>;

    /// Whether a frame, or the page, is on its way to another document.
    fn is_leaving(&self, frame: &FrameId) -> bool;

    /// What the page agent says of a file input.
    fn file_input(&self, frame: &FrameId, input: FileInput, deadline: Deadline) -> Reply<Value>;

    /// Gives files to a file input.
    fn give_files(
        &self,
        frame: &FrameId,
        input: FileInput,
        files: &[PathBuf],
        deadline: Deadline,
    ) -> Reply<()>;

    /// What an error of one of the page's commands means.
    fn meaning(&self, error: CdpError) -> Failure;

    /// Whether the page is no longer there.
    fn is_gone(&self) -> bool;
}
