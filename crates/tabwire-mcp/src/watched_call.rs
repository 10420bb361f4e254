//! A call while its client waits: answered, cancelled, asked about, told how far it is. Knows nothing of what it does.

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;

use futures_util::FutureExt;
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, ProgressNotificationParam, ProtocolVersion,
};
use rmcp::service::RequestContext;
use tabwire_wire::{ErrorCode, Failure, Progress};
use tokio::time::{Instant, interval_at};

use crate::answer::failed;
use crate::approval::{ask_client, shows_questions};
use crate::called::Called;
use crate::connection::Connection;
use crate::limits::PROGRESS_EVERY;
use crate::waiting_call::{asks_between, call_in_rounds};

/// Calls a tool until it is answered, cancelled, or nobody is there any more; tells how far it is meanwhile.
pub(crate) async fn watched(
    connection: &Arc<Connection>,
    called: &Called,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let token = context.meta.get_progress_token();
    let (can_ask, is_late) = (shows_questions(context), asks_between(context));
    // There before the call begins, so that nothing is refused because nobody is.
    let attendant = (can_ask && !is_late).then(|| called.attend(connection));
    let mut asking = pin!(ask_client(connection, context, attendant.as_deref()));
    let number = attendant.as_ref().and_then(|attendant| attendant.call());
    let work = async {
        if is_late && (can_ask || request.request_state.is_some() || called.asks_anybody()) {
            return call_in_rounds(connection, called, request, context).await;
        }
        let is_data = answers_data(connection, called, context);
        Ok(called.run(connection, request, context, is_data, number).await?.into())
    };
    // A panic costs this one call (F43).
    let mut work = pin!(AssertUnwindSafe(work).catch_unwind());
    let begun = Instant::now();
    let mut ticks = interval_at(begun + PROGRESS_EVERY, PROGRESS_EVERY);
    loop {
        tokio::select! {
            biased;
            answer = &mut work => return answer.unwrap_or_else(|_| Ok(failed(&broken(called.name())).into())),
            () = context.ct.cancelled() => return Ok(failed(&cancelled()).into()),
            () = connection.ended() => return Ok(failed(&cut_off()).into()),
            never = &mut asking => match never {},
            _ = ticks.tick(), if token.is_some() => {
                let Some(token) = token.clone() else { continue };
                let seconds = begun.elapsed().as_secs();
                let busy = connection.backend.progress(&connection.backend.request());
                let told = ProgressNotificationParam::new(token, begun.elapsed().as_secs_f64())
                    .with_message(progress_words(called.name(), seconds, &busy));
                // Whoever is gone misses nothing.
                let _ = context.peer.notify_progress(told).await;
            }
        }
    }
}

/// Whether the client speaks a revision of the protocol that has structured content.
pub(crate) fn knows_data(context: &RequestContext<RoleServer>) -> bool {
    let since = ProtocolVersion::V_2025_06_18;
    context.protocol_version().is_some_and(|version| version.as_str() >= since.as_str())
}

/// Whether such a client is answered with data by what it calls.
pub(crate) fn answers_data(
    connection: &Connection,
    called: &Called,
    context: &RequestContext<RoleServer>,
) -> bool {
    match called {
        Called::Own(tool) => tool.answers_data(connection.answers, knows_data(context)),
        Called::Besides(..) => false,
    }
}

/// How far a call is, in words.
fn progress_words(tool: &str, seconds: u64, busy: &Progress) -> String {
    let what = if busy.starting {
        "starting the browser".to_owned()
    } else if let Some(download) = busy.downloads.first() {
        format!("downloading, {} bytes so far", download.bytes)
    } else {
        format!("{tool} is under way")
    };
    format!("{what} ({seconds} s)")
}

pub(crate) fn cancelled() -> Failure {
    Failure::new(ErrorCode::OutcomeUnknown, "The call was cancelled; what it had begun may have been done.")
        .with_hint("Look at the page with `snapshot` before doing it again.")
}

pub(crate) fn cut_off() -> Failure {
    Failure::new(
        ErrorCode::OutcomeUnknown,
        "The connection ended during the call; it may or may not have been done.",
    )
    .with_hint("Look at the page with `snapshot` before doing it again.")
}

pub(crate) fn broken(tool: &str) -> Failure {
    tracing::error!(tool, "a call panicked");
    Failure::new(ErrorCode::Internal, format!("Tabwire failed in {tool}; this is a bug."))
        .with_hint("The session goes on. The user can run `tabwire daemon logs` for details.")
}
