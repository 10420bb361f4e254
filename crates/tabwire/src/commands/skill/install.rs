//! `install-skill`: writes the skill text where coding agents look, and removes it again. Changes only files
//! that it wrote.

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

/// The mode of a new file, before the umask.
const NEW_MODE: Mode = Mode::RUSR.union(Mode::WUSR).union(Mode::RGRP).union(Mode::ROTH);

/// Options of `install-skill`.
pub(crate) struct InstallOptions {
    pub(crate) tools: Vec<SkillTool>,
    pub(crate) scope: SkillScope,
    pub(crate) operation: SkillOperation,
}

/// The operation on each file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SkillOperation {
    Install,
    Uninstall,
    /// Print what would be written where.
    Print,
}

/// The result for a file.
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
            Outcome::LeftAlone => "not changed: tabwire did not write it",
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
            // Tabwire writes neither links nor directories.
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
        let message = "A file that tabwire did not write exists at this path; it was not changed.";
        return Err(Failure::new(ErrorCode::NotActionable, message)
            .with_remedy("Move it away and run this again, or install for other tools with --for."));
    }
    Ok(())
}

/// The directory that contains the skills' directories.
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

/// The files to change, each once: several agents read the same file.
fn files(base: &Path, options: &InstallOptions) -> Vec<PathBuf> {
    let tools =
        if options.tools.is_empty() { SkillTool::detect(base, options.scope) } else { options.tools.clone() };
    let mut files: Vec<PathBuf> = tools.iter().filter_map(|tool| tool.file(base, options.scope)).collect();
    files.sort();
    files.dedup();
    files
}

/// What exists at a path.
enum FileOwner {
    Missing,
    Ours(String),
    Foreign,
}

fn owner_of(file: &ContainedFile) -> std::io::Result<FileOwner> {
    Ok(match file.read() {
        Ok(None) => FileOwner::Missing,
        Ok(Some(text)) if text.contains(MARKER) => FileOwner::Ours(text),
        Ok(Some(_)) => FileOwner::Foreign,
        // Tabwire writes UTF-8 only.
        Err(error) if error.kind() == std::io::ErrorKind::InvalidData => FileOwner::Foreign,
        Err(error) => return Err(error),
    })
}

fn install(file: &ContainedFile, text: &str) -> std::io::Result<Outcome> {
    let outcome = match owner_of(file)? {
        FileOwner::Foreign => return Ok(Outcome::LeftAlone),
        FileOwner::Ours(current) if current == text => return Ok(Outcome::Current),
        FileOwner::Ours(_) => Outcome::Updated,
        FileOwner::Missing => Outcome::Installed,
    };
    file.replace(text, NEW_MODE).map(|()| outcome)
}

fn uninstall(file: &ContainedFile) -> std::io::Result<Outcome> {
    match owner_of(file)? {
        FileOwner::Missing => return Ok(Outcome::NotThere),
        FileOwner::Foreign => return Ok(Outcome::LeftAlone),
        FileOwner::Ours(_) => file.remove()?,
    }
    if let Some(folder) = file.path().parent() {
        // Fails when the directory contains other files; then it stays.
        let _ = std::fs::remove_dir(folder);
    }
    Ok(Outcome::Removed)
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(ErrorCode::Internal, format!("The file {} could not be changed: {error}.", path.display()))
        .with_remedy("Check the directory's permissions, or print the text with `tabwire skill`.")
}
