//! Running actions: those of the registry on the session's browser, and opening and closing a session.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_cdp::Deadline;
use tabwire_engine::{
    ACTIONS, BareValue, Context, Definition, Effect, LoadState, Witness, checked_address, find_action,
    find_similar,
};
use tabwire_wire::api::{ActionAnswer, ActionRequest};
use tabwire_wire::{ErrorCode, Failure, TabId};

use crate::caller::Caller;
use crate::daemon::Daemon;
use crate::ffmpeg::Ffmpeg;
use crate::limits::{ACTING_DEADLINE, ACTION_DEADLINE};
use crate::note::Note;
use crate::request_files::RequestFiles;
use crate::session::{LiveSession, Ready, Session};
use crate::vault::Vault;

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

impl Daemon {
    /// Runs an action, and writes the journal's row of it before it is answered.
    pub(crate) async fn act(
        &self,
        name: &str,
        request: ActionRequest,
        caller: &Caller,
    ) -> Result<ActionAnswer, Failure> {
        let asker = caller.named(request.client.as_deref(), None);
        let mut note = Note::of_action(&self.scribe, name, &request, asker);
        let outcome = self.act_noted(name, request, &mut note).await;
        let told = note.finish(outcome.as_ref().err()).await;
        outcome.map(|mut answer| {
            answer.notices.extend(told);
            answer
        })
    }

    async fn act_noted(
        &self,
        name: &str,
        request: ActionRequest,
        note: &mut Note,
    ) -> Result<ActionAnswer, Failure> {
        let deadline = Deadline::after(request.timeout_ms.map_or(ACTION_DEADLINE, Duration::from_millis));
        match name {
            "open" => self.act_open(request, deadline, note).await,
            "close" => self.act_close(request, deadline, note).await,
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
        request: ActionRequest,
        note: &mut Note,
    ) -> Result<ActionAnswer, Failure> {
        let files =
            RequestFiles::below(&self.files, request.roots.clone(), request.working_directory.clone())?;
        let (session, Ready { live, mut notices }) = self.ready(&request).await?;
        if request.tab.is_none() {
            live.ensure_tab().await?;
        }
        // Counted from here: starting a browser takes time of its own.
        let usual = if definition.effect == Effect::Act { ACTING_DEADLINE } else { ACTION_DEADLINE };
        let deadline = Deadline::after(request.timeout_ms.map_or(usual, Duration::from_millis));
        let context = Context {
            browser: Arc::clone(&live.engine),
            tab: request.tab,
            deadline,
            snapshot: request.snapshot,
            files: Arc::new(files),
            wants_text: request.text,
            capture: request.capture,
            movies: Some(Arc::new(Ffmpeg::new(self.config.path_env.clone(), &self.files))),
            logins: Some(Arc::new(self.vault())),
        };
        note.place(&live.engine, request.tab);
        let answered = definition.run(&context, request.params).await;
        if definition.effect == Effect::Navigate {
            note.place(&live.engine, request.tab);
            session.remember(&live);
        }
        let answered = answered?;
        note.result(&answered.value);
        notices.extend(answered.notices);
        let bare =
            answered.bare.filter(|_| request.raw).unwrap_or(BareValue { text: answered.text, cut: None });
        notices.extend(bare.cut);
        let (result, text) =
            if request.text { (Value::Null, Some(bare.text)) } else { (answered.value, None) };
        Ok(ActionAnswer { session: request.session, result, text, notices })
    }

    /// The logins that the user has saved.
    fn vault(&self) -> Vault {
        Vault::new(self.config.paths.data.clone(), self.config.path_env.clone())
    }

    async fn ready(&self, request: &ActionRequest) -> Result<(Arc<Session>, Ready), Failure> {
        let session = self.sessions.obtain(&request.session)?;
        let ready = session.ready(&self.fleet, &request.options).await?;
        Ok((session, ready))
    }

    async fn act_open(
        &self,
        request: ActionRequest,
        deadline: Deadline,
        note: &mut Note,
    ) -> Result<ActionAnswer, Failure> {
        let params: Open = read_params(&request.params)?;
        let url = match params.url {
            Some(url) => checked_address(&url)?,
            None => format!("http://127.0.0.1:{}/demo", self.port),
        };
        let files =
            RequestFiles::below(&self.files, request.roots.clone(), request.working_directory.clone())?;
        let (session, Ready { live, mut notices }) = self.ready(&request).await?;
        let context = Context {
            browser: Arc::clone(&live.engine),
            tab: None,
            deadline,
            snapshot: false,
            files: Arc::new(files),
            wants_text: false,
            capture: request.capture,
            movies: Some(Arc::new(Ffmpeg::new(self.config.path_env.clone(), &self.files))),
            logins: Some(Arc::new(self.vault())),
        };
        let witness = Witness::begin(&context, "open", &request.params).await;
        let opened = open_page(&live, &url, params.new_tab, deadline).await;
        if let Some(witness) = witness {
            notices.extend(witness.finish(&context, opened.as_ref()).await);
        }
        note.place(&live.engine, None);
        let result = opened?;
        note.result(&result);
        session.remember(&live);
        Ok(ActionAnswer { session: request.session, result, text: None, notices })
    }

    async fn act_close(
        &self,
        request: ActionRequest,
        deadline: Deadline,
        note: &mut Note,
    ) -> Result<ActionAnswer, Failure> {
        let params: Close = read_params(&request.params)?;
        let mut answer = |result| {
            note.result(&result);
            ActionAnswer { session: request.session.clone(), result, text: None, notices: Vec::new() }
        };
        let nothing = || {
            let message = format!("Session {} has no browser.", request.session);
            Failure::new(ErrorCode::NoBackend, message)
                .with_hint("Run `tabwire status` to see the sessions there are.")
        };
        let session = self.sessions.find(&request.session).ok_or_else(nothing)?;
        if let Some(tab) = params.tab {
            let live = session.find_live().await.ok_or_else(nothing)?;
            live.engine.close_tab(tab, deadline).await?;
            session.remember(&live);
            return Ok(answer(json!({"closed": "tab", "tab": tab})));
        }
        let live = session.take_live().await.ok_or_else(nothing)?;
        self.sessions.forget(&request.session);
        let ownership = if live.browser.ownership.may_close() { "launched" } else { "attached" };
        if self.sessions.is_shared(&live).await {
            return Ok(answer(json!({"closed": "session", "browser": "kept: another session uses it"})));
        }
        self.fleet.stop(&live.browser).await?;
        let fate = if ownership == "launched" { "ended" } else { "left running: it was attached" };
        Ok(answer(json!({"closed": "session", "browser": fate})))
    }
}

/// Opens an address in the current tab or a new one, and says what is there.
async fn open_page(
    live: &LiveSession,
    url: &str,
    new_tab: bool,
    deadline: Deadline,
) -> Result<Value, Failure> {
    let (page, outline) = match live.engine.page_to_open_in(new_tab).await? {
        Some(page) => {
            live.engine.navigate(&page, url, LoadState::Load, deadline).await?;
            let outline = page.outline(deadline).await?;
            (page, outline)
        }
        None => {
            let page = live.open_first_tab(url).await?;
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
    let known: Vec<&str> =
        ["open", "close"].into_iter().chain(ACTIONS.iter().map(|action| action.name)).collect();
    let meant = find_similar(name, known.iter().copied());
    let meant = meant.map(|meant| format!("Did you mean `{meant}`? ")).unwrap_or_default();
    Failure::new(ErrorCode::UnknownMethod, format!("There is no action `{name}`."))
        .with_hint(format!("{meant}The actions are: {}.", known.join(", ")))
}

fn read_params<T: for<'de> Deserialize<'de>>(params: &Value) -> Result<T, Failure> {
    let params = if params.is_null() { json!({}) } else { params.clone() };
    serde_json::from_value(params).map_err(|error| {
        Failure::new(ErrorCode::BadArgs, format!("The action's parameters are not valid: {error}."))
    })
}
