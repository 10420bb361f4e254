//! Settings that hold in every process of a page, those that join later too. Knows nothing of what they set.

use serde_json::Value;
use tabwire_cdp::{CdpError, CdpSession, Deadline, PendingAnswer};

use super::CdpDriver;
use crate::driver::{Reply, Setting};
use crate::limits::SETUP_DEADLINE;

/// What processes that join later are asked for as well, in the order it was first set.
#[derive(Debug, Default)]
pub(super) struct ProcessSettings {
    kept: Vec<Setting>,
    /// The page's workers, which are told of later settings too.
    workers: Vec<CdpSession>,
}

impl ProcessSettings {
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
    pub(super) fn begin(&self, session: &CdpSession) -> Vec<Result<PendingAnswer, CdpError>> {
        self.kept.iter().map(|kept| session.begin(kept.method, &kept.params, SETUP_DEADLINE)).collect()
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
            .map(|session| session.begin(setting.method, &setting.params, deadline))
            .collect();
        Box::pin(async move {
            let answer = begun?.answer().await?.to()?;
            for other in others {
                finish_in_frame(other).await?;
            }
            Ok(answer)
        })
    }
}

/// Waits for a frame's process to take a setting.
pub(super) async fn finish_in_frame(begun: Result<PendingAnswer, CdpError>) -> Result<(), CdpError> {
    let answer = match begun {
        Ok(begun) => begun.answer().await,
        Err(error) => Err(error),
    };
    match answer {
        // A frame that went away meanwhile needs no setting.
        Ok(_) | Err(CdpError::SessionGone { .. }) => Ok(()),
        // Some settings are a matter of the whole tab, and a frame's process refuses them.
        Err(error @ CdpError::Protocol { .. }) => {
            tracing::debug!(%error, "a frame's process does not take a setting");
            Ok(())
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
