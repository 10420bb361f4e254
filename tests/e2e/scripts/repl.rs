//! `tabwire repl`: from a pipe, and at a terminal.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::support::world::World;

/// How long an expected text may take.
const TIMEOUT: Duration = Duration::from_secs(40);

/// A prompt in a terminal of its own.
pub(crate) struct Terminal {
    process: Child,
    keys: ChildStdin,
    output: Receiver<String>,
    shown: String,
}

impl Terminal {
    pub(crate) fn start(world: &World, line: &str) -> Self {
        let transcript = world.home().join("transcript").display().to_string();
        let mut command = world.command("script", &["-qec", line, &transcript]);
        command.env("TERM", "xterm");
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let keys = process.stdin.take().expect("piped");
        let mut stdout = process.stdout.take().expect("piped");
        let (sender, output) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count) = stdout.read(&mut bytes) {
                if count == 0 || sender.send(String::from_utf8_lossy(&bytes[..count]).into_owned()).is_err() {
                    return;
                }
            }
        });
        Self { process, keys, output, shown: String::new() }
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).and_then(|()| self.keys.flush()).expect("typed");
    }

    /// Waits until the text appears after what was expected before.
    pub(crate) fn expect(&mut self, text: &str) {
        let until = Instant::now() + TIMEOUT;
        loop {
            if let Some(at) = self.shown.find(text) {
                self.shown.drain(..at + text.len());
                return;
            }
            let left = until.saturating_duration_since(Instant::now());
            match self.output.recv_timeout(left) {
                Ok(more) => self.shown.push_str(&more),
                Err(_) => panic!("{text:?} is not shown: {:?}", self.shown),
            }
        }
    }
}

#[test]
fn lines_from_a_pipe_are_run_one_by_one() {
    let world = World::new();
    let mut command = world.command(env!("CARGO_BIN_EXE_tabwire"), &["repl"]);
    let mut child = command.stdin(Stdio::piped()).spawn().expect("the binary starts");
    let lines = "const a = 20\nfunction f(n: number) {\n  return n + a\n}\nf(22)\nconsole.log('x')\nmissing()\n'last'\n.exit\n'never'\n";
    child.stdin.take().expect("piped").write_all(lines.as_bytes()).expect("written");
    let output = child.wait_with_output().expect("an end");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{stdout} {stderr}");
    let printed: Vec<&str> = stdout.lines().map(|line| line.trim_start_matches("> ").trim()).collect();
    for line in ["42", "x", "last"] {
        assert!(printed.contains(&line), "{line}: {stdout:?}");
    }
    assert!(stderr.contains("missing is not defined") && !stdout.contains("never"), "{stdout} {stderr}");
    // Variables are those of `execute`.
    assert_eq!(world.run(&["execute", "a"]).succeeded().text(), "20");
}

#[test]
fn the_prompt_edits_completes_continues_and_cancels() {
    let world = World::new();
    // `exec`: a shell that stays would end by the Ctrl-C below, after the prompt has survived it.
    let mut terminal = Terminal::start(&world, &format!("exec '{}' repl", env!("CARGO_BIN_EXE_tabwire")));
    terminal.expect("> ");
    terminal.press("1 + 41\r");
    terminal.expect("42");
    terminal.press("if (true) {\r'in' + 'side'\r}\r");
    terminal.expect("inside");
    terminal.press("console.log(typeof page.getByR\t)\r");
    terminal.expect("getByRole");
    terminal.expect("function");
    terminal.press("console.log('star' + 'ted'); await new Promise(() => {})\r");
    terminal.expect("started");
    terminal.press("\x03");
    terminal.expect("The run was cancelled.");
    terminal.press("'still ' + 'here'\r");
    terminal.expect("still here");
    terminal.press(".help\r");
    terminal.expect(".exit");
    terminal.press("throw new Error('bo' + 'om')\r");
    terminal.expect("boom");
    terminal.press(" 'sec' + 'ret'\r");
    terminal.expect("secret");
    terminal.press(".exit\r");
    assert!(terminal.process.wait().expect("an end").success());
    let history = std::fs::read_to_string(world.home().join("state/repl-history")).expect("a history");
    assert!(history.contains("1 + 41") && !history.contains("sec"), "{history}");
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &world.home().join("state/repl-history").metadata().expect("a file").permissions(),
    );
    assert_eq!(mode & 0o777, 0o600);
}
