//! Takes the screenshot of a page after an action, under the policy of a screenshot.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tabwire_api::TabId;
use tabwire_api::api::ActionRequest;
use tabwire_cdp::Deadline;
use tabwire_engine::{find_action, viewport_jpeg};

use crate::audit::entry::AuditEntry;
use crate::daemon::Daemon;
use crate::session::Session;
use crate::session::live::LiveSession;

/// How long a screenshot may take. The action's response waits for it.
const SCREENSHOT_DEADLINE: Duration = Duration::from_secs(3);

/// Longest side in pixels, and quality: readable, and about 40 KB.
const LONGEST_SIDE: u32 = 1024;
const QUALITY: u8 = 60;

impl Daemon {
    /// Stores a screenshot of the tab for the row of an action, if the session has a trail and a screenshot would be allowed
    /// without a question to the user.
    pub(crate) async fn add_screenshot(
        &self,
        (session, live): (&Arc<Session>, &Arc<LiveSession>),
        request: &ActionRequest,
        tab: Option<TabId>,
        entry: &AuditEntry,
    ) {
        if live.options.trail != Some(true) || !self.audit.writes() {
            return;
        }
        let Some(name) = entry.screenshot_name() else { return };
        let params = json!({});
        let definition = find_action("screenshot");
        let Some((definition, needs)) = definition.and_then(|one| Some((one, one.needs(&params).ok()?)))
        else {
            return;
        };
        let Ok(files) = self.request_files(request) else { return };
        let check = self.policy_check(live, session, request, (definition, needs), entry.caller());
        if !check.is_allowed_now(&live.engine, tab).await {
            return;
        }
        let mut context =
            self.context(live, tab, Deadline::after(SCREENSHOT_DEADLINE), files, request, &check);
        context.snapshot = false;
        let screenshot = match viewport_jpeg(&context, LONGEST_SIDE, QUALITY).await {
            Ok(screenshot) => screenshot,
            Err(failure) => return tracing::debug!(%failure, "a page has no screenshot in the trail"),
        };
        // The page may have navigated meanwhile.
        if !check.is_allowed_now(&live.engine, tab).await {
            return;
        }
        let trail = Arc::clone(&self.trail);
        let stored = tokio::task::spawn_blocking(move || trail.store(&name, &screenshot)).await;
        if let Ok(Err(error)) = stored {
            tracing::debug!(%error, "a screenshot of the trail was not stored");
        }
    }
}
