//! `network_idle`: waits until a frame and the frames in it have sent no request for half a second, as Playwright's
//! `networkidle`.

use std::collections::HashSet;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::{ErrorCode, Failure, FrameId};
use tabwire_policy::{Capability, Needs};
use tokio::time::Instant;

use crate::action::context::Context;
use crate::action::{Action, Effect, Example, ToolGroup, ToolOptions};
use crate::actions::script::Nothing;
use crate::actions::script::frame_goto::find_frame;
use crate::network::ResourceKind;
use crate::network::log::entry::Outcome;
use crate::page::Page;

/// How long no request may be under way.
const IDLE: Duration = Duration::from_millis(500);

/// How often the requests are looked at.
const INTERVAL: Duration = Duration::from_millis(25);

/// Wait until a frame and those in it send no requests.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema, clap::Args)]
#[serde(default)]
pub(crate) struct NetworkIdle {
    /// The id of the frame; the main frame by default.
    #[arg(long)]
    #[schemars(extend("x-carries" = "text", "x-log" = "keyword"))]
    frame: Option<String>,
}

impl Action for NetworkIdle {
    const NAME: &'static str = "network_idle";
    const EFFECT: Effect = Effect::Read;
    const EXAMPLES: &'static [Example] = &[];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Execute);
    type Output = Nothing;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Read)
    }

    async fn run(self, context: &Context) -> Result<Nothing, Failure> {
        let page = context.page().await?;
        let frame = match &self.frame {
            Some(frame) => find_frame(&page, frame)?,
            None => page.main_frame().clone(),
        };
        let mut idle_since = Instant::now();
        let mut last = 0;
        loop {
            let (is_busy, count) = requests(&page, &frame);
            let now = Instant::now();
            if is_busy || count != last {
                (idle_since, last) = (now, count);
            } else if now >= idle_since + IDLE {
                return Ok(Nothing {});
            }
            if now >= context.deadline.instant() || page.is_gone() {
                return Err(Failure::new(ErrorCode::Timeout, "The page went on to send requests."));
            }
            page.unless_blocked(async {
                tokio::time::sleep(INTERVAL).await;
                Ok(())
            })
            .await?;
        }
    }
}

/// Whether a request of the frame or of one in it is under way, and how many there were.
fn requests(page: &Page, top: &FrameId) -> (bool, usize) {
    let mut within = HashSet::from([top.to_string()]);
    for frame in page.session().all_frames() {
        if frame.parent.as_ref().is_some_and(|parent| within.contains(parent.as_str())) {
            within.insert(frame.id.to_string());
        }
    }
    let log = page.network().log();
    let main = page.main_frame().as_str();
    // Requests of an earlier document do not count.
    let start = log.since(0).filter(|entry| entry.is_navigation && entry.frame == main).last();
    let start = start.map_or(0, |entry| entry.number.saturating_sub(1));
    let mut count = 0;
    let mut is_busy = false;
    for entry in log.since(start).filter(|entry| within.contains(&entry.frame)) {
        count += 1;
        let is_stream = matches!(entry.kind, ResourceKind::Websocket | ResourceKind::EventSource);
        is_busy |= entry.outcome == Outcome::UnderWay && !is_stream;
    }
    (is_busy, count)
}
