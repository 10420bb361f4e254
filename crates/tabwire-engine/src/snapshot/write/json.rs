//! A snapshot as nested JSON.

use serde_json::{Map, Value, json};

use crate::snapshot::model::node::{Node, Note, OmittedNodes};
use crate::snapshot::model::page_snapshot::Snapshot;
use crate::snapshot::model::tree::{Siblings, Tree};
use crate::snapshot::refs::RefTable;

/// Writes a snapshot as JSON and assigns a ref to every element.
pub(crate) fn write_json(snapshot: &Snapshot, refs: &mut RefTable) -> Value {
    let tree = Tree::new(&snapshot.nodes);
    let nodes = write_nodes(&tree, tree.top(), refs);
    json!({
        "url": snapshot.url, "title": snapshot.title, "scroll": snapshot.scroll, "nodes": nodes,
        "incomplete": snapshot.left.spent, "behindDialog": snapshot.left.behind,
    })
}

/// Writes nodes with their children. Recursion is bounded: nodes are never deeper than `SNAPSHOT_DEPTH`.
pub(crate) fn write_nodes(tree: &Tree<'_>, siblings: Siblings<'_>, refs: &mut RefTable) -> Vec<Value> {
    siblings
        .map(|at| {
            let mut object = write_node(tree.node(at), refs);
            let children = write_nodes(tree, tree.children(at), refs);
            if !children.is_empty() {
                object.insert("children".to_owned(), Value::Array(children));
            }
            Value::Object(object)
        })
        .collect()
}

/// One node without its children.
pub(crate) fn write_node(node: &Node, refs: &mut RefTable) -> Map<String, Value> {
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| {
        object.insert(key.to_owned(), value);
    };
    if !node.is_note() {
        put("role", json!(node.role));
    }
    if !node.name.is_empty() {
        put("name", json!(node.name));
    }
    if let Some(handle) = &node.handle {
        put("ref", json!(refs.mint(handle)));
    }
    if !node.states.is_empty() {
        put("states", json!(node.states));
    }
    let optional = [
        ("level", node.level.map(|level| json!(level))),
        ("value", node.value.as_ref().map(|value| json!(value))),
        ("target", node.target.as_ref().map(|target| json!(target))),
        ("options", node.options.as_ref().map(|options| json!(options))),
        ("rows", node.rows.map(|rows| json!(rows))),
        ("clickable", node.clickable.then_some(json!(true))),
        ("unseen", node.concealed.as_ref().map(|reason| json!(reason))),
        ("more", node.note.as_ref().map(|note| write_note(note, refs))),
    ];
    for (key, value) in optional {
        if let Some(value) = value {
            put(key, value);
        }
    }
    object
}

fn write_note(note: &Note, refs: &mut RefTable) -> Value {
    match note {
        Note::Above(missing) => write_missing(missing, "above", refs),
        Note::Below(missing) => write_missing(missing, "below", refs),
        Note::Inside(missing) => write_missing(missing, "inside", refs),
        Note::Unread(reason) => json!({ "unread": reason }),
    }
}

fn write_missing(missing: &OmittedNodes, side: &str, refs: &mut RefTable) -> Value {
    let mut object = Map::new();
    object.insert(side.to_owned(), json!(missing.count));
    if let Some(container) = &missing.container {
        object.insert("within".to_owned(), json!(refs.mint(container)));
    }
    if missing.from > 0 {
        object.insert("from".to_owned(), json!(missing.from));
    }
    if missing.total > 0 {
        object.insert("total".to_owned(), json!(missing.total));
    }
    Value::Object(object)
}
