//! Names for shell completion, and the progress of a session. Starts nothing and sends nothing to a browser.

use http::Request;
use hyper::body::Incoming;
use tabwire_api::{ApprovalProgress, KnownNames, KnownSession, Progress, SessionKey, TabId};

use crate::daemon::Daemon;
use crate::http::handler::query_value;
use crate::session::table::SessionTable;

impl SessionTable {
    /// Names of sessions, and of the tabs and refs of the session and tab in the query.
    pub(crate) fn completions(&self, request: &Request<Incoming>) -> KnownNames {
        let sessions = self.all();
        let live = sessions.iter().filter_map(|session| Some((&session.key, session.peek_live().ok()??)));
        let live: Vec<_> = live.collect();
        let wanted = wanted_session(request);
        let engine =
            live.iter().find(|(name, _)| Some(*name) == wanted.as_ref()).map(|(_, live)| &live.engine);
        let tab = query_value(request, "tab").and_then(|tab| tab.parse::<TabId>().ok());
        KnownNames {
            sessions: live
                .iter()
                .filter(|(key, _)| wanted.as_ref().is_some_and(|wanted| wanted.project == key.project))
                .map(|(key, live)| KnownSession { name: key.name.clone(), tabs: live.engine.tab_count() })
                .collect(),
            tabs: engine.map(|engine| engine.completion_tabs()).unwrap_or_default(),
            refs: engine.map(|engine| engine.completion_refs(tab)).unwrap_or_default(),
        }
    }

    /// The progress of a session.
    pub(crate) fn progress_of(&self, key: &SessionKey) -> Progress {
        let Some(session) = self.find(key) else { return Progress::default() };
        let live = session.peek_live();
        let starting = live.is_err();
        let live = live.ok().flatten();
        Progress {
            approval: None,
            starting,
            downloads: live.as_ref().map(|live| live.engine.active_downloads()).unwrap_or_default(),
            recordings: live.as_ref().map(|live| live.engine.active_recordings()).unwrap_or_default(),
        }
    }
}

impl Daemon {
    /// The progress of the session in the query, with the question that waits for the user.
    pub(crate) fn progress(&self, request: &Request<Incoming>) -> Progress {
        let Some(key) = wanted_session(request) else { return Progress::default() };
        let session = key.to_string();
        let pending = self.approvals.pending(None).into_iter().find(|one| one.request.session == session);
        let approval = pending.map(|one| ApprovalProgress {
            site: one.request.site,
            capability: one.request.capability.to_owned(),
            seconds_left: one.seconds_left,
        });
        Progress { approval, ..self.sessions.progress_of(&key) }
    }
}

fn wanted_session(request: &Request<Incoming>) -> Option<SessionKey> {
    SessionKey::find(query_value(request, "session").unwrap_or("default"))
}
