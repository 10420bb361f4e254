//! Going to an address and knowing when it has loaded. Listeners are armed before the command that causes them.

use serde::Deserialize;
use serde_json::json;
use tabwire_cdp::{CdpError, CdpSession, Deadline, EventFilter, EventStream};
use tabwire_wire::{ErrorCode, Failure, TargetId};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Navigated {
    loader_id: Option<String>,
    error_text: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LifecycleEvent {
    frame_id: String,
    loader_id: String,
    name: String,
}

/// Has a page report the stages of its loading.
const REPORT: &str = "Page.setLifecycleEventsEnabled";

pub(crate) async fn navigate(
    session: &CdpSession,
    target: &TargetId,
    url: &str,
    deadline: Deadline,
) -> Result<(), Failure> {
    let mut lifecycle = session.events(EventFilter::methods(["Page.lifecycleEvent"]));
    let (report, place) = (json!({"enabled": true}), json!({"url": url}));
    // Sent at once, in this order: the browser starts to load while a new page is still getting ready to report.
    let (enabled, reports, answer) = tokio::join!(
        session.enable("Page"),
        session.send(REPORT, &report, deadline),
        session.send("Page.navigate", &place, deadline),
    );
    let navigated: Navigated = answer.and_then(|answer| answer.to()).map_err(CdpError::into_failure)?;
    if let Some(text) = navigated.error_text {
        return Err(unreachable(url, &text));
    }
    if enabled.is_err() || reports.is_err() {
        // A crashed page takes these once it has a process again, and then reports what it missed.
        session.enable("Page").await.map_err(CdpError::into_failure)?;
        session.send(REPORT, &report, deadline).await.map_err(CdpError::into_failure)?;
    }
    // Without a loader the navigation stayed within the document: nothing is loaded.
    let Some(mut loader) = navigated.loader_id else { return Ok(()) };
    let mut begun = false;
    loop {
        let event = lifecycle.next_within(deadline).await.map_err(|error| not_loaded(error, url))?;
        let Ok(event) = event.to::<LifecycleEvent>() else { continue };
        if event.frame_id != target.as_str() {
            continue;
        }
        begun |= event.loader_id == loader;
        // The page may send itself elsewhere before it has loaded; then that is what is waited for.
        if begun && event.name == "init" {
            loader = event.loader_id;
        } else if event.loader_id == loader && event.name == "load" {
            return Ok(());
        }
    }
}

/// Has a page report its loading, past and to come.
pub(crate) async fn watch_loads(session: &CdpSession, deadline: Deadline) -> Result<EventStream, Failure> {
    let lifecycle = session.events(EventFilter::methods(["Page.lifecycleEvent"]));
    let report = json!({"enabled": true});
    let (enabled, reports) = tokio::join!(session.enable("Page"), session.send(REPORT, &report, deadline));
    enabled.map_err(CdpError::into_failure)?;
    reports.map_err(CdpError::into_failure)?;
    Ok(lifecycle)
}

/// Waits until the page has loaded something.
pub(crate) async fn next_load(
    loads: &mut EventStream,
    target: &TargetId,
    url: &str,
    deadline: Deadline,
) -> Result<(), Failure> {
    loop {
        let event = loads.next_within(deadline).await.map_err(|error| not_loaded(error, url))?;
        let Ok(event) = event.to::<LifecycleEvent>() else { continue };
        if event.frame_id == target.as_str() && event.name == "load" {
            return Ok(());
        }
    }
}

fn unreachable(url: &str, text: &str) -> Failure {
    Failure::new(ErrorCode::CdpError, format!("{url} could not be opened: {text}."))
        .with_hint("Check the address and that its server answers.")
}

fn not_loaded(error: CdpError, url: &str) -> Failure {
    match error {
        CdpError::Timeout { after, .. } => Failure::new(
            ErrorCode::Timeout,
            format!("{url} did not finish loading within {} ms.", after.as_millis()),
        )
        .with_hint("Pass a longer --timeout, or look at what is there with `tabwire eval document.title`."),
        other => other.into_failure(),
    }
}
