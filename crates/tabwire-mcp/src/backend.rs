//! The interface between the MCP server and the daemon, which runs the calls.

use std::path::Path;
use std::pin::Pin;

use rmcp::model::{InputRequests, InputResponses};
use tabwire_api::api::{ActionRequest, ActionResponse};
use tabwire_api::{CallNumber, ClientName, Failure, Progress};

use crate::call::approval;

/// A response that is waited for.
pub type Answering<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Something that somebody has to allow before a call goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asking {
    /// What it is answered by.
    pub id: String,
    /// Who wants what, where, and why somebody is asked.
    pub message: String,
}

/// What somebody says to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// This one time.
    Once,
    /// For as long as the session lasts.
    Session,
    /// From now on.
    Always,
    /// No.
    No,
}

/// Somebody who is there to be asked, for one call of a client; leaves when dropped.
pub trait Attendant: Send + Sync {
    /// The number that the call's requests carry, so that its questions come here.
    fn call(&self) -> Option<CallNumber>;

    /// The next thing that is asked.
    fn next(&self) -> Answering<'_, Asking>;

    /// Hands a response in; one that comes too late changes nothing.
    fn answer(&self, id: &str, permission: Permission);

    /// The question as clients are told it: whether something may be done, unless it is about something else.
    fn put(&self, asking: &Asking) -> Option<InputRequests> {
        approval::put(asking)
    }

    /// Hands in what a client said to it; false if that was nothing, so that it is asked again.
    fn hear(&self, asking: &Asking, said: &InputResponses) -> bool {
        let permission = approval::heard(said);
        permission.map(|permission| self.answer(&asking.id, permission)).is_some()
    }
}

/// Who runs actions: one for each client, told once who that is.
pub trait Backend: std::fmt::Debug + Send + Sync + 'static {
    /// Runs an action. Dropping the response ends this call and no other.
    fn act<'a>(
        &'a self,
        name: &'a str,
        request: ActionRequest,
    ) -> Answering<'a, Result<ActionResponse, Failure>>;

    /// Reads an image that an action wrote.
    fn picture<'a>(&'a self, path: &'a Path) -> Answering<'a, Result<Vec<u8>, Failure>>;

    /// The last rows of the journal that are about the session, as text.
    fn journal<'a>(
        &'a self,
        request: &'a ActionRequest,
        rows: usize,
    ) -> Answering<'a, Result<String, Failure>>;

    /// A number that changes whenever something is granted, denied or taken back.
    fn policy_revision(&self) -> u64 {
        0
    }

    /// What the session is busy with.
    fn progress(&self, request: &ActionRequest) -> Progress;

    /// What the request of every call begins with.
    fn request(&self) -> ActionRequest;

    /// Has what one call of this client needs asked of whoever sits at the client.
    fn attend(&self) -> Box<dyn Attendant>;

    /// Takes note of what the client calls itself.
    fn introduce(&self, name: &ClientName);

    /// A backend of its own for another client of the same door.
    fn another(&self) -> Result<std::sync::Arc<dyn Backend>, Failure>;

    /// Ends everything of this client: its tabs, its leases, a browser that was started for it alone.
    fn leave(&self) -> Answering<'_, ()>;
}
