//! `repl`: runs lines of code as they are typed. The daemon keeps the variables, so a line is one `execute`.

use std::io::{BufRead, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{CompletionType, Config, Editor, Helper};
use serde_json::json;
use tabwire_api::api::{ActionRequest, ExecuteRequest};
use tabwire_api::{ErrorCode, Failure};
use tabwire_client::stream_lines_until_interrupt;
use tabwire_script::typescript::{Purpose, prepare};

use super::super::Context;
use super::names::complete;
use super::{RunPrinter, forget, print_line, template};
use crate::cli::script_command::{REPL_HELP, ReplFlags};

/// The prompt.
const PROMPT: &str = "> ";

/// Lines of the history file.
const HISTORY_LINES: usize = 1_000;

/// The history file, in the state directory.
const HISTORY_FILE: &str = "repl-history";

/// Reads lines until the end of input or `.exit`, and runs them.
pub(crate) fn run(context: &Context<'_>, flags: ReplFlags) -> Result<ExitCode, Failure> {
    let (restart, options) = (flags.options.restart, flags.options.into_options()?);
    let mut request = template(context, options, restart)?;
    let mut input = Input::open(&context.environment.paths.state.join(HISTORY_FILE))?;
    if input.is_terminal() {
        let session = &context.session;
        context.printer.notice(&format!("Session {session}. .help shows the commands, .exit leaves."));
    }
    let mut code = ExitCode::SUCCESS;
    while let Some(line) = input.next()? {
        match line.trim() {
            "" => {}
            ".exit" => break,
            ".help" => context.printer.plain(REPL_HELP),
            ".reset" => forget(context)?,
            word if word.starts_with('.') && !word.contains(char::is_whitespace) => {
                context.printer.warning(&format!("There is no command {word}; .help shows them."));
            }
            _ => {
                let ended = evaluate(context, &request, line);
                // Only the first line restarts the session.
                request.restart = false;
                if let Err(failure) = &ended {
                    context.printer.failure(failure);
                }
                code = if ended.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
            }
        }
    }
    // Input from a pipe is a script: its last line decides.
    Ok(if input.is_terminal() { ExitCode::SUCCESS } else { code })
}

/// Where lines come from.
enum Input {
    /// A person. The history is written when they leave.
    Terminal { editor: Box<ReplEditor>, history: PathBuf },
    /// Another program, or a file.
    Pipe,
}

impl Input {
    fn open(history: &Path) -> Result<Self, Failure> {
        if !std::io::stdin().is_terminal() {
            return Ok(Self::Pipe);
        }
        Ok(Self::Terminal { editor: Box::new(open_editor(history)?), history: history.to_owned() })
    }

    const fn is_terminal(&self) -> bool {
        matches!(self, Self::Terminal { .. })
    }

    /// The next complete piece of code; none at the end of input.
    fn next(&mut self) -> Result<Option<String>, Failure> {
        let failed = |error: &dyn std::fmt::Display| {
            Failure::new(ErrorCode::BadArgs, format!("Cannot read a line: {error}."))
        };
        match self {
            Self::Terminal { editor, .. } => match editor.readline(PROMPT) {
                Ok(line) => {
                    // A line that cannot be added is only missing in the history.
                    let _ = editor.add_history_entry(&line);
                    Ok(Some(line))
                }
                // Ctrl-C clears the line.
                Err(ReadlineError::Interrupted) => Ok(Some(String::new())),
                Err(ReadlineError::Eof) => Ok(None),
                Err(error) => Err(failed(&error)),
            },
            Self::Pipe => {
                let mut code = String::new();
                loop {
                    let read =
                        std::io::stdin().lock().read_line(&mut code).map_err(|error| failed(&error))?;
                    if read == 0 {
                        // What is not complete at the end is run too, so that its error is shown.
                        return Ok(Some(code).filter(|code| !code.is_empty()));
                    }
                    if is_complete(code.trim_end_matches(['\n', '\r'])) {
                        return Ok(Some(code));
                    }
                }
            }
        }
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        if let Self::Terminal { editor, history } = self {
            save_history(editor, history);
        }
    }
}

/// Runs a line. Ctrl-C ends the run and not this process.
fn evaluate(context: &Context<'_>, request: &ActionRequest, code: String) -> Result<(), Failure> {
    let request = ExecuteRequest { request: request.clone(), code, ..ExecuteRequest::default() };
    let mut printed = RunPrinter::default();
    let is_interrupted =
        stream_lines_until_interrupt(&context.socket(), "/v1/execute", &json!(request), |line| {
            print_line(*context.printer, line, &mut printed);
        })?;
    if is_interrupted {
        context.printer.notice("The run was cancelled.");
        return Ok(());
    }
    printed.finish(context).map(drop)
}

type ReplEditor = Editor<Names, FileHistory>;

fn open_editor(history: &Path) -> Result<ReplEditor, Failure> {
    let failed = |error: ReadlineError| {
        Failure::new(ErrorCode::Internal, format!("The line editor cannot start: {error}."))
    };
    let config = Config::builder()
        .history_ignore_space(true)
        .max_history_size(HISTORY_LINES)
        .map_err(failed)?
        .completion_type(CompletionType::List)
        .bracketed_paste(true)
        .build();
    let mut editor = Editor::with_config(config).map_err(failed)?;
    editor.set_helper(Some(Names));
    // A missing or unreadable history is an empty one.
    let _ = editor.load_history(history);
    Ok(editor)
}

/// Writes the history with access for the user only. A history that cannot be written is lost, and nothing else is.
fn save_history(editor: &mut ReplEditor, path: &Path) {
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
    if let Some(directory) = path.parent() {
        let _ = std::fs::create_dir_all(directory);
    }
    // Made before, because the editor would create it with the usual access.
    let made = std::fs::OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path);
    let private = made.and_then(|file| file.set_permissions(PermissionsExt::from_mode(0o600)));
    if private.is_ok() {
        let _ = editor.save_history(path);
    }
}

/// Completes names of the API, and decides whether code is complete.
struct Names;

impl Helper for Names {}
impl Highlighter for Names {}

impl Hinter for Names {
    type Hint = String;
}

impl Completer for Names {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _: &rustyline::Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(complete(line, at))
    }
}

impl Validator for Names {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let code = context.input();
        Ok(if is_complete(code) { ValidationResult::Valid(None) } else { ValidationResult::Incomplete })
    }
}

/// Whether code can be run, or is wrong before its end. Code whose first error is at its end continues.
fn is_complete(code: &str) -> bool {
    let Err(error) = prepare(code, Purpose::Snippet) else { return true };
    if code.trim_start().starts_with('.') || code.ends_with("\n\n") {
        // Two empty lines run the code as it is, so that its error is shown.
        return true;
    }
    let text = code.trim_end();
    let end = (text.lines().count(), text.lines().last().map_or(0, |line| line.chars().count()));
    !is_open(code) && (error.line, error.column) <= end
}

/// Whether a bracket, a template or a comment is still open.
fn is_open(code: &str) -> bool {
    let mut open = Vec::new();
    let mut letters = code.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' | '\'' | '`' => {
                let mut is_closed = false;
                while let Some(inner) = letters.next() {
                    match inner {
                        '\\' => drop(letters.next()),
                        '\n' if letter != '`' => break,
                        inner if inner == letter => {
                            is_closed = true;
                            break;
                        }
                        _ => {}
                    }
                }
                if !is_closed && letter == '`' {
                    return true;
                }
            }
            '/' if letters.peek() == Some(&'/') => drop(letters.by_ref().find(|inner| *inner == '\n')),
            '/' if letters.peek() == Some(&'*') => {
                let mut before = ' ';
                letters.next();
                let end = letters
                    .by_ref()
                    .find(|inner| std::mem::replace(&mut before, *inner) == '*' && *inner == '/');
                if end.is_none() {
                    return true;
                }
            }
            '(' | '[' | '{' => open.push(letter),
            ')' | ']' | '}' => drop(open.pop()),
            _ => {}
        }
    }
    !open.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_continues_until_it_is_complete() {
        for code in [
            "1 + 1",
            "const a = 1",
            "if (a) { b() }",
            "let a = ;",
            "a b",
            "'text",
            ".exit",
            "for (const x of [1, 2]) {\n  console.log(x)\n}",
            "function f() {\n\n",
        ] {
            assert!(is_complete(code), "{code}");
        }
        for code in [
            "if (a) {",
            "const f = async () => {\n  await page.click('x')",
            "page.goto(",
            "[1,\n2",
            "`a\nb",
            "/* a",
            "1 +",
            "await page\n  .goto('x').then((",
        ] {
            assert!(!is_complete(code), "{code}");
        }
    }

    #[test]
    fn the_history_is_for_the_user_only() {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().expect("a directory");
        let path = home.path().join("state").join(HISTORY_FILE);
        let mut editor = open_editor(&path).expect("an editor");
        editor.add_history_entry("page.url()").expect("added");
        editor.add_history_entry(" secret").expect("added");
        save_history(&mut editor, &path);
        let mode = path.metadata().expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let text = std::fs::read_to_string(&path).expect("readable");
        assert!(text.contains("page.url()") && !text.contains("secret"), "{text}");
    }
}
