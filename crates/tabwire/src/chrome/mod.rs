//! `tabwire chrome`: a program that other tools start as if it were Chrome, and that gets them a browser of Tabwire's.
//!
//! It reads the command line that a launcher made for Chrome, has the daemon find or start the browser that is meant,
//! and hands the launcher's pipe over, so that no frame passes through here. Knows nothing of what is said in frames.

mod daemon_stream;
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

use self::launcher_line::{Errand, LauncherLine};
use self::plan::Plan;
use self::settings::ChromeSettings;
use crate::environment::Environment;
use crate::printer::{OutputForm, Printer};

/// The name under which a link or copy of this program stands in for Chrome.
const OWN_NAME: &str = "tabwire-chrome";

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
    let asks_for_help = rest.first().is_some_and(|word| word == "--help" || word == "-h");
    (first == "chrome" && !asks_for_help).then(|| rest.to_vec())
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
        Errand::Run => {}
    }
    if let Some(path) = &settings.log {
        log::start(path)?;
    }
    let mut plan = Plan::make(&line, &settings, pipe.is_some())?;
    plan.prepare(&environment, &settings)?;
    match (plan.port, pipe) {
        (None, Some(pipe)) => pipe_mode::run(&plan, pipe, &environment),
        (Some(_), pipe) => port::run(plan, pipe.filter(|_| line.pipe), &environment),
        (None, None) => Err(plan::no_descriptors()),
    }
}
