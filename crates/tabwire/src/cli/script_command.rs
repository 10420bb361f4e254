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

/// Below the help of `run`.
pub(crate) const RUN_HELP: &str = "\
Examples:
  tabwire run script.ts
  tabwire run script.ts --user anna       arguments are in `args`
  tabwire run --watch login.spec.ts       run it again whenever it changes";

/// Below the help of `repl`.
pub(crate) const REPL_HELP: &str = "\
At the prompt:
  .help     show the commands and topics of help()
  .reset    forget variables and `state`
  .exit     leave, as Ctrl-D does
  Tab       complete names of the API
  Ctrl-C    end what runs, or clear the line";

/// Options of `repl`.
#[derive(Debug, Args)]
pub(crate) struct ReplFlags {
    #[command(flatten)]
    pub(crate) options: SessionFlags,
}

/// Options of `run`.
#[derive(Debug, Args)]
pub(crate) struct RunFlags {
    /// Run again after each change of the file or its imports, until Ctrl-C. Give it before the file's name.
    #[arg(long)]
    pub(crate) watch: bool,
    /// The file: JavaScript or TypeScript.
    pub(crate) file: PathBuf,
    /// Arguments of the script, in `args`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) args: Vec<String>,
    #[command(flatten)]
    pub(crate) options: SessionFlags,
}
