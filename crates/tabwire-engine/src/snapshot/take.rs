//! Takes a snapshot: reads all frames concurrently and joins the results.

use std::time::Duration;

use serde_json::Value;
use tabwire_api::{ErrorCode, Failure, FrameId};
use tabwire_cdp::Deadline;

use crate::frames::tree::Frame;
use crate::input::locator::Locator;
use crate::page::Page;
use crate::snapshot::{
    DocumentName, ElementKey, FrameReading, Pattern, Search, Selection, Snapshot, SnapshotRequest, WalkResult,
};

/// How long an action waits for a snapshot before it, so that its result can contain only changes.
const BASELINE_TIMEOUT: Duration = Duration::from_secs(2);

/// Whether the agents learned something while a page was read: click listeners, closed shadow roots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListenerUpdate {
    /// The agents learned of listeners that change a snapshot.
    Changed,
    /// The agents knew all listeners.
    Unchanged,
}

/// A snapshot with a value derived from it.
#[derive(Debug)]
pub(crate) struct View<T> {
    pub(crate) snapshot: Snapshot,
    /// The request, with the resolved root element.
    pub(crate) request: SnapshotRequest,
    pub(crate) made: T,
}

impl Page {
    /// Takes a snapshot. `within` is a ref or other target for the root element.
    pub(crate) async fn view(
        &self,
        request: SnapshotRequest,
        within: Option<&str>,
        deadline: Deadline,
    ) -> Result<(Snapshot, SnapshotRequest), Failure> {
        let View { snapshot, request, .. } = self.view_as(request, within, deadline, |_, _| ()).await?;
        Ok((snapshot, request))
    }

    /// Takes a snapshot and derives a value from it, usually while the browser still reports listeners.
    pub(crate) async fn view_as<T>(
        &self,
        mut request: SnapshotRequest,
        within: Option<&str>,
        deadline: Deadline,
        make: impl Fn(&Snapshot, &SnapshotRequest) -> T,
    ) -> Result<View<T>, Failure> {
        let mut again = true;
        let (frame, key) = self.find_root(within, deadline).await?;
        request.within = key;
        loop {
            let taken = match self.view_once(&request, &frame, deadline, &make).await {
                // Listeners found meanwhile apply at once instead of with the next snapshot.
                Ok((.., ListenerUpdate::Changed)) => self.view_once(&request, &frame, deadline, &make).await,
                taken => taken,
            };
            match taken {
                // The document changed while it was read; read the new one once.
                Err(failure) if again && within.is_none() && self.is_document_replaced(&failure) => {
                    again = false;
                }
                Ok((snapshot, made, _)) => return Ok(View { snapshot, request, made }),
                Err(failure) => return Err(failure),
            }
        }
    }

    fn is_document_replaced(&self, failure: &Failure) -> bool {
        failure.code == ErrorCode::TargetGone && !self.is_gone()
    }

    /// The frame of the root element, and the element.
    async fn find_root(
        &self,
        within: Option<&str>,
        deadline: Deadline,
    ) -> Result<(FrameId, Option<ElementKey>), Failure> {
        let Some(within) = within else {
            // A missing one is reported by the action itself.
            self.has_lost_frame(deadline).await;
            return Ok((self.scope_or_main(), None));
        };
        if let Locator::Ref(given) = Locator::parse(within)? {
            let handle = self.find_ref(given)?;
            return Ok((handle.frame, Some(handle.key)));
        }
        let target = crate::input::element::TargetArguments { target: within.to_owned(), nth: None };
        let element = self.prepare(&target, "read", serde_json::json!({}), deadline).await?;
        Ok((element.frame.clone(), Some(element.key())))
    }

    async fn view_once<T>(
        &self,
        request: &SnapshotRequest,
        frame: &FrameId,
        deadline: Deadline,
        make: &impl Fn(&Snapshot, &SnapshotRequest) -> T,
    ) -> Result<(Snapshot, T, ListenerUpdate), Failure> {
        let below = self.frames_below(frame);
        for inner in &below {
            // A frame that went away, or whose element is unknown, is listed as unread.
            let _ = self.unless_blocked(self.session().register_frame_owner(inner, deadline)).await;
        }
        let first = self.session().call(frame, "snapshot", &request.argument(), deadline);
        let inner_request = request.for_inner_frame().argument();
        let calls: Vec<_> = below
            .iter()
            .map(|inner| {
                (inner.id.clone(), self.session().call(&inner.id, "snapshot", &inner_request, deadline))
            })
            .collect();
        let update = self.update_listeners(std::iter::once(frame).chain(below.iter().map(|inner| &inner.id)));
        let first = WalkResult::read(&self.unless_blocked(first).await?)?;
        let mut others = Vec::new();
        for (frame, response) in calls {
            let outcome = match self.unless_blocked(response).await {
                Ok(response) => WalkResult::read(&response).map_err(|failure| failure.message),
                Err(failure) if failure.code == ErrorCode::DialogOpen => return Err(failure),
                Err(failure) => Err(failure.message),
            };
            others.push(FrameReading { frame, outcome });
        }
        self.refs().shows(frame, &first.document);
        for other in &others {
            if let Ok(response) = &other.outcome {
                self.refs().shows(&other.frame, &response.document);
            }
        }
        self.refs().keep_frames(|frame| self.session().has_frame(frame));
        let hosts = std::iter::once((frame, &first.hosts)).chain(
            others.iter().filter_map(|other| Some((&other.frame, &other.outcome.as_ref().ok()?.hosts))),
        );
        let adopted = self.adopt_closed_roots(hosts, deadline).await;
        let mut snapshot = Snapshot::assemble(first, frame.clone(), others);
        snapshot.fit(request);
        let made = make(&snapshot, request);
        let update = update.await;
        Ok((snapshot, made, if adopted { ListenerUpdate::Changed } else { update }))
    }

    /// Gives closed shadow roots of these elements to the agents. Returns whether there are any.
    async fn adopt_closed_roots<'f>(
        &self,
        hosts: impl Iterator<Item = (&'f FrameId, &'f Vec<ElementKey>)>,
        deadline: Deadline,
    ) -> bool {
        let hosts = hosts.flat_map(|(frame, keys)| keys.iter().map(move |key| (frame, *key)));
        let adoptions = hosts.map(|(frame, key)| self.session().adopt_closed_root(frame, key, deadline));
        let adopted = futures_util::future::join_all(adoptions);
        // An element that is gone has no root, and a page with a dialog is read later.
        let adopted = self.unless_blocked(async { Ok(adopted.await) }).await.unwrap_or_default();
        adopted.iter().any(|adopted| matches!(adopted, Ok(true)))
    }

    /// Queries the click listeners of these frames together with the pending calls. The response takes a bounded time.
    fn update_listeners<'f>(
        &self,
        frames: impl Iterator<Item = &'f FrameId>,
    ) -> impl Future<Output = ListenerUpdate> {
        let updates: Vec<_> = frames.map(|frame| self.session().update_click_listeners(frame)).collect();
        async move {
            let results = futures_util::future::join_all(updates).await;
            if results.iter().any(|result| matches!(result, Ok(true))) {
                ListenerUpdate::Changed
            } else {
                ListenerUpdate::Unchanged
            }
        }
    }

    /// Searches the whole page, or an element.
    pub(crate) async fn search(
        &self,
        pattern: Pattern,
        limit: usize,
        within: Option<&str>,
        deadline: Deadline,
    ) -> Result<Search, Failure> {
        let (root, key) = self.find_root(within, deadline).await?;
        let frames: Vec<Frame> = self.find_frame(&root).into_iter().chain(self.frames_below(&root)).collect();
        let mut search = Search::new(pattern, limit);
        self.update_listeners(frames.iter().map(|frame| &frame.id)).await;
        for frame in &frames {
            let key = key.filter(|_| frame.id == root);
            let mut from = Some(0);
            while let Some(start) = from {
                let argument = search.argument(start, key);
                let response =
                    self.unless_blocked(self.session().call(&frame.id, "find", &argument, deadline)).await;
                match response {
                    Ok(response) => from = search.take(&frame.id, &response)?,
                    // A frame that went away has no matches.
                    Err(failure) if self.is_document_replaced(&failure) && frame.id != root => from = None,
                    Err(failure) => return Err(failure),
                }
            }
        }
        Ok(search)
    }

    /// Keeps the page as it is before an action, so that the result can contain only changes. An earlier snapshot of
    /// the document stays: the client has seen it. A page that cannot be read now gives a whole snapshot afterwards.
    pub(crate) async fn take_baseline(&self, deadline: Deadline) {
        let deadline = Deadline::at(deadline.instant().min(Deadline::after(BASELINE_TIMEOUT).instant()));
        let request = SnapshotRequest::default();
        let known = self.memory().document_of(&request);
        if known.is_some() && known == self.current_document(deadline).await {
            return;
        }
        if let Ok((snapshot, request)) = self.view(request, None, deadline).await {
            self.memory().keep_baseline(&snapshot, &request);
        }
    }

    /// The document that a snapshot would show now; none when it does not respond.
    async fn current_document(&self, deadline: Deadline) -> Option<DocumentName> {
        let call = self.session().call(&self.scope_or_main(), "identify", &Value::Null, deadline);
        serde_json::from_value(self.unless_blocked(call).await.ok()?).ok()
    }

    /// What changed on the page since the last snapshot.
    pub(crate) async fn delta_text(&self, deadline: Deadline) -> Result<String, Failure> {
        let request = SnapshotRequest { selection: Selection::Everything, ..SnapshotRequest::default() };
        let (snapshot, request) = self.view(request, None, deadline).await?;
        Ok(self.memory().delta(&snapshot, &request, &mut self.refs()))
    }
}
