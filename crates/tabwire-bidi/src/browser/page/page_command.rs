//! Commands on a tab, by domain.

use serde_json::json;
use tabwire_api::CdpSessionId;
use tabwire_cdp::ProtocolError;

use crate::browser::{Command, EmulatedBrowser, Reply};
use crate::protocol::message::{flag, text};

/// Commands that succeed without an effect: Firefox behaves so anyway, or no client depends on the effect.
const WITHOUT_EFFECT: &[&str] = &[
    "Emulation.setFocusEmulationEnabled",
    "Runtime.releaseObjectGroup",
    "Runtime.discardConsoleEntries",
    "Log.clear",
];

impl EmulatedBrowser {
    pub(in crate::browser) fn page_command(
        &mut self,
        tab: &str,
        session: &CdpSessionId,
        command: &Command,
        reply: Reply,
    ) {
        let method = command.method.as_str();
        if self.contexts.find(tab).is_none() {
            return self.fail(reply, &ProtocolError::no_session());
        }
        if WITHOUT_EFFECT.contains(&method) {
            return self.succeed(reply, "{}");
        }
        match method.split('.').next().unwrap_or_default() {
            "Target" | "Browser" => self.target_command_on_page(tab, session, command, reply),
            "Page" => self.page_domain(tab, session, command, reply),
            "Runtime" => self.runtime_domain(tab, session, command, reply),
            "DOM" => self.dom_domain(tab, command, reply),
            "Input" => self.input_command(tab, session, command, reply),
            "Network" => self.network_domain(tab, session, command, reply),
            "Fetch" => self.fetch_domain(tab, session, command, reply),
            "Emulation" => self.emulation_command(tab, command, reply),
            "Storage" => self.cookie_command(method, &command.params, Some(tab), reply),
            "IO" => self.stream_command(command, reply),
            "Log" | "Performance" | "Inspector" | "Security" | "Audits" | "ServiceWorker" | "DOMStorage" => {
                self.switch_domain(session, method, reply);
            }
            _ => self.refuse(reply, method),
        }
    }

    /// `enable` and `disable` of a domain that has no further commands here.
    fn switch_domain(&mut self, session: &CdpSessionId, method: &str, reply: Reply) {
        match method.split_once('.') {
            Some((domain, "enable")) => {
                self.set_domain(session, domain, true);
                self.succeed(reply, "{}");
            }
            Some((domain, "disable")) => {
                self.set_domain(session, domain, false);
                self.succeed(reply, "{}");
            }
            _ => self.refuse(reply, method),
        }
    }

    pub(in crate::browser) fn set_domain(&mut self, session: &CdpSessionId, domain: &str, on: bool) {
        let Some(found) = self.sessions.find_mut(Some(session)) else { return };
        match on {
            true => drop(found.domains.insert(domain.to_owned())),
            false => drop(found.domains.remove(domain)),
        }
    }

    fn target_command_on_page(&mut self, tab: &str, session: &CdpSessionId, command: &Command, reply: Reply) {
        match command.method.as_str() {
            // Frames have no targets of their own here, and workers are not reported.
            "Target.setAutoAttach" => self.succeed(reply, "{}"),
            "Target.getTargetInfo" => self.get_target_info(Some(tab), &command.params, reply),
            "Target.detachFromTarget" => self.detach_from_target(&command.params, reply),
            _ => self.browser_command(Some(session), command, reply),
        }
    }

    fn page_domain(&mut self, tab: &str, session: &CdpSessionId, command: &Command, reply: Reply) {
        let params = &command.params;
        match command.method.as_str() {
            "Page.enable" | "Page.disable" => self.switch_domain(session, &command.method, reply),
            "Page.setLifecycleEventsEnabled" => {
                self.set_lifecycle(tab, session, flag(params, "enabled"), reply);
            }
            "Page.getFrameTree" => match self.frame_tree(tab) {
                Some(tree) => self.succeed(reply, json!({"frameTree": tree})),
                None => self.fail(reply, &ProtocolError::no_session()),
            },
            "Page.navigate" => self.navigate(tab, params, reply),
            "Page.reload" => self.reload(tab, params, reply),
            "Page.getNavigationHistory" => self.get_history(tab, reply),
            "Page.navigateToHistoryEntry" => self.traverse(tab, params, reply),
            "Page.bringToFront" => self.activate(tab, reply),
            "Page.close" => self.close_target(tab, reply),
            "Page.createIsolatedWorld" => self.create_world(tab, params, reply),
            "Page.addScriptToEvaluateOnNewDocument" => self.add_script(tab, session, params, reply),
            "Page.removeScriptToEvaluateOnNewDocument" => {
                self.remove_script(session, text(params, "identifier"), reply);
            }
            "Page.startScreencast" | "Page.stopScreencast" | "Page.screencastFrameAck" => {
                self.picture_command(tab, session, command, reply);
            }
            "Page.captureScreenshot" => self.screenshot(tab, params, reply),
            "Page.getLayoutMetrics" => self.layout_metrics(tab, reply),
            "Page.printToPDF" => self.print(tab, params, reply),
            "Page.handleJavaScriptDialog" => self.handle_prompt(tab, params, reply),
            "Page.setInterceptFileChooserDialog" => {
                if let Some(found) = self.sessions.find_mut(Some(session)) {
                    found.choosers = flag(params, "enabled");
                }
                self.succeed(reply, "{}");
            }
            method => self.refuse(reply, method),
        }
    }

    /// Repeats the past lifecycle events when a session enables them, as Chrome does.
    fn set_lifecycle(&mut self, tab: &str, session: &CdpSessionId, on: bool, reply: Reply) {
        if let Some(found) = self.sessions.find_mut(Some(session)) {
            found.lifecycle = on;
        }
        for id in self.contexts.subtree(tab) {
            let Some(context) = self.contexts.find(&id).filter(|_| on) else { continue };
            let (loader, names) = (context.loader.clone(), context.lifecycle.clone());
            for name in names {
                let params = json!({"frameId": id, "loaderId": loader, "name": name, "timestamp": 0.0});
                self.send_event(Some(session), "Page.lifecycleEvent", &params);
            }
        }
        self.succeed(reply, "{}");
    }

    fn runtime_domain(&mut self, tab: &str, session: &CdpSessionId, command: &Command, reply: Reply) {
        match command.method.as_str() {
            "Runtime.enable" => {
                self.set_domain(session, "Runtime", true);
                self.report_realms(tab, session);
                self.succeed(reply, "{}");
            }
            "Runtime.disable" => {
                self.set_domain(session, "Runtime", false);
                self.succeed(reply, "{}");
            }
            "Runtime.runIfWaitingForDebugger" => {
                if let Some(found) = self.sessions.find_mut(Some(session)) {
                    found.is_waiting = false;
                }
                self.succeed(reply, "{}");
                self.navigate_first_if_ready(tab);
                self.release_waiting(tab);
            }
            "Runtime.evaluate" => self.evaluate(tab, &command.params, reply),
            "Runtime.callFunctionOn" => self.call_function(tab, &command.params, reply),
            "Runtime.getProperties" => self.get_properties(tab, &command.params, reply),
            "Runtime.releaseObject" => self.release_object(&command.params, reply),
            "Runtime.addBinding" => self.add_binding(tab, session, &command.params, reply),
            "Runtime.removeBinding" => {
                self.remove_binding(session, text(&command.params, "name"), reply);
            }
            method => self.refuse(reply, method),
        }
    }
}
