//! One external command: prints it, runs it and checks its exit code.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::error::Error;

/// A named command with its arguments. Runs without a shell.
pub(crate) struct Step {
    name: String,
    program: String,
    arguments: Vec<String>,
    variables: Vec<(String, String)>,
}

impl Step {
    /// A step called `name` that will run `program` with `arguments`.
    pub(crate) fn new(name: &str, program: &str, arguments: &[&str]) -> Step {
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        Step { name: name.to_owned(), program: program.to_owned(), arguments, variables: Vec::new() }
    }

    /// A step that runs cargo.
    pub(crate) fn cargo(name: &str, arguments: &[&str]) -> Step {
        Step::new(name, "cargo", arguments)
    }

    /// Appends arguments.
    pub(crate) fn with_arguments(mut self, arguments: &[String]) -> Step {
        self.arguments.extend_from_slice(arguments);
        self
    }

    /// Sets an environment variable for the command.
    pub(crate) fn with_variable(mut self, name: &str, value: &str) -> Step {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The command as typed in a shell.
    pub(crate) fn command_line(&self) -> String {
        let variables = self.variables.iter().map(|(name, value)| format!("{name}={value}"));
        let words = std::iter::once(self.program.clone()).chain(self.arguments.iter().cloned());
        variables.chain(words).collect::<Vec<_>>().join(" ")
    }

    /// Prints the command, runs it in `folder` and fails when it fails.
    ///
    /// Has no timeout: nextest ends hanging tests.
    pub(crate) fn run(&self, folder: &Path) -> Result<(), Error> {
        eprintln!("==> {}: {}", self.name, self.command_line());
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).current_dir(folder);
        without_package_variables(&mut command);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        let status = command
            .status()
            .map_err(|source| Error::CannotStart { program: self.program.clone(), source })?;
        if status.success() {
            return Ok(());
        }
        Err(Error::StepFailed { step: self.name.clone(), command: self.command_line() })
    }
}

/// Removes what `cargo run` sets about xtask itself. The build script of ring lists these variables as its inputs: with
/// them, every change between `cargo xtask` and a plain `cargo` would build ring and all crates above it again.
pub(crate) fn without_package_variables(command: &mut Command) {
    let is_of_package = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(is_of_package) {
            command.env_remove(name);
        }
    }
}

/// Whether a command starts and succeeds. Prints nothing.
pub(crate) fn succeeds(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// The standard output of a command; `None` when it cannot be started or fails.
pub(crate) fn find_output(program: &str, arguments: &[&str], folder: &Path) -> Option<String> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_step_is_named_with_its_command() {
        let step = Step::new("lint", "false", &["--loud"]).with_variable("LEVEL", "2");
        let error = step.run(Path::new(".")).unwrap_err();
        assert_eq!(error.to_string(), "step `lint` failed. Run it alone with: LEVEL=2 false --loud");
        assert_ne!(error.exit_code(), 0);
    }

    #[test]
    fn a_missing_program_is_an_error_of_its_own() {
        let error = Step::new("lint", "no-such-program-here", &[]).run(Path::new(".")).unwrap_err();
        assert!(matches!(error, Error::CannotStart { .. }), "{error}");
    }
}
