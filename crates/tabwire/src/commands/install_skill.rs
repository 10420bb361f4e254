//! `install-skill`: puts the skill text where coding agents look, and takes it away again. Touches no file that it
//! did not write.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::json;
use tabwire_wire::{ErrorCode, Failure};

use super::Context;
use super::skill::{MARKER, skill_text};
use crate::project::Project;
use crate::skill_place::{SkillScope, SkillTool};

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
    for path in files(context, wish)? {
        let outcome = match wish.deed {
            Deed::Print => Outcome::Planned,
            Deed::Install => install(&path, &text).map_err(|error| unwritable(&path, &error))?,
            Deed::Uninstall => uninstall(&path).map_err(|error| unwritable(&path, &error))?,
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

/// The files that are meant, each once: several tools read the same.
fn files(context: &Context<'_>, wish: &Wish) -> Result<Vec<PathBuf>, Failure> {
    let base = match wish.scope {
        SkillScope::Project => match Project::find_here(context.environment.home.as_deref())? {
            Some(project) => project.root,
            None => std::env::current_dir().map_err(|error| unwritable(Path::new("."), &error))?,
        },
        SkillScope::User => context.environment.home.clone().ok_or_else(|| {
            Failure::new(ErrorCode::BadArgs, "There is no home directory: HOME is not set.")
                .with_hint("Use --project, or set HOME.")
        })?,
    };
    let tools = if wish.tools.is_empty() { SkillTool::detect(&base, wish.scope) } else { wish.tools.clone() };
    let mut files: Vec<PathBuf> = tools.iter().filter_map(|tool| tool.file(&base, wish.scope)).collect();
    files.sort();
    files.dedup();
    Ok(files)
}

/// What is at a path.
enum Found {
    Nothing,
    Ours(String),
    Foreign,
}

/// Looks at a path; a link or a directory is never ours.
fn look(path: &Path) -> std::io::Result<Found> {
    let about = match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(error) => return Err(error),
        Ok(about) => about,
    };
    if !about.is_file() {
        return Ok(Found::Foreign);
    }
    let text = String::from_utf8_lossy(&std::fs::read(path)?).into_owned();
    Ok(if text.contains(MARKER) { Found::Ours(text) } else { Found::Foreign })
}

fn install(path: &Path, text: &str) -> std::io::Result<Outcome> {
    let outcome = match look(path)? {
        Found::Foreign => return Ok(Outcome::LeftAlone),
        Found::Ours(current) if current == text => return Ok(Outcome::Current),
        Found::Ours(_) => Outcome::Updated,
        Found::Nothing => Outcome::Installed,
    };
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    // Beside it first, so that a reader never sees half of it.
    let fresh = folder.join(format!(".SKILL.md.{}", std::process::id()));
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).open(&fresh)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    let placed = written.and_then(|()| std::fs::rename(&fresh, path));
    if placed.is_err() {
        let _ = std::fs::remove_file(&fresh);
    }
    placed.map(|()| outcome)
}

fn uninstall(path: &Path) -> std::io::Result<Outcome> {
    match look(path)? {
        Found::Nothing => return Ok(Outcome::NotThere),
        Found::Foreign => return Ok(Outcome::LeftAlone),
        Found::Ours(_) => std::fs::remove_file(path)?,
    }
    if let Some(folder) = path.parent() {
        // Fails when something else is in it, and then it stays.
        let _ = std::fs::remove_dir(folder);
    }
    Ok(Outcome::Removed)
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(ErrorCode::Internal, format!("The file {} could not be changed: {error}.", path.display()))
        .with_hint("Check the directory's permissions, or print the text with `tabwire skill`.")
}
