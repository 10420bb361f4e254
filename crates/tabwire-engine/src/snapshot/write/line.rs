//! Writes one node.

use std::fmt::Write;

use crate::snapshot::model::node::{Node, Note, OmittedNodes};
use crate::snapshot::model::role::{Role, RoleKind};
use crate::snapshot::model::walk_result::Options;
use crate::snapshot::refs::{ElementHandle, ElementRef};
use crate::snapshot::text::page_text::PageText;

/// How much is written of each node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Density {
    /// Everything.
    Spacious,
    /// Refs of interactive or expandable nodes; targets only of links that stand alone.
    Dense,
}

/// The position of a node on its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Position {
    /// It starts the line, or follows other roles.
    First,
    /// It follows a node of the same role, which is not repeated.
    Following,
    /// It starts a line on which others of its role follow.
    Leading,
}

/// Assigns refs to elements.
pub(crate) type Refs<'a> = dyn FnMut(&ElementHandle) -> ElementRef + 'a;

/// Writes nodes onto a line.
pub(crate) struct LineWriter<'r> {
    pub(crate) refs: &'r mut Refs<'r>,
    pub(crate) density: Density,
    /// The output is discarded, so no refs are assigned.
    pub(crate) is_trial: bool,
}

impl LineWriter<'_> {
    /// Writes one node. `without_name` leaves out a name that its only child repeats.
    pub(crate) fn write(
        &mut self,
        out: &mut String,
        node: &Node,
        position: Position,
        holds: bool,
        without_name: bool,
    ) {
        if node.is_note() {
            self.write_note(out, node);
            return;
        }
        let tight = self.density == Density::Dense && position != Position::First;
        if position != Position::Following {
            write_role(out, &node.role, node.level);
        }
        if !node.name.is_empty() && !without_name {
            if position != Position::Following {
                out.push(' ');
            }
            node.name.push_quoted(out);
        }
        if let Some(handle) = node.handle.as_ref().filter(|_| self.shows_ref(node, holds)) {
            let reference = self.reference(handle);
            let space = if tight && !node.name.is_empty() { "" } else { " " };
            let space = if position == Position::Following && node.name.is_empty() { "" } else { space };
            let _ = write!(out, "{space}[{reference}]");
        }
        write_details(out, node, tight);
        if node.note.is_some() {
            out.push(' ');
            self.write_note(out, node);
        }
    }

    fn reference(&mut self, handle: &ElementHandle) -> ElementRef {
        if self.is_trial { ElementRef::SAMPLE } else { (self.refs)(handle) }
    }

    fn shows_ref(&self, node: &Node, holds: bool) -> bool {
        match node.role.kind() {
            _ if node.is_acted() => true,
            RoleKind::Part | RoleKind::Text => false,
            _ => holds || self.density == Density::Spacious || node.role.as_str() == "iframe",
        }
    }

    fn write_note(&mut self, out: &mut String, node: &Node) {
        match &node.note {
            Some(Note::Above(missing)) => self.write_missing(out, missing, " above"),
            Some(Note::Below(missing)) => self.write_missing(out, missing, " below"),
            Some(Note::Inside(missing)) => self.write_missing(out, missing, ""),
            Some(Note::Unread(reason)) => {
                let _ = write!(out, "(not read: {})", reason.quoted());
            }
            None => {}
        }
    }

    fn write_missing(&mut self, out: &mut String, missing: &OmittedNodes, side: &str) {
        let _ = write!(
            out,
            "({} more{}{side}",
            GroupedNumber(missing.count),
            Unit(missing.unit.as_ref(), missing.count)
        );
        if let Some(container) = &missing.container {
            // In the words of the parameters, which the command line and the tools share.
            let _ = write!(out, ": within {}", self.reference(container));
            if missing.from > 0 {
                let _ = write!(out, ", from {}", missing.from);
            }
        }
        out.push(')');
    }
}

/// Writes everything of a node except its ref, which is not searched.
pub(crate) fn searchable(node: &Node) -> String {
    let mut line = String::new();
    write_role(&mut line, &node.role, node.level);
    let _ = write!(line, " {}", node.name.quoted());
    write_details(&mut line, node, false);
    // A search for words matches them across the lines of a value.
    if let Some(value) = node.value.as_ref().filter(|value| value.as_str().contains(['\n', '\t'])) {
        let _ = write!(line, " {}", PageText::new(value.as_str()).quoted());
    }
    line
}

/// Headings are written as HTML tags: their level is the most frequent state.
fn write_role(out: &mut String, role: &Role, level: Option<u32>) {
    match level {
        Some(level) if role.as_str() == "heading" => {
            let _ = write!(out, "h{level}");
        }
        _ => out.push_str(role.as_str()),
    }
}

fn write_details(out: &mut String, node: &Node, tight: bool) {
    if let Some(level) = node.level.filter(|_| node.role.as_str() != "heading") {
        let _ = write!(out, " level={level}");
    }
    if !node.states.is_empty() {
        let _ = write!(out, "{}", node.states);
    }
    if let Some(value) = &node.value {
        let _ = write!(out, " value={value}");
    }
    match &node.options {
        Some(Options::Count(count)) => {
            let _ = write!(out, " options={count}");
        }
        Some(Options::Labels(labels)) => {
            for (at, label) in labels.iter().enumerate() {
                let _ = write!(out, "{}{}", if at == 0 { " options=" } else { "|" }, label.quoted());
            }
        }
        None => {}
    }
    if let Some(rows) = node.rows {
        let _ = write!(out, " rows={rows}");
    }
    if node.clickable {
        out.push_str(" clickable");
    }
    if let Some(concealed) = &node.concealed {
        let _ = write!(out, " unseen={}", concealed.quoted());
    }
    if let Some(target) = node.target.as_ref().filter(|target| !tight && !target.as_str().is_empty()) {
        let _ = write!(out, " {}", target.short());
    }
}

/// A number with thousands separators.
struct GroupedNumber(u32);

impl std::fmt::Display for GroupedNumber {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let digits = self.0.to_string();
        for (at, digit) in digits.char_indices() {
            if at > 0 && (digits.len() - at).is_multiple_of(3) {
                formatter.write_char(',')?;
            }
            formatter.write_char(digit)?;
        }
        Ok(())
    }
}

/// The noun for a count, in the plural where needed.
struct Unit<'a>(Option<&'a Role>, u32);

impl std::fmt::Display for Unit<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Some(role) = self.0 else { return Ok(()) };
        let word = if role.as_str() == "listitem" { "item" } else { role.as_str() };
        write!(formatter, " {word}{}", if self.1 == 1 { "" } else { "s" })
    }
}
