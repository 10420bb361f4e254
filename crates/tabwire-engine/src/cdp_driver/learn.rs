//! Asks the browser what listens for clicks in a document and hands the elements to the document's agent.
//!
//! Scripts cannot see each other's listeners; the browser tells them without the page noticing. It has numbers of its
//! own for nodes, so each is handed over once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_cdp::{CdpError, CdpSession, Deadline, PendingAnswer, TaskGroup};
use tabwire_wire::FrameId;
use tokio::runtime::Handle;
use tokio::sync::{OwnedMutexGuard, oneshot};
use tokio::time::Instant;

use super::CdpDriver;
use super::held_object::{Evaluated, Resolved};
use crate::driver::Reply;
use crate::frame_table::{ListenedFrame, WorldId};
use crate::limits::{LISTENERS_AT_ONCE, LISTENERS_DEADLINE, LISTENERS_PATIENCE, LISTENERS_QUICK};
use crate::listeners::{Census, Known, Listener, NodeNumber};

/// The objects that elements are handed over as, let go together.
const GROUP: &str = "tabwire-listeners";

/// One document whose listeners are being found out.
struct Lesson {
    session: CdpSession,
    world: WorldId,
    own_world: WorldId,
    known: OwnedMutexGuard<Known>,
    /// The question, if it could be asked in the same breath as what came before.
    asked: Option<Result<PendingAnswer, CdpError>>,
    /// How many listeners there are, asked before that.
    counting: Option<PendingAnswer>,
    deeds: u64,
    /// Whether the agent has been told anything.
    told: Arc<AtomicBool>,
    deadline: Deadline,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Counted {
    js_event_listeners: u64,
}

#[derive(Deserialize)]
struct Listed {
    #[serde(default)]
    listeners: Vec<Listener>,
}

/// Whether what the agent was told makes a difference to a snapshot.
#[derive(Deserialize)]
struct Noted {
    result: NotedValue,
}

#[derive(Deserialize)]
struct NotedValue {
    value: Option<bool>,
}

impl CdpDriver {
    /// Finds out what listens in a frame's document. The question is on its way when this returns.
    pub(super) fn learn(&self, frame: &FrameId) -> Reply<bool> {
        let found = self.frames().listeners(frame);
        let nothing: Reply<bool> = Box::pin(async { Ok(false) });
        let Some(ListenedFrame { session, world, own_world, listeners }) = found else { return nothing };
        // Somebody else finds out already.
        let Ok(known) = Arc::clone(&listeners.known).try_lock_owned() else { return nothing };
        if !known.is_due(Instant::now()) {
            return nothing;
        }
        let is_quick = known.is_quick();
        let deadline = Deadline::after(LISTENERS_DEADLINE);
        let deeds = self.inner.deeds.load(Ordering::Relaxed);
        let is_counted = known.document.is_some() && !known.is_uncounted;
        let counting =
            is_counted.then(|| session.begin("Memory.getDOMCounters", &json!({}), deadline).ok()).flatten();
        let is_enough = counting.is_some() && known.is_fresh(deeds, Instant::now());
        let document = known.document.as_deref().filter(|_| !is_enough);
        let asked = document.map(|document| ask(&session, document, deadline));
        let told = Arc::new(AtomicBool::new(false));
        let told_too = Arc::clone(&told);
        let lesson =
            Lesson { session, world, own_world, known, asked, counting, deeds, told: told_too, deadline };
        let (done, over) = oneshot::channel::<()>();
        let is_asked = lesson.asked.is_some() || is_enough;
        let mut going_on =
            GoingOn { lesson: Some(Box::pin(lesson.run(done))), tasks: self.inner.tasks.clone() };
        if !is_asked {
            going_on.let_go();
        }
        if !is_quick {
            return nothing;
        }
        Box::pin(async move {
            let enough = tokio::time::timeout(LISTENERS_PATIENCE, over);
            tokio::select! {
                biased;
                () = going_on.finish() => {}
                _ = enough => {}
            }
            Ok(told.load(Ordering::Acquire))
        })
    }
}

/// A lesson that goes on while somebody waits for it, and by itself when nobody does any longer: as a rule there is
/// one answer to come, for which no task need be started.
struct GoingOn {
    /// None when it is over, or goes on by itself.
    lesson: Option<BoxFuture<'static, ()>>,
    tasks: TaskGroup,
}

impl GoingOn {
    /// Waits for the end; for ever when the lesson goes on by itself.
    async fn finish(&mut self) {
        let Some(lesson) = &mut self.lesson else { return std::future::pending().await };
        lesson.await;
        self.lesson = None;
    }

    fn let_go(&mut self) {
        if let Some(lesson) = self.lesson.take() {
            self.tasks.start("listeners", lesson);
        }
    }
}

impl Drop for GoingOn {
    fn drop(&mut self) {
        // Where everything ends there is nothing to go on in.
        if Handle::try_current().is_ok() {
            self.let_go();
        }
    }
}

fn ask(session: &CdpSession, document: &str, deadline: Deadline) -> Result<PendingAnswer, CdpError> {
    let params = json!({"objectId": document, "depth": -1, "pierce": true});
    session.begin("DOMDebugger.getEventListeners", &params, deadline)
}

impl Lesson {
    /// Finds out. Whoever waits goes on when all is known, or when so much is that the rest would take long.
    async fn run(self, done: oneshot::Sender<()>) {
        if let Err(error) = self.find_out(done).await {
            // The document went meanwhile, or is busy; the next snapshot asks again.
            tracing::debug!(%error, "the listeners of a document were not found out");
        }
    }

    async fn find_out(mut self, done: oneshot::Sender<()>) -> Result<(), CdpError> {
        let mut done = Some(done);
        let census = self.count().await;
        let asked = match self.asked.take() {
            Some(asked) => asked?,
            None if self.known.is_complete(census) => return Ok(()),
            None => {
                let held = self.known.document.clone();
                let document = if let Some(held) = held { held } else { self.hold_document().await? };
                ask(&self.session, &document, self.deadline)?
            }
        };
        self.known.count(None, Instant::now());
        let answer = match asked.answer().await {
            Ok(answer) => answer,
            Err(error) => {
                self.known.document = None;
                return Err(error);
            }
        };
        if self.known.has_heard(answer.bytes(), Instant::now()) {
            self.known.count(census, Instant::now());
            return Ok(());
        }
        let news = self.known.compare(&answer.to::<Listed>()?.listeners, Instant::now());
        if !news.gone.is_empty() {
            let params = json!({
                "functionDeclaration": "function (numbers) { return globalThis.tabwire?.forgetListeners(numbers); }",
                "executionContextId": self.world.number(), "arguments": [{"value": news.gone}],
            });
            if !self.call(params).await? {
                return Ok(());
            }
            self.known.remove(&news.gone);
        }
        let mut handed = 0;
        for nodes in news.come.chunks(LISTENERS_AT_ONCE) {
            self.hand_over(nodes).await?;
            handed += nodes.len();
            done.take_if(|_| handed >= LISTENERS_QUICK);
        }
        self.known.hear(answer.bytes());
        self.known.count(census, Instant::now());
        Ok(())
    }

    /// Counts what can be counted; none where the browser does not.
    async fn count(&mut self) -> Option<Census> {
        let counted = self.counting.take()?.answer().await;
        if let Err(CdpError::Protocol { .. }) = counted {
            self.known.is_uncounted = true;
        }
        let Counted { js_event_listeners: listeners } = counted.ok()?.to().ok()?;
        Some(Census { listeners, deeds: self.deeds })
    }

    /// Has the browser hold the document for as long as it is shown. In no group: listeners would be held with it.
    ///
    /// The document as the page's own scripts see it, not as the agent does: Chromium 156 crashes some time after it
    /// was asked for all listeners of a document in another world (`ten_thousand_listeners` tells). No page can put
    /// something else in the place of `document`.
    async fn hold_document(&mut self) -> Result<String, CdpError> {
        let params = json!({"expression": "document", "contextId": self.own_world.number()});
        let held: Evaluated = self.session.send("Runtime.evaluate", &params, self.deadline).await?.to()?;
        let document = held.result.object_id.unwrap_or_default();
        self.known.document = Some(document.clone());
        Ok(document)
    }

    /// Hands nodes to the agent as elements.
    async fn hand_over(&mut self, nodes: &[NodeNumber]) -> Result<(), CdpError> {
        let begin = |node: &NodeNumber| {
            let params = json!({
                "backendNodeId": node, "executionContextId": self.world.number(), "objectGroup": GROUP,
            });
            self.session.begin("DOM.resolveNode", &params, self.deadline)
        };
        let resolving: Vec<_> = nodes.iter().map(begin).collect();
        let mut numbers = Vec::new();
        let mut elements = Vec::new();
        for (node, resolving) in nodes.iter().zip(resolving) {
            match resolving?.answer().await {
                Ok(answer) => {
                    if let Some(object) = answer.to::<Resolved>()?.object.object_id {
                        numbers.push(*node);
                        elements.push(json!({"objectId": object}));
                    }
                }
                // Gone meanwhile, or in a frame that this agent cannot read.
                Err(CdpError::Protocol { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let arguments: Vec<Value> = std::iter::once(json!({"value": numbers})).chain(elements).collect();
        let params = json!({
            "functionDeclaration": "function (numbers, ...elements) { return globalThis.tabwire?.noteListeners(numbers, elements); }",
            "executionContextId": self.world.number(), "arguments": arguments,
        });
        let noting = self.call(params);
        let release = json!({"objectGroup": GROUP});
        let released = self.session.begin("Runtime.releaseObjectGroup", &release, self.deadline);
        let noted = noting.await;
        released?.answer().await?;
        if noted? {
            self.known.add(nodes);
        }
        Ok(())
    }

    /// Tells the agent; false when it is not there yet.
    fn call(&self, mut params: Value) -> impl Future<Output = Result<bool, CdpError>> + use<> {
        params["returnByValue"] = json!(true);
        let begun = self.session.begin("Runtime.callFunctionOn", &params, self.deadline);
        let told = Arc::clone(&self.told);
        async move {
            let matters = begun?.answer().await?.to::<Noted>()?.result.value;
            if matters == Some(true) {
                told.store(true, Ordering::Release);
            }
            Ok(matters.is_some())
        }
    }
}
