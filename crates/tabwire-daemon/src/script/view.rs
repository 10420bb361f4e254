//! What a script sees of its session without a call: tabs and frames, as far as the policy lets it.

use std::collections::HashSet;
use std::sync::{Arc, PoisonError};

use serde::Serialize;
use serde_json::Value;
use tabwire_api::{ErrorCode, Failure, TabId};
use tabwire_engine::{ACTIONS, Effect, SCRIPT_ACTIONS, find_action};
use tabwire_policy::{Capability, Needs, PageUrl, Profile};
use tabwire_script::message::Call;

use crate::action::policy_check::PolicyCheck;
use crate::script::run::RunRequest;
use crate::session::Session;
use crate::session::live::LiveSession;

/// Actions besides reading ones that a script may use between its runs.
const IDLE_ACTIONS: [&str; 2] = ["dialog", "route_decision"];

/// Actions that name a browser context.
const CONTEXT_ACTIONS: [&str; 2] = ["context_page", "context_close"];

/// A tab as scripts see it without a call: `page.url()` and `context.pages()` return at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct TabLine {
    tab: String,
    url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    opener: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    current: bool,
    /// Its browser context, if the script has made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<String>,
}

/// A frame as scripts see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct FrameLine {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<String>,
    name: String,
    url: String,
}

impl RunRequest<'_> {
    /// The session with its browser, if it has one.
    pub(crate) fn find_live(&self) -> Option<(Arc<Session>, Arc<LiveSession>)> {
        let session = self.daemon.sessions.find(&self.template.key())?;
        let live = session.peek_live().ok().flatten()?;
        Some((session, live))
    }

    /// The policy of the client, to judge what a script sees without a call.
    pub(crate) fn policy_check(&self) -> Option<PolicyCheck> {
        let (session, live) = self.find_live()?;
        let list = ACTIONS.iter().find(|action| action.name == "tabs_list")?;
        let action = (list, Needs::tab_list());
        Some(self.daemon.policy_check(&live, &session, &self.template, action, self.caller.clone()))
    }

    /// Starts the session's browser before a call that would start it, so that no event of it is missed.
    pub(crate) async fn make_ready(&self, call: &Call) {
        if self.find_live().is_some_and(|(_, live)| !live.is_gone()) {
            return;
        }
        let navigates = find_action(&call.action).is_some_and(|action| action.effect == Effect::Navigate);
        if navigates || self.daemon.sessions.find(&self.template.key()).is_some() {
            // The call itself reports a failure.
            let _ = self.daemon.start_session(&self.template).await;
        }
    }

    /// The tab of a call, if it is known before the call: the one it names, the client's own, or the current one.
    pub(crate) fn tab_of(&self, call: &Call) -> Option<TabId> {
        let named = call.tab.as_deref().and_then(|tab| tab.parse().ok()).or(self.template.tab);
        named.or_else(|| {
            let (session, live) = self.find_live()?;
            match &self.template.client {
                Some(client) => session.leases.find_tab(client),
                None => live.engine.current_tab(),
            }
        })
    }

    /// Whether another client has the exclusive use of a tab.
    pub(crate) fn is_leased_to_another(&self, tab: TabId) -> bool {
        let session = self.find_live().map(|(session, _)| session);
        session.is_some_and(|session| session.leases.check(tab, self.template.client.as_ref()).is_err())
    }

    /// Refuses what a script may not do between its runs.
    pub(crate) fn check_idle(&self, action: &str) -> Result<(), Failure> {
        let reads = || {
            let found = ACTIONS.iter().chain(SCRIPT_ACTIONS).find(|known| known.name == action);
            found.is_some_and(|found| found.effect == Effect::Read)
        };
        if !self.is_idle || IDLE_ACTIONS.contains(&action) || reads() {
            return Ok(());
        }
        let message = format!("`{action}` is not allowed between two runs of a script.");
        Err(Failure::new(ErrorCode::NotActionable, message)
            .with_remedy("Listeners may read, decide about requests and close dialogs until the next run."))
    }

    /// The browser context that a call names, which must be one of the script's own.
    pub(crate) fn check_context(&self, call: &Call) -> Result<Option<String>, Failure> {
        let named = call.params.get("context").and_then(Value::as_str).map(str::to_owned);
        let Some(named) = named.filter(|_| CONTEXT_ACTIONS.contains(&call.action.as_str())) else {
            return Ok(None);
        };
        if self.contexts.lock().unwrap_or_else(PoisonError::into_inner).contains(&named) {
            return Ok(Some(named));
        }
        Err(Failure::new(ErrorCode::BadArgs, "Target page, context or browser has been closed"))
    }

    /// Notes a browser context that the script has made or closed.
    pub(crate) fn note_context(&self, action: &str, named: Option<String>, result: &Value) {
        let mut contexts = self.contexts.lock().unwrap_or_else(PoisonError::into_inner);
        match (action, named) {
            ("context_new", _) => {
                contexts.extend(result.get("context").and_then(Value::as_str).map(str::to_owned));
            }
            ("context_close", Some(named)) => {
                contexts.remove(&named);
            }
            _ => {}
        }
    }

    /// Waits until the events that happened before the end of a call are in the queue.
    pub(crate) async fn sync_events(&self, tab: Option<TabId>) {
        if let Some((_, live)) = self.find_live() {
            live.engine.sync_events(tab).await;
        }
    }

    /// The session's tabs now. As in `tabs_list`, a tab that the client may not read shows its site only.
    pub(crate) async fn tabs(&self) -> Vec<TabLine> {
        let (Some((session, live)), Some(check)) = (self.find_live(), self.policy_check()) else {
            return Vec::new();
        };
        let client = self.template.client.as_ref();
        let chosen = client.and_then(|client| session.leases.find_tab(client));
        let rulebook = check.policy.rulebook();
        let contexts = self.contexts.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut lines = Vec::new();
        for info in live.engine.list_tabs() {
            let label = check.label_if_hidden(&rulebook, &live.engine, Some(info.tab)).await;
            lines.push(TabLine {
                tab: info.tab.to_string(),
                url: label.unwrap_or(info.url),
                opener: info.opener.map(|opener| opener.to_string()),
                context: live
                    .engine
                    .context_of_tab(&info.target)
                    .filter(|context| contexts.contains(context)),
                // The session's current tab is not that of a named client.
                current: if client.is_some() { chosen == Some(info.tab) } else { info.current },
            });
        }
        lines
    }

    /// The ids of the tabs that the script knows.
    pub(crate) fn known_tab_ids(&self) -> HashSet<String> {
        let known = self.known_tabs.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().map(|line| line.tab.clone()).collect()
    }

    /// The session's tabs, if they changed since the last call of this function.
    pub(crate) async fn changed_tabs(&self) -> Option<Vec<TabLine>> {
        let tabs = self.tabs().await;
        let mut known = self.known_tabs.lock().unwrap_or_else(PoisonError::into_inner);
        if *known == tabs {
            return None;
        }
        known.clone_from(&tabs);
        Some(tabs)
    }

    /// The frames of a tab, if they changed since the last call of this function.
    pub(crate) async fn changed_frames(&self, tab: Option<TabId>) -> Option<Vec<FrameLine>> {
        let frames = self.frames(tab).await?;
        let mut known = self.known_frames.lock().unwrap_or_else(PoisonError::into_inner);
        if *known == frames {
            return None;
        }
        known.clone_from(&frames);
        Some(frames)
    }

    /// The frames of a tab. One that the client may not read has no name, and its site only.
    async fn frames(&self, tab: Option<TabId>) -> Option<Vec<FrameLine>> {
        let (_, live) = self.find_live()?;
        let check = self.policy_check()?;
        let rulebook = check.policy.rulebook();
        let is_open = check.profile == Profile::Open && check.policy.denies_nothing();
        let hides_all = !is_open && check.label_if_hidden(&rulebook, &live.engine, tab).await.is_some();
        let line = |frame: tabwire_engine::FrameFacts| {
            let address = PageUrl::parse(&frame.judged);
            let is_hidden =
                hides_all || !is_open && !check.decide(&rulebook, &address, Capability::Read).is_allowed();
            FrameLine {
                id: frame.id,
                parent: frame.parent,
                name: if is_hidden { String::new() } else { frame.name },
                url: if is_hidden { address.label() } else { frame.url },
            }
        };
        Some(live.engine.frames_of(tab).into_iter().map(line).collect())
    }
}
