//! Functions of scripts in the main world of a frame, with objects of the page that the script keeps as handles.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure, FrameId};
use tabwire_cdp::{CdpError, CdpSession, Deadline};
use tabwire_policy::Capability;

use super::element_object::{ElementObject, agent_element_or_detached};
use super::errors::{element_gone, frame_gone, is_document_gone};
use super::session::PageSession;
use super::workers::worker_gone;
use crate::frames::tree::ContextId;
use crate::limits::SETUP_DEADLINE;
use crate::page::evaluate::EvaluateResponse;
use crate::snapshot::{DocumentName, ElementKey};

/// Objects that scripts keep of one page.
const MOST_HANDLES: usize = 10_000;

/// Where code of a script runs, and where its objects live.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ObjectPlace {
    Frame(FrameId),
    /// The id of a worker.
    Worker(String),
}

/// An object of the page that a script keeps.
#[derive(Clone, Debug)]
struct HeldObject {
    session: CdpSession,
    object: String,
    place: ObjectPlace,
    /// The context of a frame; a worker has one context.
    context: Option<ContextId>,
}

/// Objects by number, up to a limit.
#[derive(Debug)]
struct Numbered<T> {
    last: u64,
    kept: BTreeMap<u64, T>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self { last: 0, kept: BTreeMap::new() }
    }
}

impl<T> Numbered<T> {
    /// Keeps an object under a new number; gives it back when there is no room.
    fn add(&mut self, object: T) -> Result<u64, T> {
        if self.kept.len() >= MOST_HANDLES {
            return Err(object);
        }
        self.last += 1;
        self.kept.insert(self.last, object);
        Ok(self.last)
    }
}

/// The objects of one page that scripts keep, by number.
#[derive(Debug, Default)]
pub(crate) struct ScriptHandles(Mutex<Numbered<HeldObject>>);

impl ScriptHandles {
    fn lock(&self) -> MutexGuard<'_, Numbered<HeldObject>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, held: HeldObject) -> Result<u64, Failure> {
        let added = self.lock().add(held);
        added.map_err(|held| {
            held.session.post("Runtime.releaseObject", &json!({"objectId": held.object}), SETUP_DEADLINE);
            let message = format!("A page has at most {MOST_HANDLES} handles of scripts.");
            Failure::new(ErrorCode::BadArgs, message).with_remedy("Call dispose() on those not needed.")
        })
    }

    fn find(&self, number: u64) -> Option<HeldObject> {
        self.lock().kept.get(&number).cloned()
    }

    fn take(&self, number: u64) -> Option<HeldObject> {
        self.lock().kept.remove(&number)
    }
}

/// An object that a script passes to a function.
#[derive(Clone, Debug)]
pub(crate) enum GivenObject {
    /// An element that the agent of a frame knows.
    Element(FrameId, ElementKey),
    /// An object that the script keeps.
    Handle(u64),
}

/// A call of a script's function.
#[derive(Debug)]
pub(crate) struct ScriptCall<'a> {
    /// The frame or worker in which it runs.
    pub(crate) place: ObjectPlace,
    /// The function; its arguments are `argument` and the objects.
    pub(crate) function: &'a str,
    pub(crate) argument: &'a Value,
    pub(crate) objects: &'a [GivenObject],
    /// Whether to keep the result as a handle.
    pub(crate) keeps: bool,
    /// Whether a promise is waited for.
    pub(crate) waits: bool,
}

/// What a script's function returned.
#[derive(Debug)]
pub(crate) struct ScriptReturn {
    pub(crate) response: EvaluateResponse,
    /// The number of the object that was kept.
    pub(crate) handle: Option<u64>,
    /// The kept object as an element, in the terms of the agent.
    pub(crate) element: Option<KeptElement>,
}

/// A kept object that is an element.
#[derive(Debug)]
pub(crate) struct KeptElement {
    pub(crate) frame: FrameId,
    pub(crate) document: DocumentName,
    pub(crate) key: ElementKey,
    /// Its tag on one line.
    pub(crate) html: Option<String>,
}

/// What the agent calls an element.
#[derive(Deserialize)]
struct NamedElement {
    document: DocumentName,
    key: ElementKey,
    html: Option<String>,
}

impl PageSession {
    /// Where an object of a script lives.
    pub(crate) fn place_of_handle(&self, number: u64) -> Option<ObjectPlace> {
        self.handles().find(number).map(|held| held.place)
    }

    /// Releases objects that a script no longer needs.
    pub(crate) fn release_handles(&self, numbers: &[u64]) {
        for held in numbers.iter().filter_map(|number| self.handles().take(*number)) {
            held.session.post("Runtime.releaseObject", &json!({"objectId": held.object}), SETUP_DEADLINE);
        }
    }

    /// Runs a script's function in the main world of a frame, or in a worker.
    pub(crate) async fn call_script(
        &self,
        call: &ScriptCall<'_>,
        deadline: Deadline,
    ) -> Result<ScriptReturn, Failure> {
        self.count_activity();
        let (session, context, global) = match &call.place {
            ObjectPlace::Frame(frame) => {
                self.check(frame, Capability::Eval)?;
                let (session, context) = self.main_context(frame, deadline).await?;
                (session, Some(context), json!({"executionContextId": context.number()}))
            }
            ObjectPlace::Worker(id) => {
                let session = self.worker_for_code(id, deadline).await?.session;
                let global = worker_global(&session, deadline).await?;
                (session, None, json!({"objectId": global}))
            }
        };
        let (arguments, _kept) = self.arguments(call, &session, context, deadline).await?;
        let mut params = json!({
            "functionDeclaration": call.function, "arguments": arguments, "awaitPromise": call.waits,
            "returnByValue": !call.keeps, "userGesture": true,
        });
        if let (Some(params), Some(global)) = (params.as_object_mut(), global.as_object()) {
            params.extend(global.clone());
        }
        let response = session.send("Runtime.callFunctionOn", &params, deadline).await;
        if matches!(response, Err(CdpError::Timeout { .. })) {
            // A script that still runs blocks everything else on the page.
            session.post("Runtime.terminateExecution", &json!({}), SETUP_DEADLINE);
        }
        let response: EvaluateResponse =
            response.and_then(|response| response.to()).map_err(|error| match &call.place {
                ObjectPlace::Worker(_) => worker_failure(error),
                ObjectPlace::Frame(_) if is_document_gone(&error) => navigated(),
                ObjectPlace::Frame(frame) => self.failure_in(frame, error),
            })?;
        let object = response.object_id().filter(|_| call.keeps).map(str::to_owned);
        let Some(object) = object else { return Ok(ScriptReturn { response, handle: None, element: None }) };
        let held = HeldObject { session, object, place: call.place.clone(), context };
        let element = if response.is_element() { self.name_element(&held, deadline).await } else { None };
        Ok(ScriptReturn { response, handle: Some(self.handles().add(held)?), element })
    }

    /// The arguments of a call, and the elements among them, which are released when they are dropped.
    async fn arguments(
        &self,
        call: &ScriptCall<'_>,
        session: &CdpSession,
        context: Option<ContextId>,
        deadline: Deadline,
    ) -> Result<(Vec<Value>, Vec<ElementObject>), Failure> {
        let mut arguments = vec![json!({"value": call.argument})];
        let mut elements = Vec::new();
        for object in call.objects {
            let id = match (object, context) {
                (GivenObject::Handle(number), _) => self.object_of(*number, session, context)?,
                (GivenObject::Element(frame, key), Some(context)) => {
                    let element = self.element_for(frame, *key, session, context, deadline).await?;
                    let id = element.id().to_owned();
                    elements.push(element);
                    id
                }
                (GivenObject::Element(..), None) => return Err(other_context()),
            };
            arguments.push(json!({"objectId": id}));
        }
        Ok((arguments, elements))
    }

    /// The session and the main context of a frame, which may have joined just now.
    async fn main_context(
        &self,
        frame: &FrameId,
        deadline: Deadline,
    ) -> Result<(CdpSession, ContextId), Failure> {
        if let Some((session, Some(context))) = self.tree().find_main_context(frame) {
            return Ok((session, context));
        }
        self.agent_context(frame, deadline).await?;
        self.sync_events(deadline).await;
        let found = self.tree().find_main_context(frame);
        match found {
            Some((session, Some(context))) => Ok((session, context)),
            Some(_) => Err(Failure::new(ErrorCode::CdpError, "The frame runs no scripts.")),
            None => Err(frame_gone(frame)),
        }
    }

    fn object_of(
        &self,
        number: u64,
        session: &CdpSession,
        context: Option<ContextId>,
    ) -> Result<String, Failure> {
        let held = self.handles().find(number).ok_or_else(|| {
            Failure::new(ErrorCode::BadArgs, "JSHandle is disposed!").with_remedy("Evaluate it again.")
        })?;
        if held.session.id() != session.id() || held.context != context {
            return Err(other_context());
        }
        Ok(held.object)
    }

    /// An element of a frame's agent as an object of another world.
    async fn element_for(
        &self,
        frame: &FrameId,
        key: ElementKey,
        session: &CdpSession,
        context: ContextId,
        deadline: Deadline,
    ) -> Result<ElementObject, Failure> {
        self.check(frame, Capability::Eval)?;
        let (owner, agent) = self.agent_context(frame, deadline).await?;
        let failed = |error: CdpError| self.failure_in(frame, error);
        if owner.id() != session.id() {
            let message = "Unable to adopt element handle from a different document";
            return Err(
                Failure::new(ErrorCode::BadArgs, message).with_remedy("Evaluate in the element's frame.")
            );
        }
        // An object of the isolated world cannot be passed to the main world. Its backend node id can.
        let isolated =
            ElementObject::evaluate(&owner, agent, &agent_element_or_detached(key), deadline).await;
        let isolated = isolated.map_err(failed)?.ok_or_else(element_gone)?;
        let node = isolated.describe(deadline).await.map_err(failed)?;
        let element = ElementObject::resolve(session, node.backend_node_id, Some(context), deadline).await;
        element.map_err(failed)?.ok_or_else(element_gone)
    }

    /// What the agent of the object's frame calls the element; `None` when it is in a document the agent cannot read.
    async fn name_element(&self, held: &HeldObject, deadline: Deadline) -> Option<KeptElement> {
        let ObjectPlace::Frame(frame) = &held.place else { return None };
        let (session, context) = self.agent_context(frame, deadline).await.ok()?;
        let described = session
            .send("DOM.describeNode", &json!({"objectId": held.object}), deadline)
            .await
            .ok()?
            .to::<Value>()
            .ok()?;
        let node = described.pointer("/node/backendNodeId")?.as_i64()?;
        // An object id belongs to one world. The node's backend id leads to the same element in the agent's
        // world.
        let element = ElementObject::resolve(&session, node, Some(context), deadline).await.ok()??;
        let params = json!({
            "objectId": element.id(), "returnByValue": true,
            "functionDeclaration": "function () { return tabwire.run('nameElement', { element: this }); }",
        });
        let response = session.send("Runtime.callFunctionOn", &params, deadline).await.ok()?;
        let named = response.to::<EvaluateResponse>().ok()?.into_agent_result().ok()?;
        let named: NamedElement = serde_json::from_value(named).ok()?;
        let NamedElement { document, key, html } = named;
        Some(KeptElement { frame: frame.clone(), document, key, html })
    }
}

/// The global object of a worker.
async fn worker_global(session: &CdpSession, deadline: Deadline) -> Result<String, Failure> {
    let params = json!({"expression": "globalThis", "objectGroup": "tabwire"});
    let response = session.send("Runtime.evaluate", &params, deadline).await;
    let response: EvaluateResponse = response.and_then(|response| response.to()).map_err(worker_failure)?;
    let id = response.object_id().map(str::to_owned);
    id.ok_or_else(|| Failure::new(ErrorCode::CdpError, "The worker has no global object."))
}

/// The failure of a command to a worker. One that has ended is gone.
fn worker_failure(error: CdpError) -> Failure {
    if is_document_gone(&error) { worker_gone() } else { error.into_failure() }
}

fn other_context() -> Failure {
    let message = "JSHandles can be evaluated only in the context they were created!";
    Failure::new(ErrorCode::BadArgs, message).with_remedy("Evaluate it in this document.")
}

/// The page navigated while a script's function ran.
fn navigated() -> Failure {
    let message = "Execution context was destroyed, most likely because of a navigation";
    Failure::new(ErrorCode::TargetGone, message).with_remedy("Wait for the navigation first.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_a_limited_number_of_handles() {
        let mut handles = Numbered::default();
        for _ in 0..MOST_HANDLES {
            assert!(handles.add("kept").is_ok());
        }
        assert_eq!(handles.add("one more"), Err("one more"));
        assert_eq!(handles.kept.remove(&7), Some("kept"));
        let number = handles.add("in its room").unwrap_or_default();
        assert_eq!((number, handles.kept.len()), (10_001, MOST_HANDLES), "numbers are not used again");
    }
}
