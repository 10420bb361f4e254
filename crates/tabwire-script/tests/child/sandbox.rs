//! The sandbox, seen from outside: what the process may not do ends it.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use super::process::ScriptProcess;

/// The signal of a refused system call.
const SIGSYS: i32 = 31;

#[test]
fn a_refused_system_call_kills_the_process() {
    let probe = |name: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_script-child-for-tests"));
        command.arg(name).env_clear().stdout(Stdio::piped()).stderr(Stdio::null());
        command.output().expect("a process").status
    };
    assert_eq!(probe("nothing").code(), Some(4));
    for name in ["open", "write", "tcp", "unix", "exec", "thread", "kill", "directory"] {
        let status = probe(name);
        assert_eq!(status.signal(), Some(SIGSYS), "{name}: {status:?}");
    }
}

#[test]
fn the_process_has_no_environment_and_three_descriptors() {
    let process = ScriptProcess::start();
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.pid())).expect("a status");
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name)).expect("a line");
        line.split_whitespace().nth(1).expect("a value").to_owned()
    };
    assert_eq!((field("Seccomp:").as_str(), field("Threads:").as_str()), ("2", "1"));
    assert_eq!(field("NoNewPrivs:"), "1");
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", process.pid())).expect("limits");
    for (name, most) in [
        ("Max core file size", "0"),
        ("Max file size", "0"),
        ("Max open files", "3"),
        ("Max address space", "536870912"),
    ] {
        let line = limits.lines().find(|line| line.starts_with(name)).expect("a limit");
        assert_eq!(line[name.len()..].split_whitespace().next(), Some(most), "{line}");
    }
}

#[test]
fn scripts_see_no_system() {
    let mut process = ScriptProcess::start();
    for name in ["process", "require", "Deno", "std", "os", "bjson", "Worker", "WebAssembly", "host"] {
        assert_eq!(process.execute(&format!("typeof {name}")).text.as_deref(), Some("undefined"), "{name}");
    }
}
