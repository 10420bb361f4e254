//! What the extension answered, and what follows from it.

use serde_json::{Value, json};
use tabwire_cdp::lenient_json;
use tabwire_wire::ErrorCode;

use crate::debuggee::DebuggeeId;
use crate::emulated_browser::EmulatedBrowser;
use crate::link_message::{ChromeTab, LinkFailure, TabDescription};
use crate::page_command::Command;
use crate::pending::{Asker, Pending, Task};
use crate::reply::ProtocolError;
use crate::tab::End;
use crate::virtual_session::VirtualSession;

/// What Chrome answers to what was under way when its debugger went off.
const CUT_OFF: &str = "Detached while handling command";

impl EmulatedBrowser {
    pub(crate) fn answered(&mut self, pending: Pending, answer: Result<&str, LinkFailure>) {
        let Pending { asker, task } = pending;
        if let Task::Capture(place) = &task {
            self.captured(place);
        }
        if let (Task::Close(tab), Err(_)) = (&task, &answer) {
            self.tab_stays(*tab);
        }
        let answer = match (answer, &task) {
            (Ok(answer), _) => answer,
            (Err(failure), Task::Attach(tab)) => return self.tab_attach_failed(*tab, failure),
            // It is there, though its page would not load; a browser says no more than that either.
            (Err(failure), Task::Arrive { .. }) if failure.code == ErrorCode::CdpError.as_str() => "{}",
            (Err(_), Task::Download(params)) => return self.download_found(params.clone(), None),
            // What ended the tab was given to it all the same; a browser answers such input before it lets go.
            (Err(failure), Task::Input(_)) if failure.message.contains(CUT_OFF) => "{}",
            (Err(_), Task::SetUp(tab)) => return self.tab_set_up(*tab, "{}"),
            (Err(_), Task::TakenUp { tab, .. }) => return self.begin_work(*tab),
            (Err(_), Task::WorldsTold(place)) => return self.worlds_told(place),
            (Err(_), Task::Told) => "{}",
            (Err(failure), _) => return self.fail_unless_closing(asker, ProtocolError::of(failure)),
        };
        match task {
            Task::Pass | Task::Input(_) | Task::Capture(_) => self.succeed(&asker, answer),
            Task::Done | Task::Told => self.succeed(&asker, "{}"),
            Task::AutoAttach => self.ask("settle", json!({}), Pending { asker, task: Task::Told }),
            Task::Close(_) => self.succeed(&asker, r#"{"success":true}"#),
            Task::Attach(tab) => self.tab_attached(tab, answer),
            Task::Arrive { target } => {
                self.succeed(&asker, &json!({"targetId": target}).to_string());
            }
            Task::Open { url } => self.tab_opened(&url, asker, answer),
            Task::AddScript { session, place, given } => {
                let result = lenient_json::read(answer.as_bytes());
                let real = result.get("identifier").and_then(Value::as_str).unwrap_or_default().to_owned();
                let named = self.sessions.get_mut(&session).and_then(|entry| entry.scripts.get_mut(&given));
                if let Some(slot) = named {
                    *slot = Some(real);
                } else {
                    // It was taken back meanwhile, or its session ended.
                    let params = json!({"identifier": real}).to_string();
                    let command = Command::new("Page.removeScriptToEvaluateOnNewDocument", &params);
                    self.pass_on(&place, &command, Asker::Nobody, Task::Pass);
                }
                self.succeed(&asker, &json!({"identifier": given}).to_string());
            }
            Task::MakeWorld { session, number } => {
                let result = lenient_json::read(answer.as_bytes());
                let real = result.get("executionContextId").and_then(Value::as_i64);
                if let (Some(real), Some(entry)) = (real, self.sessions.get_mut(&session)) {
                    entry.worlds.name_real(number, real);
                }
                self.release_held(&session);
            }
            Task::Download(params) => self.download_found(params, Some(answer)),
            Task::SetUp(tab) => self.tab_set_up(tab, answer),
            Task::TakenUp { tab, looks, was_quiet } => self.tab_taken_up(tab, looks, was_quiet),
            Task::WorldsTold(place) => self.worlds_told(&place),
        }
    }

    /// Answers with an error, unless the tab it was asked of is about to close.
    fn fail_unless_closing(&mut self, asker: Asker, error: ProtocolError) {
        let tab = match &asker {
            Asker::Hub { session: Some(session), .. } => {
                self.sessions.get(session).and_then(VirtualSession::tab)
            }
            _ => None,
        };
        match tab.and_then(|tab| self.tabs.get_mut(&tab)).map(|tab| &mut tab.end) {
            Some(End::Asked { unanswered }) => unanswered.push((asker, error)),
            _ => self.fail(&asker, &error),
        }
    }

    /// A tab was to be closed and was not.
    fn tab_stays(&mut self, tab: ChromeTab) {
        let Some(tab) = self.tabs.get_mut(&tab) else { return };
        if let End::Asked { unanswered } = std::mem::replace(&mut tab.end, End::NotAsked) {
            for (asker, error) in unanswered {
                self.fail(&asker, &error);
            }
        }
    }

    /// A tab was opened for a client: it goes where it was asked for, and then the client is told of it.
    fn tab_opened(&mut self, url: &str, asker: Asker, answer: &str) {
        let Ok(tab) = lenient_json::read_as::<TabDescription>(answer.as_bytes()) else {
            let error = ProtocolError::ours(ErrorCode::CdpError, "The extension did not say what it opened.");
            return self.fail(&asker, &error);
        };
        let (place, target) = (DebuggeeId { tab: tab.tab, child: None }, tab.target.clone());
        self.tab_seen(tab);
        if url.is_empty() || url == "about:blank" {
            return self.succeed(&asker, &json!({"targetId": target}).to_string());
        }
        let command = Command::new("Page.navigate", &json!({"url": url}).to_string());
        self.run(&place, None, command, asker, Task::Arrive { target });
    }
}
