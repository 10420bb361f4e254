//! Drags with the mouse: with Chrome's drag events when the page starts an HTML drag, else with mouse moves.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure, FrameId, Remedy, Step};
use tabwire_cdp::{CdpError, Deadline};

use crate::cdp::MergedEvents;
use crate::cdp::ResponseFuture;
use crate::input::element::Point;
use crate::input::mouse::{Mouse, MouseButton};
use crate::limits::DRAG_STEPS;
use crate::page::Page;

/// How long Chrome may take to report a drag that the page started.
const DRAG_TIMEOUT: Duration = Duration::from_secs(2);

/// How long a drag rests on its end before the button is released. Lists reorder their rows meanwhile.
const DRAG_REST: Duration = Duration::from_millis(150);

/// How far the mouse moves until a page that starts a drag has started it, in CSS pixels.
const DRAG_THRESHOLD: f64 = 12.0;

/// A drag in progress: the mouse button is down.
pub(crate) struct Drag<'a> {
    page: &'a Page,
    mouse: &'a mut Mouse,
    frame: FrameId,
    modifiers: u8,
    intercepted: MergedEvents,
    deadline: Deadline,
    /// The pause after each step.
    pause: Duration,
    /// Moves between start and end.
    steps: u8,
}

/// `Input.dragIntercepted`.
#[derive(Deserialize)]
struct DragIntercepted {
    data: Value,
}

impl<'a> Drag<'a> {
    /// Presses the button. `frame` is the frame of the dragged element.
    pub(crate) async fn begin(
        page: &'a Page,
        mouse: &'a mut Mouse,
        (frame, from): (&FrameId, Point),
        modifiers: u8,
        deadline: Deadline,
    ) -> Result<Self, Failure> {
        page.check_point(from, deadline).await?;
        let intercepted = MergedEvents::new(page.session().events(&["Input.dragIntercepted"]));
        let mut drag = Self {
            page,
            mouse,
            frame: frame.clone(),
            modifiers,
            intercepted,
            deadline,
            pause: Duration::ZERO,
            steps: DRAG_STEPS,
        };
        // Without interception the operating system takes over an HTML drag, and mouse events of CDP no
        // longer reach the page.
        let replies = vec![drag.intercept(true), drag.move_to(from), drag.press()];
        match drag.page.wait_all(replies).await {
            Ok(()) => Ok(drag),
            Err(failure) => {
                drag.cancel().await;
                Err(failure)
            }
        }
    }

    /// The same with a pause after each step.
    pub(crate) fn with_pause(self, pause: Duration) -> Self {
        Self { pause, ..self }
    }

    /// The same with this number of moves, at least one.
    pub(crate) fn with_steps(self, steps: u8) -> Self {
        Self { steps: steps.max(1), ..self }
    }

    /// Moves to a point in steps and releases the button. Returns whether it was an HTML drag.
    pub(crate) async fn finish(mut self, to: Point) -> Result<bool, Failure> {
        let done = self.move_and_release(to).await;
        if done.is_err() {
            self.cancel().await;
        }
        drop(self.intercept(false));
        done
    }

    /// Releases the button without moving.
    pub(crate) async fn cancel(&mut self) {
        let release = self.release();
        // An open dialog delays the response, but the release was sent.
        let _ = self.page.wait_all(vec![release]).await;
        drop(self.intercept(false));
    }

    async fn move_and_release(&mut self, to: Point) -> Result<bool, Failure> {
        self.page.check_point(to, self.deadline).await?;
        let from = self.mouse.point;
        let distance = (to.x - from.x).hypot(to.y - from.y);
        let first = if distance > DRAG_THRESHOLD { DRAG_THRESHOLD / distance } else { 1.0 };
        // Chrome starts a drag only after the mouse has moved a few pixels with the button held.
        let early = [along(from, to, first / 2.0), along(from, to, first)].map(|point| self.move_to(point));
        self.page.wait_all(early.into()).await?;
        let rest: Vec<Point> = (1..=self.steps)
            .map(|step| along(from, to, first + (1.0 - first) * f64::from(step) / f64::from(self.steps)))
            .collect();
        if self.has_started().await? {
            let data = self.drag_data().await?;
            return self.drop_at(&rest, to, &data).await.map(|()| true);
        }
        self.move_in_steps(rest, to).await?;
        let release = self.release();
        self.page.wait_all(vec![release]).await.map(|()| false)
    }

    /// Moves along a path and rests on its end. Each move is awaited: Chrome merges moves that arrive in one frame, and
    /// a list that reorders its rows while the mouse passes needs them all.
    async fn move_in_steps(&mut self, path: Vec<Point>, to: Point) -> Result<(), Failure> {
        for point in path {
            let moved = self.move_to(point);
            self.page.wait_all(vec![moved]).await?;
            tokio::time::sleep(self.pause).await;
            self.page
                // Chrome merges mouse moves within a frame into one event; sortable lists would miss the
                // others.
                .call_in::<()>(&self.frame, "nextFrame", &json!({}), self.deadline)
                .await
                .or_else(gone)?;
        }
        // The last point again, and one pixel beside it: rows have moved under the mouse meanwhile.
        for point in [Point { x: to.x, y: (to.y - 1.0).max(0.0) }, to] {
            tokio::time::sleep(DRAG_REST / 2).await;
            let moved = self.move_to(point);
            self.page.wait_all(vec![moved]).await?;
        }
        Ok(())
    }

    async fn has_started(&self) -> Result<bool, Failure> {
        self.page.call_in(&self.frame, "hasDragStarted", &json!({}), self.deadline).await
    }

    async fn drag_data(&mut self) -> Result<Value, Failure> {
        let until = tokio::time::Instant::now() + DRAG_TIMEOUT;
        let until = Deadline::at(self.deadline.instant().min(until));
        let event = self.intercepted.next(until).await.map_err(|_| {
            Failure::new(ErrorCode::Timeout, "The page started a drag that Chrome did not report.")
                .with_remedy(Remedy::new(
                    "Try again, or send single mouse events with {}.",
                    [Step::action("mouse")],
                ))
        })?;
        Ok(event.to::<DragIntercepted>().map_err(CdpError::into_failure)?.data)
    }

    async fn drop_at(&mut self, path: &[Point], to: Point, data: &Value) -> Result<(), Failure> {
        let path = self.allowed_path(path).await?;
        self.page.check_point(to, self.deadline).await?;
        let event = |kind: &str, at: Point| {
            let params =
                json!({"type": kind, "x": at.x, "y": at.y, "data": data, "modifiers": self.modifiers});
            self.page.begin("Input.dispatchDragEvent", &params, self.deadline)
        };
        // While drags are intercepted Chrome sends no drag events to the page, so each step is sent here.
        self.page.wait_all(vec![event("dragEnter", path.first().copied().unwrap_or(to))]).await?;
        for point in path.iter().chain([&to]) {
            self.page.wait_all(vec![event("dragOver", *point)]).await?;
        }
        tokio::time::sleep(DRAG_REST).await;
        // Pages that accept a drop check the last `dragover`; one that came during an animation may be outdated.
        self.page.wait_all(vec![event("dragOver", to)]).await?;
        let dropped = event("drop", to);
        self.mouse.point = to;
        self.mouse.buttons = 0;
        self.page.wait_all(vec![dropped]).await
    }

    /// The points of a path that are not over a frame in which the policy allows no input: drag events reveal the data.
    async fn allowed_path(&self, path: &[Point]) -> Result<Vec<Point>, Failure> {
        let mut allowed = Vec::new();
        for point in path {
            match self.page.check_point(*point, self.deadline).await {
                Ok(()) => allowed.push(*point),
                Err(failure) if failure.code == ErrorCode::PolicyDenied => {}
                Err(failure) => return Err(failure),
            }
        }
        Ok(allowed)
    }

    fn intercept(&self, enabled: bool) -> ResponseFuture<Value, CdpError> {
        self.page.begin("Input.setInterceptDrags", &json!({"enabled": enabled}), self.deadline)
    }

    fn move_to(&mut self, to: Point) -> ResponseFuture<Value, CdpError> {
        self.page.begin_move(self.mouse, to, self.modifiers, self.deadline)
    }

    fn press(&mut self) -> ResponseFuture<Value, CdpError> {
        self.page.begin_press(self.mouse, MouseButton::Left, self.modifiers, self.deadline)
    }

    fn release(&mut self) -> ResponseFuture<Value, CdpError> {
        self.page.begin_release(self.mouse, MouseButton::Left, self.modifiers, self.deadline)
    }
}

/// A frame that goes away during a drag ends no drag.
fn gone(failure: Failure) -> Result<(), Failure> {
    if failure.code == ErrorCode::TargetGone { Ok(()) } else { Err(failure) }
}

fn along(from: Point, to: Point, part: f64) -> Point {
    Point { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part }
}
