//! Command-line definitions of the commands that run scripts.

use std::path::PathBuf;

use clap::Args;

use crate::cli::session_flags::SessionFlags;

/// Below the help of `execute`.
pub(crate) const EXECUTE_HELP: &str = "\
Examples:
  tabwire execute 'await page.goto(\"example.org\"); await page.title()'
  tabwire execute 'await page.getByRole(\"link\").allTextContents()'
  echo 'state.n = (state.n ?? 0) + 1' | tabwire execute";

/// Options of `execute`.
#[derive(Debug, Args)]
pub(crate) struct ExecuteFlags {
    /// JavaScript or TypeScript; `-` reads standard input (default).
    #[arg(allow_hyphen_values = true)]
    pub(crate) code: Option<String>,
    #[command(flatten)]
    pub(crate) options: SessionFlags,
}

/// Options of `run`.
#[derive(Debug, Args)]
pub(crate) struct RunFlags {
    /// The file: JavaScript or TypeScript.
    pub(crate) file: PathBuf,
    /// Arguments of the script, in `args`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) args: Vec<String>,
    #[command(flatten)]
    pub(crate) options: SessionFlags,
}
