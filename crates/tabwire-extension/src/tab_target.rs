//! The layer of tab targets above pages, which Puppeteer asks for and Chrome shows no extension: every tab has a target
//! of its own, with the page as the one thing in it. Knows nothing of debuggers.

use serde_json::{Value, json};
use tabwire_wire::CdpSessionId;

use crate::emulated_browser::EmulatedBrowser;
use crate::link_message::ChromeTab;
use crate::page_command::Command;
use crate::pending::Asker;
use crate::reply::ProtocolError;
use crate::tab::Tab;
use crate::virtual_session::{Place, VirtualSession};

/// What the target of a tab begins with; the page's own follows.
const PREFIX: &str = "tab-";

impl Tab {
    /// The target of the tab itself.
    pub(crate) fn outer_target(&self) -> String {
        format!("{PREFIX}{}", self.description.target)
    }
}

/// The page's target, when a tab's was named.
pub(crate) fn page_in(target: &str) -> Option<&str> {
    target.strip_prefix(PREFIX)
}

impl EmulatedBrowser {
    /// `TargetInfo` of a tab itself.
    pub(crate) fn outer_info(&self, id: ChromeTab) -> Option<Value> {
        let mut info = self.tab_info(id)?;
        let outer = self.tabs.get(&id)?.outer_target();
        let attached = self.sessions.values().any(|one| matches!(one.place, Place::Tab(tab) if tab == id));
        let members = info.as_object_mut()?;
        members.insert("targetId".to_owned(), Value::from(outer));
        members.insert("type".to_owned(), Value::from("tab"));
        members.insert("attached".to_owned(), Value::Bool(attached));
        Some(info)
    }

    /// Makes a cdp session on a tab itself.
    pub(crate) fn attach_outer(
        &mut self,
        parent: Option<&CdpSessionId>,
        tab: ChromeTab,
    ) -> Option<CdpSessionId> {
        let mut info = self.outer_info(tab)?;
        if let Some(members) = info.as_object_mut() {
            members.insert("attached".to_owned(), Value::Bool(true));
        }
        let made = self.add_session(VirtualSession::new(parent.cloned(), Place::Tab(tab)));
        let event = json!({"sessionId": made.as_str(), "targetInfo": info, "waitingForDebugger": false});
        self.tell(parent, "Target.attachedToTarget", &event.to_string());
        Some(made)
    }

    /// A command on a tab itself: there is little to be had but the page in it.
    pub(crate) fn tab_command(
        &mut self,
        tab: ChromeTab,
        session: &CdpSessionId,
        command: &Command,
        asker: Asker,
    ) {
        match command.method.as_str() {
            "Target.setAutoAttach" => match command.read_params() {
                Ok(params) => {
                    let on = params.get("autoAttach").and_then(Value::as_bool).unwrap_or(false);
                    self.attach_inside(tab, session, on);
                    self.succeed(&asker, "{}");
                }
                Err(error) => self.fail(&asker, &error),
            },
            "Runtime.runIfWaitingForDebugger" => self.succeed(&asker, "{}"),
            method if method.starts_with("Target.") || method.starts_with("Browser.") => {
                self.browser_command(Some(session), command, asker);
            }
            method => self.fail(&asker, &ProtocolError::not_here(method)),
        }
    }

    /// Attaches a session on a tab to the page in it, or lets go of the page.
    fn attach_inside(&mut self, tab: ChromeTab, session: &CdpSessionId, on: bool) {
        let below = self.sessions.iter().filter(|(_, one)| one.parent.as_ref() == Some(session));
        let below: Vec<CdpSessionId> = below.map(|(id, _)| id.clone()).collect();
        if !on {
            for page in below {
                self.end_session(&page);
            }
        } else if below.is_empty() {
            self.attach_session(Some(session), tab);
        }
    }
}
