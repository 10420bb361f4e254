//! Watches a page through an action: collects events, requests the agent's reports, and lists what changed.

use std::time::Duration;

use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure, FrameId, TargetId};
use tabwire_cdp::{Deadline, Feed, TargetInfo};
use tokio::time::Instant;

use crate::action::result::Changes;
use crate::browser::Browser;
use crate::cdp::MergedEvents;
use crate::download::wait::StartedDownloads;
use crate::input::element::Element;
use crate::page::Page;
use crate::page::console::ConsoleEntry;
use crate::settle::activity::{ActivityTracker, METHODS};
use crate::settle::report::SettleReport;
use crate::settle::{PageInfo, SettleResult};
use crate::snapshot::{PageText, address};

/// How long an action waits for requests that it started.
const SETTLE_REQUESTS: Duration = Duration::from_secs(3);

/// How long an action waits for a page load that it started.
const SETTLE_LOADING: Duration = Duration::from_secs(10);

/// How long the agent waits for a document that keeps changing.
const QUIET_TIMEOUT: Duration = Duration::from_millis(500);

/// How long the result waits for animations that the action started.
const ANIMATION_TIMEOUT: Duration = Duration::from_millis(1_000);

/// Two frames at 60 Hz: a page handles the end of an animation in the frame after it.
const TWO_FRAMES: Duration = Duration::from_millis(34);

/// How long the result waits for the target of a window that the page opened.
const WINDOW_TIMEOUT: Duration = Duration::from_secs(2);

/// Short messages of the page in a result.
const MESSAGES: usize = 5;

/// Console errors in a result.
const CONSOLE_ERRORS: usize = 5;

/// Characters of a console error in a result.
const CONSOLE_ERROR_CHARACTERS: usize = 300;

/// The state of a page since before an action.
pub(super) struct LifecycleWatcher {
    events: MergedEvents,
    opened: Feed<TargetInfo>,
    /// The number of the last console line before the action.
    console: u64,
    downloads: StartedDownloads,
    before: Option<PageInfo>,
    activity: ActivityTracker,
    /// The frame whose agent reports; the main frame once that frame is gone.
    frame: FrameId,
    matches: Option<bool>,
    /// Whether the engine filters by the action's own policy, so that the result may name what new tabs show.
    is_filtered: bool,
}

impl LifecycleWatcher {
    pub(super) fn start(page: &Page, browser: &Browser, is_filtered: bool) -> Self {
        Self {
            // CDP replays no events, so the streams start before the input (docs/cdp/listener-before-
            // navigate.md).
            events: MergedEvents::new(page.session().events(METHODS)),
            opened: browser.opened(),
            console: page.state().console().count(),
            downloads: StartedDownloads::begin(browser),
            before: None,
            activity: ActivityTracker::new(page.main_frame()),
            frame: page.main_frame().clone(),
            matches: None,
            is_filtered,
        }
    }

    pub(super) fn set_element(&mut self, element: &Element, page: &Page) {
        self.frame = element.frame.clone();
        if self.frame == *page.main_frame() {
            let (url, title) = (element.info.url.clone(), element.info.title.clone());
            self.before = Some(PageInfo { url, title });
        }
    }

    /// Waits until the page is idle and lists what changed. `report` is the agent's report when it was requested with
    /// the input.
    pub(super) async fn settle(
        mut self,
        page: &Page,
        browser: &Browser,
        report: Option<Result<Value, Failure>>,
        deadline: Deadline,
    ) -> Result<SettleResult, Failure> {
        let mut changes = Changes::default();
        let mut report = report;
        loop {
            let is_main = self.frame == *page.main_frame();
            let reported = match report.take() {
                Some(report) => report,
                None => self.request_report(page, deadline).await,
            };
            self.drain_events();
            if matches!(reported, Ok(Value::Null)) {
                // This frame never reports.
                self.frame = page.main_frame().clone();
            }
            let has_report = match reported {
                Ok(value) => {
                    self.take_report(value, is_main, &mut changes, deadline).await?;
                    true
                }
                Err(failure) if failure.code == ErrorCode::DialogOpen => break,
                // The document was replaced during the call: a navigation is in progress.
                Err(failure) if failure.code == ErrorCode::TargetGone && !page.is_gone() => false,
                Err(failure) if failure.code == ErrorCode::TargetGone => break,
                Err(failure) => return Err(failure),
            };
            if !has_report || self.activity.has_navigated() {
                self.frame = page.main_frame().clone();
            }
            if self.activity.is_idle() && (has_report || self.activity.has_navigated()) {
                break;
            }
            if !self.wait_until_idle(page, deadline).await {
                changes.still_loading = self.activity.is_loading();
                break;
            }
        }
        let matches = self.matches;
        self.collect_changes(page, browser, &mut changes, deadline).await;
        Ok(SettleResult { changes, matches })
    }

    /// The result of an action that does not wait for its effects: whether the input arrived, and the element's value.
    pub(super) async fn read_report(
        mut self,
        page: &Page,
        report: Result<Value, Failure>,
        deadline: Deadline,
    ) -> Result<SettleResult, Failure> {
        let mut changes = Changes::default();
        match report {
            Ok(mut value) => {
                if let Some(report) = value.as_object_mut() {
                    report.remove("animationsEnd");
                }
                self.take_report(value, false, &mut changes, deadline).await?;
            }
            // A dialog or a new document is an effect of the input.
            Err(failure) if matches!(failure.code, ErrorCode::DialogOpen | ErrorCode::TargetGone) => {}
            Err(failure) => return Err(failure),
        }
        changes.dialog.clone_from(&page.state().dialog().borrow());
        Ok(SettleResult { changes, matches: self.matches })
    }

    async fn take_report(
        &mut self,
        value: Value,
        is_main: bool,
        changes: &mut Changes,
        deadline: Deadline,
    ) -> Result<(), Failure> {
        let has_report = !value.is_null();
        let report: SettleReport = serde_json::from_value(value).unwrap_or_default();
        changes.content |= report.contents > 0;
        changes.mutated |= report.mutations > 0;
        if let Some(failure) = report.guard.as_ref().and_then(|guard| guard.to_failure(report.arrived)) {
            return Err(failure);
        }
        self.downloads.expect(report.saving);
        wait_for_animations(&report, deadline).await;
        if let Some(value) = report.value.as_ref().and_then(Value::as_str) {
            changes.value = Some(value.to_owned());
        }
        let room = MESSAGES.saturating_sub(changes.messages.len());
        changes.messages.extend(report.messages.into_iter().take(room));
        changes.busy = report.busy;
        self.matches = report.matches.or(self.matches);
        if let (true, Some(before)) = (is_main && has_report, &self.before) {
            changes.url = (report.url != before.url).then(|| address(&report.url));
            changes.title = (report.title != before.title).then_some(report.title);
        }
        Ok(())
    }

    async fn request_report(&self, page: &Page, deadline: Deadline) -> Result<Value, Failure> {
        page.call_in(&self.frame, "settle", &settle_argument(json!({}), true), deadline).await
    }

    fn drain_events(&mut self) {
        while let Some(event) = self.events.take_next() {
            self.activity.observe(&event);
        }
    }

    /// Waits until nothing is active; false at the timeout. An open dialog ends the wait too.
    async fn wait_until_idle(&mut self, page: &Page, deadline: Deadline) -> bool {
        // Idle is a hint and needs a limit: a page that polls is never idle (docs/cdp/what-load-event-
        // means.md).
        let timeout = if self.activity.is_loading() { SETTLE_LOADING } else { SETTLE_REQUESTS };
        let until = Deadline::at(deadline.instant().min(Instant::now() + timeout));
        while !self.activity.is_idle() {
            let mut dialog = page.state().dialog();
            let expiry = self.activity.requests_expire_at();
            let next = tokio::select! {
                biased;
                _ = dialog.wait_for(Option::is_some) => return true,
                () = tokio::time::sleep_until(expiry.unwrap_or(until.instant())), if expiry.is_some() => {
                    self.activity.expire_requests();
                    continue;
                }
                next = self.events.next(until) => next,
            };
            match next {
                Ok(event) => self.activity.observe(&event),
                Err(_) => return false,
            }
            self.drain_events();
        }
        true
    }

    async fn collect_changes(
        mut self,
        page: &Page,
        browser: &Browser,
        changes: &mut Changes,
        deadline: Deadline,
    ) {
        self.collect_page_state(page, changes);
        while let Some(opened) = self.next_opened(page, changes.new_tabs.len()).await {
            changes.new_tabs.push(browser.tab_id_of_target(&opened));
            self.downloads.add_tab(&opened);
            // Attached at once, so that its first events are seen. Its first use reports a failure.
            let attached = browser.page_for(&opened).await;
            if let Some(attached) = attached.ok().filter(|_| self.is_filtered) {
                changes.new_pages.extend(
                    browser.describe_new_page(&attached, self.activity.is_blank_window(), deadline).await,
                );
            }
        }
        for begun in self.activity.take_downloads() {
            self.downloads.add(begun);
        }
        if self.activity.was_aborted() && !changes.navigated {
            // A download starts as a navigation. Chrome reports the download shortly after the navigation ended.
            self.downloads.expect(1);
        }
        changes.downloads = self.downloads.finish(page, browser, deadline).await;
    }

    /// The next tab that the page opened. Waits only when `Page.windowOpen` announced one.
    async fn next_opened(&mut self, page: &Page, listed: usize) -> Option<TargetId> {
        let is_ours =
            |opened: &TargetInfo| opened.is_page() && opened.opener_id.as_ref() == Some(page.target());
        while let Some(opened) = self.opened.take_next() {
            if is_ours(&opened) {
                return Some(opened.target_id);
            }
        }
        if listed >= self.activity.windows() {
            return None;
        }
        // `Page.windowOpen` comes before the event of the new target.
        self.opened.find(is_ours, WINDOW_TIMEOUT).await.ok().map(|opened| opened.target_id)
    }

    fn collect_page_state(&self, page: &Page, changes: &mut Changes) {
        changes.navigated = self.activity.has_navigated();
        changes.requests = self.activity.finished_requests();
        changes.dialog.clone_from(&page.state().dialog().borrow());
        changes.file_chooser = page
            .state()
            .chooser()
            .borrow()
            .as_ref()
            .map(|chooser| if chooser.is_multiple() { "multiple" } else { "single" }.to_owned());
        let console = page.state().console();
        let errors = console.since(self.console).filter(|entry| entry.is_error());
        changes.console_errors = errors.take(CONSOLE_ERRORS).map(first_line).collect();
    }
}

/// Waits for animations that end soon.
async fn wait_for_animations(report: &SettleReport, deadline: Deadline) {
    let Some(end) = report.animations_end.map(Duration::from_millis) else { return };
    // An animation applies its last value in the frame after its end.
    let until = Instant::now() + end.min(ANIMATION_TIMEOUT) + TWO_FRAMES;
    tokio::time::sleep_until(until.min(deadline.instant())).await;
}

/// The argument of the agent function `settle`.
pub(super) fn settle_argument(expectation: Value, settles: bool) -> Value {
    let quiet = if settles { QUIET_TIMEOUT } else { Duration::ZERO };
    let mut argument = expectation;
    argument["quiet"] = json!(u64::try_from(quiet.as_millis()).unwrap_or(u64::MAX));
    argument["keep"] = json!(settles);
    argument
}

fn first_line(entry: &ConsoleEntry) -> String {
    let line = entry.text.lines().next().unwrap_or_default();
    PageText::cut(line, CONSOLE_ERROR_CHARACTERS).as_str().to_owned()
}
