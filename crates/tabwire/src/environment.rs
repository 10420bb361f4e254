//! Every environment variable Tabwire reads, declared once; the reference page is generated from here.

use std::ffi::OsString;
#[cfg(test)]
use std::path::Path;
use std::path::PathBuf;

use tabwire_daemon::Paths;

use crate::config::{Key, SETTINGS};

/// One environment variable.
#[derive(Clone, Copy, Debug)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub meaning: &'static str,
    /// The version that added it.
    pub since: &'static str,
}

const fn variable(name: &'static str, meaning: &'static str) -> Variable {
    Variable { name, meaning, since: "0.1.0" }
}

/// The variables that set nothing of the configuration.
const OTHERS: &[Variable] = &[
    variable("TABWIRE_GLOBAL", "Set to `1`: no project, as with `--global`."),
    variable("TABWIRE_CLIENT", "What the caller is called in the journal (`tabwire log`)."),
    variable("TABWIRE_JOURNAL", "`off`: the daemon records nothing for `tabwire log`."),
    variable("TABWIRE_RELAY", "What `tabwire mcp` hands to itself; not to be set."),
    variable("TABWIRE_HOME", "Puts sockets, sessions, profiles and configuration below this one directory."),
    variable(
        "TABWIRE_UPDATE_URL",
        "The address that `upgrade-check --online` asks; there is none otherwise.",
    ),
    variable(
        "TABWIRE_CHROME_EXECUTABLE",
        "The browser, by name or program, that `tabwire chrome` stands in for.",
    ),
    variable(
        "TABWIRE_CHROME_PROFILE",
        "The profile directory that `tabwire chrome` uses, whatever its launcher says.",
    ),
    variable(
        "TABWIRE_CHROME_PORT",
        "The port that `tabwire chrome` listens on where its launcher asks for one, whatever it says.",
    ),
    variable("TABWIRE_CHROME_LOG", "A file that `tabwire chrome` logs to, beyond what the daemon logs."),
    variable(
        "TABWIRE_CHROME_LOG_LEVEL",
        "`important` (what becomes of the browser) or `all` (also every request, without its parameters): how much is \
         logged there.",
    ),
    variable(
        "TABWIRE_CHROME_FRAMES",
        "A directory that `tabwire chrome` writes every frame to, with whatever secrets are in it; nobody else can look \
         into it.",
    ),
    variable("TABWIRE_CHROME_DANGEROUS", "`1`: `tabwire chrome` passes on flags that weaken the browser."),
    variable(
        "TABWIRE_CHROME_HOST",
        "`windows`: `tabwire chrome` uses a browser of Windows from within WSL; `local`: never. Otherwise one of Windows \
         where its profile or program is named as Windows names it.",
    ),
    variable(
        "TABWIRE_CHROME_POWERSHELL",
        "The program of PowerShell through which Windows is reached from WSL.",
    ),
    variable(
        "TABWIRE_CHROME_WINDOWS_PORT",
        "The debugging port that a browser of Windows gets, and no other.",
    ),
    variable(
        "WSL_DISTRO_NAME",
        "What Windows calls this system; set by WSL, and read to know that it is there.",
    ),
    variable("WSL_INTEROP", "Set by WSL; handed to PowerShell, without which it does not start."),
    variable("NO_COLOR", "Set to anything: no colours."),
    variable("CLICOLOR", "`0`: no colours."),
    variable("CLICOLOR_FORCE", "Set to anything but `0`: colours even when the output is no terminal."),
    variable("CI", "Set to anything: nothing is asked, as with `--yes`."),
    variable("XDG_RUNTIME_DIR", "Where sockets and locks go (`tabwire/` below it)."),
    variable("XDG_STATE_HOME", "Where sessions and logs go (`tabwire/` below it). Default `~/.local/state`."),
    variable("XDG_DATA_HOME", "Where named profiles go (`tabwire/` below it). Default `~/.local/share`."),
    variable(
        "XDG_CONFIG_HOME",
        "Where configuration is read from (`tabwire/` below it). Default `~/.config`.",
    ),
    variable("HOME", "The user's home directory."),
    variable("PATH", "Where browsers are searched besides their usual places."),
];

/// Every variable, in the order of the reference page: those of settings, then the others.
#[must_use]
pub fn variables() -> Vec<Variable> {
    let of_settings =
        SETTINGS.iter().filter_map(|setting| Some(variable(setting.variable?, setting.meaning)));
    of_settings.chain(OTHERS.iter().copied()).collect()
}

/// What the environment says, read once.
#[derive(Clone, Debug)]
pub(crate) struct Environment {
    pub(crate) paths: Paths,
    /// What variables set, as they are written.
    pub(crate) settings: Vec<(Key, String)>,
    /// Whether a journal is written.
    pub(crate) journal: bool,
    pub(crate) is_ci: bool,
    pub(crate) path: Option<OsString>,
    pub(crate) home: Option<PathBuf>,
    pub(crate) config_home: Option<PathBuf>,
}

impl Environment {
    /// Reads the environment; an empty variable counts as not set.
    pub(crate) fn read() -> Self {
        let directory =
            |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = directory("HOME");
        let config_home = directory("XDG_CONFIG_HOME");
        let paths = find_paths(home.as_ref(), config_home.as_ref(), &directory);
        Self {
            paths,
            settings: read_settings(),
            journal: std::env::var_os("TABWIRE_JOURNAL").is_none_or(|value| value != "off"),
            is_ci: std::env::var_os("CI").is_some_and(|value| !value.is_empty()),
            path: std::env::var_os("PATH"),
            home,
            config_home,
        }
    }

    /// An environment that says nothing, with everything below one directory.
    #[cfg(test)]
    pub(crate) fn below(home: &Path) -> Self {
        let paths = Paths::below(home);
        Self {
            paths,
            settings: Vec::new(),
            journal: true,
            is_ci: false,
            path: None,
            home: None,
            config_home: None,
        }
    }
}

/// The variables that set something, in one pass over the environment.
fn read_settings() -> Vec<(Key, String)> {
    let mut found = Vec::new();
    for (name, value) in std::env::vars_os() {
        let Some(name) = name.to_str().filter(|name| name.starts_with("TABWIRE_")) else { continue };
        let setting = SETTINGS.iter().find(|setting| setting.variable == Some(name));
        if let Some(setting) = setting.filter(|_| !value.is_empty()) {
            found.push((setting.key, value.to_string_lossy().into_owned()));
        }
    }
    found
}

fn find_paths(
    home: Option<&PathBuf>,
    config_home: Option<&PathBuf>,
    directory: &impl Fn(&str) -> Option<PathBuf>,
) -> Paths {
    if let Some(all) = directory("TABWIRE_HOME") {
        return Paths::below(&all);
    }
    let user = rustix::process::getuid().as_raw();
    let fallback = std::env::temp_dir().join(format!("tabwire-{user}"));
    let below_home = |part: &str| home.map_or_else(|| fallback.join(part), |home| home.join(part));
    let base = |name: &str, part: &str| directory(name).unwrap_or_else(|| below_home(part)).join("tabwire");
    Paths {
        runtime: directory("XDG_RUNTIME_DIR").map_or_else(|| fallback.clone(), |base| base.join("tabwire")),
        state: base("XDG_STATE_HOME", ".local/state"),
        data: base("XDG_DATA_HOME", ".local/share"),
        config: config_home.cloned().unwrap_or_else(|| below_home(".config")).join("tabwire"),
    }
}
