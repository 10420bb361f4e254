//! The reference model: which client may see which targets, and which responses are owed. Much simpler than
//! the mux, because the fake browser stores the owner of everything.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::Value;
use tabwire_mux::Share;

use crate::support::fake_browser::{DEFAULT_CONTEXT, FakeBrowser};

/// One client's life, in steps.
#[derive(Clone, Debug)]
pub(crate) struct Life {
    pub(crate) share: Share,
    pub(crate) partition: Option<&'static str>,
    pub(crate) left: Option<usize>,
}

/// An id that a client received.
#[derive(Clone, Debug)]
struct Mention {
    step: usize,
    client: u64,
    id: String,
    frame: Rc<str>,
}

/// The recorded facts about all clients.
#[derive(Debug, Default)]
pub(crate) struct Model {
    pub(crate) lives: BTreeMap<u64, Life>,
    /// Responses owed, by client, id and session.
    owed: BTreeMap<(u64, i64, String), usize>,
    mentions: Vec<Mention>,
    /// The client that was shown a session first.
    first_shown: BTreeMap<String, u64>,
    pub(crate) step: usize,
}

impl Model {
    pub(crate) fn asked(&mut self, client: u64, id: i64, session: &str) {
        *self.owed.entry((client, id, session.to_owned())).or_default() += 1;
    }

    /// Checks a frame that was delivered to a client.
    pub(crate) fn delivered(&mut self, client: u64, frame: &[u8]) -> Result<(), String> {
        let text = String::from_utf8_lossy(frame).into_owned();
        let value: Value = serde_json::from_slice(frame).map_err(|error| format!("{error}: {text}"))?;
        if let Some(id) = value["id"].as_i64() {
            let session = value["sessionId"].as_str().unwrap_or_default().to_owned();
            match self.owed.get_mut(&(client, id, session)) {
                Some(owed) if *owed > 0 => *owed -= 1,
                _ => return Err(format!("client {client} got a response it was not owed: {text}")),
            }
        }
        for tag in text.match_indices("\"c").filter_map(|(at, _)| text[at + 2..].split_once("-\"")) {
            if tag.0.parse::<u64>().is_ok_and(|number| number != client) {
                return Err(format!("client {client} got another's payload: {text}"));
            }
        }
        // An error repeats ids that the client itself sent.
        if value.get("error").is_none() {
            self.note_mentions(client, &text);
        }
        Ok(())
    }

    fn note_mentions(&mut self, client: u64, text: &str) {
        let frame: Rc<str> = Rc::from(text);
        for (at, _) in text.match_indices('"') {
            let rest = &text[at + 1..];
            let is_id = rest.starts_with("S-") || rest.starts_with("T-") || rest.starts_with("X-");
            if let Some((id, _)) = rest.split_once('"').filter(|_| is_id) {
                self.first_shown.entry(id.to_owned()).or_insert(client);
                let (id, frame) = (id.to_owned(), Rc::clone(&frame));
                self.mentions.push(Mention { step: self.step, client, id, frame });
            }
        }
    }

    /// Whether every connected client got its responses.
    pub(crate) fn check_owed(&self) -> Result<(), String> {
        let here = |client: &u64| self.lives[client].left.is_none();
        match self.owed.iter().find(|((client, _, _), owed)| **owed > 0 && here(client)) {
            Some((key, owed)) => Err(format!("{owed} responses are owed for {key:?}")),
            None => Ok(()),
        }
    }

    /// Checks that no client saw or reached a target, context or session of another.
    pub(crate) fn check_crossings(&self, browser: &FakeBrowser) -> Result<(), String> {
        for mention in &self.mentions {
            if !self.may_be_shown(browser, mention) {
                let Mention { step, client, id, frame } = mention;
                return Err(format!("crossing in step {step}: client {client} was shown {id}: {frame}"));
            }
        }
        for (step, heard) in &browser.heard {
            let Some(client) = heard.client else { continue };
            if self.client_of_session(browser, &heard.session) != Some(client) {
                return Err(format!("a command on another's session: {heard:?}"));
            }
            let target = heard.params["targetId"].as_str();
            if target.is_some_and(|target| !self.may_see_target(browser, client, target, *step)) {
                return Err(format!("a command on another's target: {heard:?}"));
            }
            let context = heard.params["browserContextId"].as_str();
            if context.is_some_and(|context| !self.may_see_context(browser, client, context, *step)) {
                return Err(format!("a command on another's context: {heard:?}"));
            }
            let at_home = self.lives[&client].partition.is_none_or(|partition| partition.starts_with("tabs"));
            if heard.method == "Target.createTarget" && context.is_none() && !at_home {
                return Err(format!("a partition's command in the default context: {heard:?}"));
            }
        }
        Ok(())
    }

    fn may_be_shown(&self, browser: &FakeBrowser, mention: &Mention) -> bool {
        let (client, id) = (mention.client, mention.id.as_str());
        match id.as_bytes()[0] {
            b'S' => {
                let owner = self.client_of_session(browser, id);
                let target = browser.find_session(id).and_then(|session| session.target.as_deref());
                // Root sessions and control sessions are shown to no client. A session of the control session on
                // a target may be given to one client that sees the target.
                let is_given = browser.lineage(id).len() == 2
                    && target
                        .is_some_and(|target| self.may_see_target(browser, client, target, mention.step));
                (is_given || browser.lineage(id).len() > 2) && owner.is_none_or(|owner| owner == client)
            }
            b'T' => self.may_see_target(browser, client, id, mention.step),
            _ => self.may_see_context(browser, client, id, mention.step),
        }
    }

    /// The client whose root session, or session that was given to it, is an ancestor of a session.
    fn client_of_session(&self, browser: &FakeBrowser, id: &str) -> Option<u64> {
        let lineage = browser.lineage(id);
        let root = lineage.len().checked_sub(2).and_then(|at| lineage.get(at))?;
        browser.find_session(root)?.client.or_else(|| self.first_shown.get(root).copied())
    }

    /// Sessions that were shown to clients and are still in the browser.
    pub(crate) fn sessions_left(&self, browser: &FakeBrowser) -> Vec<String> {
        self.first_shown.keys().filter(|id| browser.sessions.contains_key(*id)).cloned().collect()
    }

    fn has_left(&self, client: u64, by: usize) -> bool {
        self.lives[&client].left.is_some_and(|left| left <= by)
    }

    fn may_see_target(&self, browser: &FakeBrowser, client: u64, target: &str, step: usize) -> bool {
        let Some(target) = browser.find_target(target) else { return true };
        if target.partition != self.lives[&client].partition {
            return false;
        }
        let Some(owner) = target.owner else { return true };
        let own = &self.lives[&client];
        // For a later daemon, what an earlier one's clients left looks like the user's.
        let sees_released = own.share != Share::Own;
        owner == client || own.share == Share::All || (sees_released && self.has_left(owner, step))
    }

    fn may_see_context(&self, browser: &FakeBrowser, client: u64, context: &str, step: usize) -> bool {
        let partition = self.lives[&client].partition;
        if context == DEFAULT_CONTEXT {
            return partition.is_none_or(|partition| partition.starts_with("tabs"));
        }
        let known = browser.past_contexts.contains_key(context);
        let owner = browser.past_contexts.get(context).copied().flatten();
        // The context may be one that the client invented.
        if known && browser.context_partitions.get(context).copied() != partition {
            return false;
        }
        self.lives[&client].share == Share::All
            || owner.is_none_or(|owner| owner == client || self.has_left(owner, step))
    }
}
