//! `mcp install` and `mcp uninstall`: change one entry in a client's configuration file, and nothing else.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use rustix::fs::Mode;
use serde_json::json;
use tabwire_api::{ErrorCode, Failure};

use super::json_members::{find_member, remove_member, set_member};
use super::toml_table::{remove_table, set_table};
use super::{ClientProgram, Form, Scope};
use crate::commands::Context;
use crate::contained_file::{ContainedFile, Links};
use crate::project::Project;

/// The server's name in clients' files.
pub(crate) const NAME: &str = "tabwire";

/// Suffix of the backup of a changed file.
const BACKUP: &str = "before-tabwire";

/// The mode of a new file, before the umask.
const NEW_MODE: Mode = Mode::RUSR.union(Mode::WUSR).union(Mode::RGRP).union(Mode::ROTH);

/// A client's file, and the directory that links in its path must not leave.
pub(crate) struct ClientFile {
    pub(crate) path: PathBuf,
    base: PathBuf,
    links: Links,
}

impl ClientFile {
    fn locate(&self) -> Result<ContainedFile, Failure> {
        ContainedFile::locate(&self.base, &self.path, self.links)
    }
}

/// The operation on a client's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InstallOperation {
    Install,
    Uninstall,
    /// Print what would be written.
    Print,
}

pub(crate) fn run(
    context: &Context<'_>,
    client: ClientProgram,
    is_project: bool,
    operation: InstallOperation,
    more: &[String],
) -> Result<(), Failure> {
    let arguments: Vec<String> = std::iter::once("mcp".to_owned()).chain(more.iter().cloned()).collect();
    let command = command(context)?;
    let file =
        if client == ClientProgram::Json { None } else { Some(find_file(context, client, is_project)?) };
    let Some(file) = file.filter(|_| operation != InstallOperation::Print) else {
        print(context, client, is_project, &command, &arguments);
        return Ok(());
    };
    let contained = file.locate()?;
    let before = contained.read().map_err(|error| unwritable(&file.path, &error))?;
    let after = match operation {
        InstallOperation::Uninstall => without_entry(client, before.as_deref().unwrap_or_default()),
        InstallOperation::Install | InstallOperation::Print => {
            with_entry(client, before.as_deref().unwrap_or_default(), &command, &arguments).map(Some)
        }
    };
    let after = after.map_err(|what| unreadable(&file.path, &what))?;
    let (done, backup) = match after {
        None => ("has no entry for tabwire", None),
        Some(after) if Some(&after) == before.as_ref() => ("is up to date", None),
        Some(after) => {
            let backup = replace(&contained, before.is_some(), &after);
            let backup = backup.map_err(|error| unwritable(&file.path, &error))?;
            (
                if operation == InstallOperation::Install {
                    "now has an entry for tabwire"
                } else {
                    "no longer has an entry for tabwire"
                },
                backup,
            )
        }
    };
    context.printer.result(&json!({"file": file.path, "done": done, "backup": backup}), || {
        let kept =
            backup.as_ref().map(|backup| format!("\nbefore: {}", backup.display())).unwrap_or_default();
        format!("{} {done}.{kept}", file.path.display())
    });
    Ok(())
}

/// Prints the entry and the path of the client's file.
fn print(
    context: &Context<'_>,
    client: ClientProgram,
    is_project: bool,
    command: &str,
    arguments: &[String],
) {
    let file = find_file(context, client, is_project).ok().map(|file| file.path);
    let text = with_entry(client, "", command, arguments).unwrap_or_default();
    context.printer.result(&json!({"file": file, "text": text}), || match &file {
        Some(file) => format!("# {}\n{}", file.display(), text.trim_end()),
        None => text.trim_end().to_owned(),
    });
}

/// The client's file.
pub(crate) fn find_file(
    context: &Context<'_>,
    client: ClientProgram,
    is_project: bool,
) -> Result<ClientFile, Failure> {
    let home = context.environment.home.clone().ok_or_else(|| {
        Failure::new(ErrorCode::BadArgs, "There is no home directory: HOME is not set.")
            .with_remedy("Set HOME, or print the entry with --print.")
    })?;
    let config_home = context.environment.config_home.clone().unwrap_or_else(|| home.join(".config"));
    let (scope, base) = if is_project {
        let project = Project::find_here(Some(&home))?.map(|project| project.root);
        let here = std::env::current_dir().map_err(|error| unwritable(Path::new("."), &error));
        (Scope::Project, project.map_or(here, Ok)?)
    } else {
        (Scope::User, home)
    };
    let path = client.file(scope, &base, &config_home).ok_or_else(|| {
        Failure::new(ErrorCode::BadArgs, "This client has no such file.")
            .with_remedy("Leave --project out, or use --client json.")
    })?;
    let links = if is_project { Links::Inside } else { Links::Anywhere };
    Ok(ClientFile { path, base, links })
}

/// The command that starts this program: its name if PATH leads to it, else its path.
fn command(context: &Context<'_>) -> Result<String, Failure> {
    let own = std::env::current_exe().map_err(|error| unwritable(Path::new(NAME), &error))?;
    let found = find_program(NAME, context.environment.path.as_deref());
    let is_found = found.and_then(|found| found.canonicalize().ok()) == own.canonicalize().ok();
    Ok(if is_found { NAME.to_owned() } else { own.display().to_string() })
}

/// The path of a program that PATH finds by name.
pub(crate) fn find_program(name: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    std::env::split_paths(path?).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// The text of a client's file with our entry.
fn with_entry(
    client: ClientProgram,
    text: &str,
    command: &str,
    arguments: &[String],
) -> Result<String, String> {
    let entry = client.entry(command, arguments);
    match client.form() {
        Form::Json(group) => {
            let entry = serde_json::to_string_pretty(&entry).unwrap_or_default();
            set_member(text, group, NAME, &entry).map_err(|error| error.to_string())
        }
        Form::Toml(group) => {
            let lines = format!("command = {}\nargs = {}\n", entry["command"], entry["args"]);
            set_table(text, group, NAME, &lines).map_err(|error| error.message().to_owned())
        }
    }
}

fn without_entry(client: ClientProgram, text: &str) -> Result<Option<String>, String> {
    match client.form() {
        Form::Json(group) => remove_member(text, group, NAME).map_err(|error| error.to_string()),
        Form::Toml(group) => remove_table(text, group, NAME).map_err(|error| error.message().to_owned()),
    }
}

/// The command line in a client's entry.
pub(crate) fn find_entry(client: ClientProgram, file: &ClientFile) -> Result<Option<Vec<String>>, Failure> {
    let text = file.locate()?.read().map_err(|error| unwritable(&file.path, &error))?;
    let Some(text) = text else { return Ok(None) };
    let entry: Option<serde_json::Value> = match client.form() {
        Form::Json(group) => {
            find_member(&text, group, NAME).and_then(|entry| serde_json::from_str(entry).ok())
        }
        Form::Toml(group) => {
            let table =
                text.parse::<toml::Table>().map_err(|error| unreadable(&file.path, error.message()))?;
            table.get(group).and_then(|group| group.get(NAME)).map(|entry| json!(entry))
        }
    };
    let Some(entry) = entry else { return Ok(None) };
    let words = entry["args"].as_array().into_iter().flatten().filter_map(|word| word.as_str());
    let command = entry["command"].as_str().unwrap_or_default();
    Ok(Some(std::iter::once(command).chain(words).map(str::to_owned).collect()))
}

/// Replaces a file, and keeps a backup.
fn replace(file: &ContainedFile, was_there: bool, after: &str) -> std::io::Result<Option<PathBuf>> {
    let backup = if was_there { Some(file.keep_copy(BACKUP)?) } else { None };
    file.replace(after, NEW_MODE).map(|()| backup)
}

fn unreadable(file: &Path, what: &str) -> Failure {
    let message = format!("Cannot parse {}, which was not changed: {what}.", file.display());
    Failure::new(ErrorCode::BadArgs, message)
        .with_remedy("Add the entry by hand: `tabwire mcp install --print` with the same client shows it.")
}

fn unwritable(file: &Path, error: &std::io::Error) -> Failure {
    Failure::new(ErrorCode::Internal, format!("{} could not be changed: {error}.", file.display()))
        .with_remedy(
            "Check its permissions, or add the entry by hand: `tabwire mcp install --print` shows it.",
        )
}
