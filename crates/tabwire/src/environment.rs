//! The environment variables that Tabwire reads. The reference page is generated from this table.

use std::ffi::OsString;
#[cfg(test)]
use std::path::Path;
use std::path::PathBuf;

use tabwire_api::api::DisplayVariables;
use tabwire_daemon::{PROGRAM_VARIABLES, Paths};

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

/// Variables that are not settings.
const OTHERS: &[Variable] = &[
    variable("TABWIRE_GLOBAL", "`1`: ignore the project, as `--global` does."),
    variable("TABWIRE_CLIENT", "Name of the client in the audit log (`tabwire log`)."),
    variable("TABWIRE_AUDIT_LOG", "`off`: the daemon writes no audit log."),
    variable("TABWIRE_RELAY", "Internal state of `tabwire mcp`; do not set it."),
    variable("TABWIRE_HOME", "Directory for sockets, sessions, profiles and configuration."),
    variable("TABWIRE_UPDATE_URL", "The URL that `upgrade-check --online` requests."),
    variable("TABWIRE_CHROME_EXECUTABLE", "Browser name or program for `tabwire chrome`."),
    variable("TABWIRE_CHROME_PROFILE", "Profile directory for `tabwire chrome`; overrides the launcher's."),
    variable("TABWIRE_CHROME_PORT", "Debugging port of `tabwire chrome`; overrides the launcher's."),
    variable("TABWIRE_CHROME_LOG", "Log file of `tabwire chrome`, in addition to the daemon's log."),
    variable(
        "TABWIRE_CHROME_LOG_LEVEL",
        "Log level: `important` (start, loss and end of the browser; default) or `all` (also every request, without \
         parameters).",
    ),
    variable(
        "TABWIRE_CHROME_FRAMES",
        "Directory to which `tabwire chrome` writes every CDP frame, secrets included. Only its owner may access it.",
    ),
    variable("TABWIRE_CHROME_DANGEROUS", "`1`: `tabwire chrome` forwards flags that weaken the browser."),
    variable(
        "TABWIRE_CHROME_KEEP",
        "`1`: a browser without a window that `tabwire chrome` started keeps running after its last client. Needs a \
         profile directory.",
    ),
    variable(
        "TABWIRE_CHROME_HOST",
        "`windows`: `tabwire chrome` uses a browser on Windows from within WSL; `local`: never. Default: if the profile or \
         the program has a Windows path.",
    ),
    variable("TABWIRE_CHROME_POWERSHELL", "PowerShell program for access to Windows from WSL."),
    variable("TABWIRE_CHROME_WINDOWS_PORT", "Debugging port of a browser on Windows."),
    variable("WSL_DISTRO_NAME", "Name of the WSL distribution; set by WSL. Read to detect WSL."),
    variable("WSL_INTEROP", "Set by WSL; PowerShell needs it to start."),
    variable("CLAUDE_CODE_EXECUTABLE", "Program of Claude Code for chats. Default: `claude` in `PATH`."),
    variable("CODEX_PATH", "Program of Codex for chats. Default: `codex` in `PATH`."),
    variable("NO_COLOR", "Any value: no colors."),
    variable("CLICOLOR", "`0`: no colors."),
    variable("CLICOLOR_FORCE", "Any value but `0`: colors also without a terminal."),
    variable("CI", "Any value: no prompts, as with `--yes`."),
    variable("XDG_RUNTIME_DIR", "Base directory of sockets and locks (`tabwire/` below it)."),
    variable(
        "XDG_STATE_HOME",
        "Base directory of sessions and logs (`tabwire/` below it). Default `~/.local/state`.",
    ),
    variable(
        "XDG_DATA_HOME",
        "Base directory of named profiles (`tabwire/` below it). Default `~/.local/share`.",
    ),
    variable(
        "XDG_CONFIG_HOME",
        "Base directory of the configuration (`tabwire/` below it). Default `~/.config`.",
    ),
    variable(
        "DISPLAY",
        "Where a browser with a window is shown. Read from the command that starts the browser.",
    ),
    variable("WAYLAND_DISPLAY", "As `DISPLAY`, for Wayland."),
    variable("XAUTHORITY", "The file with the key of the X display."),
    variable("HOME", "The user's home directory."),
    variable("PATH", "Directories in which browsers are searched, besides their usual locations."),
];

/// Every variable, in the order of the reference page: those of settings, then the others.
#[must_use]
pub fn variables() -> Vec<Variable> {
    let of_settings =
        SETTINGS.iter().filter_map(|setting| Some(variable(setting.variable?, setting.meaning)));
    of_settings.chain(OTHERS.iter().copied()).collect()
}

/// The environment, read once.
#[derive(Clone, Debug)]
pub(crate) struct Environment {
    pub(crate) paths: Paths,
    /// Settings from variables, as text.
    pub(crate) settings: Vec<(Key, String)>,
    /// The display of this process.
    pub(crate) display: DisplayVariables,
    /// Whether the daemon writes an audit log.
    pub(crate) audit_log: bool,
    pub(crate) is_ci: bool,
    /// Variables that name the programs of agents.
    pub(crate) agent_programs: Vec<(String, OsString)>,
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
            display: DisplayVariables::read(|name| std::env::var(name).ok()),
            audit_log: std::env::var_os("TABWIRE_AUDIT_LOG").is_none_or(|value| value != "off"),
            is_ci: std::env::var_os("CI").is_some_and(|value| !value.is_empty()),
            agent_programs: PROGRAM_VARIABLES
                .into_iter()
                .filter_map(|name| Some((name.to_owned(), std::env::var_os(name)?)))
                .collect(),
            path: std::env::var_os("PATH"),
            home,
            config_home,
        }
    }

    /// An empty environment with all paths below one directory.
    #[cfg(test)]
    pub(crate) fn below(home: &Path) -> Self {
        let paths = Paths::below(home);
        Self {
            paths,
            settings: Vec::new(),
            display: DisplayVariables::default(),
            audit_log: true,
            is_ci: false,
            agent_programs: Vec::new(),
            path: None,
            home: None,
            config_home: None,
        }
    }
}

/// Reads the variables of settings, in one pass over the environment.
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
