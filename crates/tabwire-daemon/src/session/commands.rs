//! Actions on sessions: start, stop, rename, delete, remembered values and tab leases.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};
use tabwire_api::api::{ActionRequest, ActionResponse, SessionStatus};
use tabwire_api::{ErrorCode, Failure, Remedy, SessionKey, Step, TabId};
use tabwire_cdp::Deadline;
use tabwire_engine::{ContextSet, SessionAction, SessionList, SessionRename, TabLease, TabRelease};

use crate::action::{plain_result, read_params};
use crate::daemon::Daemon;
use crate::limits::{ACTION_DEADLINE, LEASE};
use crate::session::leases::name_of;
use crate::session::memory::{Remembered, checked_base};
use crate::session::start::{ReplacedBrowser, StartOptions};
use crate::session::{ReadySession, Session};

impl Daemon {
    pub(crate) async fn act_on_session(
        &self,
        action: SessionAction,
        request: ActionRequest,
        deadline: Deadline,
    ) -> Result<ActionResponse, Failure> {
        match action {
            SessionAction::Close => self.act_close(request, deadline).await,
            SessionAction::Start => self.session_start(request).await,
            SessionAction::Restart => self.session_restart(request).await,
            SessionAction::Stop => {
                let stopped = self.session_stop(&request).await?;
                Ok(plain_result(&request, stopped))
            }
            SessionAction::Status => {
                let status = self.session_status(&request).await;
                Ok(plain_result(&request, json!(status)))
            }
            SessionAction::List => {
                let params: SessionList = read_params(&request.params)?;
                let project = (!params.all).then(|| request.project.clone());
                let sessions = self.session_list(project.as_ref()).await;
                Ok(plain_result(&request, json!({"sessions": sessions})))
            }
            SessionAction::Rename => self.session_rename(&request).await,
            SessionAction::Delete => self.session_delete(&request).await,
            SessionAction::ContextShow | SessionAction::ContextSet | SessionAction::ContextClear => {
                self.context_action(action, &request).await
            }
            SessionAction::TabLease | SessionAction::TabRelease | SessionAction::TabLeases => {
                self.lease_action(action, &request).await
            }
        }
    }

    async fn session_start(&self, request: ActionRequest) -> Result<ActionResponse, Failure> {
        let session = self.sessions.obtain(&request.key())?;
        let mut start = StartOptions::new(&request.options, &request.defaults, request.restart);
        if request.options.address().is_some() {
            // A session that starts at a URL uses the browser that is there.
            start.replaced_browser = ReplacedBrowser::Use;
        }
        let ReadySession { live, notices, recovery } = session.ready(&self.browsers, start).await?;
        if let Some(base) = request.base_url.as_deref() {
            session.remembered().base_url = Some(checked_base(base)?);
        }
        live.ensure_first_tab().await?;
        session.save(&live).await;
        let status = session.status(false).await;
        let mut response = plain_result(&request, json!(status));
        response.tab = live.engine.current_tab();
        response.base_url = session.remembered().based_on(request.default_base_url.clone()).base_url;
        (response.recovered, response.recovery, response.notices) = (recovery.is_some(), recovery, notices);
        Ok(response)
    }

    async fn session_restart(&self, request: ActionRequest) -> Result<ActionResponse, Failure> {
        let session = self.known(&request.key())?;
        let start = StartOptions::new(&request.options, &request.defaults, true);
        let ReadySession { live, notices, .. } = session.restart(&self.browsers, start).await?;
        live.ensure_first_tab().await?;
        session.save(&live).await;
        let mut response = plain_result(&request, json!(session.status(false).await));
        response.tab = live.engine.current_tab();
        response.notices = notices;
        Ok(response)
    }

    async fn session_stop(&self, request: &ActionRequest) -> Result<Value, Failure> {
        let key = request.key();
        let session = self.known(&key)?;
        let Some(live) = session.take_live().await else {
            return Ok(json!({"stopped": false, "browser": "it had none"}));
        };
        let fate = self.browsers.end_session(&live).await?;
        self.policy.session_ended(&key);
        self.sessions.forget(&key);
        Ok(json!({"stopped": true, "browser": fate.describe()}))
    }

    async fn session_delete(&self, request: &ActionRequest) -> Result<ActionResponse, Failure> {
        let key = request.key();
        let session = self.known(&key)?;
        let browser = match session.take_live().await {
            Some(live) => self.browsers.end_session(&live).await?.describe(),
            None => "it had none",
        };
        self.policy.session_ended(&key);
        self.sessions.forget(&key);
        self.sessions.store().remove(&key);
        Ok(plain_result(request, json!({"deleted": true, "browser": browser})))
    }

    async fn session_rename(&self, request: &ActionRequest) -> Result<ActionResponse, Failure> {
        let params: SessionRename = read_params(&request.params)?;
        let from = request.key();
        let to = SessionKey::new(from.project.clone(), params.to);
        let session = self.known(&from)?;
        if let Some(live) = session.find_live().await {
            session.save(&live).await;
        }
        session.rename_files(&to).await?;
        // A session object under the new name may exist. It is recreated with the secret of this session.
        self.sessions.forget(&to);
        let heir = self.sessions.obtain(&to)?;
        session.move_to(&heir).await;
        self.sessions.forget(&from);
        if let Some(live) = heir.find_live().await {
            heir.save(&live).await;
        }
        Ok(plain_result(request, json!({"renamed": true, "from": from.name, "to": to.name})))
    }

    fn known(&self, key: &SessionKey) -> Result<Arc<Session>, Failure> {
        self.sessions.find(key).ok_or_else(|| {
            Failure::new(ErrorCode::NoBackend, format!("There is no session {}.", key.name)).with_remedy(
                Remedy::new(
                    "Run {} to list the sessions, those of other projects too.",
                    [Step::command("tabwire session list --all")],
                ),
            )
        })
    }

    /// Adds where a session waits for a rented browser.
    pub(crate) fn with_wait(&self, mut status: SessionStatus) -> SessionStatus {
        let key = SessionKey::new(status.project.clone(), status.name.clone());
        if let Some((place, seconds)) = self.browsers.rentals.find_waiting(&key) {
            status.state = format!("starting: waits for a browser of {place} for {seconds} s");
        }
        status
    }

    async fn session_status(&self, request: &ActionRequest) -> SessionStatus {
        match self.sessions.find(&request.key()) {
            Some(session) => self.with_wait(session.status(true).await),
            None => SessionStatus {
                name: request.session.clone(),
                project: request.project.clone(),
                state: "there is no such session".to_owned(),
                ..SessionStatus::default()
            },
        }
    }

    /// Every session with a browser or a record, of one project or of all.
    pub(crate) async fn session_list(&self, project: Option<&tabwire_api::ProjectKey>) -> Vec<SessionStatus> {
        let mut keys = self.sessions.store().list(project);
        let live = self.sessions.all().into_iter().map(|session| session.key.clone());
        keys.extend(live.filter(|key| project.is_none_or(|project| key.project == *project)));
        keys.sort_unstable();
        keys.dedup();
        let sessions: Vec<_> = keys.iter().filter_map(|key| self.sessions.find(key)).collect();
        // Concurrently: many browsers respond as fast as one.
        let list = join_all(sessions.iter().map(|session| session.status(false))).await;
        let mut list: Vec<_> = list.into_iter().map(|status| self.with_wait(status)).collect();
        // A session object that exists only because of a status request is left out.
        list.retain(|status| {
            status.active || status.record.is_some() || status.state.starts_with("starting")
        });
        list
    }

    async fn context_action(
        &self,
        action: SessionAction,
        request: &ActionRequest,
    ) -> Result<ActionResponse, Failure> {
        let session = self.sessions.obtain(&request.key())?;
        match action {
            SessionAction::ContextSet => {
                let params: ContextSet = read_params(&request.params)?;
                let url = params.url.map(|url| tabwire_engine::checked_url(&url)).transpose()?;
                let base = params.base_url.as_deref().or(request.base_url.as_deref());
                let base = base.map(checked_base).transpose()?;
                let mut remembered = session.remembered();
                remembered.url = url.or(remembered.url.take());
                remembered.target = params.target.or(remembered.target.take());
                remembered.output = params.output.or(remembered.output.take());
                remembered.base_url = base.or(remembered.base_url.take());
            }
            SessionAction::ContextClear => *session.remembered() = Remembered::default(),
            _ => {}
        }
        if action != SessionAction::ContextShow {
            session.save_remembered().await?;
        }
        let live = session.find_live().await;
        let remembered = session.remembered().based_on(request.default_base_url.clone());
        let mut shown = json!(remembered);
        let tab = live.as_ref().and_then(|live| live.engine.current_tab());
        if let Some(members) = shown.as_object_mut() {
            members.insert("tab".to_owned(), json!(tab));
            members.insert("frame".to_owned(), json!(live.and_then(|live| live.engine.selected_frame_url())));
        }
        let mut response = plain_result(request, shown);
        response.tab = tab;
        response.base_url = remembered.base_url;
        Ok(response)
    }

    async fn lease_action(
        &self,
        action: SessionAction,
        request: &ActionRequest,
    ) -> Result<ActionResponse, Failure> {
        let session = self.known(&request.key())?;
        let no_browser = || {
            Failure::new(ErrorCode::NoBackend, format!("Session {} has no browser.", session.key.name))
                .with_remedy(Remedy::new("Run {} first.", [Step::action("open").with("url", "URL")]))
        };
        let live = session.find_live().await.ok_or_else(no_browser)?;
        let tabs = live.engine.list_tabs();
        session.leases.retain(|tab| tabs.iter().any(|info| info.tab == tab));
        if action == SessionAction::TabLeases {
            return Ok(plain_result(request, json!({"leases": session.leases.list()})));
        }
        let client = request.client.as_ref();
        let open: Vec<TabId> = tabs.iter().map(|info| info.tab).collect();
        let own: Vec<TabId> = tabs.iter().filter(|info| !info.shared).map(|info| info.tab).collect();
        let lease: TabLease = read_params(&request.params)?;
        let release: TabRelease = read_params(&request.params)?;
        let named = match &request.tab_name {
            // Numbers only: the policy that says which titles the client may know belongs to actions on pages.
            Some(name) => {
                Some(live.engine.find_tab(name, |_| false, Deadline::after(ACTION_DEADLINE)).await?)
            }
            None => None,
        };
        let tab = match lease.tab.or(request.tab).or(named) {
            Some(tab) if !open.contains(&tab) => {
                live.engine.page(Some(tab)).await?;
                tab
            }
            Some(tab) => tab,
            None => {
                let selected = live.engine.selected_tab();
                session.leases.tab_for(client, selected, &open, &own).ok_or_else(no_browser)?
            }
        };
        let result = match action {
            SessionAction::TabLease => {
                let length = lease.seconds.map_or(LEASE, Duration::from_secs);
                json!(session.leases.lease(tab, &name_of(client), length)?)
            }
            _ => {
                let released = session.leases.release(tab, client, release.force)?;
                json!({"tab": tab, "released": released})
            }
        };
        session.save(&live).await;
        let mut response = plain_result(request, result);
        response.tab = Some(tab);
        Ok(response)
    }
}
