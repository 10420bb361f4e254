//! Every element of a page in Chrome's accessibility tree.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use crate::accessibility::stage::{Tab, await_response};

/// One element as Chrome sees it.
#[derive(Debug)]
pub(crate) enum ChromeElement {
    /// Not in the tree, or ignored in it.
    Ignored,
    /// In a frame whose owner element is not in the tree, so Chrome does not connect that frame's tree.
    Detached,
    /// In the tree.
    Exposed(ChromeNode),
}

/// Chrome's properties of an element.
#[derive(Debug)]
pub(crate) struct ChromeNode {
    pub(crate) role: String,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) value: Value,
    pub(crate) properties: Map<String, Value>,
}

/// All elements of the page and of the frames in it, in the order of the agent's probe.
pub(crate) async fn elements(tab: &Tab) -> Vec<ChromeElement> {
    let trees: Vec<_> = tab
        .frames()
        .iter()
        .map(|frame| tab.begin("Accessibility.getFullAXTree", &json!({"frameId": frame})))
        .collect();
    let document = tab.begin("DOM.getDocument", &json!({"depth": -1, "pierce": true}));
    let mut nodes = HashMap::new();
    for tree in trees {
        let mut tree = await_response("Accessibility.getFullAXTree", tree).await;
        for node in tree["nodes"].as_array_mut().expect("nodes") {
            if let Some(id) = node["backendDOMNodeId"].as_i64() {
                nodes.entry(id).or_insert_with(|| node.take());
            }
        }
    }
    let document = await_response("DOM.getDocument", document).await;
    let mut found = Vec::new();
    collect(&document["root"], &mut nodes, true, &mut found);
    found
}

fn collect(parent: &Value, nodes: &mut HashMap<i64, Value>, joined: bool, found: &mut Vec<ChromeElement>) {
    for child in array(&parent["children"]).filter(|child| child["nodeType"] == 1) {
        let element = element_of(child, nodes, joined);
        let is_exposed = matches!(element, ChromeElement::Exposed(_));
        found.push(element);
        for root in array(&child["shadowRoots"]).filter(|root| root["shadowRootType"] == "open") {
            collect(root, nodes, joined, found);
        }
        collect(child, nodes, joined, found);
        if child["localName"] == "iframe" {
            collect(&child["contentDocument"], nodes, joined && is_exposed, found);
        }
    }
}

fn array(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn element_of(element: &Value, nodes: &mut HashMap<i64, Value>, joined: bool) -> ChromeElement {
    if !joined {
        return ChromeElement::Detached;
    }
    let id = element["backendNodeId"].as_i64().expect("an id");
    match nodes.remove(&id) {
        Some(node) if node["ignored"] != true => ChromeElement::Exposed(node_of(&node)),
        _ => ChromeElement::Ignored,
    }
}

fn node_of(node: &Value) -> ChromeNode {
    let text = |field: &str| node[field]["value"].as_str().unwrap_or_default().to_owned();
    let properties = array(&node["properties"])
        .map(|property| {
            let name = property["name"].as_str().unwrap_or_default().to_owned();
            (name, property["value"]["value"].clone())
        })
        .collect();
    ChromeNode {
        role: text("role"),
        name: text("name"),
        description: text("description"),
        value: node["value"]["value"].clone(),
        properties,
    }
}
