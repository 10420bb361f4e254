//! Runs actions on a session's browser.

pub(crate) mod completion;
pub(crate) mod dangerous_extension;
pub(crate) mod ffmpeg;
pub(crate) mod files;
pub(crate) mod frame_check;
pub(crate) mod output_dirs;
pub(crate) mod policy_check;
pub(crate) mod protected_path;
pub(crate) mod root_directory;
pub(crate) mod safe_name;

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join;
use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_api::api::{ActionRequest, ActionResponse, Recovery};
use tabwire_api::{ClientName, ErrorCode, Failure, Remedy, SessionKey, Step, TabId};
use tabwire_cdp::Deadline;
use tabwire_engine::{
    ACTIONS, ActionKind, ActionOutput, BareValue, CaptureRecorder, CheckedParams, Close, Context, Definition,
    Effect, LoadState, Notices, Open, SESSION_ACTIONS, TabUse, bounded_failure, checked_url, find_action,
    find_similar,
};
use tabwire_policy::Needs;

use crate::action::ffmpeg::Ffmpeg;
use crate::action::files::RequestFiles;
use crate::action::policy_check::PolicyCheck;
use crate::audit::entry::AuditEntry;
use crate::daemon::Daemon;
use crate::http::caller::Caller;
use crate::limits::{ACTING_DEADLINE, ACTION_DEADLINE};
use crate::policy::logins::GuardedLogins;
use crate::policy::store::now;
use crate::session::live::LiveSession;
use crate::session::memory::checked_base;
use crate::session::start::StartOptions;
use crate::session::tab_choice::TabChoice;
use crate::session::{ReadySession, Session};
use crate::vault::Vault;

/// A session with its browser, and notices about its start.
struct Prepared {
    session: Arc<Session>,
    live: Arc<LiveSession>,
    /// The base of relative URLs.
    base_url: Option<String>,
    notices: Vec<String>,
    recovery: Option<Recovery>,
}

impl Prepared {
    fn response(
        self,
        request: &ActionRequest,
        tab: Option<TabId>,
        result: Value,
        text: Option<String>,
    ) -> ActionResponse {
        ActionResponse {
            session: request.session.clone(),
            project: request.project.clone(),
            tab: tab.or_else(|| self.live.engine.current_tab()),
            base_url: self.base_url,
            recovered: self.recovery.is_some(),
            recovery: self.recovery,
            result,
            text,
            notices: self.notices,
        }
    }
}

impl Daemon {
    /// Runs an action, and writes its audit row before the response.
    pub(crate) async fn act(
        self: &Arc<Self>,
        name: &str,
        request: ActionRequest,
        caller: &Caller,
    ) -> Result<ActionResponse, Failure> {
        let mut entry = AuditEntry::of_action(&self.audit, name, &request, caller);
        let (key, client) = (request.key(), request.client.clone());
        // The action is polled first, so that its CDP commands go out. The client is looked up while the browser works.
        let action = self.act_recorded(name, request, &mut entry);
        let identification = async {
            tokio::task::yield_now().await;
            caller.identify();
        };
        let (outcome, ()) = join(action, identification).await;
        // A failure may quote the page, so its length is bounded.
        let outcome = outcome.map_err(bounded_failure);
        if let Err(failure) = &outcome {
            let who = || caller.label(client.as_ref().map(ClientName::as_str));
            self.notify_refusal(&key, name, who, failure);
        }
        let notices = entry.finish(outcome.as_ref().err()).await;
        outcome.map(|mut response| {
            response.notices.extend(notices);
            response
        })
    }

    /// Shows a refusal to the user in their own browser.
    fn notify_refusal(
        &self,
        key: &SessionKey,
        action: &str,
        who: impl FnOnce() -> String,
        failure: &Failure,
    ) {
        if failure.code != ErrorCode::PolicyDenied {
            return;
        }
        let Some(Ok(Some(live))) = self.sessions.find(key).map(|session| session.peek_live()) else { return };
        if let Some(install) = live.browser.install() {
            let refusal = json!({
                "when": now(), "who": who(), "session": key.name, "action": action, "message": failure.message,
            });
            self.extensions.add_refusal(install, refusal);
        }
    }

    async fn act_recorded(
        self: &Arc<Self>,
        name: &str,
        request: ActionRequest,
        entry: &mut AuditEntry,
    ) -> Result<ActionResponse, Failure> {
        let deadline = Deadline::after(request.timeout_ms.map_or(ACTION_DEADLINE, Duration::from_millis));
        let definition = find_action(name).ok_or_else(|| unknown_action(name))?;
        let params = definition.check(request.params.clone())?;
        let response = match definition.kind {
            ActionKind::Page => return self.act_on_page(definition, request, params, entry).await,
            ActionKind::Open => return self.act_open(definition, request, deadline, entry).await,
            ActionKind::Session(action) => {
                let run =
                    |daemon: Arc<Self>| async move { daemon.act_on_session(action, request, deadline).await };
                self.run_to_completion(run).await?
            }
        };
        entry.result(&response.result);
        Ok(response)
    }

    /// Runs an action of the registry on a page.
    async fn act_on_page(
        &self,
        definition: &'static Definition,
        request: ActionRequest,
        mut params: CheckedParams,
        entry: &mut AuditEntry,
    ) -> Result<ActionResponse, Failure> {
        let files =
            RequestFiles::below(&self.files, request.roots.clone(), request.working_directory.clone())?;
        self.refuse_mistyped_session(definition, &request)?;
        let mut prepared = self.prepare(&request).await?;
        let (session, live) = (Arc::clone(&prepared.session), Arc::clone(&prepared.live));
        let remembered = session.remembered().based_on(prepared.base_url.clone());
        remembered.complete(definition, &mut params)?;
        let choice =
            TabChoice::make(&session, &live, &request, definition.named_tab(params.as_value())).await?;
        let needs = definition.needs(params.as_value())?;
        let policy_check = self.policy_check(&live, &session, &request, (definition, needs), entry.caller());
        entry.place(&live.engine, choice.tab);
        let tab = policy_check.before(&live.engine, choice.tab, params.as_value(), entry).await?;
        // The timeout starts here: the start of a browser and the user's decision do not count.
        let usual = if definition.effect == Effect::Act { ACTING_DEADLINE } else { ACTION_DEADLINE };
        let deadline = Deadline::after(request.timeout_ms.map_or(usual, Duration::from_millis));
        let context = self.context(&live, tab, deadline, files, &request, &policy_check);
        let outcome = run_judged(definition, &context, &params, &policy_check, entry).await;
        choice.restore(&live).await;
        if definition.effect == Effect::Navigate {
            entry.place(&live.engine, choice.tab);
        }
        if definition.effect == Effect::Navigate || definition.tab == TabUse::SelectsFrame {
            session.remember(&live);
        }
        let output = policy_check.after(&live.engine, context.tab, outcome, entry).await?;
        if let Some(client) = request.client.as_ref().filter(|_| definition.tab.changes_current()) {
            session.leases.follow_to(client, &output.value);
        }
        entry.result(&output.value);
        self.learn(&prepared, definition, &params, choice.tab, &output.value);
        prepared.notices.extend(output.notices);
        let bare = output.bare.filter(|_| request.raw).unwrap_or(BareValue { text: output.text, cut: None });
        prepared.notices.extend(bare.cut);
        let (result, text) = if request.text { (Value::Null, Some(bare.text)) } else { (output.value, None) };
        Ok(prepared.response(&request, choice.tab, result, text))
    }

    fn context(
        &self,
        live: &LiveSession,
        tab: Option<TabId>,
        deadline: Deadline,
        files: RequestFiles,
        request: &ActionRequest,
        policy_check: &PolicyCheck,
    ) -> Context {
        Context {
            browser: Arc::clone(&live.engine),
            tab,
            deadline,
            snapshot: request.snapshot,
            settles: !request.unsettled,
            files: Arc::new(files),
            wants_text: request.text,
            is_filtered: policy_check.is_engine_filtered,
            has_timeout: request.timeout_ms.is_some(),
            capture: request.capture,
            video_encoder: Some(Arc::new(Ffmpeg::new(self.config.path_env.clone(), &self.files))),
            notices: Notices::default(),
            redactor: Arc::clone(&self.redactor),
            logins: Some(Arc::new(GuardedLogins { vault: self.vault(), policy_check: policy_check.clone() })),
        }
    }

    /// The policy check of an action, with the stricter of the session's profile and the request's.
    pub(crate) fn policy_check(
        &self,
        live: &LiveSession,
        session: &Session,
        request: &ActionRequest,
        (action, needs): (&'static Definition, Needs),
        caller: Caller,
    ) -> PolicyCheck {
        self.policy.refresh();
        let requested = request.options.policy.or(request.defaults.policy).unwrap_or_default();
        PolicyCheck {
            policy: Arc::clone(&self.policy),
            hub: live.browser.hub.clone(),
            approvals: Arc::clone(&self.approvals),
            caller,
            late_decisions: Arc::default(),
            client: request.client.clone(),
            call: request.call,
            one_time_grants: Arc::default(),
            flows: Arc::clone(&session.flows),
            profile: live.options.policy().stricter(requested),
            is_engine_filtered: live.options.policy() == live.options.policy().stricter(requested),
            session: session.key.to_string(),
            action,
            needs,
        }
    }

    /// The user's saved logins.
    pub(crate) fn vault(&self) -> Vault {
        Vault::new(self.config.paths.data.clone(), self.config.path_env.clone())
    }

    /// Updates the session's memory with the parameters and the result.
    fn learn(
        &self,
        prepared: &Prepared,
        definition: &Definition,
        params: &CheckedParams,
        tab: Option<TabId>,
        result: &Value,
    ) {
        let before = prepared.session.remembered().clone();
        let mut after = before.clone();
        after.learn(params.as_value(), result);
        if matches!(definition.effect, Effect::Navigate | Effect::Act) {
            let tabs = prepared.live.engine.list_tabs();
            let there = tabs.into_iter().find(|info| tab.map_or(info.current, |tab| info.tab == tab));
            after.url = there.map(|info| info.url).filter(|url| checked_url(url).is_ok()).or(after.url);
        }
        if after != before {
            *prepared.session.remembered() = after;
            prepared.session.remember(&prepared.live);
        }
    }

    /// The session with its browser, and the base URL of the request.
    async fn prepare(&self, request: &ActionRequest) -> Result<Prepared, Failure> {
        let base = request.base_url.as_deref().map(checked_base).transpose()?;
        let fallback = request.default_base_url.as_deref().map(checked_base).transpose()?;
        let session = self.sessions.obtain(&request.key())?;
        let start = StartOptions::new(&request.options, &request.defaults, request.restart);
        let ReadySession { live, notices, recovery } = session.ready(&self.browsers, start).await?;
        if base.is_some() && base != session.remembered().base_url {
            session.remembered().base_url = base;
            session.remember(&live);
        }
        let base_url = session.remembered().based_on(fallback).base_url;
        Ok(Prepared { session, live, base_url, notices, recovery })
    }

    async fn act_open(
        &self,
        definition: &'static Definition,
        request: ActionRequest,
        deadline: Deadline,
        entry: &mut AuditEntry,
    ) -> Result<ActionResponse, Failure> {
        let params: Open = read_params(&request.params)?;
        let files =
            RequestFiles::below(&self.files, request.roots.clone(), request.working_directory.clone())?;
        // An invalid URL starts no browser.
        if let Some(url) = params.url.as_deref().filter(|_| request.base_url.is_none()) {
            self.check_before_start(&request, url)?;
        }
        let mut prepared = self.prepare(&request).await?;
        let (session, live) = (Arc::clone(&prepared.session), Arc::clone(&prepared.live));
        let url = match params.url {
            Some(url) => {
                let whole = session.remembered().based_on(prepared.base_url.clone()).resolve(&url)?;
                checked_url(&whole)?
            }
            None => format!("http://127.0.0.1:{}/demo", self.port),
        };
        let choice = if live.engine.tab_count() == 0 && request.client.is_none() {
            TabChoice::default()
        } else {
            TabChoice::make(&session, &live, &request, None).await?
        };
        let destination = json!({"url": url});
        let needs = definition.needs(&destination)?;
        let policy_check = self.policy_check(&live, &session, &request, (definition, needs), entry.caller());
        policy_check.before(&live.engine, choice.tab, &destination, entry).await?;
        let context = self.context(&live, choice.tab, deadline, files, &request, &policy_check);
        let recorder = CaptureRecorder::begin(&context, definition.name, &request.params).await;
        let shows = request.snapshot && policy_check.is_engine_filtered;
        let opened = open_page(&live, &url, params.new_tab, choice.tab, shows, deadline).await;
        if let Some(recorder) = recorder {
            prepared.notices.extend(recorder.finish(&context, opened.as_ref()).await);
        }
        choice.restore(&live).await;
        entry.place(&live.engine, choice.tab);
        let opened =
            opened.map(|value| ActionOutput { value, text: String::new(), bare: None, notices: Vec::new() });
        let opened = self.redactor.redact(opened);
        let result = policy_check.after(&live.engine, choice.tab, opened, entry).await?.value;
        entry.result(&result);
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

    /// Refuses an action on the page of a session that does not exist, if another one has a similar name. Such an action
    /// would start a browser with an empty page.
    fn refuse_mistyped_session(
        &self,
        definition: &Definition,
        request: &ActionRequest,
    ) -> Result<(), Failure> {
        let key = request.key();
        if definition.effect == Effect::Navigate || self.sessions.find(&key).is_some() {
            return Ok(());
        }
        let mut names: Vec<String> = self
            .sessions
            .store()
            .list(Some(&key.project))
            .into_iter()
            .map(|one| one.name.to_string())
            .collect();
        let live = self.sessions.all().into_iter().filter(|session| session.key.project == key.project);
        names.extend(live.map(|session| session.key.name.to_string()));
        let wanted = key.name.to_string();
        // Short names and those that differ in a number only are names of their own: `a` and `b`, `shop1` and `shop2`.
        let letters = |name: &str| name.chars().filter(|letter| !letter.is_ascii_digit()).collect::<String>();
        names.retain(|name| name.len() >= 4 && letters(name) != letters(&wanted));
        let is_typed = request.client.is_none() && wanted.len() >= 4;
        let meant = find_similar(&wanted, names.iter().map(String::as_str)).filter(|_| is_typed);
        let Some(meant) = meant else { return Ok(()) };
        let message = format!("There is no session {wanted}.");
        let remedy = format!("Did you mean `{meant}`? To start {wanted}, run {{}}.");
        let start = Step::command(format!("tabwire --session {wanted} open URL"));
        Err(Failure::new(ErrorCode::NoBackend, message).with_remedy(Remedy::new(remedy, [start])))
    }

    fn check_before_start(&self, request: &ActionRequest, url: &str) -> Result<(), Failure> {
        let session = self.sessions.obtain(&request.key())?;
        let remembered = session.remembered().based_on(request.default_base_url.clone());
        checked_url(&remembered.resolve(url)?).map(drop)
    }

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

/// Runs an action. If it was refused in a frame before it did anything and the user then allows it, runs it once more.
async fn run_judged(
    definition: &Definition,
    context: &Context,
    params: &CheckedParams,
    policy_check: &PolicyCheck,
    entry: &mut AuditEntry,
) -> Result<ActionOutput, Failure> {
    let outcome = definition.run_checked(context, params.clone()).await;
    if !policy_check.user_allows_retry(&outcome, entry).await? {
        return outcome;
    }
    // The time in which the user decided does not count against the timeout.
    let deadline = Deadline::after(context.deadline.length());
    definition.run_checked(&Context { deadline, ..context.clone() }, params.clone()).await
}

/// A response of an action that needs no browser.
pub(crate) fn plain_result(request: &ActionRequest, result: Value) -> ActionResponse {
    ActionResponse {
        session: request.session.clone(),
        project: request.project.clone(),
        tab: None,
        base_url: None,
        recovered: false,
        recovery: None,
        result,
        text: None,
        notices: Vec::new(),
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

fn unknown_action(name: &str) -> Failure {
    let known: Vec<&str> = SESSION_ACTIONS.iter().chain(ACTIONS).map(|action| action.name).collect();
    let meant = find_similar(name, known.iter().copied());
    let meant = meant.map(|meant| format!("Did you mean `{meant}`? ")).unwrap_or_default();
    Failure::new(ErrorCode::UnknownMethod, format!("There is no action `{name}`."))
        .with_remedy(format!("{meant}The actions are: {}.", known.join(", ")))
}

pub(crate) fn read_params<T: for<'de> Deserialize<'de>>(params: &Value) -> Result<T, Failure> {
    let params = if params.is_null() { json!({}) } else { params.clone() };
    serde_json::from_value(params).map_err(|error| {
        Failure::new(ErrorCode::BadArgs, format!("The action's parameters are not valid: {error}."))
    })
}
