//! A running call: its progress notifications, cancellation and end.

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, CallToolResponse, ErrorData, ProgressNotificationParam};
use rmcp::service::RequestContext;
use tabwire_api::{ErrorCode, Failure, Progress, Remedy, Step};
use tokio::time::{Instant, interval_at};

use crate::call::approval::{can_elicit, forward_questions};
use crate::call::callable::Callable;
use crate::call::rounds::{call_in_rounds, has_rounds};
use crate::connection::Connection;
use crate::known_clients::shows_structured;
use crate::result::error_result;

/// Time before the first progress notification of a call, and between two of them.
const PROGRESS_EVERY: Duration = Duration::from_secs(1);

/// Runs a tool call until it ends, is cancelled or its client is gone. Sends progress notifications meanwhile.
pub(crate) async fn call_with_progress(
    connection: &Arc<Connection>,
    called: &Callable,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let token = context.meta.get_progress_token();
    let (can_ask, is_late) = (can_elicit(context), has_rounds(context));
    // Registered before the call starts, so that its first question already has a receiver.
    let approver = (can_ask && !is_late).then(|| called.approver(connection));
    let mut questions = pin!(forward_questions(connection, context, approver.as_deref()));
    let number = approver.as_ref().and_then(|approver| approver.call());
    let work = async {
        if is_late && (can_ask || request.request_state.is_some() || called.may_elicit()) {
            return call_in_rounds(connection, called, request, context).await;
        }
        let is_data = returns_structured(connection, called, context);
        Ok(called.run(connection, request, context, is_data, number).await?.into())
    };
    // A panic ends only this call (F43).
    let mut work = pin!(AssertUnwindSafe(work).catch_unwind());
    let begun = Instant::now();
    let mut ticks = interval_at(begun + PROGRESS_EVERY, PROGRESS_EVERY);
    loop {
        tokio::select! {
            biased;
            response = &mut work => return response.unwrap_or_else(|_| Ok(error_result(&panicked(called.name())).into())),
            () = context.ct.cancelled() => return Ok(error_result(&cancelled()).into()),
            () = connection.ended() => return Ok(error_result(&connection_ended()).into()),
            never = &mut questions => match never {},
            _ = ticks.tick(), if token.is_some() => {
                let Some(token) = token.clone() else { continue };
                let seconds = begun.elapsed().as_secs();
                let busy = connection.backend.progress(&connection.backend.request());
                let params = ProgressNotificationParam::new(token, begun.elapsed().as_secs_f64())
                    .with_message(progress_message(called.name(), seconds, &busy));
                // Fails only when the client is gone.
                let _ = context.peer.notify_progress(params).await;
            }
        }
    }
}

/// Whether the result of this call has structured content.
pub(crate) fn returns_structured(
    connection: &Connection,
    called: &Callable,
    context: &RequestContext<RoleServer>,
) -> bool {
    match called {
        Callable::Own(tool) => tool.returns_structured(connection.result_form, shows_structured(context)),
        Callable::Besides(..) => false,
    }
}

/// The text of a progress notification.
fn progress_message(tool: &str, seconds: u64, busy: &Progress) -> String {
    let what = if busy.starting {
        "starting the browser".to_owned()
    } else if let Some(download) = busy.downloads.first() {
        format!("downloading, {} bytes so far", download.bytes)
    } else {
        format!("{tool} is running")
    };
    format!("{what} ({seconds} s)")
}

pub(crate) fn cancelled() -> Failure {
    Failure::new(ErrorCode::OutcomeUnknown, "The call was cancelled; its effects may have happened.")
        .with_remedy(Remedy::new("Check the page with {} before you repeat it.", [Step::action("snapshot")]))
}

pub(crate) fn connection_ended() -> Failure {
    Failure::new(
        ErrorCode::OutcomeUnknown,
        "The connection ended during the call; its effects may have happened.",
    )
    .with_remedy(Remedy::new("Check the page with {} before you repeat it.", [Step::action("snapshot")]))
}

pub(crate) fn panicked(tool: &str) -> Failure {
    tracing::error!(tool, "a call panicked");
    Failure::new(ErrorCode::Internal, format!("Tabwire failed in {tool}; this is a bug.")).with_remedy(
        Remedy::new(
            "The session continues. The user finds details with {}.",
            [Step::command("tabwire daemon logs")],
        ),
    )
}
