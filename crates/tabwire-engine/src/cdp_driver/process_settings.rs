//! Settings that hold in every process of a page, those that join later too. Knows nothing of what they set.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_cdp::{CdpError, CdpSession, Deadline, PendingAnswer};
use tabwire_wire::CdpSessionId;

use super::CdpDriver;
use crate::driver::{Reply, Setting};
use crate::limits::SETUP_DEADLINE;

/// What processes that join later are asked for as well, in the order it was first set.
#[derive(Debug, Default)]
pub(super) struct ProcessSettings {
    kept: Vec<Setting>,
    /// The page's workers, which are told of later settings too.
    workers: Vec<CdpSession>,
    /// What each process calls what was set in it, by key: only so can it be taken back.
    names: HashMap<String, HashMap<CdpSessionId, String>>,
}

/// A setting that a process was asked for.
pub(super) struct Asked {
    key: String,
    session: CdpSession,
    begun: Result<PendingAnswer, CdpError>,
}

#[derive(Deserialize)]
struct Named {
    identifier: String,
}

impl ProcessSettings {
    /// What holds from the beginning.
    pub(super) fn starting_with(kept: Vec<Setting>) -> Self {
        Self { kept, ..Self::default() }
    }

    /// Takes note of a setting; it takes the place of the one with the same key.
    fn note(&mut self, setting: &Setting) {
        let known = self.kept.iter().position(|kept| kept.key == setting.key);
        match (known, setting.lasts) {
            (Some(place), true) => self.kept[place] = setting.clone(),
            (Some(place), false) => drop(self.kept.remove(place)),
            (None, true) => self.kept.push(setting.clone()),
            (None, false) => {}
        }
    }

    /// Takes note of a worker.
    pub(super) fn add_worker(&mut self, worker: &CdpSession) {
        self.workers.retain(|worker| !worker.is_gone());
        self.workers.push(worker.clone());
    }

    /// Asks a process that joins for everything that was set.
    pub(super) fn begin(&self, session: &CdpSession) -> Vec<Asked> {
        self.kept.iter().map(|kept| Asked::begin(session, kept, SETUP_DEADLINE)).collect()
    }
}

impl CdpDriver {
    /// Sends a setting to every process and keeps it for those that join. The answer is the page's own process's.
    pub(super) fn set(&self, setting: &Setting, deadline: Deadline) -> Reply<Value, CdpError> {
        // Noted before the processes are counted: one that joins in between is told twice rather than never.
        let workers = {
            let mut settings = self.settings();
            settings.note(setting);
            settings.workers.clone()
        };
        let page = &self.inner.session;
        let begun = page.begin(setting.method, &setting.params, deadline);
        let others: Vec<_> = self
            .frames()
            .sessions()
            .iter()
            .chain(&workers)
            .filter(|session| session.id() != page.id())
            .map(|session| Asked::begin(session, setting, deadline))
            .collect();
        let (driver, key) = (self.clone(), setting.key.clone());
        Box::pin(async move {
            let answer: Value = begun?.answer().await?.to()?;
            driver.note_name(&key, &driver.inner.session, &answer);
            for other in others {
                driver.finish_setting(other).await?;
            }
            Ok(answer)
        })
    }

    /// Waits for a process to take a setting that it was asked for when it joined, or when it was set.
    pub(super) async fn finish_setting(&self, asked: Asked) -> Result<(), CdpError> {
        let Some(answer) = finish_in_frame(asked.begun).await? else { return Ok(()) };
        self.note_name(&asked.key, &asked.session, &answer);
        let is_kept = self.settings().kept.iter().any(|kept| kept.key == asked.key);
        if !is_kept {
            // Taken back while the process was asked for it.
            self.take_back_in(&asked.key, &asked.session, SETUP_DEADLINE.into()).await?;
        }
        Ok(())
    }

    fn note_name(&self, key: &str, session: &CdpSession, answer: &Value) {
        let (Ok(named), Some(id)) = (Named::deserialize(answer), session.id()) else { return };
        let alive = self.frames().sessions();
        let mut settings = self.settings();
        let names = settings.names.entry(key.to_owned()).or_default();
        names.retain(|known, _| alive.iter().any(|session| session.id() == Some(known)));
        names.insert(id.clone(), named.identifier);
    }

    /// Takes a script back in every process.
    pub(super) fn take_back(&self, key: &str, deadline: Deadline) -> Reply<(), CdpError> {
        self.settings().kept.retain(|kept| kept.key != key);
        let (driver, key) = (self.clone(), key.to_owned());
        let sessions = self.frames().sessions();
        Box::pin(async move {
            for session in sessions {
                driver.take_back_in(&key, &session, deadline).await?;
            }
            driver.settings().names.remove(&key);
            Ok(())
        })
    }

    async fn take_back_in(
        &self,
        key: &str,
        session: &CdpSession,
        deadline: Deadline,
    ) -> Result<(), CdpError> {
        let Some(id) = session.id() else { return Ok(()) };
        let name = self.settings().names.get_mut(key).and_then(|names| names.remove(id));
        let Some(name) = name else { return Ok(()) };
        let params = json!({"identifier": name});
        let begun = session.begin("Page.removeScriptToEvaluateOnNewDocument", &params, deadline);
        finish_in_frame(begun).await.map(drop)
    }
}

impl Asked {
    fn begin(session: &CdpSession, setting: &Setting, deadline: impl Into<Deadline>) -> Self {
        let begun = session.begin(setting.method, &setting.params, deadline);
        Self { key: setting.key.clone(), session: session.clone(), begun }
    }
}

/// Waits for a frame's process to take a setting.
pub(super) async fn finish_in_frame(
    begun: Result<PendingAnswer, CdpError>,
) -> Result<Option<Value>, CdpError> {
    let answer = match begun {
        Ok(begun) => begun.answer().await,
        Err(error) => Err(error),
    };
    match answer {
        Ok(answer) => Ok(answer.to().ok()),
        // A frame that went away meanwhile needs no setting.
        Err(CdpError::SessionGone { .. }) => Ok(None),
        // Some settings are a matter of the whole tab, and a frame's process refuses them.
        Err(error @ CdpError::Protocol { .. }) => {
            tracing::debug!(%error, "a frame's process does not take a setting");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn setting(key: &str, number: u32, lasts: bool) -> Setting {
        Setting { key: key.to_owned(), method: "Network.enable", params: json!(number), lasts }
    }

    #[test]
    fn a_later_setting_takes_the_place_of_an_earlier_one() {
        let mut settings = ProcessSettings::default();
        for (key, number, lasts) in [("a", 1, true), ("b", 2, true), ("a", 3, true), ("c", 4, false)] {
            settings.note(&setting(key, number, lasts));
        }
        let kept: Vec<&Value> = settings.kept.iter().map(|kept| &kept.params).collect();
        assert_eq!(kept, [&json!(3), &json!(2)]);
        settings.note(&setting("a", 0, false));
        settings.note(&setting("b", 0, false));
        assert!(settings.kept.is_empty());
    }
}
