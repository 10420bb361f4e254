//! Main contexts that were reported before the tree had their frames.

use std::collections::HashMap;

use tabwire_api::{CdpSessionId, FrameId};
use tabwire_cdp::CdpSession;

use super::ContextId;

/// A page with more frames than this lists some without a context.
const LIMIT: usize = 1_000;

/// Chrome reports the contexts of existing frames in response to `Runtime.enable`, and the frames themselves only in
/// response to `Page.getFrameTree`, which is sent later.
#[derive(Debug, Default)]
pub(super) struct EarlyContexts {
    contexts: HashMap<FrameId, EarlyContext>,
}

#[derive(Debug)]
pub(super) struct EarlyContext {
    session: Option<CdpSessionId>,
    pub(super) context: ContextId,
    pub(super) origin: String,
}

impl EarlyContexts {
    pub(super) fn insert(&mut self, frame: &FrameId, context: ContextId, origin: &str, session: &CdpSession) {
        if self.contexts.len() < LIMIT || self.contexts.contains_key(frame) {
            let early = EarlyContext { session: session.id().cloned(), context, origin: origin.to_owned() };
            self.contexts.insert(frame.clone(), early);
        }
    }

    /// The context of a frame that is listed now, if the same session reported it.
    pub(super) fn take(&mut self, frame: &FrameId, session: &CdpSession) -> Option<EarlyContext> {
        self.contexts.remove(frame).filter(|early| early.session.as_ref() == session.id())
    }

    pub(super) fn remove_frame(&mut self, frame: &FrameId) {
        self.contexts.remove(frame);
    }

    pub(super) fn remove_context(&mut self, context: ContextId, session: Option<&CdpSessionId>) {
        self.contexts.retain(|_, early| early.session.as_ref() != session || early.context != context);
    }

    pub(super) fn remove_session(&mut self, session: Option<&CdpSessionId>) {
        self.contexts.retain(|_, early| early.session.as_ref() != session);
    }
}
