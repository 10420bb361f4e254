//! A daemon for this crate's tests, and its keepers; the product has `tabwire daemon run` and `tabwire keep`.
//!
//! `daemon-for-tests HOME PORT` prints one line of JSON: `ready`, `running` (another daemon runs) or
//! `failed`.

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
        [home, port] => run(Path::new(home), port.parse().unwrap_or_default()),
        _ => ExitCode::FAILURE,
    }
}

fn run(home: &Path, port: u16) -> ExitCode {
    let (Ok(self_exe), Ok(runtime)) = (std::env::current_exe(), tokio::runtime::Runtime::new()) else {
        return ExitCode::FAILURE;
    };
    let config = DaemonConfig {
        paths: Paths::below(home),
        port,
        self_exe,
        keep_arguments: vec!["keep".to_owned()],
        script_arguments: vec!["script-child".to_owned()],
        browser: None,
        path_env: std::env::var_os("PATH"),
        config_home: None,
        home: None,
        linger: Some(Duration::from_secs(1)),
        audit_log: true,
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
