//! The targets, contexts and CDP sessions of a fake browser. Implements the `Target` domain.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// One connected peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConnectionId(pub u64);

/// The destination of an event: a connection and its CDP session.
pub(crate) type Address = (ConnectionId, Option<String>);

/// A method's outcome: a result, or the message of a protocol error.
pub(crate) type Outcome = Result<Value, String>;

#[derive(Debug)]
struct Target {
    context: String,
    url: String,
}

#[derive(Debug, Default)]
struct Subscriptions {
    discovers: bool,
    auto_attaches: bool,
    waits: bool,
}

/// The open targets, contexts and CDP sessions.
#[derive(Debug, Default)]
pub(crate) struct Targets {
    minted: u64,
    contexts: Vec<String>,
    targets: BTreeMap<String, Target>,
    /// Attached CDP sessions: the peer, and the target; `None` for the browser itself.
    sessions: BTreeMap<String, (ConnectionId, Option<String>)>,
    /// The discovery settings of browser-level sessions.
    listeners: BTreeMap<Address, Subscriptions>,
}

impl Targets {
    /// Starts with one blank page in the default context.
    pub(crate) fn with_one_page() -> Self {
        let mut targets = Self::default();
        let id = targets.mint("T");
        targets.targets.insert(id, Target { context: "DEFAULT".into(), url: "about:blank".into() });
        targets
    }

    /// Removes a peer and its CDP sessions.
    pub(crate) fn forget(&mut self, connection: ConnectionId) {
        self.sessions.retain(|_, (owner, _)| *owner != connection);
        self.listeners.retain(|(owner, _), _| *owner != connection);
    }

    /// Whether this peer has this CDP session.
    pub(crate) fn has_session(&self, connection: ConnectionId, session: &str) -> bool {
        self.sessions.get(session).is_some_and(|(owner, _)| *owner == connection)
    }

    /// Runs one method of the `Target` domain. Adds events to send before the response to `events`.
    pub(crate) fn call(
        &mut self,
        from: &Address,
        method: &str,
        parameters: &Value,
        events: &mut Vec<(Address, Value)>,
    ) -> Outcome {
        let text = |name: &str| parameters.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        match method {
            "Target.getTargets" => {
                Ok(json!({"targetInfos": self.targets.keys().map(|id| self.info(id)).collect::<Vec<_>>()}))
            }
            "Target.getBrowserContexts" => Ok(json!({"browserContextIds": self.contexts})),
            "Target.createBrowserContext" => {
                let id = self.mint("C");
                self.contexts.push(id.clone());
                Ok(json!({"browserContextId": id}))
            }
            "Target.disposeBrowserContext" => self.dispose(&text("browserContextId"), events),
            "Target.createTarget" => Ok(self.create(&text("url"), &text("browserContextId"), events)),
            "Target.closeTarget" => self.close(&text("targetId"), events),
            "Target.attachToTarget" => self.attach(from, Some(&text("targetId")), false, events),
            "Target.attachToBrowserTarget" => self.attach(from, None, false, events),
            "Target.detachFromTarget" => self.detach(&text("sessionId"), events),
            "Target.getTargetInfo" => self.describe(from, &text("targetId")),
            "Target.setDiscoverTargets" => {
                self.listeners.entry(from.clone()).or_default().discovers = true;
                for id in self.targets.keys() {
                    events.push((
                        from.clone(),
                        event("Target.targetCreated", &json!({"targetInfo": self.info(id)})),
                    ));
                }
                Ok(json!({}))
            }
            "Target.setAutoAttach" => self.auto_attach(from, parameters, events),
            "Target.activateTarget" => Ok(json!({})),
            _ => Err(format!("'{method}' wasn't found")),
        }
    }

    fn mint(&mut self, prefix: &str) -> String {
        self.minted += 1;
        format!("{prefix}{:08X}", self.minted)
    }

    fn info(&self, id: &str) -> Value {
        let (url, context) =
            self.targets.get(id).map_or(("", ""), |target| (target.url.as_str(), target.context.as_str()));
        let attached = self.sessions.values().any(|(_, target)| target.as_deref() == Some(id));
        json!({"targetId": id, "type": "page", "title": "", "url": url, "attached": attached,
            "canAccessOpener": false, "browserContextId": context})
    }

    fn describe(&self, from: &Address, wanted: &str) -> Outcome {
        let own = from
            .1
            .as_ref()
            .and_then(|session| self.sessions.get(session))
            .and_then(|(_, target)| target.clone());
        let id = if wanted.is_empty() { own } else { Some(wanted.to_owned()) };
        match id {
            None => {
                Ok(json!({"targetInfo": {"targetId": "BROWSER", "type": "browser", "title": "", "url": "",
                "attached": true, "canAccessOpener": false}}))
            }
            Some(id) if self.targets.contains_key(&id) => Ok(json!({"targetInfo": self.info(&id)})),
            Some(_) => Err("No target with given id found".into()),
        }
    }

    fn create(&mut self, url: &str, context: &str, events: &mut Vec<(Address, Value)>) -> Value {
        let context = if context.is_empty() { "DEFAULT" } else { context };
        let id = self.mint("T");
        self.targets.insert(id.clone(), Target { context: context.into(), url: url.into() });
        let created = event("Target.targetCreated", &json!({"targetInfo": self.info(&id)}));
        for (listener, _) in self.listeners.iter().filter(|(_, listening)| listening.discovers) {
            events.push((listener.clone(), created.clone()));
        }
        let attaching: Vec<(Address, bool)> = self
            .listeners
            .iter()
            .filter(|(_, listening)| listening.auto_attaches)
            .map(|(listener, listening)| (listener.clone(), listening.waits))
            .collect();
        for (listener, waits) in attaching {
            let _ = self.attach(&listener, Some(&id), waits, events);
        }
        json!({"targetId": id})
    }

    fn close(&mut self, id: &str, events: &mut Vec<(Address, Value)>) -> Outcome {
        if self.targets.remove(id).is_none() {
            return Err("No target with given id found".into());
        }
        let sessions: Vec<String> = self
            .sessions
            .iter()
            .filter(|(_, (_, target))| target.as_deref() == Some(id))
            .map(|(session, _)| session.clone())
            .collect();
        for session in sessions {
            let _ = self.detach(&session, events);
        }
        for (listener, _) in self.listeners.iter().filter(|(_, listening)| listening.discovers) {
            events.push((listener.clone(), event("Target.targetDestroyed", &json!({"targetId": id}))));
        }
        Ok(json!({"success": true}))
    }

    fn dispose(&mut self, context: &str, events: &mut Vec<(Address, Value)>) -> Outcome {
        if !self.contexts.iter().any(|known| known == context) {
            return Err(format!("Failed to find context with id {context}"));
        }
        self.contexts.retain(|known| known != context);
        let inside: Vec<String> = self
            .targets
            .iter()
            .filter(|(_, target)| target.context == context)
            .map(|(id, _)| id.clone())
            .collect();
        for id in inside {
            let _ = self.close(&id, events);
        }
        Ok(json!({}))
    }

    fn attach(
        &mut self,
        from: &Address,
        target: Option<&str>,
        waits: bool,
        events: &mut Vec<(Address, Value)>,
    ) -> Outcome {
        if target.is_some_and(|id| !self.targets.contains_key(id)) {
            return Err("No target with given id found".into());
        }
        let session = self.mint("S");
        self.sessions.insert(session.clone(), (from.0, target.map(str::to_owned)));
        let info = match target {
            Some(id) => self.info(id),
            None => {
                json!({"targetId": "BROWSER", "type": "browser", "title": "", "url": "", "attached": true,
                "canAccessOpener": false})
            }
        };
        let body = json!({"sessionId": session, "targetInfo": info, "waitingForDebugger": waits});
        events.push((from.clone(), event("Target.attachedToTarget", &body)));
        Ok(json!({"sessionId": session}))
    }

    fn detach(&mut self, session: &str, events: &mut Vec<(Address, Value)>) -> Outcome {
        let Some((connection, target)) = self.sessions.remove(session) else {
            return Err("No session with given id".into());
        };
        self.listeners.remove(&(connection, Some(session.to_owned())));
        let body = json!({"sessionId": session, "targetId": target});
        events.push(((connection, None), event("Target.detachedFromTarget", &body)));
        Ok(json!({}))
    }

    fn auto_attach(
        &mut self,
        from: &Address,
        parameters: &Value,
        events: &mut Vec<(Address, Value)>,
    ) -> Outcome {
        // Only browser-level sessions attach to pages. The fake pages have no frames or workers to attach to.
        let on_page = from
            .1
            .as_ref()
            .and_then(|session| self.sessions.get(session))
            .is_some_and(|(_, target)| target.is_some());
        if on_page {
            return Ok(json!({}));
        }
        let flag = |name: &str| parameters.get(name).and_then(Value::as_bool).unwrap_or(false);
        let listening = self.listeners.entry(from.clone()).or_default();
        let starts = flag("autoAttach") && !listening.auto_attaches;
        listening.auto_attaches = flag("autoAttach");
        listening.waits = flag("waitForDebuggerOnStart");
        if starts {
            for id in self.targets.keys().cloned().collect::<Vec<_>>() {
                let _ = self.attach(from, Some(&id), false, events);
            }
        }
        Ok(json!({}))
    }
}

fn event(method: &str, parameters: &Value) -> Value {
    json!({"method": method, "params": parameters})
}
