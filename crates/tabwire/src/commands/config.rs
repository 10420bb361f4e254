//! `config show|get|set|unset|path|schema|check`: shows, changes and checks settings.

use std::path::{Path, PathBuf};

use rustix::fs::Mode;
use serde_json::{Value as Json, json};
use tabwire_api::{ErrorCode, Failure};

use super::Context;
use crate::cli::ConfigCommand;
use crate::config::{
    Configuration, FileRole, SETTINGS, Setting, Value, ValueWithOrigin, configuration_schema, find_setting,
    read_text, set_in_file, unknown_hint, unset_in_file, user_file,
};
use crate::contained_file::{ContainedFile, Links};
use crate::output::printer::table;
use crate::project::{PROJECT_FILE, Project};

pub(super) fn run(context: &Context<'_>, command: ConfigCommand) -> Result<(), Failure> {
    match command {
        ConfigCommand::Show => show(context),
        ConfigCommand::Get { name } => get(context, &name)?,
        ConfigCommand::Set { name, value, project } => set(context, &name, &value, project)?,
        ConfigCommand::Unset { name, project } => unset(context, &name, project)?,
        ConfigCommand::Path => path(context)?,
        ConfigCommand::Schema => context.printer.plain(&format!("{:#}", configuration_schema())),
        ConfigCommand::Check { file } => check(context, file)?,
    }
    Ok(())
}

/// One setting as JSON; secrets are masked.
fn setting_json(setting: &Setting, effective: Option<&ValueWithOrigin<Value>>) -> Json {
    json!({
        "name": setting.name,
        "value": effective.map(|set| set.value.masked(setting.kind).to_json()),
        "origin": effective.map(|set| set.origin.to_json()),
    })
}

fn show(context: &Context<'_>) {
    let configuration = &context.configuration;
    let all: Vec<_> =
        SETTINGS.iter().map(|setting| (setting, configuration.effective(setting.key))).collect();
    let list: Vec<Json> = all.iter().map(|(setting, set)| setting_json(setting, set.as_ref())).collect();
    let response = json!({"project": configuration.project_key(), "settings": list});
    context.printer.result(&response, || {
        let mut rows = vec![["NAME", "VALUE", "FROM"].map(str::to_owned).to_vec()];
        rows.extend(all.iter().map(|(setting, set)| {
            let value = set.as_ref().map_or("-".to_owned(), |set| set.value.masked(setting.kind).to_text());
            let origin = set.as_ref().map_or(String::new(), |set| set.origin.to_string());
            vec![setting.name.to_owned(), value, origin]
        }));
        table(&rows)
    });
}

fn get_setting(name: &str) -> Result<&'static Setting, Failure> {
    find_setting(name).ok_or_else(|| {
        let name: String = name.chars().take(80).collect();
        Failure::new(ErrorCode::BadArgs, format!("Unknown setting `{name}`."))
            .with_remedy(unknown_hint(&name))
    })
}

fn get(context: &Context<'_>, name: &str) -> Result<(), Failure> {
    let setting = get_setting(name)?;
    let effective = context.configuration.effective(setting.key);
    context.printer.result(&setting_json(setting, effective.as_ref()), || {
        effective.as_ref().map(|set| set.value.masked(setting.kind).to_text()).unwrap_or_default()
    });
    Ok(())
}

/// The project of the working directory.
fn get_project(context: &Context<'_>) -> Result<Project, Failure> {
    Project::find_here(context.environment.home.as_deref())?.ok_or_else(|| {
        Failure::new(ErrorCode::BadArgs, "The working directory is not in a project.")
            .with_remedy("Create an empty tabwire.toml in the project's directory, or omit `--project`.")
    })
}

/// The file that a change goes to.
fn find_file(context: &Context<'_>, in_project: bool) -> Result<(FileRole, PathBuf), Failure> {
    if !in_project {
        return Ok((FileRole::User, user_file(context.environment)));
    }
    let project = get_project(context)?;
    project.check_file()?;
    Ok((FileRole::Project, project.file()))
}

fn unset(context: &Context<'_>, name: &str, in_project: bool) -> Result<(), Failure> {
    let setting = get_setting(name)?;
    let (role, path) = find_file(context, in_project)?;
    let before = read_text(&path)?.unwrap_or_default();
    let layer = Configuration::check(context.environment, role, &path, &before)?;
    let after = unset_in_file(&before, &layer, setting);
    let removed = after.is_some();
    if let Some(after) = after {
        Configuration::check(context.environment, role, &path, &after)?;
        replace(role, &path, &after)?;
    }
    let response = json!({"name": setting.name, "removed": removed, "path": path});
    context.printer.result(&response, || match removed {
        true => format!("{} was removed from {}", setting.name, path.display()),
        false => format!("{} was not set in {}", setting.name, path.display()),
    });
    Ok(())
}

fn set(context: &Context<'_>, name: &str, text: &str, in_project: bool) -> Result<(), Failure> {
    let setting = get_setting(name)?;
    let value = Value::from_text(setting.kind, text).map_err(|expected| {
        Failure::new(ErrorCode::BadArgs, format!("`{}` is {expected}.", setting.name))
            .with_remedy(setting.meaning)
    })?;
    let (role, path) = find_file(context, in_project)?;
    let before = read_text(&path)?.unwrap_or_default();
    let layer = Configuration::check(context.environment, role, &path, &before)?;
    let after = set_in_file(&before, &layer, setting, &value);
    Configuration::check(context.environment, role, &path, &after)?;
    if role == FileRole::User {
        tabwire_browser::PrivateDir::create(&context.environment.paths.config)?;
    }
    replace(role, &path, &after)?;
    let shown = value.masked(setting.kind);
    let response = json!({"name": setting.name, "value": shown.to_json(), "path": path});
    context
        .printer
        .result(&response, || format!("{} = {} in {}", setting.name, shown.to_toml(), path.display()));
    Ok(())
}

/// Replaces a file in one step. Follows a link in the user file; a link in a project must stay in the
/// project.
fn replace(role: FileRole, path: &Path, text: &str) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        Failure::new(ErrorCode::Internal, format!("Cannot write {}: {error}.", path.display()))
            .with_remedy("Nothing was changed. Check permissions and disk space.")
    };
    let base = path.parent().unwrap_or(Path::new("/"));
    let links = if role == FileRole::Project { Links::Inside } else { Links::Anywhere };
    ContainedFile::locate(base, path, links)?.replace(text, Mode::RUSR | Mode::WUSR).map_err(failed)
}

/// A file, and whether it exists.
fn described(path: &Path) -> Json {
    json!({"path": path, "exists": path.symlink_metadata().is_ok()})
}

fn path(context: &Context<'_>) -> Result<(), Failure> {
    let user = user_file(context.environment);
    let project = match context.is_global {
        true => None,
        false => Project::find_here(context.environment.home.as_deref())?,
    };
    let project = project.as_ref();
    let response = json!({
        "user": described(&user),
        "project": project.map(|project| described(&project.file())),
        "root": project.map(|project| &project.root),
        "key": project.map(|project| project.key.clone()).unwrap_or_default(),
    });
    context.printer.result(&response, || {
        let note = |file: &Json| if file["exists"] == true { "" } else { "  (does not exist)" };
        let mut lines = vec![format!("user     {}{}", user.display(), note(&response["user"]))];
        match project {
            None => lines.push("project  none".to_owned()),
            Some(project) => {
                let note = note(&response["project"]);
                lines.push(format!("project  {}{note}", project.file().display()));
                lines.push(format!("key      {}", project.key));
            }
        }
        lines.join("\n")
    });
    Ok(())
}

fn check(context: &Context<'_>, file: Option<PathBuf>) -> Result<(), Failure> {
    let files = match file {
        Some(file) => vec![file],
        None => {
            let project = Project::find_here(context.environment.home.as_deref())?;
            let project = project.filter(|project| project.has_file);
            project.as_ref().map_or(Ok(()), Project::check_file)?;
            let project = project.map(|project| project.file());
            [Some(user_file(context.environment)), project].into_iter().flatten().collect()
        }
    };
    let mut checked = Vec::new();
    for file in files {
        let path = std::path::absolute(&file).unwrap_or(file);
        let role = match path.file_name() {
            Some(name) if name == PROJECT_FILE => FileRole::Project,
            _ => FileRole::User,
        };
        let Some(text) = read_text(&path)? else {
            if role == FileRole::User && path == user_file(context.environment) {
                continue;
            }
            return Err(Failure::new(
                ErrorCode::BadArgs,
                format!("The file {} does not exist.", path.display()),
            ));
        };
        let layer = Configuration::check(context.environment, role, &path, &text)?;
        checked.push((path, role, layer.entries.len()));
    }
    let list: Vec<Json> = checked
        .iter()
        .map(|(path, role, count)| json!({"path": path, "project": *role == FileRole::Project, "settings": count}))
        .collect();
    context.printer.result(&json!({"checked": list}), || {
        if checked.is_empty() {
            return "No configuration file exists.".to_owned();
        }
        let line = |(path, role, count): &(PathBuf, FileRole, usize)| {
            let role = if *role == FileRole::Project { "project" } else { "user" };
            let settings = tabwire_api::count(*count, "setting");
            format!("{}: valid {role} file with {settings}", path.display())
        };
        checked.iter().map(line).collect::<Vec<_>>().join("\n")
    });
    Ok(())
}
