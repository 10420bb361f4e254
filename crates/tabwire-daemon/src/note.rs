//! One request from its beginning to its row in the journal. A request that is broken off gets its row too.

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use serde_json::{Map, Value};
use tabwire_engine::{Browser, find_action};
use tabwire_journal::{Asker, Entry, Origin, Outcome, Ruling, SafeMessage, Summary, Telling};
use tabwire_wire::api::ActionRequest;
use tabwire_wire::{ErrorCode, Failure, SessionName, TabId};

use crate::scribe::Scribe;
use crate::told_parameters::told_parameters;
use crate::told_result::TOLD_RESULT;

/// The action of a CDP client's leaving. Its row tells when it left and how long it was there.
const DEPARTURE: &str = "cdp_disconnect";

/// A request whose row is not written yet.
#[derive(Debug)]
pub(crate) struct Note {
    scribe: Arc<Scribe>,
    since: Instant,
    /// What is written if nobody finishes the note.
    entry: Option<Entry>,
    /// What the caller gave.
    given: Value,
}

impl Note {
    /// A request for an action.
    pub(crate) fn of_action(scribe: &Arc<Scribe>, name: &str, request: &ActionRequest, asker: Asker) -> Self {
        let (action, effect) = match (name, find_action(name)) {
            ("open", _) => ("open", "navigate"),
            ("close", _) => ("close", "navigate"),
            (_, Some(definition)) => (definition.name, definition.effect.as_str()),
            // What the caller calls it may be anything.
            (_, None) => ("unknown", "read"),
        };
        let parameters = Summary::of(&request.params, told_parameters(action));
        let mut note = Self::new(scribe, request.session.clone(), asker, action, effect, parameters);
        note.given = request.params.clone();
        if let Some(entry) = &mut note.entry {
            entry.tab = request.tab;
            let message = SafeMessage::own("It was broken off before it was answered.");
            entry.outcome = Outcome::Failed { code: ErrorCode::OutcomeUnknown, message };
        }
        note
    }

    /// A CDP client that comes.
    pub(crate) fn of_arrival(
        scribe: &Arc<Scribe>,
        session: SessionName,
        asker: Asker,
        share: Option<&str>,
    ) -> Self {
        let given = serde_json::json!({"share": share});
        let parameters = Summary::of(&given, told_parameters("cdp_connect"));
        Self::new(scribe, session, asker, "cdp_connect", "connect", parameters)
    }

    /// A CDP client that is there; its row is written when it goes.
    pub(crate) fn of_departure(scribe: &Arc<Scribe>, session: SessionName, asker: Asker) -> Self {
        Self::new(scribe, session, asker, DEPARTURE, "connect", Summary::default())
    }

    fn new(
        scribe: &Arc<Scribe>,
        session: SessionName,
        asker: Asker,
        action: &'static str,
        effect: &'static str,
        parameters: Summary,
    ) -> Self {
        let entry = Entry {
            time: SystemTime::now(),
            duration: std::time::Duration::ZERO,
            project: None,
            session,
            asker,
            action,
            effect,
            tab: None,
            origin: None,
            ruling: Ruling::open(),
            outcome: Outcome::Done,
            parameters,
            changes: Summary::default(),
        };
        Self { scribe: Arc::clone(scribe), since: Instant::now(), entry: Some(entry), given: Value::Null }
    }

    /// Takes down where a tab is: the one that was named, or the current one.
    pub(crate) fn place(&mut self, browser: &Browser, tab: Option<TabId>) {
        if let (Some(entry), Some((tab, url))) = (&mut self.entry, browser.find_place(tab)) {
            (entry.tab, entry.origin) = (Some(tab), Origin::of(&url));
        }
    }

    /// Takes down what came of it.
    pub(crate) fn result(&mut self, result: &Value) {
        if let Some(entry) = &mut self.entry {
            entry.changes = Summary::of(result, TOLD_RESULT);
        }
    }

    /// Writes the row; gives what users are to be told.
    pub(crate) async fn finish(mut self, failure: Option<&Failure>) -> Vec<String> {
        let Some(mut entry) = self.entry.take() else { return Vec::new() };
        entry.duration = self.since.elapsed();
        entry.outcome = match failure {
            None => Outcome::Done,
            Some(failure) if failure.code == ErrorCode::BadArgs => {
                // What did not fit may be anything, where a word was expected too.
                entry.parameters = entry.parameters.without_values();
                Outcome::Failed {
                    code: failure.code,
                    message: SafeMessage::of(&failure.message, &self.given),
                }
            }
            Some(failure) => {
                let message = SafeMessage::of(&failure.message, &hidden(entry.action, &self.given));
                Outcome::Failed { code: failure.code, message }
            }
        };
        self.scribe.write(entry).await
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        if let Some(mut entry) = self.entry.take() {
            entry.duration = self.since.elapsed();
            if entry.action == DEPARTURE {
                entry.time = SystemTime::now();
            }
            self.scribe.write_unwatched(entry);
        }
    }
}

/// The parameters that are not told in full.
fn hidden(action: &str, params: &Value) -> Value {
    let told = told_parameters(action);
    let is_told =
        |name: &str| told.iter().any(|(known, telling)| *known == name && *telling == Telling::Word);
    match params {
        Value::Object(members) => {
            let hidden = members.iter().filter(|(name, _)| !is_told(name));
            Value::Object(hidden.map(|(name, value)| (name.clone(), value.clone())).collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}
