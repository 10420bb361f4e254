//! `install-skill`: puts the skill text where coding agents look, and takes it away again. Touches no file that it
//! did not write.

use std::path::{Path, PathBuf};

use rustix::fs::Mode;
use serde::Serialize;
use serde_json::json;
use tabwire_wire::{ErrorCode, Failure};

use super::Context;
use super::skill::{MARKER, skill_text};
use crate::contained_file::{ContainedFile, Links};
use crate::project::Project;
use crate::skill_place::{SkillScope, SkillTool};

/// The mode of a file that is new, before the umask.
const NEW_MODE: Mode = Mode::RUSR.union(Mode::WUSR).union(Mode::RGRP).union(Mode::ROTH);

/// What is wanted.
pub(super) struct Wish {
    pub(super) tools: Vec<SkillTool>,
    pub(super) scope: SkillScope,
    pub(super) deed: Deed,
}

/// What to do at each place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    Install,
    Uninstall,
    /// Say what would be written where.
    Print,
}

/// What was found or done at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    Installed,
    Updated,
    Current,
    Removed,
    NotThere,
    LeftAlone,
    Planned,
}

#[derive(Serialize)]
struct Place {
    path: PathBuf,
    outcome: Outcome,
}

impl Place {
    fn line(&self) -> String {
        let words = match self.outcome {
            Outcome::Installed => "installed",
            Outcome::Updated => "updated",
            Outcome::Current => "is current",
            Outcome::Removed => "removed",
            Outcome::NotThere => "nothing there",
            Outcome::LeftAlone => "left alone: it was not written by tabwire",
            Outcome::Planned => "would be written",
        };
        format!("{}: {words}", self.path.display())
    }
}

pub(super) fn run(context: &Context<'_>, wish: &Wish) -> Result<(), Failure> {
    let text = skill_text();
    let mut places = Vec::new();
    let base = base(context, wish.scope)?;
    let links = if wish.scope == SkillScope::Project { Links::Inside } else { Links::Anywhere };
    for path in files(&base, wish) {
        let locate = || ContainedFile::locate(&base, &path, links);
        let outcome = match wish.deed {
            Deed::Print => Outcome::Planned,
            // A link or a directory is never ours.
            _ if path.symlink_metadata().is_ok_and(|found| !found.is_file()) => Outcome::LeftAlone,
            Deed::Install => install(&locate()?, &text).map_err(|error| unwritable(&path, &error))?,
            Deed::Uninstall => uninstall(&locate()?).map_err(|error| unwritable(&path, &error))?,
        };
        places.push(Place { path, outcome });
    }
    let shown = (wish.deed == Deed::Print).then_some(&text);
    context.printer.answer(&json!({"places": places, "text": shown}), || {
        let lines: Vec<String> = places.iter().map(Place::line).collect();
        let text = shown.map(|text| format!("\n\n{}", text.trim_end())).unwrap_or_default();
        format!("{}{text}", lines.join("\n"))
    });
    if places.iter().any(|place| place.outcome == Outcome::LeftAlone) {
        let message = "A file that tabwire did not write is in the way; it was left as it is.";
        return Err(Failure::new(ErrorCode::NotActionable, message)
            .with_hint("Move it away and run this again, or install for other tools with --for."));
    }
    Ok(())
}

/// The directory that skills are put below.
fn base(context: &Context<'_>, scope: SkillScope) -> Result<PathBuf, Failure> {
    match scope {
        SkillScope::Project => match Project::find_here(context.environment.home.as_deref())? {
            Some(project) => Ok(project.root),
            None => std::env::current_dir().map_err(|error| unwritable(Path::new("."), &error)),
        },
        SkillScope::User => context.environment.home.clone().ok_or_else(|| {
            Failure::new(ErrorCode::BadArgs, "There is no home directory: HOME is not set.")
                .with_hint("Use --project, or set HOME.")
        }),
    }
}

/// The files that are meant, each once: several tools read the same.
fn files(base: &Path, wish: &Wish) -> Vec<PathBuf> {
    let tools = if wish.tools.is_empty() { SkillTool::detect(base, wish.scope) } else { wish.tools.clone() };
    let mut files: Vec<PathBuf> = tools.iter().filter_map(|tool| tool.file(base, wish.scope)).collect();
    files.sort();
    files.dedup();
    files
}

/// What is at a place.
enum Found {
    Nothing,
    Ours(String),
    Foreign,
}

fn look(file: &ContainedFile) -> std::io::Result<Found> {
    Ok(match file.read() {
        Ok(None) => Found::Nothing,
        Ok(Some(text)) if text.contains(MARKER) => Found::Ours(text),
        Ok(Some(_)) => Found::Foreign,
        // What is no text was not written by us.
        Err(error) if error.kind() == std::io::ErrorKind::InvalidData => Found::Foreign,
        Err(error) => return Err(error),
    })
}

fn install(file: &ContainedFile, text: &str) -> std::io::Result<Outcome> {
    let outcome = match look(file)? {
        Found::Foreign => return Ok(Outcome::LeftAlone),
        Found::Ours(current) if current == text => return Ok(Outcome::Current),
        Found::Ours(_) => Outcome::Updated,
        Found::Nothing => Outcome::Installed,
    };
    file.replace(text, NEW_MODE).map(|()| outcome)
}

fn uninstall(file: &ContainedFile) -> std::io::Result<Outcome> {
    match look(file)? {
        Found::Nothing => return Ok(Outcome::NotThere),
        Found::Foreign => return Ok(Outcome::LeftAlone),
        Found::Ours(_) => file.remove()?,
    }
    if let Some(folder) = file.path().parent() {
        // Fails when something else is in it, and then it stays.
        let _ = std::fs::remove_dir(folder);
    }
    Ok(Outcome::Removed)
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(ErrorCode::Internal, format!("The file {} could not be changed: {error}.", path.display()))
        .with_hint("Check the directory's permissions, or print the text with `tabwire skill`.")
}
