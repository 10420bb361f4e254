//! Keeps a snapshot within its budget: removes the nodes farthest from the viewport and adds notes with their number.

use crate::snapshot::model::node::{Node, Note, OmittedNodes};
use crate::snapshot::model::walk_result::Options;

/// Characters of a line beside its strings: dash, quotes, ref, end.
const LINE_COST: usize = 14;
/// Room for notes and for the surrounding lines.
const SPARE: usize = 300;
/// Upper bound of a note's length.
const NOTE_CEILING: usize = 500;
/// Upper bound of the length of a number with its name.
const NUMBER_CEILING: usize = 20;
/// Most rounds of removing nodes and measuring.
const ATTEMPTS: usize = 6;

/// Removes nodes until `measure` of the rest is at most this many characters. Returns whether any were removed.
pub(crate) fn fit(
    nodes: Vec<Node>,
    characters: usize,
    measure: impl Fn(&[Node]) -> usize,
) -> (Vec<Node>, bool) {
    let room = characters.saturating_sub(SPARE);
    // Most snapshots are so short that measuring is unnecessary.
    if nodes.iter().map(ceiling).sum::<usize>() <= room {
        return (nodes, false);
    }
    let mut aim = room;
    let mut fitting = nodes;
    for attempt in 0..ATTEMPTS {
        let length = measure(&fitting);
        if length <= room {
            return (fitting, attempt > 0);
        }
        // The cost of nodes is an estimate; when it was too low, aim lower.
        aim = if attempt == 0 { aim } else { aim.saturating_mul(room) / length.saturating_add(room / 16) };
        let costs: Vec<usize> = fitting.iter().map(cost).collect();
        let kept = choose(&fitting, &costs, aim);
        fitting = without(fitting, &kept);
    }
    (fitting, true)
}

/// Upper bound of a node's line: every character of its strings escaped.
fn ceiling(node: &Node) -> usize {
    let options = match &node.options {
        Some(Options::Labels(labels)) => labels.iter().map(|label| 2 * label.as_str().len() + 3).sum(),
        Some(Options::Count(_)) => NUMBER_CEILING,
        None => 0,
    };
    let states = if node.states.is_empty() { 0 } else { node.states.to_string().len() };
    let noted = if node.note.is_some() { NOTE_CEILING } else { 0 };
    let numbers = [node.level, node.rows].iter().flatten().count() * NUMBER_CEILING;
    let unseen = node.concealed.as_ref().map_or(0, |reason| 2 * reason.as_str().len() + 10);
    2 * cost(node) + options + states + noted + numbers + unseen + usize::from(node.clickable) * 10
}

fn cost(node: &Node) -> usize {
    let strings = node.name.as_str().len()
        + node.value.as_ref().map_or(0, |value| value.as_str().len() + 8)
        + node.target.as_ref().map_or(0, |target| target.as_str().len().min(60));
    LINE_COST + 2 * usize::from(node.depth) + node.role.as_str().len() + strings
}

/// Which nodes stay: the nearest, each with its ancestors.
fn choose(nodes: &[Node], costs: &[usize], characters: usize) -> Vec<bool> {
    let parents = parents(nodes);
    let mut order: Vec<usize> = (0..nodes.len()).collect();
    order.sort_by_key(|at| nodes[*at].remoteness);
    let mut kept = vec![false; nodes.len()];
    let mut spent = 0;
    for at in order {
        let mut path = Vec::new();
        let mut next = Some(at);
        while let Some(node) = next.filter(|node| !kept[*node]) {
            path.push(node);
            next = parents[node];
        }
        let price: usize = path.iter().map(|node| costs[*node]).sum();
        if spent + price > characters {
            continue;
        }
        spent += price;
        for node in path {
            kept[node] = true;
        }
    }
    kept
}

/// The parent of each node.
fn parents(nodes: &[Node]) -> Vec<Option<usize>> {
    let mut open: Vec<usize> = Vec::new();
    let mut parents = Vec::with_capacity(nodes.len());
    for (at, node) in nodes.iter().enumerate() {
        while open.last().is_some_and(|last| nodes[*last].depth >= node.depth) {
            open.pop();
        }
        parents.push(open.last().copied());
        open.push(at);
    }
    parents
}

/// The remaining nodes, with a note for each gap at the position of its first node.
fn without(nodes: Vec<Node>, kept: &[bool]) -> Vec<Node> {
    let parents = parents(&nodes);
    let containers: Vec<_> =
        parents.iter().map(|parent| parent.and_then(|at| nodes[at].handle.clone())).collect();
    let mut shown: Vec<Node> = Vec::new();
    for (at, node) in nodes.into_iter().enumerate() {
        if kept[at] {
            shown.push(node);
            continue;
        }
        // Descendants of a removed node are counted with it.
        if parents[at].is_some_and(|parent| !kept[parent]) {
            continue;
        }
        let count = match &node.note {
            Some(Note::Above(missing) | Note::Below(missing) | Note::Inside(missing)) => missing.count,
            _ => 1,
        };
        if let Some(Node { note: Some(Note::Inside(gap)), depth, .. }) = shown.last_mut()
            && *depth == node.depth
            && gap.container == containers[at]
        {
            gap.count += count;
            continue;
        }
        let container = containers[at].clone();
        shown.push(Node::of_note(
            Note::Inside(OmittedNodes { container, count, total: 0, unit: None, from: 0 }),
            node.depth,
        ));
    }
    shown
}
