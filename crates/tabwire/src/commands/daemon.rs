//! `daemon run|start|stop|status|logs`.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use tabwire_api::api::StatusResponse;
use tabwire_api::{ErrorCode, Failure, Remedy, Step, count};
use tabwire_daemon::limits::{DEFAULT_PORT, IDLE_EXIT};
use tabwire_daemon::{Daemon, DaemonConfig, LogFile, LogSink, Paths, StartOutcome};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use super::action::unreadable;
use super::log::follow::wait_for_reader;
use super::{Context, status};
use crate::cli::DaemonCommand;
use crate::config::Key;
use crate::environment::Environment;
use crate::output::printer::Reader;
use crate::output::spinner::spin;
use tabwire_client::{RequestError, connect, request};

pub(super) fn run(context: &Context<'_>, command: &DaemonCommand) -> Result<(), Failure> {
    match command {
        DaemonCommand::Run { announce } => run_daemon(context, *announce),
        DaemonCommand::Start => start(context),
        DaemonCommand::Stop => stop(context),
        DaemonCommand::Status => report(context),
        DaemonCommand::Logs { lines, follow } => logs(context, *lines, *follow),
    }
}

fn run_daemon(context: &Context<'_>, announce: bool) -> Result<(), Failure> {
    let outcome = serve(context, announce);
    if !announce {
        return match outcome? {
            StartOutcome::Served => Ok(()),
            StartOutcome::AlreadyRunning => Err(Failure::new(ErrorCode::Busy, "Another daemon is running.")
                .with_remedy(Remedy::new(
                    "Run {}, or {} to stop it.",
                    [Step::command("tabwire daemon status"), Step::command("tabwire daemon stop")],
                ))),
        };
    }
    match outcome {
        Ok(StartOutcome::Served) => {}
        Ok(StartOutcome::AlreadyRunning) => announce_line(&json!({"running": true})),
        Err(failure) => announce_line(&json!({"failed": failure})),
    }
    Ok(())
}

/// Prints one line for the process that started the daemon.
fn announce_line(line: &Value) {
    let mut stdout = std::io::stdout();
    // The daemon keeps running when that process is gone.
    let _ = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
}

fn serve(context: &Context<'_>, announce: bool) -> Result<StartOutcome, Failure> {
    let (environment, configuration) = (context.environment, &context.configuration);
    if announce {
        // Leaves the terminal's session, so that closing the terminal does not end the daemon. Fails only if it has left
        // already.
        let _ = rustix::process::setsid();
    }
    let paths = environment.paths.clone();
    tabwire_browser::PrivateDir::create(&paths.state)?.subdirectory("logs")?;
    start_log(&paths.log(), configuration.text(Key::Log).map(|set| set.value), announce).map_err(no_start)?;
    // A command waits for the lock of an ending daemon; `daemon run` reports it at once.
    let lock_timeout = if announce { tabwire_client::START_TIMEOUT } else { Duration::ZERO };
    let config = daemon_config(context, paths, lock_timeout)?;
    daemon_runtime()?.block_on(Daemon::run(config, || {
        if announce {
            announce_line(&json!({"ready": true}));
            let _ = close_stdout();
        }
    }))
}

pub(super) fn daemon_config(
    context: &Context<'_>,
    paths: Paths,
    lock_timeout: Duration,
) -> Result<DaemonConfig, Failure> {
    let (environment, configuration) = (context.environment, &context.configuration);
    Ok(DaemonConfig {
        paths,
        port: configuration.port(Key::Port).map_or(DEFAULT_PORT, |set| set.value),
        self_exe: std::env::current_exe().map_err(no_start)?,
        keep_arguments: vec!["keep".to_owned()],
        script_arguments: vec!["script-child".to_owned()],
        browser: configuration.text(Key::Browser).map(|set| set.value.to_owned()),
        path_env: environment.path.clone(),
        home: environment.home.clone(),
        config_home: environment.config_home.clone(),
        linger: configuration.time(Key::Linger).map(|set| set.value),
        skills: configuration
            .list(Key::Skills)
            .map(|set| set.value.iter().map(PathBuf::from).collect())
            .unwrap_or_default(),
        audit_log: environment.audit_log,
        chat_history: configuration.switch(Key::ChatHistory).is_none_or(|set| set.value),
        agent_programs: environment.agent_programs.clone(),
        lock_timeout,
        idle_exit: configuration.time(Key::IdleExit).map_or(IDLE_EXIT, |set| set.value),
        mcp_extras: None,
    })
}

pub(super) fn daemon_runtime() -> Result<tokio::runtime::Runtime, Failure> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(2).max_blocking_threads(16).enable_all().build().map_err(no_start)
}

fn no_start(error: std::io::Error) -> Failure {
    Failure::new(ErrorCode::Internal, format!("The daemon cannot start: {error}."))
}

/// The starting process waits for the end of our output.
fn close_stdout() -> rustix::io::Result<()> {
    let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::CLOEXEC;
    let null = rustix::fs::open("/dev/null", flags, rustix::fs::Mode::empty())?;
    rustix::stdio::dup2_stdout(&null)
}

fn start_log(path: &Path, level: Option<&str>, to_file: bool) -> std::io::Result<()> {
    let level = match level.unwrap_or("info") {
        "error" => tracing::Level::ERROR,
        "warn" => tracing::Level::WARN,
        "debug" => tracing::Level::DEBUG,
        "trace" => tracing::Level::TRACE,
        _ => tracing::Level::INFO,
    };
    // The MCP library logs whole messages, with whatever secrets are in them.
    let quiet = Targets::new().with_default(level).with_target("rmcp", LevelFilter::OFF);
    let builder = tracing_subscriber::fmt().with_max_level(level).with_ansi(false).with_target(false);
    let log = if to_file {
        LogSink::to_file(LogFile::open(path)?)
    } else {
        // The reader may close the pipe.
        LogSink::to_pipe(std::io::stderr())
    };
    builder.with_writer(move || log.clone()).finish().with(quiet).init();
    Ok(())
}

fn find_status(environment: &Environment) -> Result<Option<StatusResponse>, Failure> {
    match request(&environment.paths.socket(), "GET", "/v1/status", None, Duration::from_secs(5)) {
        Ok(response) => serde_json::from_value(response).map(Some).map_err(|error| unreadable(&error)),
        Err(RequestError::NotRunning) => Ok(None),
        Err(RequestError::DaemonOlder) => {
            Err(Failure::new(ErrorCode::VersionMismatch, "An older daemon is running.")
                .with_remedy("The next command replaces it; browsers keep running."))
        }
        Err(RequestError::Failed(failure)) => Err(failure),
    }
}

fn start(context: &Context<'_>) -> Result<(), Failure> {
    let before = find_status(context.environment)?;
    if before.is_none() {
        spin("starting the daemon", context.printer.shows_progress(), tabwire_client::start)?;
    }
    let now = find_status(context.environment)?;
    let pid = now.as_ref().map_or(0, |status| status.pid);
    let started = before.is_none();
    context.printer.result(&json!({"started": started, "pid": pid}), || {
        if started {
            format!("The daemon runs as process {pid}.")
        } else {
            format!("The daemon was running already, as process {pid}.")
        }
    });
    Ok(())
}

fn stop(context: &Context<'_>) -> Result<(), Failure> {
    let timeout = context.timeout.unwrap_or(Duration::from_secs(30));
    let response = spin("stopping browsers and daemon", context.printer.shows_progress(), || {
        request(&context.environment.paths.socket(), "POST", "/v1/daemon/stop", Some(&json!({})), timeout)
    });
    match response {
        Ok(response) => {
            let browsers = response.get("browsers").and_then(Value::as_u64).unwrap_or(0);
            context.printer.result(&response, || {
                format!("The daemon stopped, and {} with it.", count(browsers, "browser"))
            });
            Ok(())
        }
        Err(RequestError::NotRunning) => {
            context.printer.result(&json!({"stopped": false}), || "No daemon runs.".to_owned());
            Ok(())
        }
        Err(RequestError::DaemonOlder) => {
            Err(Failure::new(ErrorCode::VersionMismatch, "An older daemon is running."))
        }
        // Under load the daemon can end before its response is written.
        Err(RequestError::Failed(failure))
            if failure.code == ErrorCode::OutcomeUnknown && is_gone(context) =>
        {
            context.printer.result(&json!({"stopped": true}), || "The daemon stopped.".to_owned());
            Ok(())
        }
        Err(RequestError::Failed(failure)) => Err(failure),
    }
}

fn is_gone(context: &Context<'_>) -> bool {
    matches!(connect(&context.environment.paths.socket()), Err(RequestError::NotRunning))
}

fn report(context: &Context<'_>) -> Result<(), Failure> {
    match find_status(context.environment)? {
        Some(status) => context.printer.result(&json!(status), || status::describe(&status)),
        None => context.printer.result(&json!({"running": false}), || "No daemon runs.".to_owned()),
    }
    Ok(())
}

fn logs(context: &Context<'_>, lines: usize, follow: bool) -> Result<(), Failure> {
    let path = context.environment.paths.log();
    let unreadable_log = |error: std::io::Error| {
        Failure::new(ErrorCode::Internal, format!("Cannot read the log {}: {error}.", path.display()))
            .with_remedy("The daemon creates it when it runs.")
    };
    let mut log = BufReader::new(std::fs::File::open(&path).map_err(unreadable_log)?);
    let mut last = std::collections::VecDeque::with_capacity(lines.min(10_000));
    while let Some(line) = next_line(&mut log, &mut String::new()).map_err(unreadable_log)? {
        if last.len() == lines.max(1) {
            last.pop_front();
        }
        last.push_back(line);
    }
    for line in last {
        if context.printer.line(&line) == Reader::Gone {
            return Ok(());
        }
    }
    if follow { follow_log(context, &path, log).map_err(unreadable_log) } else { Ok(()) }
}

/// Prints new lines until the reader closes the pipe. A log that was replaced is read from its start.
fn follow_log(context: &Context<'_>, path: &Path, mut log: BufReader<std::fs::File>) -> std::io::Result<()> {
    let mut partial = String::new();
    loop {
        while let Some(line) = next_line(&mut log, &mut partial)? {
            if context.printer.line(&line) == Reader::Gone {
                return Ok(());
            }
        }
        if !wait_for_reader() {
            return Ok(());
        }
        let read = log.get_ref().metadata()?;
        if let Some(now) =
            std::fs::metadata(path).ok().filter(|now| (now.dev(), now.ino()) != (read.dev(), read.ino()))
            && now.is_file()
        {
            log = BufReader::new(std::fs::File::open(path)?);
        }
    }
}

/// The next whole line; `None` if there is none yet. `partial` keeps a line whose end was not written yet.
fn next_line(log: &mut impl BufRead, partial: &mut String) -> std::io::Result<Option<String>> {
    let mut bytes = Vec::new();
    log.read_until(b'\n', &mut bytes)?;
    partial.push_str(&String::from_utf8_lossy(&bytes));
    if !partial.ends_with('\n') {
        return Ok(None);
    }
    let line = std::mem::take(partial);
    Ok(Some(line.trim_end_matches(['\n', '\r']).to_owned()))
}
