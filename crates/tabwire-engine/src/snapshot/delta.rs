//! What changed between two snapshots, as lines. Knows nothing of where the earlier one was kept.
//!
//! A line starts with `+` for what is new, `-` for what is gone, `~` for what is different, and a blank for what it
//! stands in.

use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::edit_script::{Step, steps};
use super::line::{Density, LineWriter, Position};
use super::node::{Node, Note};
use super::ref_table::{ElementHandle, ElementRef};
use super::tree::Tree;
use crate::limits::DELTA_STEPS;

/// One line of a snapshot as it is kept for the next one.
#[derive(Clone, Debug)]
pub(crate) struct KeptLine {
    /// Tells the thing from all others, whatever it says of itself.
    identity: u64,
    depth: u16,
    /// With a blank where its ref goes: refs are given when a line is shown.
    text: Box<str>,
    handle: Option<ElementHandle>,
}

impl PartialEq for KeptLine {
    /// The same thing, not the same text.
    fn eq(&self, other: &Self) -> bool {
        self.identity == other.identity
    }
}

impl KeptLine {
    /// How deep it stands.
    pub(crate) fn depth(&self) -> u16 {
        self.depth
    }

    /// What it says, with a blank where its ref goes.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The element it is about, when it has a ref.
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
        });
    }
    lines
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

/// What is different, as lines; empty when nothing is, none when nearly everything is. `refs` gives the refs.
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

/// Which entries are written: what differs and what it stands in.
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
        if sign == Sign::Removed {
            // What was in it went with it.
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
