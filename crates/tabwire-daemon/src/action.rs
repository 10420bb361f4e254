//! Running actions of the registry on a session's browser, and opening and closing one.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join;
use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_cdp::Deadline;
use tabwire_engine::{
    ACTIONS, Answered, BareValue, Context, Definition, Effect, LoadState, Notices, Witness, bounded_failure,
    checked_address, find_action, find_similar,
};
use tabwire_policy::{Capability, Needs};
use tabwire_wire::api::{ActionAnswer, ActionRequest, Recovery};
use tabwire_wire::{ClientName, ErrorCode, Failure, SessionKey, TabId};

use crate::caller::Caller;
use crate::checkpoint::Checkpoint;
use crate::daemon::Daemon;
use crate::ffmpeg::Ffmpeg;
use crate::guarded_logins::GuardedLogins;
use crate::limits::{ACTING_DEADLINE, ACTION_DEADLINE};
use crate::live_session::LiveSession;
use crate::note::Note;
use crate::policy_desk::now;
use crate::remembered::checked_base;
use crate::request_files::RequestFiles;
use crate::session::{Ready, Session};
use crate::session_action::SessionAction;
use crate::tab_choice::{TAB_CHANGERS, TabChoice};
use crate::vault::Vault;
use crate::wish::Wish;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Open {
    /// Absent: the demo page.
    url: Option<String>,
    #[serde(default)]
    new_tab: bool,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Close {
    tab: Option<TabId>,
}

/// A session with its browser, and what there is to tell about how it got it.
struct Prepared {
    session: Arc<Session>,
    live: Arc<LiveSession>,
    /// Where relative addresses begin.
    base_url: Option<String>,
    notices: Vec<String>,
    recovery: Option<Recovery>,
}

impl Prepared {
    fn answer(
        self,
        request: &ActionRequest,
        tab: Option<TabId>,
        result: Value,
        text: Option<String>,
    ) -> ActionAnswer {
        ActionAnswer {
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
    /// Runs an action, and writes the journal's row of it before it is answered.
    pub(crate) async fn act(
        self: &Arc<Self>,
        name: &str,
        request: ActionRequest,
        caller: &Caller,
    ) -> Result<ActionAnswer, Failure> {
        let mut note = Note::of_action(&self.scribe, name, &request, caller);
        let (key, client) = (request.key(), request.client.clone());
        // Polled in this order, and what was asked of the browser goes out first: who asks is found out while it works.
        let acting = self.act_noted(name, request, &mut note);
        let looking = async {
            tokio::task::yield_now().await;
            caller.look();
        };
        let (outcome, ()) = join(acting, looking).await;
        // Whatever of a page it quotes: one line of bounded length.
        let outcome = outcome.map_err(bounded_failure);
        if let Err(failure) = &outcome {
            let who = || caller.told(client.as_ref().map(ClientName::as_str));
            self.tell_refusal(&key, name, who, failure);
        }
        let told = note.finish(outcome.as_ref().err()).await;
        outcome.map(|mut answer| {
            answer.notices.extend(told);
            answer
        })
    }

    /// Tells the user in whose own browser something was refused.
    fn tell_refusal(&self, key: &SessionKey, action: &str, who: impl FnOnce() -> String, failure: &Failure) {
        if failure.code != ErrorCode::PolicyDenied {
            return;
        }
        let Some(Ok(Some(live))) = self.sessions.find(key).map(|session| session.peek_live()) else { return };
        if let Some(install) = live.browser.install() {
            let told = json!({
                "when": now(), "who": who(), "session": key.name, "action": action, "message": failure.message,
            });
            self.extensions.note_refusal(install, told);
        }
    }

    async fn act_noted(
        self: &Arc<Self>,
        name: &str,
        request: ActionRequest,
        note: &mut Note,
    ) -> Result<ActionAnswer, Failure> {
        let deadline = Deadline::after(request.timeout_ms.map_or(ACTION_DEADLINE, Duration::from_millis));
        if let Some(action) = SessionAction::find(name) {
            let acted = self.carry_out(|daemon| async move { daemon.act_on_session(action, request).await });
            let answer = acted.await?;
            note.result(&answer.result);
            return Ok(answer);
        }
        match name {
            "open" => self.act_open(request, deadline, note).await,
            "close" => {
                let closed =
                    self.carry_out(|daemon| async move { daemon.act_close(request, deadline).await });
                let answer = closed.await?;
                note.result(&answer.result);
                Ok(answer)
            }
            _ => match find_action(name) {
                Some(definition) => self.act_on_page(definition, request, note).await,
                None => Err(unknown_action(name)),
            },
        }
    }

    /// Runs an action of the registry.
    async fn act_on_page(
        &self,
        definition: &Definition,
        mut request: ActionRequest,
        note: &mut Note,
    ) -> Result<ActionAnswer, Failure> {
        let files =
            RequestFiles::below(&self.files, request.roots.clone(), request.working_directory.clone())?;
        definition.check_names(&request.params)?;
        let mut prepared = self.prepare(&request).await?;
        let (session, live) = (Arc::clone(&prepared.session), Arc::clone(&prepared.live));
        let remembered = session.remembered().based_on(prepared.base_url.clone());
        remembered.complete(definition, &mut request.params)?;
        let choice = TabChoice::make(&session, &live, &request).await?;
        let needs = definition.needs(&request.params)?;
        let checkpoint = self.checkpoint(&live, &session, &request, (definition.name, needs), note);
        note.place(&live.engine, choice.tab);
        let tab = checkpoint.before(&live.engine, choice.tab, &request.params, note).await?;
        // Counted from here: starting a browser and asking somebody take time of their own.
        let usual = if definition.effect == Effect::Act { ACTING_DEADLINE } else { ACTION_DEADLINE };
        let deadline = Deadline::after(request.timeout_ms.map_or(usual, Duration::from_millis));
        let context = self.context(&live, tab, deadline, files, &request, &checkpoint);
        let answered = run_judged(definition, &context, &request, &checkpoint, note).await;
        choice.settle(&live).await;
        if definition.effect == Effect::Navigate {
            note.place(&live.engine, choice.tab);
        }
        if definition.effect == Effect::Navigate || definition.name == "frame" {
            session.remember(&live);
        }
        let answered = checkpoint.after(&live.engine, context.tab, answered, note).await?;
        if let Some(client) = request.client.as_ref().filter(|_| TAB_CHANGERS.contains(&definition.name)) {
            session.leases.follow_to(client, &answered.value);
        }
        note.result(&answered.value);
        self.learn(&prepared, definition, &request, choice.tab, &answered.value);
        prepared.notices.extend(answered.notices);
        let bare =
            answered.bare.filter(|_| request.raw).unwrap_or(BareValue { text: answered.text, cut: None });
        prepared.notices.extend(bare.cut);
        let (result, text) =
            if request.text { (Value::Null, Some(bare.text)) } else { (answered.value, None) };
        Ok(prepared.answer(&request, choice.tab, result, text))
    }

    fn context(
        &self,
        live: &LiveSession,
        tab: Option<TabId>,
        deadline: Deadline,
        files: RequestFiles,
        request: &ActionRequest,
        checkpoint: &Checkpoint,
    ) -> Context {
        Context {
            browser: Arc::clone(&live.engine),
            tab,
            deadline,
            snapshot: request.snapshot,
            files: Arc::new(files),
            wants_text: request.text,
            capture: request.capture,
            movies: Some(Arc::new(Ffmpeg::new(self.config.path_env.clone(), &self.files))),
            notices: Notices::default(),
            concealment: Arc::clone(&self.concealment),
            logins: Some(Arc::new(GuardedLogins { vault: self.vault(), checkpoint: checkpoint.clone() })),
        }
    }

    /// What an action is held up against: the stricter of what the session has and what the caller wishes for.
    fn checkpoint(
        &self,
        live: &LiveSession,
        session: &Session,
        request: &ActionRequest,
        (action, needs): (&'static str, Needs),
        note: &Note,
    ) -> Checkpoint {
        self.policy.refresh();
        let wished = request.options.policy.or(request.defaults.policy).unwrap_or_default();
        Checkpoint {
            desk: Arc::clone(&self.policy),
            hub: live.browser.hub.clone(),
            approvals: Arc::clone(&self.approvals),
            caller: note.caller(),
            late_rulings: Arc::default(),
            client: request.client.clone(),
            call: request.call,
            passes: Arc::default(),
            flows: Arc::clone(&session.flows),
            profile: live.options.policy().stricter(wished),
            is_veiled: live.options.policy() == live.options.policy().stricter(wished),
            session: session.key.to_string(),
            action,
            needs,
        }
    }

    /// The logins that the user has saved.
    pub(crate) fn vault(&self) -> Vault {
        Vault::new(self.config.paths.data.clone(), self.config.path_env.clone())
    }

    /// Notes what later commands may leave out.
    fn learn(
        &self,
        prepared: &Prepared,
        definition: &Definition,
        request: &ActionRequest,
        tab: Option<TabId>,
        result: &Value,
    ) {
        let before = prepared.session.remembered().clone();
        let mut after = before.clone();
        after.learn(&request.params, result);
        if matches!(definition.effect, Effect::Navigate | Effect::Act) {
            let tabs = prepared.live.engine.list_tabs();
            let there = tabs.into_iter().find(|info| tab.map_or(info.current, |tab| info.tab == tab));
            after.url = there.map(|info| info.url).filter(|url| checked_address(url).is_ok()).or(after.url);
        }
        if after != before {
            *prepared.session.remembered() = after;
            prepared.session.remember(&prepared.live);
        }
    }

    /// The session with its browser, and its base URL as the caller wants it.
    async fn prepare(&self, request: &ActionRequest) -> Result<Prepared, Failure> {
        let base = request.base_url.as_deref().map(checked_base).transpose()?;
        let fallback = request.default_base_url.as_deref().map(checked_base).transpose()?;
        let session = self.sessions.obtain(&request.key())?;
        let wish = Wish::new(&request.options, &request.defaults, request.restart);
        let Ready { live, notices, recovery } = session.ready(&self.fleet, wish).await?;
        if base.is_some() && base != session.remembered().base_url {
            session.remembered().base_url = base;
            session.remember(&live);
        }
        let base_url = session.remembered().based_on(fallback).base_url;
        Ok(Prepared { session, live, base_url, notices, recovery })
    }

    async fn act_open(
        &self,
        request: ActionRequest,
        deadline: Deadline,
        note: &mut Note,
    ) -> Result<ActionAnswer, Failure> {
        let params: Open = read_params(&request.params)?;
        let files =
            RequestFiles::below(&self.files, request.roots.clone(), request.working_directory.clone())?;
        // An address that is wrong in itself starts no browser.
        if let Some(url) = params.url.as_deref().filter(|_| request.base_url.is_none()) {
            self.check_before_start(&request, url)?;
        }
        let mut prepared = self.prepare(&request).await?;
        let (session, live) = (Arc::clone(&prepared.session), Arc::clone(&prepared.live));
        let url = match params.url {
            Some(url) => {
                let whole = session.remembered().based_on(prepared.base_url.clone()).address(&url)?;
                checked_address(&whole)?
            }
            None => format!("http://127.0.0.1:{}/demo", self.port),
        };
        let choice = if live.engine.tab_count() == 0 && request.client.is_none() {
            TabChoice::default()
        } else {
            TabChoice::make(&session, &live, &request).await?
        };
        let open = ("open", Needs::destination().at(Capability::Read, Some(url.as_str())));
        let checkpoint = self.checkpoint(&live, &session, &request, open, note);
        checkpoint.before(&live.engine, choice.tab, &json!({"url": url}), note).await?;
        let context = self.context(&live, choice.tab, deadline, files, &request, &checkpoint);
        let witness = Witness::begin(&context, "open", &request.params).await;
        let opened = open_page(&live, &url, params.new_tab, choice.tab, deadline).await;
        if let Some(witness) = witness {
            prepared.notices.extend(witness.finish(&context, opened.as_ref()).await);
        }
        choice.settle(&live).await;
        note.place(&live.engine, choice.tab);
        let opened =
            opened.map(|value| Answered { value, text: String::new(), bare: None, notices: Vec::new() });
        let result = checkpoint.after(&live.engine, choice.tab, opened, note).await?.value;
        note.result(&result);
        if let Some(reached) = result.get("url").and_then(Value::as_str) {
            session.remembered().url = Some(reached.to_owned());
        }
        session.remember(&live);
        let tab = result.get("tab").and_then(Value::as_str).and_then(|tab| tab.parse().ok());
        if let (Some(client), Some(tab)) = (&request.client, tab) {
            session.leases.take_place(client, tab);
        }
        Ok(prepared.answer(&request, tab, result, None))
    }

    fn check_before_start(&self, request: &ActionRequest, url: &str) -> Result<(), Failure> {
        let session = self.sessions.obtain(&request.key())?;
        let remembered = session.remembered().based_on(request.default_base_url.clone());
        checked_address(&remembered.address(url)?).map(drop)
    }

    async fn act_close(&self, request: ActionRequest, deadline: Deadline) -> Result<ActionAnswer, Failure> {
        let params: Close = read_params(&request.params)?;
        let key = request.key();
        let nothing = || {
            let message = format!("Session {} has no browser.", key.name);
            Failure::new(ErrorCode::NoBackend, message)
                .with_hint("Run `tabwire session list` to see the sessions there are.")
        };
        let session = self.sessions.find(&key).ok_or_else(nothing)?;
        if let Some(tab) = params.tab {
            let live = session.find_live().await.ok_or_else(nothing)?;
            session.leases.check(tab, request.client.as_ref())?;
            live.engine.close_tab(tab, deadline).await?;
            session.remember(&live);
            return Ok(bare_answer(&request, json!({"closed": "tab", "tab": tab})));
        }
        let live = session.take_live().await.ok_or_else(nothing)?;
        let fate = self.fleet.end_session(&live).await?;
        self.policy.session_ended(&key);
        self.sessions.forget(&key);
        self.sessions.store().forget_record(&key);
        Ok(bare_answer(&request, json!({"closed": "session", "browser": fate.sentence()})))
    }
}

/// Runs an action; once more when it was refused in a frame before it did anything, and a person allows it then.
async fn run_judged(
    definition: &Definition,
    context: &Context,
    request: &ActionRequest,
    checkpoint: &Checkpoint,
    note: &mut Note,
) -> Result<Answered, Failure> {
    let answered = definition.run(context, request.params.clone()).await;
    if !checkpoint.allows_after_all(&answered, note).await? {
        return answered;
    }
    // Asking takes time of its own.
    let deadline = Deadline::after(context.deadline.length());
    definition.run(&Context { deadline, ..context.clone() }, request.params.clone()).await
}

/// An answer about a session that has, or needs, no browser.
pub(crate) fn bare_answer(request: &ActionRequest, result: Value) -> ActionAnswer {
    ActionAnswer {
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

/// Opens an address in a tab or a new one, and says what is there.
async fn open_page(
    live: &LiveSession,
    url: &str,
    new_tab: bool,
    tab: Option<TabId>,
    deadline: Deadline,
) -> Result<Value, Failure> {
    live.learn_tabs().await?;
    let existing = match tab.filter(|_| !new_tab) {
        Some(tab) => Some(live.engine.page(Some(tab)).await?),
        None => live.engine.page_to_open_in(new_tab).await?,
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
        members.insert("tab".to_owned(), json!(live.engine.tab_of(&page)));
    }
    Ok(result)
}

fn unknown_action(name: &str) -> Failure {
    let known: Vec<&str> = ["open", "close"]
        .into_iter()
        .chain(SessionAction::ALL.iter().map(|action| action.as_str()))
        .chain(ACTIONS.iter().map(|action| action.name))
        .collect();
    let meant = find_similar(name, known.iter().copied());
    let meant = meant.map(|meant| format!("Did you mean `{meant}`? ")).unwrap_or_default();
    Failure::new(ErrorCode::UnknownMethod, format!("There is no action `{name}`."))
        .with_hint(format!("{meant}The actions are: {}.", known.join(", ")))
}

pub(crate) fn read_params<T: for<'de> Deserialize<'de>>(params: &Value) -> Result<T, Failure> {
    let params = if params.is_null() { json!({}) } else { params.clone() };
    serde_json::from_value(params).map_err(|error| {
        Failure::new(ErrorCode::BadArgs, format!("The action's parameters are not valid: {error}."))
    })
}
