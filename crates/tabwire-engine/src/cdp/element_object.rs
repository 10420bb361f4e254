//! Elements as remote objects, for commands that need one: calling a function on it, setting files, finding its frame.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_api::{Failure, FrameId};
use tabwire_cdp::{CdpError, CdpSession, Deadline};
use tabwire_policy::Capability;

use super::errors::element_gone;
use super::session::PageSession;
use crate::frames::tree::{ContextId, Frame};
use crate::limits::SETUP_DEADLINE;
use crate::page::evaluate::EvaluateResponse;
use crate::snapshot::ElementKey;

/// A file input, named by the page agent or by the browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileInput {
    /// An element that the agent knows.
    Element(ElementKey),
    /// A `backendNodeId`.
    Node(i64),
}

/// A `Runtime.RemoteObject`; without an id when it is a plain value.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RemoteObject {
    pub(super) object_id: Option<String>,
}

/// The response to `Runtime.evaluate` without `returnByValue`.
#[derive(Deserialize)]
pub(super) struct RemoteObjectResponse {
    pub(super) result: RemoteObject,
}

/// The response to `DOM.resolveNode`.
#[derive(Deserialize)]
pub(super) struct ResolveNodeResponse {
    pub(super) object: RemoteObject,
}

/// The response to `DOM.describeNode`.
#[derive(Deserialize)]
struct DescribeNodeResponse {
    node: DescribedNode,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DescribedNode {
    pub(super) backend_node_id: i64,
    /// The frame that the node embeds, for `iframe` and its kin.
    frame_id: Option<FrameId>,
    #[serde(default)]
    shadow_roots: Vec<DescribedRoot>,
}

/// A shadow root of a described node.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DescribedRoot {
    backend_node_id: i64,
    shadow_root_type: Option<String>,
}

/// Makes files in the page and gives them to the input, as a user's choice does.
const GIVE_FILES: &str = "function (files) {
    const data = new DataTransfer();
    for (const { name, mime_type: type, content } of files) {
        data.items.add(new File([Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0))], name, { type }));
    }
    this.files = data.files;
    this.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
    this.dispatchEvent(new Event('change', { bubbles: true }));
}";

/// An element that Chrome keeps for us. Dropping it releases the object.
pub(super) struct ElementObject {
    session: CdpSession,
    id: String,
}

impl Drop for ElementObject {
    fn drop(&mut self) {
        let params = json!({"objectId": self.id});
        self.session.post("Runtime.releaseObject", &params, SETUP_DEADLINE);
    }
}

impl ElementObject {
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// The value of an expression in an execution context; `None` when it is not an object.
    pub(super) async fn evaluate(
        session: &CdpSession,
        context: ContextId,
        expression: &str,
        deadline: Deadline,
    ) -> Result<Option<Self>, CdpError> {
        let params = json!({"expression": expression, "contextId": context.number()});
        let evaluated: RemoteObjectResponse =
            session.send("Runtime.evaluate", &params, deadline).await?.to()?;
        Ok(evaluated.result.object_id.map(|id| Self { session: session.clone(), id }))
    }

    /// A node as an object of an execution context; of the main world without one.
    pub(super) async fn resolve(
        session: &CdpSession,
        node: i64,
        context: Option<ContextId>,
        deadline: Deadline,
    ) -> Result<Option<Self>, CdpError> {
        // A `nodeId` needs `DOM.getDocument` first and is valid in one session; a backend id needs neither.
        let mut params = json!({"backendNodeId": node});
        if let Some(context) = context {
            params["executionContextId"] = json!(context.number());
        }
        let resolved: ResolveNodeResponse = session.send("DOM.resolveNode", &params, deadline).await?.to()?;
        Ok(resolved.object.object_id.map(|id| Self { session: session.clone(), id }))
    }

    pub(super) async fn describe(&self, deadline: Deadline) -> Result<DescribedNode, CdpError> {
        let params = json!({"objectId": self.id});
        let described: DescribeNodeResponse =
            self.session.send("DOM.describeNode", &params, deadline).await?.to()?;
        Ok(described.node)
    }
}

/// The same for an element that may be detached by now.
pub(super) fn agent_element_or_detached(key: ElementKey) -> String {
    format!("tabwire.keptElement({})", json!(key))
}

/// The expression that gives the agent's element with a key.
fn agent_element(key: ElementKey) -> String {
    format!("tabwire.element({})", json!({"key": key}))
}

impl PageSession {
    /// Calls a function of the caller's with an element of a frame, in the main world. Returns the response to
    /// `Runtime.callFunctionOn`.
    pub(crate) async fn call_on_element(
        &self,
        frame: &FrameId,
        key: ElementKey,
        function: &str,
        deadline: Deadline,
    ) -> Result<Value, Failure> {
        self.check(frame, Capability::Eval)?;
        self.count_activity();
        let (session, context) = self.agent_context(frame, deadline).await?;
        let failed = |error: CdpError| self.failure_in(frame, error);
        // An object of the isolated world cannot be passed to the main world. Its backend node id can.
        let isolated = ElementObject::evaluate(&session, context, &agent_element(key), deadline).await;
        let isolated = isolated.map_err(failed)?.ok_or_else(element_gone)?;
        let node = isolated.describe(deadline).await.map_err(failed)?;
        let element = ElementObject::resolve(&session, node.backend_node_id, None, deadline).await;
        let element = element.map_err(failed)?.ok_or_else(element_gone)?;
        let params = json!({
            "objectId": element.id, "functionDeclaration": function, "arguments": [{"objectId": element.id}],
            "awaitPromise": true, "returnByValue": true, "userGesture": true,
        });
        let response = session.send("Runtime.callFunctionOn", &params, deadline).await;
        if matches!(response, Err(CdpError::Timeout { .. })) {
            // A script that still runs blocks everything else on the page.
            session.post("Runtime.terminateExecution", &json!({}), SETUP_DEADLINE);
        }
        response.and_then(|response| response.to()).map_err(failed)
    }

    /// The frame that an element embeds, as Playwright's `contentFrame`; `None` for any other element.
    pub(crate) async fn content_frame(
        &self,
        frame: &FrameId,
        key: ElementKey,
        deadline: Deadline,
    ) -> Result<Option<FrameId>, Failure> {
        let (session, context) = self.agent_context(frame, deadline).await?;
        let failed = |error: CdpError| self.failure_in(frame, error);
        let element = ElementObject::evaluate(&session, context, &agent_element(key), deadline).await;
        let Some(element) = element.map_err(failed)? else { return Ok(None) };
        Ok(element.describe(deadline).await.map_err(failed)?.frame_id)
    }

    /// Gives the closed shadow root of an element to the agent, which cannot read it by itself. Returns whether there is
    /// one.
    pub(crate) async fn adopt_closed_root(
        &self,
        frame: &FrameId,
        key: ElementKey,
        deadline: Deadline,
    ) -> Result<bool, Failure> {
        let (session, context) = self.agent_context(frame, deadline).await?;
        let failed = |error: CdpError| self.failure_in(frame, error);
        let host = ElementObject::evaluate(&session, context, &agent_element(key), deadline).await;
        let host = host.map_err(failed)?.ok_or_else(element_gone)?;
        let described = host.describe(deadline).await.map_err(failed)?;
        let is_closed = |root: &DescribedRoot| root.shadow_root_type.as_deref() == Some("closed");
        // No script can reach a closed root; `DOM.describeNode` lists it, and its node can be resolved in the
        // agent's world.
        let Some(root) = described.shadow_roots.into_iter().find(is_closed) else { return Ok(false) };
        let root = ElementObject::resolve(&session, root.backend_node_id, Some(context), deadline).await;
        let root = root.map_err(failed)?.ok_or_else(element_gone)?;
        let function = "function () { tabwire.adoptRoot(this); }";
        let params = json!({"objectId": root.id, "functionDeclaration": function});
        session.send("Runtime.callFunctionOn", &params, deadline).await.map_err(failed)?;
        Ok(true)
    }

    /// The agent's key of the element that embeds a frame, with its document. `above` is the frame around it.
    pub(crate) async fn frame_owner(
        &self,
        above: &FrameId,
        frame: &FrameId,
        deadline: Deadline,
    ) -> Result<Value, Failure> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct FrameOwner {
            backend_node_id: i64,
        }
        self.check(above, Capability::Read)?;
        let (session, context) = self.agent_context(above, deadline).await?;
        let failed = |error: CdpError| self.failure_in(above, error);
        let params = json!({"frameId": frame});
        let owner: FrameOwner = session
            .send("DOM.getFrameOwner", &params, deadline)
            .await
            .and_then(|response| response.to())
            .map_err(failed)?;
        let element = ElementObject::resolve(&session, owner.backend_node_id, Some(context), deadline).await;
        let element = element.map_err(failed)?.ok_or_else(element_gone)?;
        let params = json!({
            "objectId": element.id, "returnByValue": true,
            "functionDeclaration": "function () { return tabwire.run('keyOf', { element: this }); }",
        });
        let response = session.send("Runtime.callFunctionOn", &params, deadline).await;
        let response: EvaluateResponse = response.and_then(|response| response.to()).map_err(failed)?;
        response.into_agent_result()
    }

    /// Registers the element that embeds this frame with the agent of the frame above.
    pub(crate) async fn register_frame_owner(
        &self,
        frame: &Frame,
        deadline: Deadline,
    ) -> Result<(), Failure> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct FrameOwner {
            backend_node_id: i64,
        }
        let Some(owner_frame) = &frame.owner_frame else { return Ok(()) };
        let (session, context) = self.agent_context(owner_frame, deadline).await?;
        if self.tree().is_owner_known(&frame.id, context) {
            return Ok(());
        }
        let failed = CdpError::into_failure;
        let params = json!({"frameId": frame.id});
        let owner = session.send("DOM.getFrameOwner", &params, deadline).await.map_err(failed)?;
        let owner: FrameOwner = owner.to().map_err(failed)?;
        let element = ElementObject::resolve(&session, owner.backend_node_id, Some(context), deadline).await;
        let element = element.map_err(failed)?.ok_or_else(element_gone)?;
        let params = json!({
            "objectId": element.id,
            "functionDeclaration": "function (frame) { tabwire.nameFrame({ element: this, frame }); }",
            "arguments": [{"value": frame.id}],
        });
        session.send("Runtime.callFunctionOn", &params, deadline).await.map_err(failed)?;
        self.tree().set_owner_known(&frame.id, context);
        Ok(())
    }

    async fn file_input(
        &self,
        frame: &FrameId,
        input: FileInput,
        deadline: Deadline,
    ) -> Result<ElementObject, Failure> {
        let (session, context) = self.agent_context(frame, deadline).await?;
        let object = match input {
            FileInput::Element(key) => {
                ElementObject::evaluate(&session, context, &agent_element_or_detached(key), deadline).await
            }
            FileInput::Node(node) => ElementObject::resolve(&session, node, Some(context), deadline).await,
        };
        object.map_err(|error| self.failure_in(frame, error))?.ok_or_else(element_gone)
    }

    /// What the page agent reports about a file input.
    pub(crate) async fn describe_file_input(
        &self,
        frame: &FrameId,
        input: FileInput,
        deadline: Deadline,
    ) -> Result<Value, Failure> {
        let element = self.file_input(frame, input, deadline).await?;
        let params = json!({
            "objectId": element.id, "returnByValue": true,
            "functionDeclaration": "function () { return tabwire.run('fileInput', { element: this }); }",
        });
        let response = element.session.send("Runtime.callFunctionOn", &params, deadline).await;
        let response: EvaluateResponse =
            response.and_then(|response| response.to()).map_err(|error| self.failure_in(frame, error))?;
        response.into_agent_result()
    }

    /// Sets the files of a file input from memory.
    pub(crate) async fn give_files(
        &self,
        frame: &FrameId,
        input: FileInput,
        files: &Value,
        deadline: Deadline,
    ) -> Result<(), Failure> {
        self.check(frame, Capability::Upload)?;
        let element = self.file_input(frame, input, deadline).await?;
        let params = json!({
            "objectId": element.id, "functionDeclaration": GIVE_FILES, "arguments": [{"value": files}],
            "returnByValue": true,
        });
        let given = element.session.send("Runtime.callFunctionOn", &params, deadline).await;
        given.map(drop).map_err(|error| self.failure_in(frame, error))
    }

    /// Sets the files of a file input, as Playwright's `setInputFiles`.
    pub(crate) async fn set_input_files(
        &self,
        frame: &FrameId,
        input: FileInput,
        files: &[PathBuf],
        deadline: Deadline,
    ) -> Result<(), Failure> {
        self.check(frame, Capability::Upload)?;
        let element = self.file_input(frame, input, deadline).await?;
        // Chromium reads the files itself, by path; it must run on the same machine.
        let params = json!({"objectId": element.id, "files": files});
        let set = element.session.send("DOM.setFileInputFiles", &params, deadline).await;
        set.map(drop).map_err(|error| self.failure_in(frame, error))
    }
}
