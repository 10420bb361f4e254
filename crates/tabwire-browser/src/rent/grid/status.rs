//! The Grid's own list of nodes, slots and sessions.

use serde_json::{Map, Value};

use super::{NAME, SlotState};
use crate::rent::shown_text;

/// The nodes of a Grid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GridStatus {
    /// Its nodes.
    pub nodes: Vec<GridNode>,
}

/// One machine with browsers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GridNode {
    /// Where it is, as the Grid knows it.
    pub uri: String,
    /// Whether it takes sessions.
    pub is_up: bool,
    /// Seconds without a command after which it ends a session.
    pub idle_seconds: Option<u64>,
    /// Its slots.
    pub slots: Vec<GridSlot>,
}

/// A place for one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GridSlot {
    /// The browser that it offers.
    browser: String,
    /// Id and name of the session in it.
    session: Option<(String, String)>,
}

impl GridStatus {
    /// Reads the response to `status`; `None` if it is no Grid's.
    #[must_use]
    pub fn read(body: &[u8]) -> Option<Self> {
        let value: Value = serde_json::from_slice(body).ok()?;
        let value = value.get("value")?;
        value.get("ready")?.as_bool()?;
        let nodes = value.get("nodes").and_then(Value::as_array);
        Some(Self { nodes: nodes.into_iter().flatten().map(read_node).collect() })
    }

    /// The node of a session.
    #[must_use]
    pub fn find_node(&self, session: &str) -> Option<&GridNode> {
        self.nodes.iter().find(|node| node.sessions().any(|(id, _)| id == session))
    }

    /// The ids of the sessions whose names contain this one.
    pub fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let sessions = self.nodes.iter().flat_map(GridNode::sessions);
        sessions.filter(move |(_, own)| own.contains(name)).map(|(id, _)| id)
    }

    /// Whether a request with these capabilities could be served.
    #[must_use]
    pub fn slots_for(&self, capabilities: Option<&Value>) -> SlotState {
        if !self.nodes.iter().any(|node| node.is_up) {
            return SlotState::NoNode;
        }
        let wanted = wanted_browsers(capabilities);
        let matches = |slot: &&GridSlot| {
            wanted.is_empty() || wanted.iter().any(|name| slot.browser.eq_ignore_ascii_case(name))
        };
        let slots: Vec<&GridSlot> = self
            .nodes
            .iter()
            .filter(|node| node.is_up)
            .flat_map(|node| &node.slots)
            .filter(matches)
            .collect();
        let used = slots.iter().filter(|slot| slot.session.is_some()).count();
        match slots.len() {
            0 => SlotState::NoMatch,
            all if used == all => SlotState::Full { used, slots: all },
            _ => SlotState::Free,
        }
    }
}

impl GridNode {
    fn sessions(&self) -> impl Iterator<Item = (&str, &str)> {
        let sessions = self.slots.iter().filter_map(|slot| slot.session.as_ref());
        sessions.map(|(id, name)| (id.as_str(), name.as_str()))
    }
}

fn read_node(node: &Value) -> GridNode {
    let text = |name: &str| shown_text(node.get(name).and_then(Value::as_str).unwrap_or_default());
    let idle = node.get("sessionTimeout").and_then(Value::as_u64).map(|milliseconds| milliseconds / 1000);
    let slots = node.get("slots").and_then(Value::as_array).into_iter().flatten();
    GridNode {
        uri: Some(text("uri")).filter(|uri| !uri.is_empty()).unwrap_or_else(|| text("externalUri")),
        is_up: text("availability") == "UP",
        idle_seconds: idle.filter(|seconds| *seconds > 0),
        slots: slots.map(read_slot).collect(),
    }
}

fn read_slot(slot: &Value) -> GridSlot {
    let member =
        |value: &Value, name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let session = slot.get("session").filter(|session| !session.is_null()).map(|session| {
        let name = session.get("capabilities").map(|found| member(found, NAME)).unwrap_or_default();
        (member(session, "sessionId"), name)
    });
    let browser = slot.get("stereotype").map(|offered| member(offered, "browserName")).unwrap_or_default();
    GridSlot { browser, session: session.filter(|(id, _)| !id.is_empty()) }
}

/// The browsers that capabilities name; none when they name none.
fn wanted_browsers(capabilities: Option<&Value>) -> Vec<String> {
    let Some(given) = capabilities else { return vec!["chrome".to_owned()] };
    let given = given.get("capabilities").unwrap_or(given);
    let choices = given.get("firstMatch").and_then(Value::as_array).into_iter().flatten();
    let all = [Some(given), given.get("alwaysMatch")].into_iter().flatten().chain(choices);
    let named =
        all.filter_map(Value::as_object).filter_map(|choice: &Map<String, Value>| choice.get("browserName"));
    named.filter_map(Value::as_str).map(str::to_owned).collect()
}
