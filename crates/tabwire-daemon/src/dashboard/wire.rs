//! The messages of the dashboard's websockets, for the checker of its scripts.

use schemars::JsonSchema;

use crate::audit::events::LogEvent;
use crate::dashboard::line::{DashboardState, Opening as LineOpening};
use crate::dashboard::live::{Opening as ViewOpening, PageMessage, ViewMessage, WallMessage};
use crate::dashboard::request::{DashboardRequest, ShownClient, ShownRow};

/// Every message. Each field is one of them.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct DashboardMessages {
    /// The first message of the page on the line.
    line_opening: LineOpening,
    /// What the line shows beside rows.
    state: DashboardState,
    /// A row on the line.
    row: ShownRow,
    /// An event of the log.
    event: LogEvent,
    /// A request over the line.
    request: DashboardRequest,
    /// A client in the list.
    client: ShownClient,
    /// The first message of the page for a live view.
    view_opening: ViewOpening,
    /// The state of a stage.
    view: ViewMessage<'static>,
    /// The state of the wall.
    wall: WallMessage,
    /// A message of the page in a live view.
    message: PageMessage,
}

/// The JSON schema of all messages of the dashboard, with their parts in `$defs`.
#[must_use]
pub fn dashboard_schema() -> serde_json::Value {
    schemars::schema_for!(DashboardMessages).into()
}
