//! `tabwire chrome`: runs the Chrome shim and prints what it returns.

use std::ffi::OsString;
use std::process::ExitCode;

use tabwire_chrome::{ShimEnvironment, ShimOutput, ShimPaths};

use crate::config::Key;
use crate::environment::Environment;
use crate::output::printer::{OutputForm, Printer};

/// Runs as Chrome until the launcher or the browser exits.
pub(crate) fn chrome(arguments: &[OsString]) -> ExitCode {
    let printer = Printer::new(OutputForm::Text, false);
    let environment = shim_environment(&Environment::read());
    match tabwire_chrome::run(arguments, &environment, |text| printer.warning(text)) {
        Ok(ShimOutput::Exit(code)) => code,
        Ok(ShimOutput::Text(text)) => print(printer, &text),
        Ok(ShimOutput::Help) => print(printer, &help()),
        Err(failure) => {
            printer.failure(&failure);
            ExitCode::FAILURE
        }
    }
}

fn print(printer: Printer, text: &str) -> ExitCode {
    printer.plain(text);
    ExitCode::SUCCESS
}

fn shim_environment(environment: &Environment) -> ShimEnvironment {
    let paths = &environment.paths;
    ShimEnvironment {
        paths: ShimPaths {
            socket: paths.socket(),
            runtime: paths.runtime.clone(),
            state: paths.state.clone(),
            data: paths.data.clone(),
        },
        search_path: environment.path.clone(),
        browser: environment
            .settings
            .iter()
            .find(|(key, _)| *key == Key::Browser)
            .map(|(_, value)| value.clone()),
    }
}

fn help() -> String {
    let mut root = crate::cli::invocation::command();
    let chrome = root.find_subcommand_mut("chrome").map(|chrome| chrome.clone().bin_name("tabwire chrome"));
    chrome.map(|mut chrome| chrome.render_long_help().to_string().trim_end().to_owned()).unwrap_or_default()
}
