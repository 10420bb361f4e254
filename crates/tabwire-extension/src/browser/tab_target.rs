//! Tab targets, the layer above pages that Puppeteer asks for. Chrome shows extensions pages only, so each tab gets an
//! emulated tab target with its page as the only child.

use serde_json::{Value, json};
use tabwire_api::CdpSessionId;

use crate::browser::EmulatedBrowser;
use crate::browser::extension_error::unsupported;
use crate::browser::page_command::Command;
use crate::browser::pending::Requester;
use crate::link::message::ChromeTab;
use crate::session::virtual_session::{SessionTarget, VirtualSession};
use crate::target::tab::Tab;

/// Prefix of a tab target's id; the page's target id follows.
const PREFIX: &str = "tab-";

impl Tab {
    pub(super) fn tab_target_id(&self) -> String {
        format!("{PREFIX}{}", self.description.target)
    }
}

/// The page target that belongs to a tab target.
pub(super) fn page_target_of(target: &str) -> Option<&str> {
    target.strip_prefix(PREFIX)
}

impl EmulatedBrowser {
    /// `TargetInfo` of a tab target.
    pub(super) fn tab_target_info(&self, id: ChromeTab) -> Option<Value> {
        let mut info = self.page_info(id)?;
        let tab_target = self.tabs.get(&id)?.tab_target_id();
        let attached = self.sessions.has_tab_target_session(id);
        let members = info.as_object_mut()?;
        members.insert("targetId".to_owned(), Value::from(tab_target));
        members.insert("type".to_owned(), Value::from("tab"));
        members.insert("attached".to_owned(), Value::Bool(attached));
        Some(info)
    }

    /// Creates a CDP session on a tab target.
    pub(super) fn attach_tab_target(
        &mut self,
        parent: Option<&CdpSessionId>,
        tab: ChromeTab,
    ) -> Option<CdpSessionId> {
        let mut info = self.tab_target_info(tab)?;
        if let Some(members) = info.as_object_mut() {
            members.insert("attached".to_owned(), Value::Bool(true));
        }
        let made = self.sessions.add(VirtualSession::new(parent.cloned(), SessionTarget::Tab(tab)));
        let event = json!({"sessionId": made.as_str(), "targetInfo": info, "waitingForDebugger": false});
        self.send_event(parent, "Target.attachedToTarget", &event.to_string());
        Some(made)
    }

    /// Handles a command on a tab target. Only `Target.*`, `Browser.*` and auto-attach exist there.
    pub(super) fn tab_command(
        &mut self,
        tab: ChromeTab,
        session: &CdpSessionId,
        command: &Command,
        requester: Requester,
    ) {
        match command.method.as_str() {
            "Target.setAutoAttach" => match command.read_params() {
                Ok(params) => {
                    let on = params.get("autoAttach").and_then(Value::as_bool).unwrap_or(false);
                    self.set_page_attached(tab, session, on);
                    self.succeed(&requester, "{}");
                }
                Err(error) => self.fail(&requester, &error),
            },
            // Chromium responds with `{}` too when nothing waits; clients resume every target.
            "Runtime.runIfWaitingForDebugger" => self.succeed(&requester, "{}"),
            method if method.starts_with("Target.") || method.starts_with("Browser.") => {
                self.browser_command(Some(session), command, requester);
            }
            method => self.fail(&requester, &unsupported(method)),
        }
    }

    /// Attaches a tab target session to the page, or detaches it.
    fn set_page_attached(&mut self, tab: ChromeTab, session: &CdpSessionId, on: bool) {
        let below = self.sessions.children_of(session);
        if !on {
            for page in below {
                self.end_session(&page);
            }
        } else if below.is_empty() {
            self.attach_session(Some(session), tab);
        }
    }
}
