//! The changes between two snapshots, as lines.
//!
//! A line starts with `+` for added, `-` for removed, `~` for changed, and a space for context.

use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::edit_script::{Step, steps};
use crate::limits::DELTA_STEPS;
use crate::snapshot::model::node::{Node, Note};
use crate::snapshot::model::role::RoleKind;
use crate::snapshot::model::tree::Tree;
use crate::snapshot::refs::{ElementHandle, ElementRef};
use crate::snapshot::write::line::{Density, LineWriter, Position};

/// One line of a snapshot, kept for the next comparison.
#[derive(Clone, Debug)]
pub(crate) struct KeptLine {
    /// Identifies the element, whatever its text.
    identity: u64,
    depth: u16,
    /// With a blank for its ref: refs are assigned when a line is shown.
    text: Box<str>,
    handle: Option<ElementHandle>,
    /// The first name inside a row or list item without a name, in quotes. It tells rows apart.
    inside: Option<Box<str>>,
}

impl PartialEq for KeptLine {
    /// The same element with another text.
    fn eq(&self, other: &Self) -> bool {
        self.identity == other.identity
    }
}

impl KeptLine {
    /// Its depth.
    pub(crate) fn depth(&self) -> u16 {
        self.depth
    }

    /// Its text, with a blank for its ref.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Its element, when it has a ref.
    pub(crate) fn handle(&self) -> Option<&ElementHandle> {
        self.handle.as_ref()
    }

    fn write(&self, out: &mut String, refs: &mut dyn FnMut(&ElementHandle) -> ElementRef) {
        match (self.text.split_once(ElementRef::BLANK_LETTER), &self.handle) {
            (Some((before, after)), Some(handle)) => {
                let _ = write!(out, "{before}{}{after}", refs(handle));
            }
            _ => out.push_str(&self.text),
        }
    }
}

/// Writes every node on a line of its own.
pub(crate) fn kept_lines(nodes: &[Node]) -> Vec<KeptLine> {
    let tree = Tree::new(nodes);
    let mut lines: Vec<KeptLine> = Vec::with_capacity(nodes.len());
    let mut text = String::new();
    for (at, node) in nodes.iter().enumerate() {
        let mut handle = None;
        let mut blank = |shown: &ElementHandle| {
            handle = Some(shown.clone());
            ElementRef::BLANK
        };
        text.clear();
        let mut writer = LineWriter { refs: &mut blank, density: Density::Dense, is_trial: false };
        writer.write(&mut text, node, Position::First, !tree.is_leaf(at), false);
        lines.push(KeptLine {
            identity: identity(node),
            depth: node.depth,
            text: Box::from(text.as_str()),
            handle,
            inside: first_name_inside(&tree, at),
        });
    }
    lines
}

/// How many descendants of a row are searched for a name.
const SEARCHED_NAMES: usize = 8;

fn first_name_inside(tree: &Tree<'_>, at: usize) -> Option<Box<str>> {
    let node = tree.node(at);
    if node.role.kind() != RoleKind::Part || !node.name.is_empty() {
        return None;
    }
    let mut inside = (at + 1..tree.end(at)).take(SEARCHED_NAMES).map(|below| tree.node(below));
    let named = inside.find(|below| !below.name.is_empty())?;
    Some(named.name.quoted().to_string().into_boxed_str())
}

fn identity(node: &Node) -> u64 {
    let mut hasher = DefaultHasher::new();
    match (&node.handle, &node.note) {
        (Some(handle), _) => handle.hash(&mut hasher),
        (None, Some(note)) => {
            let (side, container) = match note {
                Note::Above(missing) => (1, &missing.container),
                Note::Below(missing) => (2, &missing.container),
                Note::Inside(missing) => (3, &missing.container),
                Note::Unread(_) => (4, &None),
            };
            (side, container).hash(&mut hasher);
        }
        (None, None) => (node.depth, node.name.as_str()).hash(&mut hasher),
    }
    hasher.finish()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Same,
    Added,
    Removed,
    Changed,
}

struct Entry<'a> {
    sign: Sign,
    line: &'a KeptLine,
}

/// The changes as lines; empty for no change, none when nearly everything changed. `refs` assigns refs.
pub(crate) fn write_delta(
    old: &[KeptLine],
    new: &[KeptLine],
    refs: &mut dyn FnMut(&ElementHandle) -> ElementRef,
) -> Option<String> {
    let entries: Vec<Entry<'_>> = steps(old, new, DELTA_STEPS)?
        .into_iter()
        .map(|step| match step {
            Step::Keep { old: before, new: after } => {
                let is_same = old[before].text == new[after].text;
                Entry { sign: if is_same { Sign::Same } else { Sign::Changed }, line: &new[after] }
            }
            Step::Remove { old: at } => Entry { sign: Sign::Removed, line: &old[at] },
            Step::Add { new: at } => Entry { sign: Sign::Added, line: &new[at] },
        })
        .collect();
    Some(write_entries(&entries, &shown(&entries), refs))
}

/// Which entries are written: changes and their ancestors.
fn shown(entries: &[Entry<'_>]) -> Vec<bool> {
    let mut shown = vec![false; entries.len()];
    let mut path: Vec<usize> = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        while path.last().is_some_and(|last| entries[*last].line.depth >= entry.line.depth) {
            path.pop();
        }
        if entry.sign != Sign::Same {
            shown[at] = true;
            for above in &path {
                shown[*above] = true;
            }
        }
        path.push(at);
    }
    shown
}

fn write_entries(
    entries: &[Entry<'_>],
    shown: &[bool],
    refs: &mut dyn FnMut(&ElementHandle) -> ElementRef,
) -> String {
    let mut text = String::new();
    let mut at = 0;
    while at < entries.len() {
        let Entry { sign, line } = entries[at];
        at += 1;
        if !shown[at - 1] {
            continue;
        }
        let mark = match sign {
            Sign::Same => ' ',
            Sign::Added => '+',
            Sign::Removed => '-',
            Sign::Changed => '~',
        };
        let indent = usize::from(line.depth) * 2;
        let _ = write!(text, "{mark} {:indent$}", "");
        line.write(&mut text, refs);
        if let Some(inside) = line.inside.as_ref().filter(|_| sign != Sign::Added) {
            let _ = write!(text, " of {inside}");
        }
        if sign == Sign::Removed {
            // Its descendants were removed with it.
            let inside = entries[at..]
                .iter()
                .take_while(|below| below.sign == Sign::Removed && below.line.depth > line.depth)
                .count();
            at += inside;
            if inside > 0 {
                let _ = write!(text, " (with {inside} inside)");
            }
        }
        text.push('\n');
    }
    text
}
