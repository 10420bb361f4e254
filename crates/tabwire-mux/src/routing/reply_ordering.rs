//! Replies that wait until the attachments before them are announced.

use std::collections::BTreeMap;

use bytes::BytesMut;
use tabwire_api::ClientId;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DelayId(u64);

#[derive(Debug)]
struct DelayedReply {
    client: ClientId,
    /// Attachments that are not announced yet.
    attachments: usize,
    frame: BytesMut,
}

/// Delayed replies; each is released when its last attachment is announced.
#[derive(Debug, Default)]
pub(crate) struct DelayedReplies {
    next: u64,
    replies: BTreeMap<DelayId, DelayedReply>,
}

impl DelayedReplies {
    pub(crate) fn delay(&mut self, client: ClientId, attachments: usize, frame: BytesMut) -> DelayId {
        self.next += 1;
        let id = DelayId(self.next);
        self.replies.insert(id, DelayedReply { client, attachments, frame });
        id
    }

    /// Counts one attachment; returns the reply when it was the last.
    pub(crate) fn attachment_done(&mut self, id: DelayId) -> Option<(ClientId, BytesMut)> {
        let reply = self.replies.get_mut(&id)?;
        reply.attachments = reply.attachments.saturating_sub(1);
        if reply.attachments > 0 {
            return None;
        }
        self.replies.remove(&id).map(|reply| (reply.client, reply.frame))
    }

    pub(crate) fn remove_client(&mut self, client: ClientId) {
        self.replies.retain(|_, reply| reply.client != client);
    }

    /// Takes all replies, oldest first.
    pub(crate) fn take_all(&mut self) -> Vec<(ClientId, BytesMut)> {
        std::mem::take(&mut self.replies).into_values().map(|reply| (reply.client, reply.frame)).collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.replies.len()
    }
}
