//! Whether there is a browser that can be started, and how to get one.

use std::ffi::OsStr;
use std::time::Instant;

use tabwire_browser::{FoundBrowser, finder, limits};
use tabwire_wire::Failure;

use super::Visit;
use super::finding::Finding;
use crate::config::Key;

const CODE: &str = "browser";

/// How a browser is installed: the program that does it, and the command.
const INSTALLERS: [(&str, &str); 6] = [
    ("apt-get", "apt-get install chromium"),
    ("dnf", "dnf install chromium"),
    ("pacman", "pacman -S chromium"),
    ("zypper", "zypper install chromium"),
    ("apk", "apk add chromium"),
    ("brew", "brew install --cask chromium"),
];

/// The browser that would be started.
pub(super) fn find(visit: &Visit<'_>) -> Result<FoundBrowser, Failure> {
    let wish = visit.context.configuration.text(Key::Browser).map(|set| set.value);
    Ok(finder::find(wish, visit.context.environment.path.as_deref())?)
}

pub(super) fn check(visit: &Visit<'_>) -> Finding {
    let path_env = visit.context.environment.path.as_deref();
    let found = match find(visit) {
        Ok(found) => found,
        Err(failure) => return Finding::wrong(CODE, failure.message, remedy(path_env)),
    };
    match finder::version(&found.path, Instant::now() + limits::VERSION_DEADLINE) {
        Ok(version) => Finding::ok(CODE, format!("{version} is at {}.", found.path.display())),
        Err(error) => {
            let remedy = "Start it by hand to see why, or set TABWIRE_BROWSER to another one.";
            Finding::wrong(CODE, Failure::from(error).message, remedy)
        }
    }
}

fn remedy(path_env: Option<&OsStr>) -> String {
    if let Some(other) = finder::find_all(path_env).first() {
        let path = other.path.display();
        return format!(
            "There is another one: set TABWIRE_BROWSER to {path}, or install the one you want{}.",
            installing(path_env)
        );
    }
    format!("Install one{}, or set TABWIRE_BROWSER to a browser's executable.", installing(path_env))
}

/// The command that installs a browser here, if that is known.
fn installing(path_env: Option<&OsStr>) -> String {
    let folders: Vec<_> = path_env.map(|path| std::env::split_paths(path).collect()).unwrap_or_default();
    let is_there =
        |program: &str| folders.iter().any(|folder: &std::path::PathBuf| folder.join(program).is_file());
    match INSTALLERS.iter().find(|(program, _)| is_there(program)) {
        Some((_, command)) => format!(" (`{command}`)"),
        None => String::new(),
    }
}
