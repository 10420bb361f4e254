//! The audit entry of one request, from its start to its row. A cancelled request gets a row too.

use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value};
use tabwire_api::api::ActionRequest;
use tabwire_api::{ErrorCode, Failure, SessionKey, TabId};
use tabwire_audit::{ClientInfo, Entry, LogVisibility, Origin, Outcome, Ruling, SafeMessage, Summary};
use tabwire_engine::{Browser, find_action};
use tabwire_policy::Flow;

use crate::audit::event::Event;
use crate::audit::parameters::logged_parameters;
use crate::audit::results::LOGGED_RESULT;
use crate::audit::writer::AuditWriter;
use crate::chat::steps::{StepFacts, is_readable};
use crate::http::caller::Caller;
use crate::trail::ScreenshotName;

/// The names of disconnects. Their rows have the time of the disconnect and the length of the connection.
const DISCONNECTS: [&str; 3] = [DISCONNECT, "mcp_disconnect", "extension_disconnect"];
const DISCONNECT: &str = "cdp_disconnect";

/// What is logged of data that may go from one site to another.
const LOGGED_FLOW: &[(&str, LogVisibility)] = &[
    ("brought_from", LogVisibility::Origin),
    ("brought_to", LogVisibility::Origin),
    ("brought_characters", LogVisibility::Keyword),
];

/// A request whose row is not written yet. Dropping it writes the row.
#[derive(Debug)]
pub(crate) struct AuditEntry {
    audit: Arc<AuditWriter>,
    since: Instant,
    /// The row as it is written if the request is cancelled.
    entry: Option<Entry>,
    /// The client, until it is looked up.
    caller: Option<Caller>,
    /// The parameters as the caller gave them.
    given: Value,
}

impl AuditEntry {
    /// The entry of an action.
    pub(crate) fn of_action(
        audit: &Arc<AuditWriter>,
        name: &str,
        request: &ActionRequest,
        caller: &Caller,
    ) -> Self {
        let (action, effect) = match find_action(name) {
            Some(definition) => (definition.name, definition.effect.as_str()),
            // An unknown name may contain a secret.
            None => ("unknown", "read"),
        };
        let parameters = Summary::of(&request.params, &logged_parameters(action));
        let client = request.client.as_ref().map(|client| client.as_str().to_owned());
        let client_info = ClientInfo { name: client, ..ClientInfo::default() };
        let mut entry = Self::new(audit, request.key(), client_info, action, effect, parameters);
        entry.given = request.params.clone();
        entry.caller = Some(caller.clone());
        if let Some(entry) = &mut entry.entry {
            entry.tab = request.tab;
            entry.run.clone_from(&request.run);
            let message = SafeMessage::own("It was cancelled before it completed.");
            entry.outcome = Outcome::Failed { code: ErrorCode::OutcomeUnknown, message };
        }
        entry
    }

    /// The entry of a run of a script.
    pub(crate) fn of_script(
        audit: &Arc<AuditWriter>,
        name: &'static str,
        request: &ActionRequest,
        caller: &Caller,
        params: &Value,
    ) -> Self {
        let client = request.client.as_ref().map(|client| client.as_str().to_owned());
        let client_info = ClientInfo { name: client, ..ClientInfo::default() };
        let parameters = Summary::of(params, &logged_parameters(name));
        let mut entry = Self::new(audit, request.key(), client_info, name, "script", parameters);
        entry.caller = Some(caller.clone());
        if let Some(entry) = &mut entry.entry {
            entry.run.clone_from(&request.run);
            let message = SafeMessage::own("It was cancelled before it completed.");
            entry.outcome = Outcome::Failed { code: ErrorCode::OutcomeUnknown, message };
        }
        entry
    }

    /// The entry of a CDP client's connect.
    pub(crate) fn of_connect(
        audit: &Arc<AuditWriter>,
        session: SessionKey,
        client_info: ClientInfo,
        share: Option<&str>,
    ) -> Self {
        let given = serde_json::json!({"share": share});
        let parameters = Summary::of(&given, &logged_parameters("cdp_connect"));
        Self::new(audit, session, client_info, "cdp_connect", "connect", parameters)
    }

    /// The entry of a CDP client's disconnect, held while it is connected.
    pub(crate) fn of_disconnect(
        audit: &Arc<AuditWriter>,
        session: SessionKey,
        client_info: ClientInfo,
    ) -> Self {
        Self::new(audit, session, client_info, DISCONNECT, "connect", Summary::default())
    }

    fn new(
        audit: &Arc<AuditWriter>,
        session: SessionKey,
        client_info: ClientInfo,
        action: &'static str,
        effect: &'static str,
        parameters: Summary,
    ) -> Self {
        let entry = Entry {
            time: SystemTime::now(),
            duration: std::time::Duration::ZERO,
            project: (!session.project.is_global()).then(|| session.project.to_string()),
            session: session.name,
            client: client_info,
            action,
            effect,
            tab: None,
            origin: None,
            ruling: Ruling::open(),
            outcome: Outcome::Done,
            parameters,
            changes: Summary::default(),
            run: None,
        };
        Self {
            audit: Arc::clone(audit),
            since: Instant::now(),
            entry: Some(entry),
            caller: None,
            given: Value::Null,
        }
    }

    /// Sets tab and origin: those of the named tab, or of the current one.
    pub(crate) fn place(&mut self, browser: &Browser, tab: Option<TabId>) {
        if let (Some(entry), Some((tab, url))) = (&mut self.entry, browser.find_tab_url(tab)) {
            (entry.tab, entry.origin) = (Some(tab), Origin::of(&url));
        }
    }

    /// The name of the row's screenshot in the trail.
    pub(crate) fn screenshot_name(&self) -> Option<ScreenshotName> {
        let entry = self.entry.as_ref()?;
        let since = entry.time.duration_since(UNIX_EPOCH).ok()?;
        let time_ms = i64::try_from(since.as_millis()).ok()?;
        Some(ScreenshotName::new(time_ms, entry.project.as_deref(), entry.session.as_str(), entry.action))
    }

    /// The client.
    pub(crate) fn caller(&self) -> Caller {
        self.caller.clone().unwrap_or_else(|| Caller::at_port(None))
    }

    /// Takes the row, with the client.
    fn take_entry(&mut self) -> Option<Entry> {
        let mut entry = self.entry.take()?;
        if let Some(caller) = &self.caller {
            entry.client = caller.named(entry.client.name.as_deref(), None);
        }
        entry.duration = self.since.elapsed();
        Some(entry)
    }

    /// The entry of a policy change.
    pub(crate) fn of_ruling(
        audit: &Arc<AuditWriter>,
        session: SessionKey,
        client_info: ClientInfo,
        action: &'static str,
        params: &Value,
    ) -> Self {
        let mut entry = Self::new(
            audit,
            session,
            client_info,
            action,
            "policy",
            Summary::of(params, &logged_parameters(action)),
        );
        entry.given = params.clone();
        entry
    }

    /// The entry of something that the user did in the dashboard.
    pub(crate) fn of_user(
        audit: &Arc<AuditWriter>,
        session: SessionKey,
        client_info: ClientInfo,
        action: &'static str,
        params: &Value,
    ) -> Self {
        Self::new(
            audit,
            session,
            client_info,
            action,
            "user",
            Summary::of(params, &logged_parameters(action)),
        )
    }

    /// What the row tells the user of a chat.
    pub(crate) fn step_facts(&self) -> StepFacts {
        let Some(entry) = &self.entry else { return StepFacts::default() };
        let shown = |name: &str| entry.parameters.find_text(name).map(str::to_owned);
        let label = shown("target").filter(|target| is_readable(target)).or_else(|| shown("url"));
        let site = entry.origin.as_ref().map(|origin| origin.as_str().to_owned());
        StepFacts { site, label, ..StepFacts::default() }
    }

    /// The entry of something that no request asked for. That of a disconnect is held while the client is connected.
    pub(crate) fn of_event(
        audit: &Arc<AuditWriter>,
        session: SessionKey,
        client_info: ClientInfo,
        event: &Event,
    ) -> Self {
        let parameters = Summary::of(&event.params(), &logged_parameters(event.name()));
        Self::new(audit, session, client_info, event.name(), event.kind(), parameters)
    }

    /// Sets tab and origin of a tab that may be closed.
    pub(crate) fn at(&mut self, tab: TabId, url: &str) {
        if let Some(entry) = &mut self.entry {
            (entry.tab, entry.origin) = (Some(tab), Origin::of(url));
        }
    }

    /// Writes the row of an event without waiting for it.
    pub(crate) fn write(mut self, failure: Option<&Failure>) {
        if let (Some(entry), Some(failure)) = (&mut self.entry, failure) {
            let message = SafeMessage::of(&failure.message, &self.given);
            entry.outcome = Outcome::Failed { code: failure.code, message };
        }
        // Dropped, which writes it.
    }

    /// Sets the policy decision.
    pub(crate) fn ruled(&mut self, ruling: Ruling) {
        if let Some(entry) = &mut self.entry {
            entry.ruling = ruling;
        }
    }

    /// Adds that data may go from one site to another.
    pub(crate) fn flow(&mut self, flow: &Flow) {
        if let Some(entry) = &mut self.entry {
            let flow = serde_json::json!({
                "brought_from": flow.from.first(), "brought_to": flow.to.to_string(), "brought_characters": flow.characters,
            });
            let parameters = std::mem::take(&mut entry.parameters);
            entry.parameters = parameters.and(Summary::of(&flow, LOGGED_FLOW));
        }
    }

    /// Sets the result.
    pub(crate) fn result(&mut self, result: &Value) {
        if let Some(entry) = &mut self.entry {
            entry.changes = Summary::of(result, LOGGED_RESULT);
        }
    }

    /// Writes the row. Returns notices for the user.
    pub(crate) async fn finish(mut self, failure: Option<&Failure>) -> Vec<String> {
        let Some(mut entry) = self.take_entry() else { return Vec::new() };
        entry.outcome = match failure {
            None => Outcome::Done,
            Some(failure) if failure.code == ErrorCode::BadArgs => {
                // A rejected value may be anything, even where a keyword was expected.
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
        self.audit.write(entry).await
    }
}

impl Drop for AuditEntry {
    fn drop(&mut self) {
        if let Some(mut entry) = self.take_entry() {
            if DISCONNECTS.contains(&entry.action) {
                entry.time = SystemTime::now();
            }
            self.audit.write_unwatched(entry);
        }
    }
}

/// The parameters that are not logged in full.
fn hidden(action: &str, params: &Value) -> Value {
    let logged = logged_parameters(action);
    let is_logged = |name: &str| {
        logged.iter().any(|(known, visibility)| known == name && *visibility == LogVisibility::Keyword)
    };
    match params {
        Value::Object(members) => {
            let hidden = members.iter().filter(|(name, _)| !is_logged(name));
            Value::Object(hidden.map(|(name, value)| (name.clone(), value.clone())).collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;
    use tabwire_audit::{Filter, Reader};
    use tabwire_engine::{ACTIONS, SCRIPT_ACTIONS, SESSION_ACTIONS};

    use super::*;
    use crate::audit::parameters::logged_parameters;

    const CANARY: &str = "hunter2 canary";

    /// A value for a parameter of this kind, with the canary in every part that is not logged.
    fn planted(visibility: Option<LogVisibility>, kind: &str) -> Value {
        let text = match visibility {
            Some(LogVisibility::Url | LogVisibility::Origin) => {
                format!("https://{CANARY}:{CANARY}@a.test/b?{CANARY}#{CANARY}").replace(' ', "%20")
            }
            Some(LogVisibility::Target) => format!("input[value=\"{CANARY}\"]"),
            // File names are logged.
            Some(LogVisibility::Path) => "file.txt".to_owned(),
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

    async fn run(audit: &Arc<AuditWriter>, name: &str, params: Value, failure: Option<&Failure>) {
        let request = ActionRequest { params, ..ActionRequest::default() };
        let mut entry = AuditEntry::of_action(audit, name, &request, &Caller::at_port(None));
        entry.result(&json!({
            "url": format!("https://a.test/{CANARY}?{CANARY}"), "value": CANARY, "did": CANARY, "element": CANARY,
            "title": CANARY, "text": CANARY, "dialog": {"message": CANARY}, "console_errors": [CANARY],
            "cookies": [{"value": CANARY}], "status": CANARY, (CANARY): CANARY,
        }));
        assert_eq!(entry.finish(failure).await, [""; 0]);
    }

    #[tokio::test]
    async fn t39_no_canary_in_any_parameter_result_or_message_reaches_the_file() {
        let home = tempfile::tempdir().expect("a directory");
        let path = home.path().join("state/audit.sqlite");
        let audit = AuditWriter::start(Some(&path));
        let codes =
            [ErrorCode::EvalFailed, ErrorCode::BadArgs, ErrorCode::Internal, ErrorCode::SelectorNotFound];
        let actions = ACTIONS.iter().chain(SESSION_ACTIONS).chain(SCRIPT_ACTIONS);
        let names = std::iter::once(CANARY).chain(actions.map(|action| action.name));
        let mut written = 0;
        for name in names {
            let logged = logged_parameters(name);
            let schema = find_action(name).map(|action| (action.parameters)()).unwrap_or_default();
            let mut params = Map::new();
            for (parameter, schema) in schema["properties"].as_object().into_iter().flatten() {
                let visibility =
                    logged.iter().find(|(known, _)| known == parameter).map(|(_, visibility)| *visibility);
                params.insert(parameter.clone(), planted(visibility, &schema["type"].to_string()));
            }
            params.entry("url").or_insert_with(|| planted(Some(LogVisibility::Url), "string"));
            params.insert(CANARY.to_owned(), json!(CANARY));
            let params = Value::Object(params);
            run(&audit, name, params.clone(), None).await;
            for code in codes {
                let message = format!("It failed with {CANARY} at {params}, `{CANARY}`: {CANARY}");
                run(&audit, name, params.clone(), Some(&Failure::new(code, message))).await;
            }
            written += 1 + codes.len();
        }
        search(path.parent().expect("a directory"));
        audit.close().await;
        search(path.parent().expect("a directory"));
        let rows = Reader::open(&path).expect("an audit log").last(&Filter::default(), 10_000).expect("rows");
        assert_eq!(rows.len(), written);
        let fill = rows.iter().find(|row| row.action == "fill" && row.is_ok()).expect("a row");
        assert_eq!(fill.params, json!({"target": "input[value=…]", "nth": "…", "value": "…"}));
        assert_eq!(fill.changes["url"], "https://a.test");
        assert!(rows.iter().any(|row| row.action == "unknown"), "an unknown action name is not logged");
    }

    #[tokio::test]
    async fn a_cancelled_request_has_a_row() {
        let home = tempfile::tempdir().expect("a directory");
        let path = home.path().join("state/audit.sqlite");
        let audit = AuditWriter::start(Some(&path));
        drop(AuditEntry::of_action(&audit, "click", &ActionRequest::default(), &Caller::at_port(None)));
        audit.close().await;
        let rows = Reader::open(&path).expect("an audit log").last(&Filter::default(), 10).expect("rows");
        assert_eq!(rows.iter().map(|row| row.result.as_str()).collect::<Vec<_>>(), ["OUTCOME_UNKNOWN"]);
    }

    #[tokio::test]
    async fn f32_an_unwritable_log_is_reported_once_and_fails_no_action() {
        let home = tempfile::tempdir().expect("a directory");
        let path = home.path().join("state/audit.sqlite");
        std::fs::create_dir_all(&path).expect("a directory in place of the file");
        let audit = AuditWriter::start(Some(&path));
        let notices = async || {
            let request = ActionRequest::default();
            AuditEntry::of_action(&audit, "click", &request, &Caller::at_port(None)).finish(None).await
        };
        let first = notices().await;
        assert!(
            first.len() == 1 && first[0].contains("audit log") && first[0].contains("not a file"),
            "{first:?}"
        );
        assert_eq!(notices().await, [""; 0]);
        std::fs::remove_dir(&path).expect("removed");
        assert_eq!(notices().await, [""; 0]);
        let rows = Reader::open(&path).expect("written again").last(&Filter::default(), 10).expect("rows");
        assert_eq!(rows.len(), 1);
    }
}
