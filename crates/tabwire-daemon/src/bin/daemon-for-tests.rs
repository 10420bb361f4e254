//! A daemon for this crate's tests, and its keepers; the product has `tabwire daemon run` and `tabwire keep`.
//!
//! `daemon-for-tests HOME PORT` prints one line of JSON: `ready`, `running` (another daemon runs) or
//! `failed`. `daemon-for-tests HOME PORT FORGERY` has processes of scripts that send forged lines instead of running code.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value, json};
use tabwire_daemon::{Daemon, DaemonConfig, Paths, StartOutcome};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["keep"] => match tabwire_browser::keeper::run(std::io::stdin(), std::io::stdout()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        },
        ["script-child"] => tabwire_script::child::run(),
        ["forged-script", forgery] => forge(forgery),
        [home, port] => {
            run(Path::new(home), port.parse().unwrap_or_default(), vec!["script-child".to_owned()])
        }
        [home, port, forgery] => run(
            Path::new(home),
            port.parse().unwrap_or_default(),
            vec!["forged-script".to_owned(), (*forgery).to_owned()],
        ),
        _ => ExitCode::FAILURE,
    }
}

/// A process of scripts that its code has taken over: after the first run arrives, it writes what the name says.
fn forge(forgery: &str) -> ExitCode {
    let mut line = String::new();
    if std::io::stdin().read_line(&mut line).is_err() {
        return ExitCode::FAILURE;
    }
    let run: Value = serde_json::from_str(&line).unwrap_or_default();
    let id = run["run"]["id"].as_u64().unwrap_or_default();
    let done = |id: u64| json!({"done": {"run": id, "text": "forged"}}).to_string();
    let call = |id: u64, action: &str| json!({"call": {"id": id, "action": action}}).to_string();
    let lines: Vec<String> = match forgery {
        "done-twice" => vec![done(id), done(id), done(id)],
        "other-run" => vec![done(id + 7)],
        "garbage" => vec!["no JSON \u{1b}[31m".to_owned(), done(id)],
        "unknown" => vec![json!({"grant": {"site": "*"}}).to_string(), done(id)],
        "ready-twice" => {
            vec![json!("ready").to_string(), json!("ready").to_string(), json!("ready").to_string()]
        }
        "actions" => vec![call(1, "session_stop"), call(2, "no_such"), done(id)],
        "calls" => (0..20_000).map(|id| call(id, "no_such")).collect(),
        "image" => vec![json!({"image": {"path": "/etc/passwd"}}).to_string(), done(id)],
        "console" => (0..100_000)
            .map(|_| json!({"console": {"level": "log", "text": "x".repeat(100)}}).to_string())
            .collect(),
        "long-line" => vec!["x".repeat(17 * 1024 * 1024)],
        _ => Vec::new(),
    };
    let mut output = std::io::stdout();
    for line in lines {
        if writeln!(output, "{line}").and_then(|()| output.flush()).is_err() {
            return ExitCode::FAILURE;
        }
    }
    // It stays until the daemon ends it.
    let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
    ExitCode::SUCCESS
}

fn run(home: &Path, port: u16, script_arguments: Vec<String>) -> ExitCode {
    let (Ok(self_exe), Ok(runtime)) = (std::env::current_exe(), tokio::runtime::Runtime::new()) else {
        return ExitCode::FAILURE;
    };
    let config = DaemonConfig {
        paths: Paths::below(home),
        port,
        self_exe,
        keep_arguments: vec!["keep".to_owned()],
        script_arguments,
        browser: None,
        path_env: std::env::var_os("PATH"),
        config_home: None,
        home: None,
        linger: Some(Duration::from_secs(1)),
        skills: Vec::new(),
        audit_log: true,
        chat_history: true,
        agent_programs: Vec::new(),
        lock_timeout: Duration::ZERO,
        idle_exit: Duration::from_secs(120),
        mcp_extras: None,
    };
    match runtime.block_on(Daemon::run(config, || print(&json!({"ready": true})))) {
        Ok(StartOutcome::Served) => ExitCode::SUCCESS,
        Ok(StartOutcome::AlreadyRunning) => {
            print(&json!({"running": true}));
            ExitCode::FAILURE
        }
        Err(failure) => {
            print(&json!({"failed": failure}));
            ExitCode::FAILURE
        }
    }
}

fn print(line: &Value) {
    let _ = writeln!(std::io::stdout(), "{line}");
}
