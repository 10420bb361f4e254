//! The Chrome shim: `tabwire chrome`, which other tools launch as if it were Chrome.
//!
//! It parses the launcher's arguments, requests the browser from the daemon, and connects the launcher to
//! it: by handing over the launcher's pipe, or by serving a debugging port.

mod daemon_stream;
mod frame_log;
mod launcher_args;
mod lifecycle;
pub mod limits;
mod log;
mod pipe;
mod plan;
mod port;
mod settings;
mod version;
mod windows;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tabwire_api::Failure;
use tabwire_browser::DebuggingPipe;

use self::frame_log::FrameLog;
use self::launcher_args::{LauncherArgs, ShimCommand};
use self::plan::Plan;
use self::settings::ChromeSettings;

/// A link to or a copy of the program under this name is always the shim.
const SHIM_NAME: &str = "tabwire-chrome";

/// Commands that a copy under that name starts itself with; they run as usual.
const OWN_COMMANDS: &[&str] = &["daemon", "keep"];

/// The directories and the socket that the shim uses.
#[derive(Clone, Debug)]
pub struct ShimPaths {
    /// The daemon's socket.
    pub socket: PathBuf,
    /// Sockets and descriptors.
    pub runtime: PathBuf,
    /// Cached protocol descriptions.
    pub state: PathBuf,
    /// Profiles.
    pub data: PathBuf,
}

/// The environment that the containing program passes to the shim.
#[derive(Clone, Debug)]
pub struct ShimEnvironment {
    /// Where files are.
    pub paths: ShimPaths,
    /// Where programs are searched (`PATH`).
    pub search_path: Option<OsString>,
    /// The configured browser, by name or program.
    pub browser: Option<String>,
}

/// The output of [`run`], for its caller.
#[derive(Debug)]
pub enum ShimOutput {
    /// Print this text.
    Text(String),
    /// Print the help of `tabwire chrome`.
    Help,
    /// Exit; the browser is closed.
    Exit(ExitCode),
}

/// The launcher's arguments, if this process is to run as the shim. Called before any parsing: the arguments are
/// Chrome's.
#[must_use]
pub fn find_arguments() -> Option<Vec<OsString>> {
    let mut arguments = std::env::args_os();
    let name = arguments.next()?;
    let rest: Vec<OsString> = arguments.collect();
    if Path::new(&name).file_stem().is_some_and(|stem| stem == SHIM_NAME) {
        let is_own = rest.first().is_some_and(|first| OWN_COMMANDS.iter().any(|command| first == command));
        return (!is_own).then_some(rest);
    }
    let (first, rest) = rest.split_first()?;
    (first == "chrome").then(|| rest.to_vec())
}

/// Runs as Chrome until the launcher or the browser exits. `warn` prints a warning to the user.
///
/// # Errors
/// When a variable or an argument is invalid, no browser can be started, or the browser is lost for good.
pub fn run(
    arguments: &[OsString],
    environment: &ShimEnvironment,
    warn: impl Fn(&str),
) -> Result<ShimOutput, Failure> {
    // Descriptors 3 and 4 are the launcher's pipe only as long as this process has opened nothing else.
    let pipe = DebuggingPipe::take();
    let settings = ChromeSettings::read(environment)?;
    let mut args = LauncherArgs::parse(arguments)?;
    let dropped = if settings.allow_dangerous { None } else { args.drop_dangerous() };
    match args.command {
        ShimCommand::Version => return version::find(&args, &settings, environment).map(ShimOutput::Text),
        ShimCommand::Explain => {
            let plan = Plan::make(&args, &settings, pipe.is_some());
            return plan::explain(&args, &settings, plan.as_ref()).map(ShimOutput::Text);
        }
        ShimCommand::Help => return Ok(ShimOutput::Help),
        ShimCommand::Run => {}
    }
    if let Some(path) = &settings.log {
        log::start(path, settings.log_level)?;
    }
    let mut plan = Plan::make(&args, &settings, pipe.is_some())?;
    plan.prepare(environment, &settings)?;
    log::planned(&plan, &args);
    if let Some(note) = dropped {
        tracing::warn!("{note}");
        warn(&note);
    }
    let frames = settings.frames.as_deref().map(FrameLog::open).transpose()?;
    if let Some(frames) = &frames {
        warn(&format!(
            "TABWIRE_CHROME_FRAMES is set: every frame, passwords included, is written to {}.",
            frames.path().display()
        ));
    }
    let code = match (plan.port, pipe) {
        (None, Some(pipe)) => pipe::run(&plan, pipe, frames.as_ref(), environment)?,
        (Some(_), pipe) => port::run(plan, pipe.filter(|_| args.pipe), frames, environment)?,
        (None, None) => return Err(plan::no_descriptors()),
    };
    Ok(ShimOutput::Exit(code))
}
