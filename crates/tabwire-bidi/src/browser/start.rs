//! The first commands of a session: subscriptions, and what an earlier daemon left in the browser.

use serde_json::{Value, json};

use super::{EmulatedBrowser, Phase};
use crate::protocol::message::text;
use crate::state::context::Context;

/// The events that the emulated browser reads.
const EVENTS: &[&str] = &["browsingContext", "script", "network", "log", "input"];

/// Largest body of a response that is kept for clients.
const BODY_BYTES: u64 = 10_000_000;

impl EmulatedBrowser {
    pub(super) fn start(&mut self) {
        self.send(
            "session.subscribe",
            json!({"events": EVENTS}),
            Box::new(|browser, outcome| match outcome {
                Ok(_) if browser.is_contained() => browser.contain(),
                Ok(_) => browser.list_user_contexts(),
                Err(error) => browser.start_failed(&error),
            }),
        );
    }

    pub(super) fn list_user_contexts(&mut self) {
        let collector = json!({"dataTypes": ["request", "response"], "maxEncodedDataSize": BODY_BYTES});
        self.post("network.addDataCollector", collector);
        self.send(
            "browser.getUserContexts",
            json!({}),
            Box::new(|browser, outcome| {
                let listed = outcome.unwrap_or_default();
                for context in listed.get("userContexts").and_then(Value::as_array).into_iter().flatten() {
                    browser.user_contexts.insert(text(context, "userContext").to_owned());
                }
                browser.list_contexts();
            }),
        );
    }

    fn list_contexts(&mut self) {
        self.send(
            "browsingContext.getTree",
            json!({}),
            Box::new(|browser, outcome| match outcome {
                Ok(tree) => {
                    for context in tree.get("contexts").and_then(Value::as_array).into_iter().flatten() {
                        browser.add_listed(context);
                    }
                    browser.list_realms();
                }
                Err(error) => browser.start_failed(&error),
            }),
        );
    }

    /// Adds a context with those below it. Their documents have loaded, as far as is known.
    fn add_listed(&mut self, info: &Value) {
        if let Some(mut context) = Context::new(info) {
            if self.facts.anchor.is_none() && context.is_tab() {
                self.facts.anchor = Some(context.id.clone());
            }
            context.lifecycle = vec!["init", "commit", "DOMContentLoaded", "load", "networkIdle"];
            self.contexts.add(context);
        }
        for child in info.get("children").and_then(Value::as_array).into_iter().flatten() {
            let mut child = child.clone();
            if let (Some(members), Some(parent)) = (child.as_object_mut(), info.get("context")) {
                members.insert("parent".to_owned(), parent.clone());
            }
            self.add_listed(&child);
        }
    }

    fn list_realms(&mut self) {
        self.send(
            "script.getRealms",
            json!({"type": "window"}),
            Box::new(|browser, outcome| {
                let listed = outcome.unwrap_or_default();
                for realm in listed.get("realms").and_then(Value::as_array).into_iter().flatten() {
                    browser.realm_created(realm);
                }
                browser.ready();
            }),
        );
    }

    fn ready(&mut self) {
        self.phase = Phase::Ready;
        let tabs: Vec<String> = self.contexts.tabs().map(|tab| tab.id.clone()).collect();
        for tab in tabs {
            self.read_title(&tab);
        }
        for frame in std::mem::take(&mut self.early) {
            self.from_hub(&frame);
        }
    }
}
