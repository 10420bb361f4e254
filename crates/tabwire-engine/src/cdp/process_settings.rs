//! Settings that apply in every process of a page, including processes that join later.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_api::CdpSessionId;
use tabwire_cdp::{CdpError, CdpSession, Deadline, PendingResponse};

use super::session::{PageSession, ResponseFuture};
use crate::limits::SETUP_DEADLINE;

/// A command that applies in every process of a page.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Setting {
    /// Identifies the setting; a later one with the same key replaces it.
    pub(crate) key: String,
    pub(crate) method: &'static str,
    pub(crate) params: Value,
    /// Whether processes that join later get it. A command that only resets something need not last.
    pub(crate) persistent: bool,
}

/// The settings of one page.
#[derive(Debug, Default)]
pub(super) struct ProcessSettings {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// In the order they were first set.
    settings: Vec<Setting>,
    /// The page's workers, which get later settings too.
    workers: Vec<CdpSession>,
    /// The `identifier` of a script in each process, by key. Only with it can the script be removed.
    identifiers: HashMap<String, HashMap<CdpSessionId, String>>,
}

/// A setting that was sent to one process.
pub(super) struct PendingSetting {
    key: String,
    session: CdpSession,
    pending: Result<PendingResponse, CdpError>,
}

#[derive(Deserialize)]
struct ScriptIdentifier {
    identifier: String,
}

impl State {
    fn set(&mut self, setting: &Setting) {
        let known = self.settings.iter().position(|known| known.key == setting.key);
        match (known, setting.persistent) {
            (Some(index), true) => self.settings[index] = setting.clone(),
            (Some(index), false) => drop(self.settings.remove(index)),
            (None, true) => self.settings.push(setting.clone()),
            (None, false) => {}
        }
    }
}

impl ProcessSettings {
    pub(super) fn starting_with(settings: Vec<Setting>) -> Self {
        Self { state: Mutex::new(State { settings, ..State::default() }) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn add_worker(&self, worker: &CdpSession) {
        let mut state = self.state();
        state.workers.retain(|worker| !worker.is_gone());
        state.workers.push(worker.clone());
    }

    /// Sends all settings to a process that joins.
    pub(super) fn begin(&self, session: &CdpSession) -> Vec<PendingSetting> {
        let state = self.state();
        state.settings.iter().map(|setting| PendingSetting::begin(session, setting, SETUP_DEADLINE)).collect()
    }
}

impl PageSession {
    /// Sends a setting to every process and keeps it for those that join. Resolves to the page's own response.
    pub(crate) fn apply_setting(
        &self,
        setting: &Setting,
        deadline: Deadline,
    ) -> ResponseFuture<Value, CdpError> {
        // Stored before the processes are listed: a process that joins in between gets it twice rather than never.
        let workers = {
            let mut state = self.settings().state();
            state.set(setting);
            state.workers.clone()
        };
        let page = self.page_session();
        let pending = page.begin(setting.method, &setting.params, deadline);
        let others: Vec<_> = self
            .tree()
            .sessions()
            .iter()
            .chain(&workers)
            .filter(|session| session.id() != page.id())
            .map(|session| PendingSetting::begin(session, setting, deadline))
            .collect();
        let (page, key) = (self.clone(), setting.key.clone());
        Box::pin(async move {
            let response: Value = pending?.response().await?.to()?;
            page.store_identifier(&key, page.page_session(), &response);
            for other in others {
                page.finish_setting(other).await?;
            }
            Ok(response)
        })
    }

    pub(super) async fn finish_setting(&self, setting: PendingSetting) -> Result<(), CdpError> {
        let Some(response) = accept_refusal(setting.pending).await? else { return Ok(()) };
        self.store_identifier(&setting.key, &setting.session, &response);
        let is_kept = self.settings().state().settings.iter().any(|kept| kept.key == setting.key);
        if !is_kept {
            // Removed while this process was applying it.
            self.remove_script_in(&setting.key, &setting.session, SETUP_DEADLINE.into()).await?;
        }
        Ok(())
    }

    fn store_identifier(&self, key: &str, session: &CdpSession, response: &Value) {
        let (Ok(script), Some(id)) = (ScriptIdentifier::deserialize(response), session.id()) else { return };
        let alive = self.tree().sessions();
        let mut state = self.settings().state();
        let identifiers = state.identifiers.entry(key.to_owned()).or_default();
        identifiers.retain(|known, _| alive.iter().any(|session| session.id() == Some(known)));
        identifiers.insert(id.clone(), script.identifier);
    }

    /// Removes a setting that added a script to every process.
    pub(crate) fn remove_script(&self, key: &str, deadline: Deadline) -> ResponseFuture<(), CdpError> {
        self.settings().state().settings.retain(|kept| kept.key != key);
        let (page, key) = (self.clone(), key.to_owned());
        let sessions = self.tree().sessions();
        Box::pin(async move {
            for session in sessions {
                page.remove_script_in(&key, &session, deadline).await?;
            }
            page.settings().state().identifiers.remove(&key);
            Ok(())
        })
    }

    async fn remove_script_in(
        &self,
        key: &str,
        session: &CdpSession,
        deadline: Deadline,
    ) -> Result<(), CdpError> {
        let Some(id) = session.id() else { return Ok(()) };
        // Each session numbers its scripts itself, so every process has an identifier of its own.
        let identifier = self.settings().state().identifiers.get_mut(key).and_then(|known| known.remove(id));
        let Some(identifier) = identifier else { return Ok(()) };
        let params = json!({"identifier": identifier});
        let pending = session.begin("Page.removeScriptToEvaluateOnNewDocument", &params, deadline);
        accept_refusal(pending).await.map(drop)
    }
}

impl PendingSetting {
    fn begin(session: &CdpSession, setting: &Setting, deadline: impl Into<Deadline>) -> Self {
        let pending = session.begin(setting.method, &setting.params, deadline);
        Self { key: setting.key.clone(), session: session.clone(), pending }
    }
}

/// Waits for a response from a frame or worker that may refuse the command or be gone; `None` then.
pub(super) async fn accept_refusal(
    pending: Result<PendingResponse, CdpError>,
) -> Result<Option<Value>, CdpError> {
    let response = match pending {
        Ok(pending) => pending.response().await,
        Err(error) => Err(error),
    };
    match response {
        Ok(response) => Ok(response.to().ok()),
        // A frame that is gone needs no setting.
        Err(CdpError::SessionGone { .. }) => Ok(None),
        // Some settings concern the whole tab; Chrome refuses them on the session of a frame.
        Err(error @ CdpError::Protocol { .. }) => {
            tracing::debug!(%error, "a frame's process refused a setting");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn setting(key: &str, number: u32, persistent: bool) -> Setting {
        Setting { key: key.to_owned(), method: "Network.enable", params: json!(number), persistent }
    }

    #[test]
    fn a_later_setting_replaces_an_earlier_one() {
        let mut state = State::default();
        for (key, number, persistent) in [("a", 1, true), ("b", 2, true), ("a", 3, true), ("c", 4, false)] {
            state.set(&setting(key, number, persistent));
        }
        let kept: Vec<&Value> = state.settings.iter().map(|kept| &kept.params).collect();
        assert_eq!(kept, [&json!(3), &json!(2)]);
        state.set(&setting("a", 0, false));
        state.set(&setting("b", 0, false));
        assert!(state.settings.is_empty());
    }
}
