//! `provider add|list|test|remove`: manages recipes of rented browsers in the user's configuration.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tabwire_api::api::{ActionRequest, SessionOptions, SessionStatus};
use tabwire_api::{ErrorCode, Failure, SessionName};
use tabwire_browser::rent::provider_name;
use tabwire_browser::rent::recipe::{EXAMPLES, RECIPE_BYTES, Recipe};
use tabwire_browser::{PrivateDir, atomic_file};
use tabwire_daemon::Paths;

use super::Context;
use super::action::{run_action, unreadable};
use super::status::age;
use crate::cli::provider_command::ProviderCommand;
use crate::output::printer::table;

/// What a recipe's file ends with.
const ENDING: &str = ".toml";

pub(super) fn run(context: &Context<'_>, command: &ProviderCommand) -> Result<(), Failure> {
    match command {
        ProviderCommand::Add { name, file, example, force } => {
            add(context, name, file.as_deref(), example.as_deref(), *force)
        }
        ProviderCommand::List => list(context),
        ProviderCommand::Test { name } => test(context, name),
        ProviderCommand::Remove { name } => remove(context, name),
    }
}

/// The names of the providers.
pub(crate) fn provider_names(paths: &Paths) -> Vec<String> {
    let entries = std::fs::read_dir(paths.providers()).into_iter().flatten().flatten();
    let files = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> =
        files.filter_map(|file| Some(provider_name(file.strip_suffix(ENDING)?).ok()?.to_owned())).collect();
    names.sort();
    names
}

fn file_of(context: &Context<'_>, name: &str) -> Result<PathBuf, Failure> {
    let name = provider_name(name)?;
    Ok(context.environment.paths.providers().join(format!("{name}{ENDING}")))
}

fn add(
    context: &Context<'_>,
    name: &str,
    file: Option<&Path>,
    example: Option<&str>,
    force: bool,
) -> Result<(), Failure> {
    let path = file_of(context, name)?;
    let text = match (file, example) {
        (Some(file), _) => read_recipe(file)?,
        (None, example) => {
            let found = EXAMPLES.iter().find(|(own, _)| Some(*own) == example);
            found.map(|(_, text)| (*text).to_owned()).unwrap_or_default()
        }
    };
    let recipe = Recipe::parse(&text)?;
    if path.exists() && !force {
        return Err(Failure::new(ErrorCode::BadArgs, format!("There is a provider {name} already."))
            .with_remedy("Use another name, or --force to replace it."));
    }
    PrivateDir::create_or_keep(&context.environment.paths.config)?.subdirectory("providers")?;
    atomic_file::write(&path, text.as_bytes())?;
    let mut response = described(name, &recipe);
    if let Some(members) = response.as_object_mut() {
        members.insert("path".to_owned(), json!(path));
    }
    context.printer.result(&response, || {
        let mut lines = vec![format!("Provider {name} is at {}.", path.display())];
        lines.push(format!("It sends requests to {}.", recipe.origins().join(", ")));
        lines.extend(recipe.secrets().iter().map(|secret| {
            format!("It uses the secret {secret}: `tabwire auth save {secret} --url ORIGIN` saves it.")
        }));
        lines.push(format!("`tabwire provider test {name}` rents a browser and releases it."));
        lines.join("\n")
    });
    Ok(())
}

fn read_recipe(file: &Path) -> Result<String, Failure> {
    let failed = |error: std::io::Error| {
        Failure::new(ErrorCode::BadArgs, format!("Cannot read the recipe {}: {error}.", file.display()))
            .with_remedy("Give a TOML file; `--example rest` shows the form.")
    };
    let limit = u64::try_from(RECIPE_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    let mut text = String::new();
    if file == Path::new("-") {
        std::io::stdin().take(limit).read_to_string(&mut text).map_err(failed)?;
    } else {
        let opened = std::fs::File::open(file).map_err(failed)?;
        opened.take(limit).read_to_string(&mut text).map_err(failed)?;
    }
    Ok(text)
}

/// A recipe for a result. It shows names of secrets, never values.
fn described(name: &str, recipe: &Recipe) -> Value {
    json!({
        "name": name,
        "description": recipe.description(),
        "origins": recipe.origins(),
        "secrets": recipe.secrets(),
        "lifetime_seconds": recipe.lifetime().map(|life| life.as_secs()),
        "idle_limit_seconds": recipe.idle().map(|idle| idle.as_secs()),
    })
}

fn list(context: &Context<'_>) -> Result<(), Failure> {
    let names = provider_names(&context.environment.paths);
    let mut found = Vec::new();
    for name in names {
        let content = atomic_file::read(&file_of(context, &name)?, RECIPE_BYTES).map_err(Failure::from);
        let recipe = content.and_then(|content| Recipe::parse(&String::from_utf8_lossy(&content)));
        found.push((name, recipe));
    }
    let list: Vec<Value> = found
        .iter()
        .map(|(name, recipe)| match recipe {
            Ok(recipe) => described(name, recipe),
            Err(failure) => json!({"name": name, "error": failure}),
        })
        .collect();
    context.printer.result(&json!({"providers": list}), || {
        if found.is_empty() {
            return "There are no providers; `tabwire provider add NAME FILE` adds one.".to_owned();
        }
        let mut rows =
            vec![["PROVIDER", "SENDS TO", "SECRETS", "LIFETIME", "DESCRIPTION"].map(str::to_owned).to_vec()];
        rows.extend(found.iter().map(|(name, recipe)| match recipe {
            Ok(recipe) => vec![
                name.clone(),
                recipe.origins().join(" "),
                recipe.secrets().join(" "),
                recipe.lifetime().map(|life| age(life.as_secs())).unwrap_or_default(),
                recipe.description().to_owned(),
            ],
            Err(failure) => {
                vec![name.clone(), String::new(), String::new(), String::new(), failure.message.clone()]
            }
        }));
        table(&rows)
    });
    Ok(())
}

/// Rents a browser in a session of its own, and deletes the session.
fn test(context: &Context<'_>, name: &str) -> Result<(), Failure> {
    let path = file_of(context, name)?;
    if !path.exists() {
        return Err(missing(name));
    }
    let session = SessionName::new(&format!("provider-test-{}", std::process::id()))
        .map_err(|_| Failure::new(ErrorCode::Internal, "The name of the test's session is not valid."))?;
    let context = context.in_session(Some(session));
    let options = SessionOptions { provider: Some(name.to_owned()), ..SessionOptions::default() };
    let start = std::time::Instant::now();
    let request = ActionRequest { options, ..ActionRequest::default() };
    let started = run_action(&context, "session_start", "renting a browser", request);
    let rented = start.elapsed();
    let deleted = run_action(&context, "session_delete", "releasing it", ActionRequest::default());
    let status: SessionStatus =
        serde_json::from_value(started?.result).map_err(|error| unreadable(&error))?;
    deleted?;
    let milliseconds = rented.as_millis();
    let response = json!({
        "name": name, "rented": true, "released": true, "milliseconds": milliseconds, "remote": status.remote,
    });
    context.printer.result(&response, || {
        let left = status.remote.as_ref().and_then(|remote| remote.seconds_left);
        let left =
            left.map(|left| format!(" It would have lived for {} more.", age(left))).unwrap_or_default();
        format!("Provider {name} gave a browser in {milliseconds} ms, and it was released.{left}")
    });
    Ok(())
}

fn remove(context: &Context<'_>, name: &str) -> Result<(), Failure> {
    match std::fs::remove_file(file_of(context, name)?) {
        Ok(()) => {
            let response = json!({"name": name, "removed": true});
            context.printer.result(&response, || format!("Provider {name} is removed."));
            Ok(())
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(missing(name)),
        Err(error) => {
            Err(Failure::new(ErrorCode::Internal, format!("Provider {name} cannot be removed: {error}.")))
        }
    }
}

fn missing(name: &str) -> Failure {
    let name = name.chars().take(80).collect::<String>();
    Failure::new(ErrorCode::BadArgs, format!("There is no provider {name}."))
        .with_remedy("Run `tabwire provider list`.")
}
