//! Ensures that mouse input arrives in the frame of its element. Chrome chooses the process for input by where frames
//! were last drawn, which is outdated after scrolling.

use std::time::Duration;

use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure};
use tabwire_cdp::Deadline;

use crate::input::element::{Element, Point};
use crate::input::mouse::Mouse;
use crate::page::Page;

/// How long a frame may take to report a mouse move. A frame that runs no scripts never reports.
const REACH_RESPONSE: Duration = Duration::from_millis(1_000);

/// How long a frame may take to receive one mouse move.
const REACH_INTERVAL: Duration = Duration::from_millis(50);

/// The same for the main frame, which receives the input anyway unless a frame of another process does.
const REACH_MAIN_TIMEOUT: Duration = Duration::from_millis(250);

/// How long Chrome may take to send mouse input to a frame that was just scrolled into view.
const REACH_TIMEOUT: Duration = Duration::from_secs(2);

impl Page {
    /// Moves the mouse to an element and waits until its frame receives the move. Returns at once for the main frame,
    /// unless it was just scrolled and has frames of other processes: Chrome may still send the input to one of them.
    pub(crate) async fn ensure_hit_target(
        &self,
        element: &Element,
        mouse: &mut Mouse,
        deadline: Deadline,
    ) -> Result<(), Failure> {
        self.check_same_document(element).await?;
        self.check_point(element.info.point, deadline).await?;
        let is_main = element.frame == *self.main_frame();
        let was_scrolled = element.info.more.contains_key("scrolled");
        if is_main && !(was_scrolled && self.session().roots().len() > 1) {
            return Ok(());
        }
        let timeout = if is_main { REACH_MAIN_TIMEOUT } else { REACH_TIMEOUT };
        let until = deadline.instant().min(tokio::time::Instant::now() + timeout);
        let interval = u64::try_from(REACH_INTERVAL.as_millis()).unwrap_or(u64::MAX);
        let argument = json!({"key": element.key(), "timeout": interval});
        let point = element.info.point;
        let mut aside = false;
        loop {
            let seen = self.session().call(&element.frame, "waitForMouseMove", &argument, deadline);
            // Alternate between two points: Chrome sends no event for a move to the same point.
            aside = !aside;
            let to = if aside { Point { x: point.x + 1.0, y: point.y } } else { point };
            let moved = self.begin_move(mouse, to, 0, deadline);
            self.wait_all(vec![moved]).await?;
            match tokio::time::timeout(REACH_RESPONSE, self.unless_blocked(seen)).await {
                Ok(Ok(Value::Bool(true))) => return self.check_same_document(element).await,
                Ok(Ok(_)) if tokio::time::Instant::now() < until => {}
                // A tab that is not drawn delivers moves only with later input.
                Ok(Ok(_)) if is_main => return Ok(()),
                Ok(Ok(_)) => return Err(not_reached(element)),
                Ok(Err(failure)) => return Err(failure),
                // A frame in which scripts are blocked never reports.
                Err(_) => return Ok(()),
            }
        }
    }
}

fn not_reached(element: &Element) -> Failure {
    let message = format!("Mouse input does not reach the frame of {}.", element.description());
    Failure::new(ErrorCode::NotActionable, message)
        .with_remedy("An element outside the frame covers it. Take a snapshot to see the current page.")
}
