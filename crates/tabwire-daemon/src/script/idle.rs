//! Between two runs: a script that listens gets its events, may read, decides about requests and closes dialogs.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use tabwire_api::api::ActionRequest;
use tokio::sync::mpsc;

use crate::daemon::Daemon;
use crate::http::caller::Caller;
use crate::script::run::{RunRequest, serve};
use crate::script::table::Slot;

impl Daemon {
    /// Serves a script that listens until its next run begins or its process ends.
    pub(crate) fn serve_idle_script(
        self: &Arc<Self>,
        slot: &Arc<Slot>,
        template: ActionRequest,
        caller: Caller,
    ) {
        let (daemon, slot) = (Arc::clone(self), Arc::clone(slot));
        self.tasks.start("script-between-runs", async move {
            let wanted = slot.wanted();
            let Some(mut place) = slot.try_lock() else { return };
            let Some(process) = place.as_mut() else { return };
            let (lines, received) = mpsc::channel(1);
            drop(received);
            let request = RunRequest {
                daemon: &daemon,
                caller: &caller,
                template,
                timeout: None,
                lines: &lines,
                slot: &slot,
                images: Mutex::new(HashSet::new()),
                known_tabs: Mutex::default(),
                known_frames: Mutex::default(),
                contexts: process.contexts(),
                cdp: process.cdp(),
                is_idle: true,
            };
            let (input, output, events) = process.split();
            events.attach(&request).await;
            let is_lost = tokio::select! {
                () = slot.is_wanted(wanted) => false,
                () = slot.removed() => true,
                () = daemon.tasks.stopping() => true,
                _ = serve(None, &request, input, output, events) => true,
            };
            if is_lost {
                *place = None;
            }
        });
    }
}
