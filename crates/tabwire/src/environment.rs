//! Every environment variable Tabwire reads, declared once; the reference page is generated from here.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use tabwire_daemon::Paths;
use tabwire_wire::Failure;

use crate::config_file::ConfigFile;

/// One environment variable.
#[derive(Debug)]
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

/// The variables, in the order of the reference page.
pub static VARIABLES: &[Variable] = &[
    variable(
        "TABWIRE_SESSION",
        "The session commands act on when `--session` is not given; `default` otherwise.",
    ),
    variable(
        "TABWIRE_BROWSER",
        "Which browser to launch: a kind (`chromium`, `chrome`, `edge`, `brave`), a channel (`chrome-beta`) or the path of an executable.",
    ),
    variable("TABWIRE_HOME", "Puts sockets, sessions, profiles and configuration below this one directory."),
    variable("TABWIRE_GLOBAL", "Set to `1`: no project, as with `--global`."),
    variable("TABWIRE_PORT", "The loopback port the daemon asks for; `0` takes any free one. Default 38017."),
    variable("TABWIRE_LINGER", "Seconds a launched browser outlives a daemon that died. Default 120."),
    variable("TABWIRE_IDLE_EXIT", "Seconds the daemon stays with no browser and nothing to do. Default 600."),
    variable(
        "TABWIRE_LOG",
        "How much the daemon logs: `error`, `warn`, `info`, `debug` or `trace`. Default `info`.",
    ),
    variable("NO_COLOR", "Set to anything: no colours."),
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

/// What the environment says, read once.
#[derive(Clone, Debug)]
pub(crate) struct Environment {
    pub(crate) paths: Paths,
    pub(crate) browser: Option<String>,
    pub(crate) port: Option<u16>,
    pub(crate) linger: Option<Duration>,
    pub(crate) idle_exit: Option<Duration>,
    pub(crate) log: Option<String>,
    pub(crate) is_ci: bool,
    pub(crate) path: Option<OsString>,
    pub(crate) home: Option<PathBuf>,
    pub(crate) config_home: Option<PathBuf>,
}

impl Environment {
    /// Reads the environment, and below it the user's configuration file.
    pub(crate) fn read() -> Result<Self, Failure> {
        let text = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let directory =
            |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let seconds = |name: &str| {
            let seconds = text(name)?.parse::<f64>().ok()?;
            Duration::try_from_secs_f64(seconds).ok()
        };
        let home = directory("HOME");
        let config_home = directory("XDG_CONFIG_HOME");
        let paths = find_paths(home.as_ref(), config_home.as_ref(), &directory);
        let file = ConfigFile::read(&paths.config.join("config.toml"))?;
        let from_file = |seconds: Option<f64>| Duration::try_from_secs_f64(seconds?).ok();
        Ok(Self {
            paths,
            browser: text("TABWIRE_BROWSER").or(file.browser),
            port: text("TABWIRE_PORT").and_then(|port| port.parse().ok()).or(file.port),
            linger: seconds("TABWIRE_LINGER").or(from_file(file.linger)),
            idle_exit: seconds("TABWIRE_IDLE_EXIT").or(from_file(file.idle_exit)),
            log: text("TABWIRE_LOG").or(file.log),
            is_ci: text("CI").is_some(),
            path: std::env::var_os("PATH"),
            home,
            config_home,
        })
    }
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
