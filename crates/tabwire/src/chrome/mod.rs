//! `tabwire chrome`: a program that other tools start as if it were Chrome, and that gets them a browser of Tabwire's.
//!
//! It reads the command line that a launcher made for Chrome, has the daemon find or start the browser that is meant,
//! and hands the launcher's pipe over, so that no frame passes through here. Knows nothing of what is said in frames.

mod daemon_stream;
mod frame_log;
mod frame_tap;
mod launcher_line;
mod lifecycle;
mod log;
mod pipe_mode;
mod plan;
mod port;
mod settings;
mod signals;
mod version;
mod windows;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use tabwire_browser::DebuggingPipe;
use tabwire_wire::Failure;

use self::frame_log::FrameLog;
use self::launcher_line::{Errand, LauncherLine};
use self::plan::Plan;
use self::settings::ChromeSettings;
use crate::environment::Environment;
use crate::printer::{OutputForm, Printer};

/// The name under which a link or copy of this program stands in for Chrome.
const OWN_NAME: &str = "tabwire-chrome";

/// What is said below the help: recipes, options of ours, variables, Windows.
pub(crate) const MORE_HELP: &str = "\
With Playwright: chromium.launch({executablePath: '/path/to/tabwire-chrome'})

Options beyond Chrome's:
  --explain                             Print what would be done with each argument, and why; start nothing
  --tabwire-remote-debugging-port PORT  The port that a browser of Windows gets there, and no other

Variables:
  TABWIRE_CHROME_EXECUTABLE   The browser, by name or program
  TABWIRE_CHROME_PROFILE      The profile directory, whatever the launcher says
  TABWIRE_CHROME_PORT         The port to listen on, whatever the launcher says
  TABWIRE_CHROME_DANGEROUS    1: pass on flags that weaken the browser
  TABWIRE_CHROME_LOG          A file to log to
  TABWIRE_CHROME_LOG_LEVEL    important (default) or all
  TABWIRE_CHROME_FRAMES       A directory for every frame, secrets included

Chrome on Windows, from within WSL, is used when the profile directory or the program is named as Windows names it
(--user-data-dir='%LOCALAPPDATA%\\agent', C:\\x\\chrome.exe):
  TABWIRE_CHROME_HOST          windows: always; local: never
  TABWIRE_CHROME_POWERSHELL    The program of PowerShell
  TABWIRE_CHROME_WINDOWS_PORT  The port that Chrome gets on Windows, and no other";

/// What a copy under that name starts itself with, when it is not meant to be Chrome.
const OTHER_ERRANDS: &[&str] = &["daemon", "keep"];

/// The arguments for Chrome, when this process is to be one. Seen before anything is parsed: they are not ours.
pub(crate) fn find_arguments() -> Option<Vec<OsString>> {
    let mut arguments = std::env::args_os();
    let name = arguments.next()?;
    let rest: Vec<OsString> = arguments.collect();
    if Path::new(&name).file_stem().is_some_and(|stem| stem == OWN_NAME) {
        let is_other = rest.first().is_some_and(|first| OTHER_ERRANDS.iter().any(|errand| first == errand));
        return (!is_other).then_some(rest);
    }
    let (first, rest) = rest.split_first()?;
    (first == "chrome").then(|| rest.to_vec())
}

/// Stands in for Chrome until its launcher or its browser goes.
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    // Before anything else is open.
    let pipe = DebuggingPipe::take();
    let printer = Printer::new(OutputForm::Text, false);
    match serve(arguments, pipe, printer) {
        Ok(code) => code,
        Err(failure) => {
            printer.failure(&failure);
            ExitCode::FAILURE
        }
    }
}

fn serve(arguments: &[OsString], pipe: Option<DebuggingPipe>, printer: Printer) -> Result<ExitCode, Failure> {
    let environment = Environment::read();
    let settings = ChromeSettings::read(&environment)?;
    let line = LauncherLine::parse(arguments)?;
    match line.errand {
        Errand::Version => {
            printer.plain(&version::ask(&line, &settings, &environment)?);
            return Ok(ExitCode::SUCCESS);
        }
        Errand::Explain => {
            let plan = Plan::make(&line, &settings, pipe.is_some());
            printer.plain(&plan::explain(&line, &settings, plan.as_ref())?);
            return Ok(ExitCode::SUCCESS);
        }
        Errand::Help => {
            printer.plain(&help());
            return Ok(ExitCode::SUCCESS);
        }
        Errand::Run => {}
    }
    if let Some(path) = &settings.log {
        log::start(path, settings.log_level)?;
    }
    let mut plan = Plan::make(&line, &settings, pipe.is_some())?;
    plan.prepare(&environment, &settings)?;
    log::planned(&plan, &line);
    let frames = settings.frames.as_deref().map(FrameLog::open).transpose()?;
    if let Some(frames) = &frames {
        printer.warning(&format!(
            "TABWIRE_CHROME_FRAMES is set: all that passes, passwords included, is written to {}.",
            frames.path().display()
        ));
    }
    match (plan.port, pipe) {
        (None, Some(pipe)) => pipe_mode::run(&plan, pipe, frames.as_ref(), &environment),
        (Some(_), pipe) => port::run(plan, pipe.filter(|_| line.pipe), frames, &environment),
        (None, None) => Err(plan::no_descriptors()),
    }
}

/// What this program is, for people.
fn help() -> String {
    let mut all = crate::invocation::command();
    let ours = all.find_subcommand_mut("chrome").map(|chrome| chrome.clone().bin_name("tabwire chrome"));
    ours.map(|mut chrome| chrome.render_long_help().to_string().trim_end().to_owned()).unwrap_or_default()
}
