//! Recovery after a browser was lost: reopens its tabs, restores saved state, and reports what is lost.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tabwire_api::api::{RecoveredTab, Recovery};
use tabwire_cdp::Deadline;

use crate::session::Session;
use crate::session::live::LiveSession;
use crate::session::record::SavedTab;

/// How long an empty tab may take to close.
const CLOSE_DEADLINE: Duration = Duration::from_secs(5);

/// How long reopened tabs may take to load, all together.
const REOPEN_DEADLINE: Duration = Duration::from_secs(10);

/// Restores state and tabs.
pub(crate) async fn bring_back(
    session: &Arc<Session>,
    live: &Arc<LiveSession>,
    reason: Option<String>,
    tabs: Vec<SavedTab>,
) -> Recovery {
    let mut recovery = Recovery { reason: reason.unwrap_or_default(), ..Recovery::default() };
    // State first: pages read it when they load.
    match session.saver.restore(session, live).await {
        Some(Ok(given)) => {
            recovery.state_restored = true;
            recovery.lost.extend(given.left_out);
            recovery.lost.push(
                "Cookies and local storage are as they were last saved; session storage and databases are lost."
                    .to_owned(),
            );
        }
        Some(Err(failure)) => recovery.lost.push(format!("The saved state was not restored: {failure}")),
        None if live.options.save_state == Some(true) => {
            recovery.lost.push("Cookies and storage are lost: nothing had been saved yet.".to_owned());
        }
        None if live.browser.descriptor.as_ref().is_some_and(|descriptor| descriptor.temporary) => {
            recovery.lost.push(
                "Cookies and storage of the temporary profile are lost; a session with a saved state (`save_state`) or a `profile` keeps them."
                    .to_owned(),
            );
        }
        None => {}
    }
    reopen(live, tabs, &mut recovery).await;
    if !recovery.tabs.is_empty() {
        recovery.lost.push("Text typed into pages and the history of tabs are lost.".to_owned());
    }
    recovery
}

async fn reopen(live: &Arc<LiveSession>, tabs: Vec<SavedTab>, recovery: &mut Recovery) {
    let (mut current, mut pages) = (None, Vec::new());
    let blank: Vec<_> =
        live.engine.list_tabs().into_iter().filter(|info| !info.shared).map(|info| info.tab).collect();
    for saved in tabs {
        // Pages that are not opened by address cannot be opened again.
        let Ok(url) = tabwire_engine::checked_url(&saved.url) else {
            recovery
                .lost
                .push(format!("Tab {} showed {}, which cannot be opened again.", saved.tab, saved.url));
            continue;
        };
        match live.open_first_tab(&url, Deadline::after(REOPEN_DEADLINE)).await {
            Ok(page) => {
                let tab = live.engine.tab_id(&page);
                if saved.current {
                    current = Some(tab);
                }
                recovery.tabs.push(RecoveredTab { was: saved.tab, tab, url: url.clone() });
                pages.push((page, url));
            }
            Err(failure) => {
                recovery.lost.push(format!("Tab {} at {url} was not opened again: {failure}", saved.tab));
            }
        }
    }
    let deadline = Deadline::after(REOPEN_DEADLINE);
    let loads = pages.iter().map(|(page, url)| page.first_outline(url, deadline));
    for (failure, (_, url)) in join_all(loads).await.into_iter().map(Result::err).zip(&pages) {
        recovery.lost.extend(failure.map(|failure| format!("{url} did not load again: {failure}")));
    }
    if !recovery.tabs.is_empty() {
        for tab in blank {
            // It was opened to restore the state. A leftover tab is harmless.
            let _ = live.engine.close_tab(tab, Deadline::after(CLOSE_DEADLINE)).await;
        }
    }
    if let Some(current) = current {
        // It was opened a moment ago; if it is gone already, the last one stays current.
        let _ = live.engine.select_tab(current).await;
    }
}
