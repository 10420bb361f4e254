//! Starts a process and exchanges messages with it.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::value::RawValue;
use tabwire_script::message::{Call, Cancel, Console, Done, FromChild, Response, Run, ToChild, to_line};

/// Longer than any wait of a test that passes.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A process of a script. Killed when dropped.
pub(super) struct ScriptProcess {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<FromChild>,
    pub(super) console: Vec<Console>,
    pub(super) calls: Vec<Call>,
    runs: u64,
}

impl ScriptProcess {
    pub(super) fn start() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_script-child-for-tests"))
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a process");
        let (sender, messages) = channel();
        let output = child.stdout.take().expect("a pipe");
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let message = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        let process = Self { child, input, messages, console: Vec::new(), calls: Vec::new(), runs: 0 };
        assert!(matches!(process.next(), Some(FromChild::Ready)));
        process
    }

    pub(super) fn next(&self) -> Option<FromChild> {
        self.messages.recv_timeout(TIMEOUT).ok()
    }

    pub(super) fn next_within(&self, time: Duration) -> Option<FromChild> {
        self.messages.recv_timeout(time).ok()
    }

    pub(super) fn kill(&mut self) {
        self.child.kill().expect("killed");
    }

    pub(super) fn send(&mut self, message: &ToChild) {
        let line = to_line(message).expect("short enough");
        self.input.as_mut().expect("open").write_all(&line).expect("sent");
    }

    /// Starts a run, and returns its number.
    pub(super) fn begin(&mut self, run: Run) -> u64 {
        self.runs += 1;
        let name = if run.name.is_empty() { "execute".to_owned() } else { run.name.clone() };
        let actions = vec!["click".to_owned(), "get".to_owned()];
        self.send(&ToChild::Run(Box::new(Run { id: self.runs, name, actions, ..run })));
        self.runs
    }

    /// Responds to a call with this result.
    pub(super) fn respond(&mut self, call: &Call, result: &str) {
        let result = RawValue::from_string(result.to_owned()).ok();
        self.send(&ToChild::Response(Response { id: call.id, result, error: None }));
    }

    /// Waits for the end of the run. Calls are responded to with their own parameters.
    pub(super) fn wait(&mut self) -> Done {
        self.find_end().expect("the end of the run")
    }

    /// The end of the run; none when the process ends before.
    pub(super) fn find_end(&mut self) -> Option<Done> {
        loop {
            match self.next()? {
                FromChild::Done(done) => return Some(*done),
                FromChild::Console(line) => self.console.push(line),
                FromChild::Call(call) => {
                    let result = RawValue::from_string(call.params.to_string()).ok();
                    let response = if call.action == "click" {
                        let error = r#"{"code":"TIMEOUT","message":"Nothing matches.","hint":"Look again."}"#;
                        let error = RawValue::from_string(error.to_owned()).ok();
                        Response { id: call.id, result: None, error }
                    } else {
                        Response { id: call.id, result, error: None }
                    };
                    self.calls.push(call);
                    self.send(&ToChild::Response(response));
                }
                FromChild::Ready | FromChild::Image(_) | FromChild::Listen(_) => {}
            }
        }
    }

    pub(super) fn execute(&mut self, code: &str) -> Done {
        self.begin(Run { code: code.to_owned(), ..Run::default() });
        self.wait()
    }

    pub(super) fn cancel(&mut self, run: u64) {
        self.send(&ToChild::Cancel(Cancel { run, reason: "The time is over.".to_owned() }));
    }

    /// Waits for the end of the process.
    pub(super) fn exit_status(&mut self) -> ExitStatus {
        self.input = None;
        while self.next().is_some() {}
        self.child.wait().expect("an exit status")
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for ScriptProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The text of a result.
pub(super) fn text(code: &str) -> String {
    let done = ScriptProcess::start().execute(code);
    assert_eq!(done.error, None, "{code}");
    done.text.unwrap_or_else(|| "undefined".to_owned())
}
