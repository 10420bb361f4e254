//! One action that sends input: watched from before the input until its effects are over.

use std::time::Duration;

use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure};

use crate::action::context::Context;
use crate::cdp::ResponseFuture;
use crate::input::element::{Element, Point, ResolvedTarget};
use crate::page::Page;
use crate::settle::watcher::{LifecycleWatcher, settle_argument};
use crate::settle::{DEBOUNCE, SettleResult};

/// How long the agent may take to report on a document. A frame that runs no scripts never reports.
const REPORT_TIMEOUT: Duration = Duration::from_secs(3);

/// An action on one page. Create it before the input is sent.
pub(crate) struct InputAction<'a> {
    context: &'a Context,
    page: Page,
    watcher: LifecycleWatcher,
    /// Whether live views show the element.
    marks: bool,
}

impl<'a> InputAction<'a> {
    /// Starts an action on the context's page.
    pub(crate) async fn start(context: &'a Context) -> Result<Self, Failure> {
        let page = context.page().await?;
        Ok(Self::on(context, &page))
    }

    /// Starts an action on a page.
    pub(crate) fn on(context: &'a Context, page: &Page) -> Self {
        let watcher = LifecycleWatcher::start(page, &context.browser, context.is_filtered);
        Self { context, page: page.clone(), watcher, marks: true }
    }

    /// Shows this point in live views, and no element.
    pub(crate) fn point_at(&mut self, point: Point) {
        self.marks = false;
        self.context.browser.mark_point(&self.page, point);
    }

    /// The action is about the whole page: live views show no element.
    pub(crate) fn about_page(&mut self) {
        self.marks = false;
    }

    pub(crate) fn context(&self) -> &'a Context {
        self.context
    }

    /// The same action with more time left.
    pub(crate) fn with_context<'b>(self, context: &'b Context) -> InputAction<'b> {
        InputAction { context, page: self.page, watcher: self.watcher, marks: self.marks }
    }

    pub(crate) fn page(&self) -> &Page {
        &self.page
    }

    /// Names the element that the action is about. Its frame is watched, and URL and title are compared with its own.
    pub(crate) fn set_element(&mut self, element: &Element) {
        self.watcher.set_element(element, &self.page);
        if self.marks {
            self.context.browser.mark_element(&self.page, element);
        }
    }

    /// Requests the agent's report, right after the input commands were sent. `expectation` names the input event that
    /// ends the action (`after`) and the expected value (`expected`).
    pub(crate) fn request_report(&self, element: &Element, expectation: Value) -> ResponseFuture<Value> {
        let argument = element_argument(element, expectation, self.context.settles);
        self.page.session().call(&element.frame, "settle", &argument, self.context.deadline)
    }

    /// Enters text in the same batch as the field is prepared, which saves a round trip. The agent enters it only when
    /// the field is ready at once, and reports `unpaired` otherwise. `None` when other input could come in between.
    pub(crate) fn begin_paired_fill(
        &self,
        target: &ResolvedTarget,
        pair: u64,
        text: &str,
    ) -> Option<ResponseFuture<Value>> {
        if target.frame != *self.page.main_frame() || !self.page.is_input_free() {
            return None;
        }
        let expectation = json!({"pair": pair, "enter": text, "expected": text, "debounce": DEBOUNCE});
        let argument = settle_argument(expectation, self.context.settles);
        Some(self.page.session().call(&target.frame, "settle", &argument, self.context.deadline))
    }

    /// The report of a paired fill; enters the text now if the pair was not ready.
    pub(crate) fn finish_paired_fill(
        &self,
        early: Option<ResponseFuture<Value>>,
        element: &Element,
        expectation: Value,
    ) -> ResponseFuture<Value> {
        // Sent before the element was known, to save a round trip. The agent pairs it with the element that
        // `prepare` found.
        let Some(early) = early else { return self.request_report(element, expectation) };
        let (page, frame, deadline) = (self.page.clone(), element.frame.clone(), self.context.deadline);
        let argument = element_argument(element, expectation, self.context.settles);
        Box::pin(async move {
            let report = early.await?;
            if report.get("unpaired").is_none() {
                return Ok(report);
            }
            page.session().call(&frame, "settle", &argument, deadline).await
        })
    }

    /// Settles after input with this result. A dialog or a new document is an effect of the input, not its failure.
    pub(crate) async fn finish(
        self,
        input: Result<(), Failure>,
        report: ResponseFuture<Value>,
    ) -> Result<SettleResult, Failure> {
        let report = match input {
            Ok(()) => match tokio::time::timeout(REPORT_TIMEOUT, self.page.unless_blocked(report)).await {
                Ok(report) => report,
                // A frame that runs no scripts never reports. Events show what it does.
                Err(_) => Ok(Value::Null),
            },
            Err(failure) if matches!(failure.code, ErrorCode::DialogOpen | ErrorCode::TargetGone) => {
                Err(failure)
            }
            Err(failure) => return Err(failure),
        };
        let deadline = self.context.deadline;
        if !self.context.settles {
            return self.watcher.read_report(&self.page, report, deadline).await;
        }
        let mut result =
            self.watcher.settle(&self.page, &self.context.browser, Some(report), deadline).await?;
        if self.context.snapshot && result.changes.dialog.is_none() {
            result.changes.snapshot = Some(self.page.delta_text(deadline).await?);
        }
        Ok(result)
    }

    /// Settles after input to an element, when no input event has to be awaited.
    pub(crate) async fn settle(
        mut self,
        element: &Element,
        input: Result<(), Failure>,
        expectation: Value,
    ) -> Result<SettleResult, Failure> {
        self.set_element(element);
        let report = self.request_report(element, expectation);
        self.finish(input, report).await
    }

    /// Settles after a change that was made without input.
    pub(crate) async fn settle_page(self) -> Result<SettleResult, Failure> {
        if !self.context.settles {
            return Ok(SettleResult { changes: crate::action::result::Changes::default(), matches: None });
        }
        self.watcher.settle(&self.page, &self.context.browser, None, self.context.deadline).await
    }
}

fn element_argument(element: &Element, expectation: Value, settles: bool) -> Value {
    let mut argument = settle_argument(expectation, settles);
    argument["since"] = json!(element.info.mark);
    argument["key"] = json!(element.key());
    argument
}
