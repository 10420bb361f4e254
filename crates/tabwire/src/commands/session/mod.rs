//! `session`: starts, stops, shows and changes sessions.

pub(super) mod connect;
pub(super) mod context;
pub(super) mod tab;

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabwire_api::api::{ActionRequest, ActionResponse, RemoteBrowser, SessionOptions, SessionStatus};
use tabwire_api::{ErrorCode, Failure, SessionName};

use crate::cli::session_command::SessionCommand;
use crate::cli::session_flags::{SessionFlags, ViewFlags};
use crate::commands::Context;
use crate::commands::action::passphrase;
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

fn request(
    context: &Context<'_>,
    action: &str,
    label: &str,
    params: Value,
) -> Result<ActionResponse, Failure> {
    let request = ActionRequest { params, ..ActionRequest::default() };
    run_action(context, action, label, request)
}

fn start(
    context: &Context<'_>,
    action: &str,
    label: &str,
    flags: SessionFlags,
    view: ViewFlags,
) -> Result<(), Failure> {
    let restart = flags.restart;
    let auth = view.auth.clone();
    let options = view.add_to(flags.into_options()?);
    start_with(context, action, label, options, restart, auth.as_deref())
}

/// Starts a session's browser and loads a saved state into it, if one is given. Returns whether the next command must
/// still restart the browser.
pub(super) fn start_with_state(
    context: &Context<'_>,
    auth: Option<&Path>,
    options: &SessionOptions,
    restart: bool,
) -> Result<bool, Failure> {
    let Some(file) = auth else { return Ok(restart) };
    let request = ActionRequest { options: options.clone(), restart, ..ActionRequest::default() };
    run_action(context, "session_start", "starting the browser", request)?;
    load_state(context, file)?;
    Ok(false)
}

/// Loads a saved state. The user named the file, so its directory is a root for this request.
fn load_state(context: &Context<'_>, file: &Path) -> Result<(), Failure> {
    let bad = |why: &str| {
        let message = format!("{} cannot be loaded: {why}.", file.display());
        Failure::new(ErrorCode::BadArgs, message).with_remedy("`state save FILE` writes such a file.")
    };
    let path = file.canonicalize().map_err(|error| bad(&error.to_string()))?;
    let directory = path.parent().ok_or_else(|| bad("it is not a file"))?.to_owned();
    let mut params = json!({"verb": "load", "path": path});
    passphrase::fill_in(context, "state", &mut params)?;
    let request = ActionRequest { params, roots: vec![directory], ..ActionRequest::default() };
    run_action(context, "state", "loading the state", request).map(drop)
}

pub(super) fn start_with(
    context: &Context<'_>,
    action: &str,
    label: &str,
    options: SessionOptions,
    restart: bool,
    auth: Option<&Path>,
) -> Result<(), Failure> {
    let request = ActionRequest { options, restart, ..ActionRequest::default() };
    let mut response = run_action(context, action, label, request)?;
    if let Some(file) = auth {
        load_state(context, file)?;
    }
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
        match response.result["stopped"].as_bool() {
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
        let status = SessionStatus {
            name: context.session.clone(),
            state: "no daemon runs".to_owned(),
            ..SessionStatus::default()
        };
        let response = json!({"session": context.session, "result": status});
        serde_json::from_value(response).map_err(|error| unreadable(&error))?
    };
    let status = read_status(&response.result)?;
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
        let has_remote = sessions.iter().any(|session| session.remote.is_some());
        if has_remote {
            heading.extend(["WHERE", "LEFT"]);
        }
        if all {
            heading.insert(0, "PROJECT");
        }
        let mut rows = vec![heading.into_iter().map(str::to_owned).collect()];
        rows.extend(sessions.iter().map(|session| row(session, all, has_remote)));
        table(&rows)
    });
    Ok(())
}

fn row(session: &SessionStatus, all: bool, has_remote: bool) -> Vec<String> {
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
    let remote = has_remote.then(|| {
        let left = session.remote.as_ref().and_then(|remote| remote.seconds_left);
        [session.remote.as_ref().map(remote_place).unwrap_or_default(), left.map(age).unwrap_or_default()]
    });
    project.into_iter().chain(cells).chain(remote.into_iter().flatten()).collect()
}

/// The node of a rented browser, or the Grid or provider.
fn remote_place(remote: &RemoteBrowser) -> String {
    remote.node.clone().unwrap_or_else(|| remote.place.clone())
}

/// Where a rented browser runs, and its times.
fn remote_rows(remote: &RemoteBrowser) -> Vec<(&'static str, String)> {
    let mut rows = vec![("rented", format!("from {}, {} ago", remote.place, age(remote.rented_seconds)))];
    rows.extend(remote.node.clone().map(|node| ("node", node)));
    rows.extend(remote.id.clone().map(|id| ("id there", format!("{id}..."))));
    rows.extend(remote.seconds_left.map(|left| ("left", age(left))));
    let kept =
        remote.kept_every_seconds.map(|seconds| format!(", kept every {seconds} s")).unwrap_or_default();
    let limit = remote.idle_limit_seconds.map(|limit| ("idle", format!("ended after {limit} s{kept}")));
    rows.extend(limit);
    rows
}

/// What the session shares with others, or with the user of the browser.
fn shared(session: &SessionStatus) -> &'static str {
    match (session.isolation.as_str(), session.ownership.as_str()) {
        ("context", _) => "browser",
        ("shared", "attached") => "browser, logins",
        ("shared", _) => "logins",
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
        rows.push(("browser", browser_text(session)));
        rows.extend(session.browser_pid.map(|pid| ("process", pid.to_string())));
        rows.extend(
            session
                .endpoint
                .clone()
                .map(|endpoint| ("endpoint", format!("{endpoint} (with its secret: tabwire cdp-url)"))),
        );
        rows.extend(session.open_port.map(|port| ("port", open_port(port))));
        rows.extend(session.profile.clone().map(|profile| ("profile", profile)));
        rows.extend(session.remote.iter().flat_map(remote_rows));
        rows.push(("shares", shared(session).to_owned()));
        rows.extend(session.gaps.iter().map(|gap| ("lacks", gap.clone())));
        if session.hides_automation {
            rows.push(("hides", "that the browser is automated".to_owned()));
        }
        rows.extend(tab_rows(session));
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

/// The session's own tabs, and those of the browser's user.
fn tab_rows(session: &SessionStatus) -> Vec<(&'static str, String)> {
    let list = |shared: bool| {
        let tabs = session.tab_list.iter().filter(|tab| tab.shared == shared);
        let named = tabs.map(|tab| {
            let client = tab.client.as_ref().map(|client| format!(" of {client}")).unwrap_or_default();
            let current = if tab.current { " (current)" } else { "" };
            format!("{}{client}{current}", tab.tab)
        });
        named.collect::<Vec<_>>().join(", ")
    };
    let mut rows = vec![("tabs", session.tabs.to_string())];
    rows.extend(Some(list(false)).filter(|own| !own.is_empty()).map(|own| ("own", own)));
    rows.extend(Some(list(true)).filter(|shared| !shared.is_empty()).map(|shared| ("shared", shared)));
    rows
}

/// The warning about a port without a secret.
pub(crate) fn open_port(port: u16) -> String {
    format!("{port} is open to every program on this machine (tabwire cdp-url --port --close)")
}

/// The browser of a session. Whether an attached browser has a window is not known.
fn browser_text(session: &SessionStatus) -> String {
    let version = session.browser_version.as_deref().unwrap_or(&session.upstream);
    let kind = match (session.upstream.as_str(), session.ownership.as_str()) {
        ("extension", _) => return "your own, through the extension".to_owned(),
        (_, "launched") if session.headed => "launched, with a window",
        (_, "launched") => "launched, headless",
        (_, ownership) => ownership,
    };
    format!("{version}, {kind}")
}

fn text<'a>(response: &'a ActionResponse, field: &str) -> &'a str {
    response.result[field].as_str().unwrap_or_default()
}
