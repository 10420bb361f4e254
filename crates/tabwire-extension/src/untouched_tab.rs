//! A tab that the debugger is not on, as its cdp sessions see it: what they set up is answered and kept, and what they
//! have to hear to go on is told from what the tab says of itself. Knows nothing of how the debugger goes on.

use serde_json::{Value, json};
use tabwire_wire::{CdpSessionId, ErrorCode};

use crate::debuggee::DebuggeeId;
use crate::emulated_browser::EmulatedBrowser;
use crate::init_command::can_wait;
use crate::link_message::{ChromeTab, TabDescription};
use crate::page_command::Command;
use crate::pending::Asker;
use crate::reply::ProtocolError;

/// What a page that is there has gone through, in the order a browser tells it.
const BEGUN: [&str; 2] = ["init", "commit"];
const LOADED: [&str; 4] = ["DOMContentLoaded", "load", "networkAlmostIdle", "networkIdle"];

impl EmulatedBrowser {
    /// Keeps a command that does not need the page yet, and answers it; says whether it did.
    pub(crate) fn keep_for_later(
        &mut self,
        place: &DebuggeeId,
        session: &CdpSessionId,
        command: &Command,
        asker: &Asker,
    ) -> bool {
        let Ok(params) = command.read_params() else { return false };
        let Some(tab) = self.tabs.get(&place.tab) else { return false };
        let (tree, target) = (tab.shallow_tree(), tab.description.target.clone());
        let Some(entry) = self.sessions.get_mut(session) else { return false };
        if !can_wait(&command.method, &params, &target) || entry.journal.is_full() {
            return false;
        }
        let mut answer = json!({});
        let mut script = None;
        match command.method.as_str() {
            "Page.getFrameTree" => {
                entry.told_tree = true;
                answer = tree;
            }
            "Page.addScriptToEvaluateOnNewDocument" => {
                self.next_script += 1;
                let given = format!("tabwire-{}", self.next_script);
                answer = json!({"identifier": given});
                entry.scripts.insert(given.clone(), None);
                script = Some(given);
            }
            "Page.createIsolatedWorld" => {
                let name = params.get("worldName").and_then(Value::as_str).unwrap_or_default();
                let number = entry.worlds.make(&mut self.next_world, &target, Some(name));
                answer = json!({"executionContextId": number});
            }
            method => {
                let (domain, verb) = method.split_once('.').unwrap_or_default();
                match verb {
                    "enable" => drop(entry.domains.insert(domain.to_owned())),
                    "disable" => drop(entry.domains.remove(domain)),
                    _ => {}
                }
            }
        }
        entry.journal.note(command, &params, script.as_deref());
        self.tell_what_follows(place, session, command);
        self.succeed(asker, &answer.to_string());
        true
    }

    /// Tells what a browser would tell before it answers.
    fn tell_what_follows(&mut self, place: &DebuggeeId, session: &CdpSessionId, command: &Command) {
        match command.method.as_str() {
            "Runtime.enable" | "Page.createIsolatedWorld" => self.tell_made_up(place, session),
            "Page.setLifecycleEventsEnabled" => self.tell_life(place.tab, session, &BEGUN, true),
            _ => {}
        }
    }

    /// Tells a session of the worlds that its page is sure to have, if it hears of worlds.
    pub(crate) fn tell_made_up(&mut self, place: &DebuggeeId, session: &CdpSessionId) {
        let Some(TabDescription { target, url, .. }) = self.tabs.get(&place.tab).map(|tab| &tab.description)
        else {
            return;
        };
        let Some(entry) = self.sessions.get_mut(session) else { return };
        if !entry.domains.contains("Runtime") {
            return;
        }
        entry.worlds.make(&mut self.next_world, target, None);
        let news = entry.worlds.take_news(origin_of(url));
        for params in news {
            self.tell(Some(session), "Runtime.executionContextCreated", &params);
        }
    }

    /// Tells a session how far its page has come, if it wants to know.
    fn tell_life(&mut self, tab: ChromeTab, session: &CdpSessionId, begun: &[&str], from_start: bool) {
        let Some(tab) = self.tabs.get(&tab) else { return };
        let (target, loader, loaded) = (tab.description.target.clone(), tab.loader(), tab.description.loaded);
        let wants = self.sessions.get(session).is_some_and(|entry| {
            entry.journal.has("Page.setLifecycleEventsEnabled") && entry.domains.contains("Page")
        });
        if !wants {
            return;
        }
        let begun = begun.iter().filter(|_| from_start);
        for name in begun.chain(LOADED.iter().filter(|_| loaded)) {
            let params = json!({"frameId": target, "loaderId": loader, "name": name, "timestamp": 0});
            self.tell(Some(session), "Page.lifecycleEvent", &params.to_string());
        }
    }

    /// An untouched tab stands otherwise than before: who believes to be in it is told what its page would tell.
    pub(crate) fn tell_untouched_change(&mut self, id: ChromeTab, before: &TabDescription) {
        let Some(tab) = self.tabs.get_mut(&id).filter(|tab| tab.is_idle()) else { return };
        let (old, _) = split_fragment(&before.url);
        let (new, _) = split_fragment(&tab.description.url);
        let is_elsewhere = old != new;
        let is_within = !is_elsewhere && before.url != tab.description.url;
        let is_loaded = tab.description.loaded && !before.loaded;
        if is_elsewhere {
            tab.loads += 1;
        }
        let (frame, url) = (tab.main_frame(), tab.description.url.clone());
        let place = DebuggeeId { tab: id, child: None };
        for session in self.sessions_on(&place) {
            let Some(entry) = self.sessions.get(&session).filter(|entry| entry.told_tree) else { continue };
            let hears_page = entry.domains.contains("Page");
            if is_elsewhere && hears_page {
                let params = json!({"frame": frame, "type": "Navigation"});
                self.tell(Some(&session), "Page.frameNavigated", &params.to_string());
                self.tell_life(id, &session, &BEGUN, true);
            } else if is_within && hears_page {
                let params = json!({"frameId": frame["id"], "url": url, "navigationType": "fragment"});
                self.tell(Some(&session), "Page.navigatedWithinDocument", &params.to_string());
            } else if is_loaded {
                self.tell_life(id, &session, &BEGUN, false);
            }
        }
    }

    /// The debugger is off a tab, and sessions on it go on: to them it is untouched again. What was below the page is
    /// gone for them, and they hear of it when the debugger is on anew.
    pub(crate) fn rest_sessions(&mut self, tab: ChromeTab) {
        let place = DebuggeeId { tab, child: None };
        self.end_tab_sessions(tab, |session| session.debuggee().is_some_and(|other| *other != place));
        let Some(frame) = self.tabs.get(&tab).map(|tab| tab.main_frame()) else { return };
        for session in self.sessions_on(&place) {
            let Some(entry) = self.sessions.get_mut(&session) else { continue };
            let held = std::mem::take(&mut entry.held);
            entry.worlds.clear();
            let (hears_page, hears_worlds) =
                (entry.domains.contains("Page"), entry.domains.contains("Runtime"));
            entry.told_tree = hears_page;
            let names: Vec<String> = entry.journal.worlds().map(str::to_owned).collect();
            for name in names {
                let target = frame["id"].as_str().unwrap_or_default();
                entry.worlds.make(&mut self.next_world, target, Some(&name));
            }
            if hears_worlds {
                self.tell(Some(&session), "Runtime.executionContextsCleared", "{}");
            }
            if hears_page {
                // Who knows of frames below forgets them with this.
                let params = json!({"frame": frame, "type": "Navigation"});
                self.tell(Some(&session), "Page.frameNavigated", &params.to_string());
                self.tell_life(tab, &session, &BEGUN, true);
            }
            self.tell_made_up(&place, &session);
            for waiting in held {
                let error = ProtocolError::ours(ErrorCode::Detached, "The debugger was taken off this tab.");
                self.fail(&waiting.asker, &error);
            }
        }
    }

    /// Cdp sessions on a place, in the order of their making.
    pub(crate) fn sessions_on(&self, place: &DebuggeeId) -> Vec<CdpSessionId> {
        let there = self.sessions.iter().filter(|(_, session)| session.debuggee() == Some(place));
        there.map(|(id, _)| id.clone()).collect()
    }
}

fn split_fragment(url: &str) -> (&str, &str) {
    url.split_once('#').unwrap_or((url, ""))
}

/// Scheme, host and port of an address, as worlds are told with it.
fn origin_of(url: &str) -> &str {
    let Some(authority) = url.find("://").map(|at| at + 3) else { return "://" };
    let end = url.get(authority..).and_then(|rest| rest.find('/')).map_or(url.len(), |at| authority + at);
    url.get(..end).unwrap_or("://")
}
