//! Compares the page agent and Chrome for one element.

use serde_json::Value;

use crate::accessibility::chrome_role::{aria_role, has_no_name_of_its_own, is_embedded};
use crate::accessibility::chrome_tree::{ChromeElement, ChromeNode};
use crate::accessibility::probe::OurElement;

/// One difference between the two.
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
    // Chrome represents the document element with the document's node, which belongs to no element.
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

/// An element that Chrome exposes and the agent does not. A generic box does not count.
fn hidden_by_us(node: &ChromeNode) -> Vec<Fact> {
    let role = aria_role(&node.role);
    if role == "generic" && node.name.is_empty() {
        return Vec::new();
    }
    vec![("exposed", format!("yes, as {role}"), "no".to_owned())]
}

/// The facts to compare: name, Chrome's value, the agent's value.
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
    // A combobox has a popup by its role; the agent reports only an author's `aria-haspopup`.
    if role != "combobox" {
        facts.push(("haspopup", said(property(node, "hasPopup")), said(state(ours, "haspopup"))));
    }
    for what in ["checked", "pressed", "expanded"] {
        facts.push((what, said(property(node, what)), said(state(ours, what))));
    }
    for what in ["invalid", "modal", "focused"] {
        facts.push(flag(what, node, ours));
    }
    // Chrome reports these only for roles that allow them.
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

/// A state that may be omitted when it is false.
fn flag(what: &'static str, node: &ChromeNode, ours: &OurElement) -> Fact {
    let holds = |value: &Value| if matches!(said(value).as_str(), "" | "false") { "no" } else { "yes" };
    (what, holds(property(node, what)).to_owned(), holds(state(ours, what)).to_owned())
}

/// A state as text; "" if absent.
fn said(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A value as text: numbers rounded as Chrome does, "" for an empty field.
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
