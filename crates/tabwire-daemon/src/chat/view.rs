//! Chats and agents as JSON.

use serde_json::{Value, json};
use tabwire_acp::{Item, ItemBody};

use crate::chat::agent::table::{AGENTS, AgentSpec, Confinement};
use crate::chat::store::ChatRecord;
use crate::chat::{Chat, ChatData, ChatId};
use crate::daemon::Daemon;

impl Chat {
    /// The whole chat.
    pub(super) fn view(&self) -> Value {
        self.whole(&self.state())
    }

    /// The whole chat, the id of its latest change, and its number.
    pub(super) fn view_with_id(&self) -> (Value, String, u64) {
        let state = self.state();
        (self.whole(&state), state.log.id(), state.log.last())
    }

    fn whole(&self, state: &ChatData) -> Value {
        let transcript = &state.transcript;
        let mut view = summary(&state.record, self.agent.name, &json!(transcript.state()));
        view["items"] = json!(transcript.items());
        view["shortened"] = json!(transcript.is_shortened());
        view["options"] = json!(transcript.options());
        view["commands"] = json!(transcript.commands());
        view["usage"] = json!(transcript.usage());
        view["confinement"] = json!(self.agent.confinement);
        view["chosen_options"] = json!(state.record.options);
        view["confinement_note"] = json!(confinement_note(self.agent));
        let mut view = self.redactor.redact_value(&view);
        state.held.remove_from(&mut view["items"]);
        view
    }
}

/// Whether the agent waits for the user's answer.
const fn is_open_question(item: &Item) -> bool {
    matches!(item.body, ItemBody::Question { outcome: None, .. } | ItemBody::Approval { outcome: None, .. })
}

fn summary(record: &ChatRecord, agent_name: &str, state: &Value) -> Value {
    json!({
        "id": record.id,
        "title": record.title,
        "agent": record.agent,
        "agent_name": agent_name,
        "session": record.session,
        "state": state,
        "created": record.created,
        "updated": record.updated,
    })
}

impl Daemon {
    /// All chats, the newest first.
    pub(crate) fn list_chats(&self) -> Value {
        self.list_if(|_| true)
    }

    /// The chats with an id that fulfils a condition, the newest first.
    pub(super) fn list_if(&self, is_wanted: impl Fn(&ChatId) -> bool) -> Value {
        let known: Vec<_> = self.chats.known().values().cloned().collect();
        let mut records: Vec<(ChatRecord, Value, bool)> = Vec::new();
        for chat in &known {
            let state = chat.state();
            let is_asking = state.transcript.items().iter().any(is_open_question);
            records.push((state.record.clone(), json!(state.transcript.state()), is_asking));
        }
        for record in self.chats.store.list() {
            if !known.iter().any(|chat| chat.id == record.id) {
                records.push((record, json!("offline"), false));
            }
        }
        records.sort_by_key(|(record, ..)| std::cmp::Reverse(record.updated));
        let wanted = records.iter().filter(|(record, ..)| is_wanted(&record.id));
        let chats = wanted.map(|(record, state, is_asking)| {
            let name = crate::chat::agent::table::find_agent(&record.agent)
                .map_or(record.agent.as_str(), |agent| agent.name);
            let mut chat = summary(record, name, state);
            chat["asks"] = json!(is_asking);
            self.redactor.redact_value(&chat)
        });
        json!({"chats": chats.collect::<Vec<_>>()})
    }

    /// All agents, with what is known of those that are installed.
    pub(super) async fn list_agents(&self) -> Value {
        let path = self.config.path_env.as_deref();
        let asked = AGENTS.iter().map(|agent| self.chats.probes.ask(agent, path));
        let facts = futures_util::future::join_all(asked).await;
        let agents = AGENTS.iter().zip(facts).map(|(agent, facts)| {
            json!({
                "id": agent.id,
                "name": agent.name,
                "program": agent.find_program(path),
                "own_program": agent.find_own_program(path),
                "version": facts.version,
                "signed_in": facts.sign_in,
                "install": agent.install,
                "missing": agent.require_program(path).err().map(|failure| failure.message),
                "sign_in": agent.sign_in,
                "confinement": agent.confinement,
                "note": confinement_note(agent),
            })
        });
        json!({"agents": agents.collect::<Vec<_>>()})
    }
}

/// What is said of an agent besides Tabwire's tools. Only what was tried with its program.
pub(super) const fn confinement_note(agent: &AgentSpec) -> &'static str {
    match agent.confinement {
        Confinement::OwnToolsOff => "Its own tools are switched off, and your settings of it are not read.",
        Confinement::ShellOff => {
            "It has no shell. It can look at images in files, and has the other MCP servers of your configuration."
        }
        Confinement::Unknown => "It may have a shell and files of its own; you answer all its requests.",
    }
}
