//! `mcp install` and `mcp uninstall`: one entry in a client's own file, and nothing else of it.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::json;
use tabwire_wire::{ErrorCode, Failure};

use super::super::Context;
use super::client_program::{ClientProgram, Form, Scope};
use super::json_members::{find_member, remove_member, set_member};
use super::toml_table::{remove_table, set_table};
use crate::project::Project;

/// What the server is called in clients' files.
pub(super) const NAME: &str = "tabwire";

/// The end of a copy's name that is kept of a file before it is changed.
const BACKUP: &str = "before-tabwire";

/// What to do with a client's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    Install,
    Uninstall,
    /// Say what would be written.
    Print,
}

pub(super) fn run(
    context: &Context<'_>,
    client: ClientProgram,
    is_project: bool,
    deed: Deed,
    more: &[String],
) -> Result<(), Failure> {
    let arguments = arguments(client, more);
    let command = command(context)?;
    let file =
        if client == ClientProgram::Json { None } else { Some(find_file(context, client, is_project)?) };
    let Some(file) = file.filter(|_| deed != Deed::Print) else {
        print(context, client, is_project, &command, &arguments);
        return Ok(());
    };
    let before = read(&file)?;
    let after = match deed {
        Deed::Uninstall => without_entry(client, before.as_deref().unwrap_or_default()),
        Deed::Install | Deed::Print => {
            with_entry(client, before.as_deref().unwrap_or_default(), &command, &arguments).map(Some)
        }
    };
    let after = after.map_err(|what| unreadable(&file, &what))?;
    let (done, backup) = match after {
        None => ("has no entry of tabwire", None),
        Some(after) if Some(&after) == before.as_ref() => ("is as it should be", None),
        Some(after) => {
            let backup =
                replace(&file, before.as_deref(), &after).map_err(|error| unwritable(&file, &error))?;
            (if deed == Deed::Install { "has tabwire now" } else { "has tabwire no longer" }, backup)
        }
    };
    context.printer.answer(&json!({"file": file, "done": done, "backup": backup}), || {
        let kept =
            backup.as_ref().map(|backup| format!("\nbefore: {}", backup.display())).unwrap_or_default();
        format!("{} {done}.{kept}", file.display())
    });
    Ok(())
}

/// What the server is started with: what the user wants, in a form that this client shows its model.
fn arguments(client: ClientProgram, more: &[String]) -> Vec<String> {
    let is_said = more.iter().any(|word| word == "--answers" || word.starts_with("--answers="));
    let form: &[&str] = if client.shows_data() || is_said { &[] } else { &["--answers", "text"] };
    let own = ["mcp"].iter().chain(form).map(|word| (*word).to_owned());
    own.chain(more.iter().cloned()).collect()
}

/// Shows what belongs into the client's file, and where that is.
fn print(
    context: &Context<'_>,
    client: ClientProgram,
    is_project: bool,
    command: &str,
    arguments: &[String],
) {
    let file = find_file(context, client, is_project).ok();
    let text = with_entry(client, "", command, arguments).unwrap_or_default();
    context.printer.answer(&json!({"file": file, "text": text}), || match &file {
        Some(file) => format!("# {}\n{}", file.display(), text.trim_end()),
        None => text.trim_end().to_owned(),
    });
}

/// The client's file.
pub(super) fn find_file(
    context: &Context<'_>,
    client: ClientProgram,
    is_project: bool,
) -> Result<PathBuf, Failure> {
    let home = context.environment.home.clone().ok_or_else(|| {
        Failure::new(ErrorCode::BadArgs, "There is no home directory: HOME is not set.")
            .with_hint("Set HOME, or print the entry with --print.")
    })?;
    let config_home = context.environment.config_home.clone().unwrap_or_else(|| home.join(".config"));
    let (scope, base) = if is_project {
        let project = Project::find_here(Some(&home))?.map(|project| project.root);
        let here = std::env::current_dir().map_err(|error| unwritable(Path::new("."), &error));
        (Scope::Project, project.map_or(here, Ok)?)
    } else {
        (Scope::User, home)
    };
    client.file(scope, &base, &config_home).ok_or_else(|| {
        Failure::new(ErrorCode::BadArgs, "This client has no file of that kind.")
            .with_hint("Leave --project out, or use --client json.")
    })
}

/// How the client starts us: by name when that finds us, else by path.
fn command(context: &Context<'_>) -> Result<String, Failure> {
    let own = std::env::current_exe().map_err(|error| unwritable(Path::new(NAME), &error))?;
    let path = context.environment.path.clone().unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(NAME)).find(|file| file.is_file());
    let is_found = found.and_then(|found| found.canonicalize().ok()) == own.canonicalize().ok();
    Ok(if is_found { NAME.to_owned() } else { own.display().to_string() })
}

/// A client's file with our entry.
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

/// The command line that a client would run.
pub(super) fn find_entry(client: ClientProgram, file: &Path) -> Result<Option<Vec<String>>, Failure> {
    let Some(text) = read(file)? else { return Ok(None) };
    let entry: Option<serde_json::Value> = match client.form() {
        Form::Json(group) => {
            find_member(&text, group, NAME).and_then(|entry| serde_json::from_str(entry).ok())
        }
        Form::Toml(group) => {
            let table = text.parse::<toml::Table>().map_err(|error| unreadable(file, error.message()))?;
            table.get(group).and_then(|group| group.get(NAME)).map(|entry| json!(entry))
        }
    };
    let Some(entry) = entry else { return Ok(None) };
    let words = entry["args"].as_array().into_iter().flatten().filter_map(|word| word.as_str());
    let command = entry["command"].as_str().unwrap_or_default();
    Ok(Some(std::iter::once(command).chain(words).map(str::to_owned).collect()))
}

fn read(file: &Path) -> Result<Option<String>, Failure> {
    match std::fs::read_to_string(file) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unwritable(file, &error)),
    }
}

/// Replaces a file as a whole and keeps a copy of what it was; a link is followed, so that it stays one.
fn replace(file: &Path, before: Option<&str>, after: &str) -> std::io::Result<Option<PathBuf>> {
    let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let folder = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{BACKUP}"));
    let backup = before.map(|_| folder.join(name));
    if let Some(backup) = &backup {
        std::fs::copy(&file, backup)?;
    }
    let fresh = folder.join(format!(".{NAME}-{}.new", std::process::id()));
    let mut new_file = std::fs::OpenOptions::new().write(true).create_new(true).open(&fresh)?;
    let written = new_file.write_all(after.as_bytes()).and_then(|()| new_file.sync_all());
    let placed = written
        .and_then(|()| match std::fs::metadata(&file) {
            Ok(about) => std::fs::set_permissions(&fresh, about.permissions()),
            Err(_) => Ok(()),
        })
        .and_then(|()| std::fs::rename(&fresh, &file));
    if placed.is_err() {
        let _ = std::fs::remove_file(&fresh);
    }
    placed.map(|()| backup)
}

fn unreadable(file: &Path, what: &str) -> Failure {
    let message = format!("{} is not understood, and was left as it is: {what}.", file.display());
    Failure::new(ErrorCode::BadArgs, message)
        .with_hint("Add the entry by hand: `tabwire mcp install --print` with the same client shows it.")
}

fn unwritable(file: &Path, error: &std::io::Error) -> Failure {
    Failure::new(ErrorCode::Internal, format!("{} could not be changed: {error}.", file.display()))
        .with_hint("Check its permissions, or add the entry by hand: `tabwire mcp install --print` shows it.")
}
