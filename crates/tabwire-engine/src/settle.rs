//! Knowing when an action's consequences are over, from what the browser tells: no fixed waits.
//!
//! A watch is armed before the action's input. After it, the page agent says whether the document is at rest, and
//! the events say what is under way: requests, navigations, dialogs. When nothing is, the answer is given at once.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_cdp::{Deadline, Feed, TargetInfo};
use tabwire_wire::{ErrorCode, Failure, FrameId, TargetId};

use crate::browser::Browser;
use crate::changes::Changes;
use crate::console_log::ConsoleEntry;
use crate::context::Context;
use crate::download_story::DownloadStory;
use crate::driver::Reply;
use crate::element::{Aim, Element};
use crate::event_mix::EventMix;
use crate::limits::{
    ERRORS_TOLD, SETTLE_ANIMATION, SETTLE_ANSWER, SETTLE_FRAMES, SETTLE_LOADING, SETTLE_QUIET,
    SETTLE_REQUESTS, SETTLE_WINDOW,
};
use crate::page::Page;
use crate::rest::Rest;
use crate::snapshot::{PageText, address, read_title};
use crate::unfolding::{METHODS, Unfolding};

/// An action's consequences, watched since before its cause.
pub(crate) struct Watch {
    events: EventMix,
    opened: Feed<TargetInfo>,
    console: u64,
    downloads: DownloadStory,
    before: Option<Place>,
    unfolding: Unfolding,
    /// The frame whose agent is asked whether all is at rest; the main one's once that frame has gone.
    frame: FrameId,
    /// Whether the element holds what it was meant to hold.
    matches: Option<bool>,
}

/// Where a page is.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Place {
    pub(crate) url: String,
    #[serde(deserialize_with = "read_title")]
    pub(crate) title: String,
}

/// What came of an action.
#[derive(Debug)]
pub(crate) struct Settled {
    pub(crate) changes: Changes,
    /// Whether the element holds what it was meant to hold, if that was asked.
    pub(crate) matches: Option<bool>,
}

impl Watch {
    /// Arms the watch. `before` is where the page is, if it is known already.
    pub(crate) fn arm(page: &Page, browser: &Browser) -> Self {
        Self {
            events: EventMix::new(page.driver().events(METHODS)),
            opened: browser.opened(),
            console: page.record().console().count(),
            downloads: DownloadStory::begin(browser),
            before: None,
            unfolding: Unfolding::of(page.main_frame()),
            frame: page.main_frame().clone(),
            matches: None,
        }
    }

    /// Notes where the page was before the action.
    pub(crate) fn was_at(&mut self, url: &str, title: &str) {
        self.before = Some(Place { url: url.to_owned(), title: title.to_owned() });
    }

    /// Notes where the page was before the action, from what its agent said of the element.
    pub(crate) fn was_at_element(&mut self, element: &Element, page: &Page) {
        self.frame = element.frame.clone();
        if self.frame == *page.main_frame() {
            self.was_at(&element.prepared.url, &element.prepared.title);
        }
    }

    /// Asks the agent of the element's frame whether the document is at rest, in the same breath as the input
    /// before it. `extra` says what input ends the action and what should have come of it, in the agent's words.
    pub(crate) fn begin_rest(
        &self,
        page: &Page,
        element: &Element,
        extra: Value,
        deadline: Deadline,
    ) -> Reply<Value> {
        page.driver().call(&element.frame, "settle", &about(element, extra), deadline)
    }

    /// Has text entered in the same breath as its field is prepared, if that is ready at once; where it is not, nothing
    /// is done and the answer says so. None when something else may come between.
    pub(crate) fn begin_pair(
        &self,
        page: &Page,
        aim: &Aim,
        pair: u64,
        text: &str,
        deadline: Deadline,
    ) -> Option<Reply<Value>> {
        if aim.frame != *page.main_frame() || !page.has_free_hands() {
            return None;
        }
        let argument = asked_to_rest(json!({"pair": pair, "enter": text, "expected": text}));
        Some(page.driver().call(&aim.frame, "settle", &argument, deadline))
    }

    /// Goes on with what was begun with the preparation, and does it now if it was not done then.
    pub(crate) fn go_on(
        &self,
        early: Option<Reply<Value>>,
        page: &Page,
        element: &Element,
        extra: Value,
        deadline: Deadline,
    ) -> Reply<Value> {
        let Some(early) = early else { return self.begin_rest(page, element, extra, deadline) };
        let (page, frame, argument) = (page.clone(), element.frame.clone(), about(element, extra));
        Box::pin(async move {
            let told = early.await?;
            if told.get("unpaired").is_none() {
                return Ok(told);
            }
            page.driver().call(&frame, "settle", &argument, deadline).await
        })
    }

    /// Waits for animations that the action began and that end soon; longer ones are left to themselves.
    async fn await_animations(&self, rest: &Rest, deadline: Deadline) {
        let Some(end) = rest.animations_end.map(Duration::from_millis) else { return };
        // What a page does at an animation's end it does with the frame after it.
        let until = tokio::time::Instant::now() + end.min(SETTLE_ANIMATION) + SETTLE_FRAMES;
        tokio::time::sleep_until(until.min(deadline.instant())).await;
    }

    /// Settles after input that was answered like this: a dialog or a new document in its place is a consequence.
    pub(crate) async fn finish(
        self,
        context: &Context,
        page: &Page,
        input: Result<(), Failure>,
        rest: Reply<Value>,
    ) -> Result<Settled, Failure> {
        let rest = match input {
            Ok(()) => match tokio::time::timeout(SETTLE_ANSWER, page.unless_blocked(rest)).await {
                Ok(rest) => rest,
                // A frame that may not run scripts never answers; what it did is seen from outside.
                Err(_) => Ok(Value::Null),
            },
            Err(failure) if matches!(failure.code, ErrorCode::DialogOpen | ErrorCode::TargetGone) => {
                Err(failure)
            }
            Err(failure) => return Err(failure),
        };
        let mut settled = self.settle(page, &context.browser, Some(rest), context.deadline).await?;
        if context.snapshot && settled.changes.dialog.is_none() {
            settled.changes.snapshot = Some(page.delta_text(context.deadline).await?);
        }
        Ok(settled)
    }

    /// Waits until the consequences are over and says what they were. `rest` is the agent's answer if it has
    /// been asked already, in the same breath as the input.
    pub(crate) async fn settle(
        mut self,
        page: &Page,
        browser: &Browser,
        rest: Option<Result<Value, Failure>>,
        deadline: Deadline,
    ) -> Result<Settled, Failure> {
        let mut changes = Changes::default();
        let mut rest = rest;
        loop {
            let in_main = self.frame == *page.main_frame();
            let answer = match rest.take() {
                Some(answer) => answer,
                None => self.ask(page, deadline).await,
            };
            self.drain();
            if matches!(answer, Ok(Value::Null)) {
                // Its frame never answers.
                self.frame = page.main_frame().clone();
            }
            let is_answered = match answer {
                Ok(value) => self.take_rest(value, in_main, &mut changes, deadline).await?,
                Err(failure) if failure.code == ErrorCode::DialogOpen => break,
                // The document went away under the question: a navigation is on its way.
                Err(failure) if failure.code == ErrorCode::TargetGone && !page.is_gone() => false,
                Err(failure) if failure.code == ErrorCode::TargetGone => break,
                Err(failure) => return Err(failure),
            };
            if !is_answered || self.unfolding.navigated {
                self.frame = page.main_frame().clone();
            }
            if self.unfolding.is_over() && (is_answered || self.unfolding.navigated) {
                break;
            }
            if !self.follow(page, deadline).await {
                changes.still_loading = self.unfolding.loading.is_some();
                break;
            }
        }
        let matches = self.matches;
        self.tell(page, browser, &mut changes, deadline).await;
        Ok(Settled { changes, matches })
    }

    /// Takes note of what the page agent said. A document that still changed when it said so is not waited for again.
    async fn take_rest(
        &mut self,
        value: Value,
        in_main: bool,
        changes: &mut Changes,
        deadline: Deadline,
    ) -> Result<bool, Failure> {
        let has_told = !value.is_null();
        let rest: Rest = serde_json::from_value(value).unwrap_or_default();
        changes.content |= rest.contents > 0;
        if let Some(failure) = rest.guard.as_ref().and_then(|guard| guard.to_failure(rest.arrived)) {
            return Err(failure);
        }
        self.downloads.expect(rest.saving);
        self.await_animations(&rest, deadline).await;
        if let Some(value) = rest.value.as_ref().and_then(Value::as_str) {
            changes.value = Some(value.to_owned());
        }
        self.matches = rest.matches.or(self.matches);
        if in_main && has_told {
            self.note_place(changes, rest);
        }
        Ok(true)
    }

    /// Asks the page agent whether the document is at rest, in the watch that it has kept.
    async fn ask(&self, page: &Page, deadline: Deadline) -> Result<Value, Failure> {
        page.call_in(&self.frame, "settle", &json!({"quiet": quiet_milliseconds(), "keep": true}), deadline)
            .await
    }

    fn drain(&mut self) {
        while let Some(event) = self.events.take_next() {
            self.unfolding.take(&event);
        }
    }

    fn note_place(&self, changes: &mut Changes, rest: Rest) {
        let Some(before) = &self.before else { return };
        changes.url = (rest.url != before.url).then(|| address(&rest.url));
        changes.title = (rest.title != before.title).then_some(rest.title);
    }

    /// Follows what is under way until it is over; false when it takes too long.
    async fn follow(&mut self, page: &Page, deadline: Deadline) -> bool {
        let patience = if self.unfolding.loading.is_some() { SETTLE_LOADING } else { SETTLE_REQUESTS };
        let until = Deadline::at(deadline.instant().min(tokio::time::Instant::now() + patience));
        while !self.unfolding.is_over() {
            let mut dialog = page.record().dialog();
            let lapse = self.unfolding.next_lapse();
            let next = tokio::select! {
                biased;
                _ = dialog.wait_for(Option::is_some) => return true,
                () = tokio::time::sleep_until(lapse.unwrap_or(until.instant())), if lapse.is_some() => {
                    self.unfolding.lapse();
                    continue;
                }
                next = self.events.next(until) => next,
            };
            match next {
                Ok(event) => self.unfolding.take(&event),
                Err(_) => return false,
            }
            self.drain();
        }
        true
    }

    async fn tell(mut self, page: &Page, browser: &Browser, changes: &mut Changes, deadline: Deadline) {
        self.tell_recorded(page, changes);
        while let Some(opened) = self.next_opened(page, changes.new_tabs.len()).await {
            changes.new_tabs.push(browser.tab_of_target(&opened));
            self.downloads.add_tab(&opened);
            // Taken up at once, so that what it does first is seen; its loss is told when it is used.
            let _ = browser.page_of(&opened).await;
        }
        for begun in std::mem::take(&mut self.unfolding.downloads) {
            self.downloads.add(begun);
        }
        if self.unfolding.gave_up && !changes.navigated {
            // What becomes a download is a navigation first, and is told a moment after that has ended.
            self.downloads.expect(1);
        }
        changes.downloads = self.downloads.told(page, browser, deadline).await;
    }

    /// A tab that the page opened; waited for a moment when the page said it opens one.
    async fn next_opened(&mut self, page: &Page, so_far: usize) -> Option<TargetId> {
        let is_ours =
            |opened: &TargetInfo| opened.is_page() && opened.opener_id.as_ref() == Some(page.target());
        while let Some(opened) = self.opened.take_next() {
            if is_ours(&opened) {
                return Some(opened.target_id);
            }
        }
        if so_far >= self.unfolding.windows {
            return None;
        }
        self.opened.find(is_ours, SETTLE_WINDOW).await.ok().map(|opened| opened.target_id)
    }

    fn tell_recorded(&mut self, page: &Page, changes: &mut Changes) {
        changes.navigated = self.unfolding.navigated;
        changes.requests = self.unfolding.over;
        changes.dialog.clone_from(&page.record().dialog().borrow());
        changes.file_chooser = page
            .record()
            .chooser()
            .borrow()
            .as_ref()
            .map(|chooser| if chooser.is_multiple() { "multiple" } else { "single" }.to_owned());
        let console = page.record().console();
        let errors = console.since(self.console).filter(|entry| entry.is_error());
        changes.console_errors = errors.take(ERRORS_TOLD).map(told_error).collect();
    }
}

/// The question whether a document is at rest after something was done to an element.
fn about(element: &Element, extra: Value) -> Value {
    let mut argument = asked_to_rest(extra);
    argument["since"] = json!(element.prepared.mark);
    argument["key"] = json!(element.key());
    argument
}

fn asked_to_rest(extra: Value) -> Value {
    let mut argument = extra;
    argument["quiet"] = json!(quiet_milliseconds());
    argument["keep"] = json!(true);
    argument
}

/// How long the agent may wait for a document that keeps changing.
fn quiet_milliseconds() -> u64 {
    u64::try_from(SETTLE_QUIET.as_millis()).unwrap_or(u64::MAX)
}

fn told_error(entry: &ConsoleEntry) -> String {
    PageText::cut(entry.text.lines().next().unwrap_or_default(), 300).as_str().to_owned()
}
