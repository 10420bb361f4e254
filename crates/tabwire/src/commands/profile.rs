//! `profile list|create|delete|path|lock-owner`: manages named browser profiles.

use std::path::PathBuf;
use std::time::SystemTime;

use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure};
use tabwire_browser::named_profile::{self, NamedProfile, Removal};
use tabwire_browser::{LockState, lock_state};

use super::Context;
use super::status::age;
use crate::cli::ProfileCommand;
use crate::output::printer::table;

pub(super) fn run(context: &Context<'_>, command: &ProfileCommand) -> Result<(), Failure> {
    match command {
        ProfileCommand::List => list(context),
        ProfileCommand::Create { name } => create(context, name),
        ProfileCommand::Delete { name, force } => delete(context, name, *force),
        ProfileCommand::Path { name } => path(context, name),
        ProfileCommand::LockOwner { name } => lock_owner(context, name),
    }
}

/// The owner of a profile, as JSON.
fn lock_json(lock: &LockState) -> Value {
    match lock {
        LockState::Free => json!({"state": "free"}),
        LockState::Stale { .. } => json!({"state": "stale"}),
        LockState::Live { owner } => json!({
            "state": "live",
            "pid": owner.map(|owner| owner.pid()),
            "program": owner.and_then(|owner| owner.executable()),
        }),
        LockState::Unknown { why } => json!({"state": "unknown", "why": why}),
    }
}

/// The owner of a profile, as text.
fn described(lock: &LockState) -> String {
    match lock {
        LockState::Free => "free".to_owned(),
        LockState::Stale { .. } => "free; a dead browser left its lock".to_owned(),
        LockState::Live { owner: None } => "an unknown browser".to_owned(),
        LockState::Live { owner: Some(owner) } => match owner.executable() {
            Some(program) => format!("process {} ({})", owner.pid(), program.display()),
            None => format!("process {}", owner.pid()),
        },
        LockState::Unknown { why } => format!("unknown: {why}"),
    }
}

fn list(context: &Context<'_>) -> Result<(), Failure> {
    let profiles = named_profile::list(&context.environment.paths.data)?;
    let list: Vec<Value> = profiles.iter().map(profile_json).collect();
    context.printer.result(&json!({"profiles": list}), || {
        if profiles.is_empty() {
            return "There are no profiles; `tabwire open --profile NAME` creates one.".to_owned();
        }
        let mut rows = vec![["NAME", "SIZE", "LAST USE", "HELD BY"].map(str::to_owned).to_vec()];
        rows.extend(profiles.iter().map(|profile| {
            let last_use =
                seconds_since(profile.last_use).map_or("-".to_owned(), |ago| format!("{} ago", age(ago)));
            vec![profile.name.clone(), size(profile.bytes), last_use, described(&profile.lock)]
        }));
        table(&rows)
    });
    Ok(())
}

fn profile_json(profile: &NamedProfile) -> Value {
    let since_1970 = profile.last_use.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    json!({
        "name": profile.name,
        "path": profile.path,
        "bytes": profile.bytes,
        "last_use": since_1970.map(|time| time.as_secs()),
        "lock": lock_json(&profile.lock),
    })
}

fn seconds_since(time: Option<SystemTime>) -> Option<u64> {
    Some(time?.elapsed().unwrap_or_default().as_secs())
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{} KiB", bytes / 1024),
        _ => format!("{} MiB", bytes / 1_048_576),
    }
}

fn create(context: &Context<'_>, name: &str) -> Result<(), Failure> {
    let data = &context.environment.paths.data;
    let is_new = named_profile::create(data, name)?;
    let path = named_profile::path_of(data, name)?;
    context.printer.result(&json!({"name": name, "path": path, "created": is_new}), || {
        if is_new {
            format!("Profile {name} is at {}.", path.display())
        } else {
            format!("Profile {name} exists already, at {}.", path.display())
        }
    });
    Ok(())
}

fn delete(context: &Context<'_>, name: &str, force: bool) -> Result<(), Failure> {
    let in_use = |lock: &LockState| {
        let message = format!("Profile {name} is in use by {}; it was not deleted.", described(lock));
        Failure::new(ErrorCode::ProfileLocked, message)
    };
    match named_profile::remove(&context.environment.paths.data, name, force)? {
        Removal::Gone => {
            context
                .printer
                .result(&json!({"name": name, "deleted": true}), || format!("Profile {name} is gone."));
            Ok(())
        }
        Removal::InUse(lock @ LockState::Unknown { .. }) => Err(in_use(&lock).with_remedy(
            "Tabwire cannot tell whether the owner still runs. Check, then remove its SingletonLock.",
        )),
        Removal::InUse(lock) => {
            Err(in_use(&lock)
                .with_remedy("Close its session first: `tabwire status` shows which one uses it."))
        }
        Removal::LockLeft => {
            let message = format!("Profile {name} has a lock that a dead browser left; it was not deleted.");
            Err(Failure::new(ErrorCode::ProfileLocked, message).with_remedy(format!(
                "The owner no longer runs: use `tabwire profile delete {name} --force`."
            )))
        }
        Removal::Missing => Err(missing(name)),
    }
}

fn missing(name: &str) -> Failure {
    Failure::new(ErrorCode::BadArgs, format!("There is no profile {name}."))
        .with_remedy("Run `tabwire profile list`.")
}

/// The directory of a profile, by its name or as a path with a slash.
fn find(context: &Context<'_>, name: &str) -> Result<PathBuf, Failure> {
    let path = if name.contains('/') {
        PathBuf::from(name)
    } else {
        named_profile::path_of(&context.environment.paths.data, name)?
    };
    if path.is_dir() { Ok(path) } else { Err(missing(name)) }
}

fn path(context: &Context<'_>, name: &str) -> Result<(), Failure> {
    let path = find(context, name)?;
    context.printer.result(&json!({"name": name, "path": path}), || path.display().to_string());
    Ok(())
}

fn lock_owner(context: &Context<'_>, name: &str) -> Result<(), Failure> {
    let lock = lock_state(&find(context, name)?);
    context.printer.result(&json!({"name": name, "lock": lock_json(&lock)}), || described(&lock));
    Ok(())
}
