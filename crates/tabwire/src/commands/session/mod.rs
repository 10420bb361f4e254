//! `session`: starts, stops, shows and changes sessions.

pub(super) mod connect;
pub(super) mod context;
pub(super) mod tab;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabwire_api::api::{ActionRequest, SessionOptions, SessionStatus};
use tabwire_api::{Failure, SessionName};

use crate::cli::session_command::SessionCommand;
use crate::cli::session_flags::{SessionFlags, ViewFlags};
use crate::commands::Context;
use crate::commands::action::{print_notices, request_action, run_action, unreadable};
use crate::commands::status::age;
use crate::output::printer::table;

/// The daemon's response to `session_list`.
#[derive(Deserialize)]
struct ListResponse {
    result: Sessions,
    #[serde(default)]
    notices: Vec<String>,
}

#[derive(Default, Serialize, Deserialize)]
struct Sessions {
    sessions: Vec<SessionStatus>,
}

pub(super) fn run(context: &Context<'_>, command: SessionCommand) -> Result<(), Failure> {
    match command {
        SessionCommand::Start { name, options, view } => {
            start(&context.in_session(name), "session_start", "starting the browser", options, view)
        }
        SessionCommand::Restart { name, options, view } => {
            start(&context.in_session(name), "session_restart", "restarting the browser", options, view)
        }
        SessionCommand::Stop { all: true, .. } => stop_all(context),
        SessionCommand::Stop { name, .. } => stop(&context.in_session(name)),
        SessionCommand::Delete { name } => delete(&context.in_session(name)),
        SessionCommand::Rename { from, to } => rename(&context.in_session(Some(from)), &to),
        SessionCommand::Status { name } => status(&context.in_session(name)),
        SessionCommand::List { all } => list(context, all),
    }
}

fn request(context: &Context<'_>, action: &str, label: &str, params: Value) -> Result<Value, Failure> {
    let request = ActionRequest { params, ..ActionRequest::default() };
    Ok(json!(run_action(context, action, label, request)?))
}

fn start(
    context: &Context<'_>,
    action: &str,
    label: &str,
    flags: SessionFlags,
    view: ViewFlags,
) -> Result<(), Failure> {
    let restart = flags.restart;
    let options = view.add_to(flags.into_options()?);
    start_with(context, action, label, options, restart)
}

pub(super) fn start_with(
    context: &Context<'_>,
    action: &str,
    label: &str,
    options: SessionOptions,
    restart: bool,
) -> Result<(), Failure> {
    let request = ActionRequest { options, restart, ..ActionRequest::default() };
    let mut response = run_action(context, action, label, request)?;
    let status = read_status(&response.result)?;
    if let Some(members) = response.result.as_object_mut().filter(|_| status.endpoint.is_some()) {
        // The endpoint is without its secret, because status is printed and logged often.
        let command = format!("tabwire cdp-url --session {}", context.session);
        members.insert("cdp_url_command".to_owned(), json!(command));
    }
    context.printer.result(&response, || describe(&status));
    Ok(())
}

fn stop(context: &Context<'_>) -> Result<(), Failure> {
    let response = request(context, "session_stop", "stopping", Value::Null)?;
    context.printer.result(&response, || {
        let name = &context.session;
        match response["result"]["stopped"].as_bool() {
            Some(true) => format!("Session {name} is stopped; its browser: {}.", text(&response, "browser")),
            _ => format!("Session {name} was not running."),
        }
    });
    Ok(())
}

fn stop_all(context: &Context<'_>) -> Result<(), Failure> {
    let mut stopped = Vec::new();
    for session in listed(context, false)?.sessions.into_iter().filter(|session| session.active) {
        request(&context.in_session(Some(session.name.clone())), "session_stop", "stopping", Value::Null)?;
        stopped.push(session.name);
    }
    context.printer.result(&json!({"stopped": stopped}), || match stopped.as_slice() {
        [] => "No session of this project was running.".to_owned(),
        names => {
            let names: Vec<&str> = names.iter().map(SessionName::as_str).collect();
            format!("Stopped: {}.", names.join(", "))
        }
    });
    Ok(())
}

fn delete(context: &Context<'_>) -> Result<(), Failure> {
    let response = request(context, "session_delete", "deleting", Value::Null)?;
    context.printer.result(&response, || {
        format!("Session {} is deleted; its browser: {}.", context.session, text(&response, "browser"))
    });
    Ok(())
}

fn rename(context: &Context<'_>, to: &SessionName) -> Result<(), Failure> {
    let response = request(context, "session_rename", "renaming", json!({"to": to}))?;
    context.printer.result(&response, || format!("Session {} is now named {to}.", context.session));
    Ok(())
}

fn status(context: &Context<'_>) -> Result<(), Failure> {
    let response = if has_sessions_or_daemon(context) {
        request(context, "session_status", "reading the status", Value::Null)?
    } else {
        json!({"session": context.session, "result": SessionStatus {
            name: context.session.clone(), state: "no daemon runs".to_owned(), ..SessionStatus::default()
        }})
    };
    let status = read_status(&response["result"])?;
    context.printer.result(&response, || describe(&status));
    Ok(())
}

/// Whether to send the request: a daemon is not started only to list nothing.
fn has_sessions_or_daemon(context: &Context<'_>) -> bool {
    context.has_records()
        || std::os::unix::net::UnixStream::connect(context.environment.paths.socket()).is_ok()
}

fn listed(context: &Context<'_>, all: bool) -> Result<Sessions, Failure> {
    if !has_sessions_or_daemon(context) {
        return Ok(Sessions::default());
    }
    let request = ActionRequest { params: json!({"all": all}), ..ActionRequest::default() };
    let response = request_action(context, "session_list", "listing", request)?;
    let response: ListResponse = serde_json::from_str(&response).map_err(|error| unreadable(&error))?;
    print_notices(context, &response.notices);
    Ok(response.result)
}

fn list(context: &Context<'_>, all: bool) -> Result<(), Failure> {
    let listed = listed(context, all)?;
    let sessions = &listed.sessions;
    context.printer.result(&listed, || {
        if sessions.is_empty() {
            let place = if all { "" } else { " in this project; --all lists those of others" };
            return format!("No sessions{place}. `tabwire open URL` starts one.");
        }
        let mut heading = vec!["SESSION", "STATE", "BROWSER", "SHARES", "OWNERSHIP", "PID", "TABS", "UP"];
        if all {
            heading.insert(0, "PROJECT");
        }
        let mut rows = vec![heading.into_iter().map(str::to_owned).collect()];
        rows.extend(sessions.iter().map(|session| row(session, all)));
        table(&rows)
    });
    Ok(())
}

fn row(session: &SessionStatus, all: bool) -> Vec<String> {
    let project = all.then(|| session.project.to_string());
    let cells = [
        session.name.to_string(),
        session.state.clone(),
        session.browser_version.clone().unwrap_or_default(),
        shared(session).to_owned(),
        session.ownership.clone(),
        session.browser_pid.map(|pid| pid.to_string()).unwrap_or_default(),
        if session.active { session.tabs.to_string() } else { String::new() },
        if session.active { age(session.uptime_seconds) } else { String::new() },
    ];
    project.into_iter().chain(cells).collect()
}

/// What the session shares with others.
fn shared(session: &SessionStatus) -> &'static str {
    match session.isolation.as_str() {
        "context" => "browser",
        "shared" => "logins",
        _ => "nothing",
    }
}

fn read_status(value: &Value) -> Result<SessionStatus, Failure> {
    serde_json::from_value(value.clone()).map_err(|error| unreadable(&error))
}

/// One session as text.
fn describe(session: &SessionStatus) -> String {
    let mut rows = vec![("session", session.name.to_string())];
    if !session.project.is_global() {
        rows.push(("project", session.project.to_string()));
    }
    rows.push(("state", session.state.clone()));
    if session.active {
        let window = if session.headed { "with a window" } else { "headless" };
        let version = session.browser_version.as_deref().unwrap_or(&session.upstream);
        rows.push(("browser", format!("{version}, {}, {window}", session.ownership)));
        rows.extend(session.browser_pid.map(|pid| ("process", pid.to_string())));
        rows.extend(
            session
                .endpoint
                .clone()
                .map(|endpoint| ("endpoint", format!("{endpoint} (with its secret: tabwire cdp-url)"))),
        );
        rows.extend(session.profile.clone().map(|profile| ("profile", profile)));
        rows.push(("shares", shared(session).to_owned()));
        rows.push(("tabs", session.tabs.to_string()));
        rows.push(("up", age(session.uptime_seconds)));
    }
    if !session.crashed_tabs.is_empty() {
        rows.push(("crashed", format!("{} (tabwire reload --tab TAB)", session.crashed_tabs.join(", "))));
    }
    rows.extend(session.memory_bytes.map(|bytes| ("memory", format!("{} MiB", bytes / 1024 / 1024))));
    if session.saves_state {
        rows.push(("state is", "saved every 30 s".to_owned()));
    }
    let lines: Vec<String> = rows.into_iter().map(|(name, value)| format!("{name:<9}{value}")).collect();
    lines.join("\n")
}

fn text<'a>(response: &'a Value, field: &str) -> &'a str {
    response["result"][field].as_str().unwrap_or_default()
}
