//! Runs actions on a session's browser.

pub(crate) mod completion;
pub(crate) mod ffmpeg;
pub(crate) mod files;
pub(crate) mod frame_check;
mod open;
pub(crate) mod policy_check;
pub(crate) mod raw_cdp;

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join;
use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_api::api::{ActionRequest, ActionResponse, Recovery};
use tabwire_api::{ClientName, ErrorCode, Failure, Remedy, SessionKey, Step, TabId, TargetId};
use tabwire_cdp::Deadline;
use tabwire_engine::{
    ACTIONS, ActionKind, ActionOutput, BareValue, CheckedParams, Context, Definition, Effect, Notices,
    SESSION_ACTIONS, TabUse, bounded_failure, checked_url, find_action, find_similar,
};
use tabwire_extension::notification::Refusal;
use tabwire_policy::Needs;

use crate::action::ffmpeg::Ffmpeg;
use crate::action::files::request_files::RequestFiles;
use crate::action::policy_check::{PolicyCheck, named_result};
use crate::action::raw_cdp::SessionCdp;
use crate::audit::entry::AuditEntry;
use crate::chat::steps::{StepFacts, find_screenshot};
use crate::control::ActionGuard;
use crate::daemon::Daemon;
use crate::http::agent_name::agent_name;
use crate::http::caller::Caller;
use crate::limits::{ACTING_DEADLINE, ACTION_DEADLINE};
use crate::policy::logins::GuardedLogins;
use crate::policy::store::now;
use crate::session::leases::name_of;
use crate::session::live::LiveSession;
use crate::session::memory::checked_base;
use crate::session::start::StartOptions;
use crate::session::tab_choice::{TabChoice, WithoutTab};
use crate::session::{ReadySession, Session};
use crate::vault::Vault;

/// The name of a client that gives itself none.
const UNNAMED: &str = "Command line";

/// A session with its browser, and notices about its start.
struct PreparedSession {
    session: Arc<Session>,
    live: Arc<LiveSession>,
    /// The base of relative URLs.
    base_url: Option<String>,
    notices: Vec<String>,
    recovery: Option<Recovery>,
}

impl PreparedSession {
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
            tab: tab.or_else(|| self.live.engine.current_tab().filter(|_| request.client.is_none())),
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
        let agent = client.as_ref().map_or_else(|| UNNAMED.to_owned(), ClientName::display_name);
        let known = find_action(name).map_or("unknown", |definition| definition.name);
        let step = self.begin_step(known, &request);
        let running = self.policy.control.begin(&key, agent, known);
        // The action is polled first, so that its CDP commands go out. The client is looked up while the browser works.
        // Boxed: the future is large, and each wrapper around it takes its size on the stack of unoptimized builds.
        let action = running.unless_stopped(Box::pin(self.act_recorded(name, request, &mut entry, &running)));
        let identification = async {
            tokio::task::yield_now().await;
            caller.identify();
        };
        let (outcome, ()) = join(action, identification).await;
        // A failure may quote the page, so its length is bounded.
        let outcome = outcome.map_err(bounded_failure);
        if let Some(step) = step {
            let screenshot = match &outcome {
                Ok(response) => find_screenshot(known, &response.result).await,
                Err(_) => None,
            };
            step.end(StepFacts { screenshot, ..entry.step_facts() }, outcome.as_ref().err());
        }
        if let Err(failure) = &outcome {
            self.notify_refusal(&key, name, (client.as_ref(), caller), failure);
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
        (client, caller): (Option<&ClientName>, &Caller),
        failure: &Failure,
    ) {
        if failure.code != ErrorCode::PolicyDenied {
            return;
        }
        let Some(Ok(Some(live))) = self.sessions.find(key).map(|session| session.peek_live()) else { return };
        if let Some(install) = live.browser.install() {
            let refusal = Refusal {
                when: now(),
                agent: agent_name(client, caller),
                who: caller.label(client.map(ClientName::as_str)),
                session: key.name.to_string(),
                action: action.to_owned(),
                message: failure.message.clone(),
            };
            self.extensions.add_refusal(install, refusal);
        }
    }

    async fn act_recorded(
        self: &Arc<Self>,
        name: &str,
        request: ActionRequest,
        entry: &mut AuditEntry,
        running: &ActionGuard,
    ) -> Result<ActionResponse, Failure> {
        let deadline = Deadline::after(request.timeout_ms.map_or(ACTION_DEADLINE, Duration::from_millis));
        let definition = find_action(name).ok_or_else(|| unknown_action(name))?;
        let params = definition.check(request.params.clone())?;
        let response = match definition.kind {
            ActionKind::Page => return self.act_on_page(definition, request, params, entry, running).await,
            ActionKind::Open => return self.act_open(definition, request, deadline, entry, running).await,
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
        mut request: ActionRequest,
        mut params: CheckedParams,
        entry: &mut AuditEntry,
        running: &ActionGuard,
    ) -> Result<ActionResponse, Failure> {
        let files = self.request_files(&request)?;
        self.refuse_mistyped_session(definition, &request)?;
        let mut prepared = self.prepare(&request).await?;
        let (session, live) = (Arc::clone(&prepared.session), Arc::clone(&prepared.live));
        let remembered = session.remembered().based_on(prepared.base_url.clone());
        remembered.complete(definition, &mut params)?;
        let needs = definition.needs(params.as_value())?;
        let policy_check = self.policy_check(&live, &session, &request, (definition, needs), entry.caller());
        policy_check.resolve_tab_name(&live, &mut params).await?;
        if let Some(name) = request.tab_name.take() {
            request.tab = Some(policy_check.find_named_tab(&live, &name).await?);
        }
        let missing = if definition.tab.runs_in_tab() { WithoutTab::Open } else { WithoutTab::Leave };
        let named = definition.named_tab(params.as_value());
        let mut choice = TabChoice::make(&session, &live, &request, named, missing).await?;
        entry.place(&live.engine, choice.tab);
        // The timeout starts here: the start of a browser and the user's decision do not count.
        let usual = if definition.effect == Effect::Act { ACTING_DEADLINE } else { ACTION_DEADLINE };
        let length = request.timeout_ms.map_or(usual, Duration::from_millis);
        let is_on_tab = definition.tab.runs_in_tab() || named.is_some();
        let used = is_on_tab.then(|| live.engine.find_location(named.or(choice.tab))).flatten();
        let target = used.map(|location| location.target);
        self.policy.control.admit(running, target.as_ref(), Deadline::after(length)).await?;
        let tab = policy_check.before(&live.engine, choice.tab, params.as_value(), entry).await?;
        let deadline = Deadline::after(length);
        let client_tabs = choice.client_tabs.take();
        let context =
            Context { client_tabs, ..self.context(&live, tab, deadline, files, &request, &policy_check) };
        let outcome = run_judged(definition, &context, &params, &policy_check, entry).await;
        if definition.effect == Effect::Navigate {
            entry.place(&live.engine, choice.tab);
        }
        if definition.effect == Effect::Navigate || definition.tab == TabUse::SelectsFrame {
            session.remember(&live);
        }
        let output = policy_check.after(&live.engine, context.tab, outcome, entry).await;
        if definition.tab.runs_in_tab() {
            self.add_screenshot((&session, &live), &request, choice.tab, entry).await;
        }
        let output = output?;
        if let Some(client) = request.client.as_ref() {
            choice.tab = session.follow_client(&live, client, definition.tab, &output.value).or(choice.tab);
        }
        entry.result(&output.value);
        self.learn(&prepared, (definition, running), &params, choice.tab, &output.value);
        prepared.notices.extend(output.notices);
        prepared.notices.extend(self.notice_of_user(target.as_ref(), &request));
        let bare = output.bare.filter(|_| request.raw).unwrap_or(BareValue { text: output.text, cut: None });
        prepared.notices.extend(bare.cut);
        let (result, text) = if request.text { (Value::Null, Some(bare.text)) } else { (output.value, None) };
        Ok(prepared.response(&request, choice.tab, result, text))
    }

    /// Has live views follow an action to the tab that it opened or selected.
    fn use_result_tab(&self, live: &LiveSession, running: &ActionGuard, tab_use: TabUse, result: &Value) {
        if !tab_use.changes_current() {
            return;
        }
        if let Some(target) = named_result(result).and_then(|tab| live.engine.find_target_of(tab)) {
            self.policy.control.use_tab(running, &target);
        }
    }

    /// The notice that the user had taken over the tab since the client's last action there.
    fn notice_of_user(&self, target: Option<&TargetId>, request: &ActionRequest) -> Option<String> {
        self.policy.control.take_notice(target?, &name_of(request.client.as_ref()).to_string())
    }

    /// The files that a request may use.
    pub(crate) fn request_files(&self, request: &ActionRequest) -> Result<RequestFiles, Failure> {
        let files =
            RequestFiles::below(&self.files, request.roots.clone(), request.working_directory.clone())?;
        Ok(files.of_session(request.key()))
    }

    pub(crate) fn context(
        &self,
        live: &Arc<LiveSession>,
        tab: Option<TabId>,
        deadline: Deadline,
        files: RequestFiles,
        request: &ActionRequest,
        policy_check: &PolicyCheck,
    ) -> Context {
        Context {
            browser: Arc::clone(&live.engine),
            tab,
            client_tabs: None,
            deadline,
            snapshot: request.snapshot,
            settles: !request.unsettled,
            files: Arc::new(files),
            wants_text: request.text,
            is_filtered: policy_check.is_engine_filtered,
            has_timeout: request.timeout_ms.is_some(),
            capture: request.capture,
            video_encoder: Some(Arc::new(Ffmpeg::new(self.config.path_env.clone(), &self.files))),
            raw_cdp: Arc::new(SessionCdp {
                live: Arc::clone(live),
                key: request.key(),
                policy: Arc::clone(&self.policy),
                profile: policy_check.profile,
                tasks: self.tasks.clone(),
            }),
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
            agent: Arc::default(),
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
        prepared: &PreparedSession,
        (definition, running): (&Definition, &ActionGuard),
        params: &CheckedParams,
        tab: Option<TabId>,
        result: &Value,
    ) {
        self.use_result_tab(&prepared.live, running, definition.tab, result);
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

    /// Starts the browser of a request's session, if it has none.
    pub(crate) async fn start_session(&self, request: &ActionRequest) -> Result<(), Failure> {
        self.prepare(request).await.map(drop)
    }

    /// The session with its browser, and the base URL of the request.
    async fn prepare(&self, request: &ActionRequest) -> Result<PreparedSession, Failure> {
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
        Ok(PreparedSession { session, live, base_url, notices, recovery })
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
