//! The live view's pictures: a screenshot each second in place of a screencast, which Firefox does not have.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tabwire_api::CdpSessionId;

use super::{Command, EmulatedBrowser, Reply};
use crate::protocol::message::{BidiError, number, text};
use crate::protocol::script_text::LAYOUT;

/// The time from one picture to the next.
const INTERVAL: Duration = Duration::from_secs(1);

/// A screencast of at most this width only makes Chrome draw a tab.
const SMALLEST: f64 = 16.0;

/// How far a series of pictures is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The next picture can be taken.
    Ready,
    /// It is being taken.
    Taking,
    /// The client has it, and has not acknowledged it.
    Sent,
}

/// Pictures of one tab for one session.
#[derive(Debug)]
pub(crate) struct PictureSeries {
    session: CdpSessionId,
    tab: String,
    /// The quality of the JPEG, from 0 to 1.
    quality: f64,
    step: Step,
    /// When the last picture was requested.
    last: Option<Instant>,
    /// Distinguishes it from a later series of the session.
    turn: u64,
}

impl EmulatedBrowser {
    pub(super) fn picture_command(
        &mut self,
        tab: &str,
        session: &CdpSessionId,
        command: &Command,
        reply: Reply,
    ) {
        let params = &command.params;
        let width = number(params, "maxWidth").unwrap_or(f64::MAX);
        let is_view = text(params, "format") == "jpeg" && width > SMALLEST;
        match command.method.as_str() {
            // Recordings, which are lossless, would miss most of what happens.
            "Page.startScreencast" if !is_view => self.refuse(reply, &command.method),
            "Page.startScreencast" => {
                self.end_pictures(session);
                let quality = number(params, "quality").unwrap_or(80.0).clamp(0.0, 100.0) / 100.0;
                let turn = self.next_number();
                self.pictures.push(PictureSeries {
                    session: session.clone(),
                    tab: tab.to_owned(),
                    quality,
                    step: Step::Ready,
                    last: None,
                    turn,
                });
                self.succeed(reply, "{}");
                let shown = json!({"visible": true});
                self.send_event(Some(session), "Page.screencastVisibilityChanged", &shown);
            }
            "Page.stopScreencast" => {
                self.end_pictures(session);
                self.succeed(reply, "{}");
            }
            _ => {
                let series = self.pictures.iter_mut().find(|series| series.session == *session);
                if let Some(series) = series.filter(|series| series.step == Step::Sent) {
                    series.step = Step::Ready;
                }
                self.succeed(reply, "{}");
            }
        }
    }

    pub(super) fn end_pictures(&mut self, session: &CdpSessionId) {
        self.pictures.retain(|series| series.session != *session);
    }

    /// Whether a series waits for the time of its next picture.
    pub(super) fn has_due_pictures(&self) -> bool {
        self.pictures.iter().any(|series| series.step == Step::Ready)
    }

    pub(super) fn take_pictures(&mut self, now: Instant) {
        let is_due = |series: &PictureSeries| {
            let waits = series.last.is_some_and(|last| now.saturating_duration_since(last) < INTERVAL);
            series.step == Step::Ready && !waits
        };
        let due: Vec<(u64, String, f64)> = self
            .pictures
            .iter()
            .filter(|series| is_due(series))
            .map(|series| (series.turn, series.tab.clone(), series.quality))
            .collect();
        for (turn, tab, quality) in due {
            // While a dialog is open, a page gives no picture.
            if self.contexts.find(&tab).is_none_or(|context| context.has_prompt) {
                continue;
            }
            if let Some(series) = self.series(turn) {
                (series.step, series.last) = (Step::Taking, Some(now));
            }
            self.measure(turn, &tab, quality);
        }
    }

    fn series(&mut self, turn: u64) -> Option<&mut PictureSeries> {
        self.pictures.iter_mut().find(|series| series.turn == turn)
    }

    fn measure(&mut self, turn: u64, tab: &str, quality: f64) {
        let context = tab.to_owned();
        self.call_own(tab, LAYOUT, &json!([]), move |browser, outcome| match outcome {
            Ok(value) => {
                let sizes: Value = serde_json::from_str(text(&value, "value")).unwrap_or_default();
                browser.take_picture(turn, &context, quality, sizes);
            }
            Err(_) => browser.picture_failed(turn),
        });
    }

    fn take_picture(&mut self, turn: u64, tab: &str, quality: f64, sizes: Value) {
        let command = json!({
            "context": tab, "origin": "viewport", "format": {"type": "image/jpeg", "quality": quality},
        });
        let then = move |browser: &mut Self, outcome: Result<Value, BidiError>| match outcome {
            Ok(taken) => browser.send_picture(turn, text(&taken, "data"), &sizes),
            Err(_) => browser.picture_failed(turn),
        };
        self.send_for(Some(tab), None, "browsingContext.captureScreenshot", command, Box::new(then));
    }

    /// The document went meanwhile: the next picture shows the new one.
    fn picture_failed(&mut self, turn: u64) {
        if let Some(series) = self.series(turn) {
            series.step = Step::Ready;
        }
    }

    fn send_picture(&mut self, turn: u64, data: &str, sizes: &Value) {
        let Some(series) = self.series(turn) else { return };
        series.step = Step::Sent;
        let session = series.session.clone();
        let part = |name: &str| number(sizes, name).unwrap_or_default();
        let event = json!({
            "data": data, "sessionId": turn,
            "metadata": {
                "offsetTop": 0, "pageScaleFactor": 1, "deviceWidth": part("width"),
                "deviceHeight": part("height"), "scrollOffsetX": part("x"), "scrollOffsetY": part("y"),
            },
        });
        self.send_event(Some(&session), "Page.screencastFrame", &event);
    }
}
