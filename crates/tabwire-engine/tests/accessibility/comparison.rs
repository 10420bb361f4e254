//! Compares the page agent and Chrome for one element.

use serde_json::Value;

use crate::accessibility::chrome_role::{aria_role, has_no_name_of_its_own, is_embedded};
use crate::accessibility::chrome_tree::{ChromeElement, ChromeNode};
use crate::accessibility::probe::OurElement;

/// One thing on which the two differ.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Difference {
    pub(crate) page: String,
    /// The element: its name in the markup, and which of that name it is.
    pub(crate) element: String,
    pub(crate) what: String,
    pub(crate) chrome: String,
    pub(crate) ours: String,
}

/// All differences about one element.
pub(crate) fn differences(page: &str, ours: &OurElement, theirs: &ChromeElement) -> Vec<Difference> {
    // Chrome stands for the document element with the document's node, which no element has.
    if ours.tag == "html" {
        return Vec::new();
    }
    let found = match theirs {
        ChromeElement::Detached => Vec::new(),
        ChromeElement::Ignored if !ours.is_exposed || ours.role == "generic" => Vec::new(),
        ChromeElement::Ignored => vec![("exposed", "no".to_owned(), format!("yes, as {}", ours.role))],
        ChromeElement::Exposed(node) if !ours.is_exposed => hidden_by_us(node),
        ChromeElement::Exposed(node) => facts(ours, node).into_iter().filter(|(_, a, b)| a != b).collect(),
    };
    let element = format!("{} {}", ours.tag, ours.number);
    let difference = |(what, chrome, ours): (&str, String, String)| Difference {
        page: page.to_owned(),
        element: element.clone(),
        what: what.to_owned(),
        chrome,
        ours,
    };
    found.into_iter().map(difference).collect()
}

type Fact = (&'static str, String, String);

/// Something Chrome exposes and we do not; a box without meaning is no loss.
fn hidden_by_us(node: &ChromeNode) -> Vec<Fact> {
    let role = aria_role(&node.role);
    if role == "generic" && node.name.is_empty() {
        return Vec::new();
    }
    vec![("exposed", format!("yes, as {role}"), "no".to_owned())]
}

/// What both say, in words: what, Chrome, ours.
fn facts(ours: &OurElement, node: &ChromeNode) -> Vec<Fact> {
    let role = aria_role(&node.role);
    let mut facts = vec![
        ("role", role.to_owned(), ours.role.clone()),
        ("description", folded(&node.description), ours.description.clone()),
        ("value", value_text(&node.value), value_text(state(ours, "value"))),
    ];
    if !has_no_name_of_its_own(&node.role) {
        facts.push(("name", folded(&node.name), ours.name.clone()));
    }
    if !is_embedded(&node.role) {
        facts.push(flag("disabled", node, ours));
    }
    if matches!(role, "heading" | "row" | "treeitem") {
        facts.push(("level", said(property(node, "level")), said(state(ours, "level"))));
    }
    // A combobox opens something by itself; only what an author adds is told.
    if role != "combobox" {
        facts.push(("haspopup", said(property(node, "hasPopup")), said(state(ours, "haspopup"))));
    }
    for what in ["checked", "pressed", "expanded"] {
        facts.push((what, said(property(node, what)), said(state(ours, what))));
    }
    for what in ["invalid", "modal", "focused"] {
        facts.push(flag(what, node, ours));
    }
    // Of these Chrome speaks only where its inspector thinks that the role allows it.
    for what in ["required", "readonly", "multiselectable", "selected"] {
        if node.properties.contains_key(what) {
            facts.push(flag(what, node, ours));
        }
    }
    facts
}

fn property<'a>(node: &'a ChromeNode, name: &str) -> &'a Value {
    node.properties.get(name).unwrap_or(&Value::Null)
}

fn state<'a>(ours: &'a OurElement, name: &str) -> &'a Value {
    ours.states.get(name).unwrap_or(&Value::Null)
}

/// A state that is told when it holds, and otherwise may be left out.
fn flag(what: &'static str, node: &ChromeNode, ours: &OurElement) -> Fact {
    let holds = |value: &Value| if matches!(said(value).as_str(), "" | "false") { "no" } else { "yes" };
    (what, holds(property(node, what)).to_owned(), holds(state(ours, what)).to_owned())
}

/// A state in words; "" when nothing is said.
fn said(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A value in words: numbers as Chrome rounds them, and nothing for a field where nothing is.
fn value_text(value: &Value) -> String {
    let text = said(value);
    if text == "No file chosen" {
        return String::new();
    }
    match text.parse::<f64>() {
        #[expect(clippy::cast_possible_truncation, reason = "Chrome keeps values with this precision")]
        Ok(number) => (number as f32).to_string(),
        Err(_) => text,
    }
}

/// Text with its whitespace folded, as a name has it.
fn folded(text: &str) -> String {
    let spaces = ['\t', '\n', '\u{c}', '\r', ' '];
    text.split(spaces).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}
