//! Taking a snapshot of a page: every frame that must be asked is asked at once, and the answers put together.

use tabwire_cdp::Deadline;
use tabwire_wire::{ErrorCode, Failure, FrameId};

use crate::driver::Frame;
use crate::locator::Locator;
use crate::page::Page;
use crate::snapshot::{
    ElementKey, FrameReading, Pattern, Search, Selection, Snapshot, SnapshotRequest, WalkAnswer,
};

/// What was learned of listeners while a page was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lesson {
    /// The agents know more than when they were asked.
    News,
    /// They knew already.
    Nothing,
}

/// A snapshot with what was made of it.
#[derive(Debug)]
pub(crate) struct View<T> {
    pub(crate) snapshot: Snapshot,
    /// What was asked for, with the element that is looked into.
    pub(crate) request: SnapshotRequest,
    pub(crate) made: T,
}

impl Page {
    /// Takes a snapshot. `within` is a ref or other target whose element is looked into.
    pub(crate) async fn view(
        &self,
        request: SnapshotRequest,
        within: Option<&str>,
        deadline: Deadline,
    ) -> Result<(Snapshot, SnapshotRequest), Failure> {
        let View { snapshot, request, .. } = self.view_as(request, within, deadline, |_, _| ()).await?;
        Ok((snapshot, request))
    }

    /// Takes a snapshot and makes something of it, as a rule while the browser still tells what listens on the page.
    pub(crate) async fn view_as<T>(
        &self,
        mut request: SnapshotRequest,
        within: Option<&str>,
        deadline: Deadline,
        make: impl Fn(&Snapshot, &SnapshotRequest) -> T,
    ) -> Result<View<T>, Failure> {
        let mut again = true;
        let (frame, key) = self.find_place(within, deadline).await?;
        request.within = key;
        loop {
            let taken = match self.view_once(&request, &frame, deadline, &make).await {
                // What was learned meanwhile is told at once, not with the next snapshot.
                Ok((.., Lesson::News)) => self.view_once(&request, &frame, deadline, &make).await,
                taken => taken,
            };
            match taken {
                // The document went while it was read; the new one is read in its place, once.
                Err(failure) if again && within.is_none() && self.has_moved_on(&failure) => again = false,
                Ok((snapshot, made, _)) => return Ok(View { snapshot, request, made }),
                Err(failure) => return Err(failure),
            }
        }
    }

    fn has_moved_on(&self, failure: &Failure) -> bool {
        failure.code == ErrorCode::TargetGone && !self.is_gone()
    }

    /// The frame that is looked into, and the element in it.
    async fn find_place(
        &self,
        within: Option<&str>,
        deadline: Deadline,
    ) -> Result<(FrameId, Option<ElementKey>), Failure> {
        let Some(within) = within else {
            // One that is gone is told of when the action is done.
            self.has_lost_frame(deadline).await;
            return Ok((self.scope_or_main(), None));
        };
        if let Locator::Ref(given) = Locator::parse(within)? {
            let handle = self.find_ref(given)?;
            return Ok((handle.frame, Some(handle.key)));
        }
        let target = crate::element::TargetArguments { target: within.to_owned(), nth: None };
        let element = self.prepare(&target, "read", serde_json::json!({}), deadline).await?;
        Ok((element.frame.clone(), Some(element.key())))
    }

    async fn view_once<T>(
        &self,
        request: &SnapshotRequest,
        frame: &FrameId,
        deadline: Deadline,
        make: &impl Fn(&Snapshot, &SnapshotRequest) -> T,
    ) -> Result<(Snapshot, T, Lesson), Failure> {
        let below = self.frames_below(frame);
        for inner in &below {
            // A frame that went meanwhile, or whose element cannot be told, is named in the snapshot as unread.
            let _ = self.unless_blocked(self.driver().name_frame(inner, deadline)).await;
        }
        let first = self.driver().call(frame, "snapshot", &request.argument(), deadline);
        let inner_request = request.for_inner_frame().argument();
        let asked: Vec<_> = below
            .iter()
            .map(|inner| {
                (inner.id.clone(), self.driver().call(&inner.id, "snapshot", &inner_request, deadline))
            })
            .collect();
        let learning =
            self.learn_listeners(std::iter::once(frame).chain(below.iter().map(|inner| &inner.id)));
        let first = WalkAnswer::read(&self.unless_blocked(first).await?)?;
        let mut others = Vec::new();
        for (frame, answer) in asked {
            let outcome = match self.unless_blocked(answer).await {
                Ok(answer) => WalkAnswer::read(&answer).map_err(|failure| failure.message),
                Err(failure) if failure.code == ErrorCode::DialogOpen => return Err(failure),
                Err(failure) => Err(failure.message),
            };
            others.push(FrameReading { frame, outcome });
        }
        self.refs().shows(frame, &first.document);
        for other in &others {
            if let Ok(answer) = &other.outcome {
                self.refs().shows(&other.frame, &answer.document);
            }
        }
        self.refs().keep_frames(|frame| self.driver().has_frame(frame));
        let mut snapshot = Snapshot::assemble(first, frame.clone(), others);
        snapshot.fit(request);
        let made = make(&snapshot, request);
        Ok((snapshot, made, learning.await))
    }

    /// Asks what listens for clicks in these frames, in the same breath as what was asked before. The answer comes
    /// in a bounded time.
    fn learn_listeners<'f>(&self, frames: impl Iterator<Item = &'f FrameId>) -> impl Future<Output = Lesson> {
        let learning: Vec<_> = frames.map(|frame| self.driver().learn_listeners(frame)).collect();
        async move {
            let learned = futures_util::future::join_all(learning).await;
            if learned.iter().any(|learned| matches!(learned, Ok(true))) {
                Lesson::News
            } else {
                Lesson::Nothing
            }
        }
    }

    /// Searches everything on the page, or in an element.
    pub(crate) async fn search(
        &self,
        pattern: Pattern,
        within: Option<&str>,
        deadline: Deadline,
    ) -> Result<Search, Failure> {
        let (place, key) = self.find_place(within, deadline).await?;
        let frames: Vec<Frame> =
            self.find_frame(&place).into_iter().chain(self.frames_below(&place)).collect();
        let mut search = Search::new(pattern);
        self.learn_listeners(frames.iter().map(|frame| &frame.id)).await;
        for frame in &frames {
            let key = key.filter(|_| frame.id == place);
            let mut from = Some(0);
            while let Some(start) = from {
                let argument = search.argument(start, key);
                let answer =
                    self.unless_blocked(self.driver().call(&frame.id, "find", &argument, deadline)).await;
                match answer {
                    Ok(answer) => from = search.take(&frame.id, &answer)?,
                    // A frame that went has nothing to be found in.
                    Err(failure) if self.has_moved_on(&failure) && frame.id != place => from = None,
                    Err(failure) => return Err(failure),
                }
            }
        }
        Ok(search)
    }

    /// What changed on the page since the last snapshot that was given.
    pub(crate) async fn delta_text(&self, deadline: Deadline) -> Result<String, Failure> {
        let request = SnapshotRequest { selection: Selection::Everything, ..SnapshotRequest::default() };
        let (snapshot, request) = self.view(request, None, deadline).await?;
        Ok(self.memory().delta(&snapshot, &request, &mut self.refs()))
    }
}
