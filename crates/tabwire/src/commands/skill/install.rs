//! `install-skill`: puts the skill text where coding agents look, and takes it away again. Touches no file that it
//! did not write.

use std::path::{Path, PathBuf};

use rustix::fs::Mode;
use serde::Serialize;
use serde_json::json;
use tabwire_api::{ErrorCode, Failure};

use super::dirs::{SkillScope, SkillTool};
use super::{MARKER, skill_text};
use crate::commands::Context;
use crate::contained_file::{ContainedFile, Links};
use crate::project::Project;

/// The mode of a file that is new, before the umask.
const NEW_MODE: Mode = Mode::RUSR.union(Mode::WUSR).union(Mode::RGRP).union(Mode::ROTH);

/// What is wanted.
pub(crate) struct InstallOptions {
    pub(crate) tools: Vec<SkillTool>,
    pub(crate) scope: SkillScope,
    pub(crate) operation: SkillOperation,
}

/// What to do at each place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SkillOperation {
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
struct InstalledFile {
    path: PathBuf,
    outcome: Outcome,
}

impl InstalledFile {
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

pub(crate) fn run(context: &Context<'_>, options: &InstallOptions) -> Result<(), Failure> {
    let text = skill_text();
    let mut places = Vec::new();
    let base = base(context, options.scope)?;
    let links = if options.scope == SkillScope::Project { Links::Inside } else { Links::Anywhere };
    for path in files(&base, options) {
        let locate = || ContainedFile::locate(&base, &path, links);
        let outcome = match options.operation {
            SkillOperation::Print => Outcome::Planned,
            // A link or a directory is never ours.
            _ if path.symlink_metadata().is_ok_and(|found| !found.is_file()) => Outcome::LeftAlone,
            SkillOperation::Install => {
                install(&locate()?, &text).map_err(|error| unwritable(&path, &error))?
            }
            SkillOperation::Uninstall => uninstall(&locate()?).map_err(|error| unwritable(&path, &error))?,
        };
        places.push(InstalledFile { path, outcome });
    }
    let shown = (options.operation == SkillOperation::Print).then_some(&text);
    context.printer.result(&json!({"places": places, "text": shown}), || {
        let lines: Vec<String> = places.iter().map(InstalledFile::line).collect();
        let text = shown.map(|text| format!("\n\n{}", text.trim_end())).unwrap_or_default();
        format!("{}{text}", lines.join("\n"))
    });
    if places.iter().any(|place| place.outcome == Outcome::LeftAlone) {
        let message = "A file that tabwire did not write is in the way; it was left as it is.";
        return Err(Failure::new(ErrorCode::NotActionable, message)
            .with_remedy("Move it away and run this again, or install for other tools with --for."));
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
                .with_remedy("Use --project, or set HOME.")
        }),
    }
}

/// The files that are meant, each once: several tools read the same.
fn files(base: &Path, options: &InstallOptions) -> Vec<PathBuf> {
    let tools =
        if options.tools.is_empty() { SkillTool::detect(base, options.scope) } else { options.tools.clone() };
    let mut files: Vec<PathBuf> = tools.iter().filter_map(|tool| tool.file(base, options.scope)).collect();
    files.sort();
    files.dedup();
    files
}

/// What is at a place.
enum FileOwner {
    Missing,
    Ours(String),
    Foreign,
}

fn look(file: &ContainedFile) -> std::io::Result<FileOwner> {
    Ok(match file.read() {
        Ok(None) => FileOwner::Missing,
        Ok(Some(text)) if text.contains(MARKER) => FileOwner::Ours(text),
        Ok(Some(_)) => FileOwner::Foreign,
        // What is no text was not written by us.
        Err(error) if error.kind() == std::io::ErrorKind::InvalidData => FileOwner::Foreign,
        Err(error) => return Err(error),
    })
}

fn install(file: &ContainedFile, text: &str) -> std::io::Result<Outcome> {
    let outcome = match look(file)? {
        FileOwner::Foreign => return Ok(Outcome::LeftAlone),
        FileOwner::Ours(current) if current == text => return Ok(Outcome::Current),
        FileOwner::Ours(_) => Outcome::Updated,
        FileOwner::Missing => Outcome::Installed,
    };
    file.replace(text, NEW_MODE).map(|()| outcome)
}

fn uninstall(file: &ContainedFile) -> std::io::Result<Outcome> {
    match look(file)? {
        FileOwner::Missing => return Ok(Outcome::NotThere),
        FileOwner::Foreign => return Ok(Outcome::LeftAlone),
        FileOwner::Ours(_) => file.remove()?,
    }
    if let Some(folder) = file.path().parent() {
        // Fails when something else is in it, and then it stays.
        let _ = std::fs::remove_dir(folder);
    }
    Ok(Outcome::Removed)
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(ErrorCode::Internal, format!("The file {} could not be changed: {error}.", path.display()))
        .with_remedy("Check the directory's permissions, or print the text with `tabwire skill`.")
}
