//! The agents that use each session, by name. A grant for one agent holds in the sessions that the agent uses.

use std::collections::{BTreeMap, BTreeSet};

/// Agents remembered for one session. A grant does not hold for further ones.
const AGENTS: usize = 32;

/// The agents of each session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionAgents(BTreeMap<String, BTreeSet<String>>);

impl SessionAgents {
    /// Whether an agent uses a session.
    #[must_use]
    pub fn has(&self, session: &str, agent: &str) -> bool {
        self.0.get(session).is_some_and(|agents| agents.contains(agent))
    }

    /// Records that an agent uses a session.
    pub fn add(&mut self, session: &str, agent: &str) {
        let agents = self.0.entry(session.to_owned()).or_default();
        if agents.len() < AGENTS {
            agents.insert(agent.to_owned());
        }
    }

    /// Removes a session that has ended; returns whether it was known.
    pub fn remove(&mut self, session: &str) -> bool {
        self.0.remove(session).is_some()
    }

    /// The sessions with agents.
    pub fn sessions(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

/// Which agents a decision is for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AgentScope<'a> {
    /// One agent.
    One(&'a str),
    /// Any agent of the session.
    OfSession(&'a SessionAgents),
}

impl AgentScope<'_> {
    pub(crate) fn includes(self, session: Option<&str>, name: &str) -> bool {
        match self {
            Self::One(agent) => agent == name,
            Self::OfSession(agents) => session.is_some_and(|session| agents.has(session, name)),
        }
    }
}
