//! The actions `open` and `close`: they start and end a session's browser.

use std::sync::Arc;

use serde_json::{Value, json};
use tabwire_api::api::{ActionRequest, ActionResponse};
use tabwire_api::{ErrorCode, Failure, Remedy, Step, TabId};
use tabwire_cdp::Deadline;
use tabwire_engine::{
    ActionOutput, CaptureRecorder, Close, Definition, LoadState, Open, TabUse, checked_url,
};

use crate::action::policy_check::named_result;
use crate::action::{PreparedSession, plain_result, read_params};
use crate::audit::entry::AuditEntry;
use crate::control::ActionGuard;
use crate::daemon::Daemon;
use crate::session::live::LiveSession;
use crate::session::tab_choice::{TabChoice, WithoutTab};

impl Daemon {
    /// Opens a URL in a tab of the session; starts the browser if there is none.
    pub(super) async fn act_open(
        &self,
        definition: &'static Definition,
        request: ActionRequest,
        deadline: Deadline,
        entry: &mut AuditEntry,
        running: &ActionGuard,
    ) -> Result<ActionResponse, Failure> {
        let params: Open = read_params(&request.params)?;
        let files = self.request_files(&request)?;
        // An invalid URL starts no browser.
        if let Some(url) = params.url.as_deref().filter(|_| request.base_url.is_none()) {
            self.check_before_start(&request, url)?;
        }
        let mut prepared = self.prepare(&request).await?;
        let (session, live) = (Arc::clone(&prepared.session), Arc::clone(&prepared.live));
        let url = self.url_to_open(params.url.as_deref(), &prepared)?;
        let missing = match &request.client {
            Some(_) if params.new_tab => WithoutTab::OpenAnother,
            None if params.new_tab || live.engine.current_tab().is_none() => WithoutTab::Leave,
            _ => WithoutTab::Open,
        };
        let choice = TabChoice::make(&session, &live, &request, None, missing).await?;
        let used = live.engine.find_location(choice.tab).filter(|_| !params.new_tab);
        self.policy.control.admit(running, used.map(|used| used.target).as_ref(), deadline).await?;
        let deadline = Deadline::after(deadline.length());
        let destination = json!({"url": url});
        let needs = definition.needs(&destination)?;
        let policy_check = self.policy_check(&live, &session, &request, (definition, needs), entry.caller());
        policy_check.before(&live.engine, choice.tab, &destination, entry).await?;
        let context = self.context(&live, choice.tab, deadline, files, &request, &policy_check);
        let recorder = CaptureRecorder::begin(&context, definition.name, &request.params).await;
        let shows = request.snapshot && policy_check.is_engine_filtered;
        let new_tab = params.new_tab && request.client.is_none();
        let opened = open_page(&live, &url, new_tab, choice.tab, shows, deadline).await;
        if let Some(recorder) = recorder {
            prepared.notices.extend(recorder.finish(&context, opened.as_ref()).await);
        }
        entry.place(&live.engine, choice.tab);
        let opened =
            opened.map(|value| ActionOutput { value, text: String::new(), bare: None, notices: Vec::new() });
        let opened = self.redactor.redact(opened);
        let result = policy_check.after(&live.engine, choice.tab, opened, entry).await;
        let shown = result.as_ref().ok().and_then(|output| named_result(&output.value)).or(choice.tab);
        self.add_screenshot((&session, &live), &request, shown, entry).await;
        let result = result?.value;
        entry.result(&result);
        self.use_result_tab(&live, running, TabUse::Opens, &result);
        if let Some(reached) = result.get("url").and_then(Value::as_str) {
            session.remembered().url = Some(reached.to_owned());
        }
        session.remember(&live);
        let tab = result.get("tab").and_then(Value::as_str).and_then(|tab| tab.parse().ok());
        if let (Some(client), Some(tab)) = (&request.client, tab) {
            session.leases.set_tab(client, tab);
        }
        Ok(prepared.response(&request, tab, result, None))
    }

    /// A whole URL; without one, that of the demo page.
    fn url_to_open(&self, url: Option<&str>, prepared: &PreparedSession) -> Result<String, Failure> {
        let Some(url) = url else { return Ok(format!("http://127.0.0.1:{}/demo", self.port)) };
        let remembered = prepared.session.remembered().based_on(prepared.base_url.clone());
        checked_url(&remembered.resolve(url)?)
    }

    fn check_before_start(&self, request: &ActionRequest, url: &str) -> Result<(), Failure> {
        let session = self.sessions.obtain(&request.key())?;
        let remembered = session.remembered().based_on(request.default_base_url.clone());
        checked_url(&remembered.resolve(url)?).map(drop)
    }

    /// Closes a tab, or the session.
    pub(crate) async fn act_close(
        &self,
        request: ActionRequest,
        deadline: Deadline,
    ) -> Result<ActionResponse, Failure> {
        let params: Close = read_params(&request.params)?;
        let key = request.key();
        let no_browser = || {
            let message = format!("Session {} has no browser.", key.name);
            Failure::new(ErrorCode::NoBackend, message).with_remedy(Remedy::new(
                "Run {} to list the sessions.",
                [Step::command("tabwire session list")],
            ))
        };
        let session = self.sessions.find(&key).ok_or_else(no_browser)?;
        if let Some(tab) = params.tab {
            let live = session.find_live().await.ok_or_else(no_browser)?;
            session.leases.check(tab, request.client.as_ref())?;
            live.engine.close_tab(tab, deadline).await?;
            session.remember(&live);
            return Ok(plain_result(&request, json!({"closed": "tab", "tab": tab})));
        }
        let live = session.take_live().await.ok_or_else(no_browser)?;
        let end = self.browsers.end_session(&live).await?;
        self.scripts.end(&key, None);
        self.policy.session_ended(&key);
        self.sessions.forget(&key);
        self.sessions.store().forget_record(&key);
        Ok(plain_result(&request, json!({"closed": "session", "browser": end.describe()})))
    }
}

/// Opens a URL in a tab or a new one, and returns its outline, with `shows_snapshot` its snapshot too.
async fn open_page(
    live: &LiveSession,
    url: &str,
    new_tab: bool,
    tab: Option<TabId>,
    shows_snapshot: bool,
    deadline: Deadline,
) -> Result<Value, Failure> {
    live.sync_tabs().await?;
    let existing = match tab.filter(|_| !new_tab) {
        Some(tab) => Some(live.engine.page(Some(tab)).await?),
        None => live.engine.page_for_open(new_tab).await?,
    };
    let (page, outline) = match existing {
        Some(page) => {
            live.engine.navigate(&page, url, LoadState::Load, deadline).await?;
            let outline = page.outline(deadline).await?;
            (page, outline)
        }
        None => {
            let page = live.open_first_tab(url, deadline).await?;
            let outline = page.first_outline(url, deadline).await?;
            (page, outline)
        }
    };
    let mut result = json!(outline);
    if let Some(members) = result.as_object_mut() {
        members.insert("tab".to_owned(), json!(live.engine.tab_id(&page)));
        if shows_snapshot {
            // A page that cannot be walked still has its outline.
            let snapshot = page.snapshot_text(deadline).await.ok();
            members.extend(snapshot.map(|text| ("snapshot".to_owned(), json!(text))));
        }
    }
    Ok(result)
}
