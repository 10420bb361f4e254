//! Requests to the extension that have no response yet.

use std::collections::BTreeMap;

use serde_json::Value;
use tabwire_api::CdpSessionId;

use crate::link::message::ChromeTab;
use crate::target::debuggee::DebuggeeId;

/// Where a response goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Requester {
    /// The hub, on the CDP session of the command.
    Hub { session: Option<CdpSessionId>, id: i64 },
    /// The emulated browser itself: no response is written.
    Internal,
}

/// What to do with the response.
#[derive(Clone, Debug)]
pub(crate) enum OnResponse {
    /// Forward the result unchanged.
    Forward,
    /// Forward the result of an input event. Input that closes its tab counts as delivered.
    Input(ChromeTab),
    /// Store Chrome's id of a script for new documents beside the id that the client has.
    AddScript { session: CdpSessionId, debuggee_id: DebuggeeId, given: String },
    /// Match an isolated world with its synthetic context.
    CreateWorld { session: CdpSessionId, number: i64 },
    /// The setup of all sessions was replayed on a tab.
    SetupApplied(ChromeTab),
    /// All events of a tab up to the request have arrived. `was_done`: no client was attaching to child targets then.
    ChildSetupPolled { tab: ChromeTab, polls_left: u32, was_done: bool },
    /// Wait for the `Target.attachedToTarget` events before the response.
    AutoAttach,
    /// All events up to the request have arrived.
    EventsDelivered,
    /// All contexts of a debuggee were reported: commands that wait for another one fail.
    ContextsReported(DebuggeeId),
    /// The debugger is attached to a tab.
    Attach(ChromeTab),
    /// Navigate the new, empty tab.
    Open { url: String },
    /// Respond with the target id of the new tab.
    Navigated { target: String },
    /// Stop the screencast that ran for a screenshot.
    Screenshot(DebuggeeId),
    /// Send the `Browser.downloadProgress` of a finished download, with the file's path.
    Download(Value),
    /// A tab was closed.
    Close(ChromeTab),
    /// Respond with an empty result.
    Acknowledge,
}

#[derive(Clone, Debug)]
pub(crate) struct PendingRequest {
    pub(crate) requester: Requester,
    pub(crate) on_response: OnResponse,
}

impl PendingRequest {
    pub(crate) fn internal(on_response: OnResponse) -> Self {
        Self { requester: Requester::Internal, on_response }
    }
}

/// Pending requests by message id.
#[derive(Debug, Default)]
pub(crate) struct PendingRequests {
    last_id: u64,
    by_id: BTreeMap<u64, PendingRequest>,
}

impl PendingRequests {
    pub(crate) fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    pub(crate) fn insert(&mut self, id: u64, request: PendingRequest) {
        self.by_id.insert(id, request);
    }

    pub(crate) fn take(&mut self, id: u64) -> Option<PendingRequest> {
        self.by_id.remove(&id)
    }

    pub(crate) fn take_all(&mut self) -> Vec<PendingRequest> {
        std::mem::take(&mut self.by_id).into_values().collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Discards the responses of all requests, because the hub is gone.
    pub(crate) fn forget_requesters(&mut self) {
        for pending in self.by_id.values_mut() {
            pending.requester = Requester::Internal;
        }
    }

    /// Takes the requesters of unfinished input to a tab.
    pub(crate) fn take_input_requesters(&mut self, tab: ChromeTab) -> Vec<Requester> {
        let is_input =
            |pending: &&mut PendingRequest| matches!(pending.on_response, OnResponse::Input(to) if to == tab);
        let inputs = self.by_id.values_mut().filter(is_input);
        inputs.map(|pending| std::mem::replace(&mut pending.requester, Requester::Internal)).collect()
    }

    /// Whether a session that matches waits for a response.
    pub(crate) fn any_on_session(&self, matches: impl Fn(&CdpSessionId) -> bool) -> bool {
        self.by_id.values().any(|pending| match &pending.requester {
            Requester::Hub { session: Some(session), .. } => matches(session),
            Requester::Hub { session: None, .. } | Requester::Internal => false,
        })
    }
}
