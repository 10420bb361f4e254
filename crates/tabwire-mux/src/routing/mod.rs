//! Routes frames between clients and the browser.

pub(crate) mod browser_command;
mod client_response;
pub(crate) mod from_browser;
pub(crate) mod from_client;
pub(crate) mod pending;
pub(crate) mod reply_ordering;
pub(crate) mod rewrite;

use std::time::Instant;

use bytes::BytesMut;
use tabwire_api::{CdpSessionId, ClientId};
use tabwire_cdp::reply;

use crate::output::{FrameClass, Output};
use crate::routing::pending::{InternalCommand, Pending, PendingTable, Requester};
use crate::routing::reply_ordering::{DelayId, DelayedReplies};

/// Pending commands, delayed replies and the outputs of the mux.
#[derive(Debug, Default)]
pub(crate) struct Router {
    pending: PendingTable,
    delayed: DelayedReplies,
    outbox: Vec<Output>,
    /// The last clock reading.
    clock: Option<Instant>,
}

impl Router {
    pub(crate) fn pending(&self) -> &PendingTable {
        &self.pending
    }

    pub(crate) fn pending_mut(&mut self) -> &mut PendingTable {
        &mut self.pending
    }

    pub(crate) fn clock(&self) -> Option<Instant> {
        self.clock
    }

    pub(crate) fn set_clock(&mut self, now: Instant) {
        self.clock = Some(now);
    }

    pub(crate) fn push(&mut self, output: Output) {
        self.outbox.push(output);
    }

    pub(crate) fn take_outputs(&mut self) -> Vec<Output> {
        std::mem::take(&mut self.outbox)
    }

    pub(crate) fn deliver(&mut self, client: ClientId, frame: BytesMut, class: FrameClass) {
        self.push(Output::ToClient { client, frame, class });
    }

    /// Sends an internal command.
    pub(crate) fn send(
        &mut self,
        session: Option<&CdpSessionId>,
        method: &str,
        params: impl std::fmt::Display,
        internal: InternalCommand,
        now: Instant,
    ) {
        let requester = Requester::Internal(internal);
        let id = self.pending.insert(Pending {
            requester,
            session: session.cloned(),
            since: now,
            revives: false,
            guarded: None,
        });
        self.push(Output::ToBrowser(reply::command(id, session, method, params)));
    }

    /// Sends a reply after the attachments that its browser-level session waits for.
    pub(crate) fn reply_after_attachments(
        &mut self,
        client: ClientId,
        session: &CdpSessionId,
        reply: BytesMut,
    ) {
        let concerns = |requester: &Requester| match requester {
            Requester::Internal(InternalCommand::AutoAttach { browser_session, .. }) => {
                browser_session == session
            }
            _ => false,
        };
        let count = self.pending.iter().filter(|(_, pending)| concerns(&pending.requester)).count();
        if count == 0 {
            return self.deliver(client, reply, FrameClass::Response);
        }
        let delay = self.delayed.delay(client, count, reply);
        for pending in self.pending.iter_mut() {
            if concerns(&pending.requester)
                && let Requester::Internal(InternalCommand::AutoAttach { delays, .. }) =
                    &mut pending.requester
            {
                delays.push(delay);
            }
        }
    }

    /// An attachment is announced, or has failed: sends the replies that waited only for it.
    pub(crate) fn release_replies(&mut self, delays: &[DelayId]) {
        for delay in delays {
            if let Some((client, reply)) = self.delayed.attachment_done(*delay) {
                self.deliver(client, reply, FrameClass::Response);
            }
        }
    }

    /// Sends all delayed replies at once.
    pub(crate) fn release_all_replies(&mut self) {
        for (client, reply) in self.delayed.take_all() {
            self.deliver(client, reply, FrameClass::Response);
        }
    }

    pub(crate) fn drop_replies(&mut self, client: ClientId) {
        self.delayed.remove_client(client);
    }

    pub(crate) fn delayed_replies(&self) -> usize {
        self.delayed.len()
    }
}
