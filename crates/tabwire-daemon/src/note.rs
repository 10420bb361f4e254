//! One request from its beginning to its row in the journal. A request that is broken off gets its row too.

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use serde_json::{Map, Value};
use tabwire_engine::{Browser, find_action};
use tabwire_journal::{Asker, Entry, Origin, Outcome, Ruling, SafeMessage, Summary, Telling};
use tabwire_policy::Flow;
use tabwire_wire::api::ActionRequest;
use tabwire_wire::{ErrorCode, Failure, SessionKey, TabId};

use crate::caller::Caller;
use crate::scribe::Scribe;
use crate::session_action::SessionAction;
use crate::told_parameters::told_parameters;
use crate::told_result::TOLD_RESULT;

/// The action of a CDP client's leaving. Its row tells when it left and how long it was there.
const DEPARTURE: &str = "cdp_disconnect";

/// What is told of content that may go from one site to another.
const TOLD_FLOW: &[(&str, Telling)] = &[
    ("brought_from", Telling::Origin),
    ("brought_to", Telling::Origin),
    ("brought_characters", Telling::Word),
];

/// A request whose row is not written yet.
#[derive(Debug)]
pub(crate) struct Note {
    scribe: Arc<Scribe>,
    since: Instant,
    /// What is written if nobody finishes the note.
    entry: Option<Entry>,
    /// Who asks, where that is still to be found out.
    caller: Option<Caller>,
    /// What the caller gave.
    given: Value,
}

impl Note {
    /// A request for an action.
    pub(crate) fn of_action(
        scribe: &Arc<Scribe>,
        name: &str,
        request: &ActionRequest,
        caller: &Caller,
    ) -> Self {
        let (action, effect) = match (name, find_action(name)) {
            ("open", _) => ("open", "navigate"),
            ("close", _) => ("close", "navigate"),
            (_, Some(definition)) => (definition.name, definition.effect.as_str()),
            (name, None) if SessionAction::find(name).is_some() => {
                (SessionAction::find(name).map_or("unknown", SessionAction::as_str), "session")
            }
            // What the caller calls it may be anything.
            (_, None) => ("unknown", "read"),
        };
        let parameters = Summary::of(&request.params, told_parameters(action));
        let client = request.client.as_ref().map(|client| client.as_str().to_owned());
        let asker = Asker { name: client, ..Asker::default() };
        let mut note = Self::new(scribe, request.key(), asker, action, effect, parameters);
        note.given = request.params.clone();
        note.caller = Some(caller.clone());
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
        session: SessionKey,
        asker: Asker,
        share: Option<&str>,
    ) -> Self {
        let given = serde_json::json!({"share": share});
        let parameters = Summary::of(&given, told_parameters("cdp_connect"));
        Self::new(scribe, session, asker, "cdp_connect", "connect", parameters)
    }

    /// A CDP client that is there; its row is written when it goes.
    pub(crate) fn of_departure(scribe: &Arc<Scribe>, session: SessionKey, asker: Asker) -> Self {
        Self::new(scribe, session, asker, DEPARTURE, "connect", Summary::default())
    }

    fn new(
        scribe: &Arc<Scribe>,
        session: SessionKey,
        asker: Asker,
        action: &'static str,
        effect: &'static str,
        parameters: Summary,
    ) -> Self {
        let entry = Entry {
            time: SystemTime::now(),
            duration: std::time::Duration::ZERO,
            project: (!session.project.is_global()).then(|| session.project.to_string()),
            session: session.name,
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
        Self {
            scribe: Arc::clone(scribe),
            since: Instant::now(),
            entry: Some(entry),
            caller: None,
            given: Value::Null,
        }
    }

    /// Takes down where a tab is: the one that was named, or the current one.
    pub(crate) fn place(&mut self, browser: &Browser, tab: Option<TabId>) {
        if let (Some(entry), Some((tab, url))) = (&mut self.entry, browser.find_place(tab)) {
            (entry.tab, entry.origin) = (Some(tab), Origin::of(&url));
        }
    }

    /// Who asks.
    pub(crate) fn caller(&self) -> Caller {
        self.caller.clone().unwrap_or_else(Caller::at_port)
    }

    /// Takes the entry, with who asked.
    fn take_entry(&mut self) -> Option<Entry> {
        let mut entry = self.entry.take()?;
        if let Some(caller) = &self.caller {
            entry.asker = caller.named(entry.asker.name.as_deref(), None);
        }
        entry.duration = self.since.elapsed();
        Some(entry)
    }

    /// A change of the policy.
    pub(crate) fn of_ruling(
        scribe: &Arc<Scribe>,
        session: SessionKey,
        asker: Asker,
        action: &'static str,
        params: &Value,
    ) -> Self {
        let mut note =
            Self::new(scribe, session, asker, action, "policy", Summary::of(params, told_parameters(action)));
        note.given = params.clone();
        note
    }

    /// Takes down whether it was allowed, and by what.
    pub(crate) fn ruled(&mut self, ruling: Ruling) {
        if let Some(entry) = &mut self.entry {
            entry.ruling = ruling;
        }
    }

    /// Takes down that something may be brought from one site to another.
    pub(crate) fn flow(&mut self, flow: &Flow) {
        if let Some(entry) = &mut self.entry {
            let told = serde_json::json!({
                "brought_from": flow.from.first(), "brought_to": flow.to.to_string(), "brought_characters": flow.characters,
            });
            let parameters = std::mem::take(&mut entry.parameters);
            entry.parameters = parameters.and(Summary::of(&told, TOLD_FLOW));
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
        let Some(mut entry) = self.take_entry() else { return Vec::new() };
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
        if let Some(mut entry) = self.take_entry() {
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;
    use tabwire_engine::ACTIONS;
    use tabwire_journal::{Filter, Reader};

    use super::*;
    use crate::told_parameters::told_parameters;

    const CANARY: &str = "hunter2 canary";

    /// A value with the canary in it for a parameter of this kind, in every place that is not told.
    fn planted(telling: Option<Telling>, kind: &str) -> Value {
        let text = match telling {
            Some(Telling::Address | Telling::Origin) => {
                format!("https://{CANARY}:{CANARY}@a.test/b?{CANARY}#{CANARY}").replace(' ', "%20")
            }
            Some(Telling::Target) => format!("input[value=\"{CANARY}\"]"),
            // Names of files are told.
            Some(Telling::Path) => "file.txt".to_owned(),
            _ => CANARY.to_owned(),
        };
        if kind.contains("array") { json!([text, {(CANARY): text}]) } else { json!(text) }
    }

    fn search(directory: &Path) {
        let words = [CANARY, "hunter2", "canary"];
        for file in std::fs::read_dir(directory).expect("a directory").flatten() {
            let bytes = std::fs::read(file.path()).expect("a file");
            for word in words {
                let found = bytes.windows(word.len()).any(|window| window == word.as_bytes());
                assert!(!found, "{word} is in {:?}", file.file_name());
            }
        }
    }

    async fn run(scribe: &Arc<Scribe>, name: &str, params: Value, failure: Option<&Failure>) {
        let request = ActionRequest { params, ..ActionRequest::default() };
        let mut note = Note::of_action(scribe, name, &request, &Caller::at_port());
        note.result(&json!({
            "url": format!("https://a.test/{CANARY}?{CANARY}"), "value": CANARY, "did": CANARY, "element": CANARY,
            "title": CANARY, "text": CANARY, "dialog": {"message": CANARY}, "console_errors": [CANARY],
            "cookies": [{"value": CANARY}], "status": CANARY, (CANARY): CANARY,
        }));
        assert_eq!(note.finish(failure).await, [""; 0]);
    }

    #[tokio::test]
    async fn t39_no_canary_in_any_parameter_result_or_message_reaches_the_file() {
        let home = tempfile::tempdir().expect("a directory");
        let path = home.path().join("state/journal.db");
        let scribe = Scribe::start(Some(&path));
        let codes =
            [ErrorCode::EvalFailed, ErrorCode::BadArgs, ErrorCode::Internal, ErrorCode::SelectorNotFound];
        let names = ["open", "close", CANARY].into_iter().chain(ACTIONS.iter().map(|action| action.name));
        let mut written = 0;
        for name in names {
            let told = told_parameters(name);
            let schema = find_action(name).map(|action| (action.parameters)()).unwrap_or_default();
            let mut params = Map::new();
            for (parameter, schema) in schema["properties"].as_object().into_iter().flatten() {
                let telling = told.iter().find(|(known, _)| known == parameter).map(|(_, telling)| *telling);
                params.insert(parameter.clone(), planted(telling, &schema["type"].to_string()));
            }
            params.entry("url").or_insert_with(|| planted(Some(Telling::Address), "string"));
            params.insert(CANARY.to_owned(), json!(CANARY));
            let params = Value::Object(params);
            run(&scribe, name, params.clone(), None).await;
            for code in codes {
                let message = format!("It failed with {CANARY} at {params}, `{CANARY}`: {CANARY}");
                run(&scribe, name, params.clone(), Some(&Failure::new(code, message))).await;
            }
            written += 1 + codes.len();
        }
        search(path.parent().expect("a directory"));
        scribe.close().await;
        search(path.parent().expect("a directory"));
        let rows = Reader::open(&path).expect("a journal").last(&Filter::default(), 10_000).expect("rows");
        assert_eq!(rows.len(), written);
        let fill = rows.iter().find(|row| row.action == "fill" && row.is_ok()).expect("a row");
        assert_eq!(fill.params, json!({"target": "input[value=…]", "nth": "…", "value": "…"}));
        assert_eq!(fill.changes["url"], "https://a.test");
        assert!(rows.iter().any(|row| row.action == "unknown"), "a name that is no action's is not told");
    }

    #[tokio::test]
    async fn a_request_that_is_broken_off_has_its_row() {
        let home = tempfile::tempdir().expect("a directory");
        let path = home.path().join("state/journal.db");
        let scribe = Scribe::start(Some(&path));
        drop(Note::of_action(&scribe, "click", &ActionRequest::default(), &Caller::at_port()));
        scribe.close().await;
        let rows = Reader::open(&path).expect("a journal").last(&Filter::default(), 10).expect("rows");
        assert_eq!(rows.iter().map(|row| row.result.as_str()).collect::<Vec<_>>(), ["OUTCOME_UNKNOWN"]);
    }

    #[tokio::test]
    async fn f32_a_journal_that_cannot_be_written_is_said_once_and_costs_nothing_else() {
        let home = tempfile::tempdir().expect("a directory");
        let path = home.path().join("state/journal.db");
        std::fs::create_dir_all(&path).expect("something in the way");
        let scribe = Scribe::start(Some(&path));
        let told = async || {
            let request = ActionRequest::default();
            Note::of_action(&scribe, "click", &request, &Caller::at_port()).finish(None).await
        };
        let first = told().await;
        assert!(
            first.len() == 1 && first[0].contains("journal") && first[0].contains("not a file"),
            "{first:?}"
        );
        assert_eq!(told().await, [""; 0]);
        std::fs::remove_dir(&path).expect("out of the way");
        assert_eq!(told().await, [""; 0]);
        let rows = Reader::open(&path).expect("written again").last(&Filter::default(), 10).expect("rows");
        assert_eq!(rows.len(), 1);
    }
}
