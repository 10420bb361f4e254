//! `status`: the daemon, its sessions and browsers.

use std::time::Duration;

use serde_json::json;
use tabwire_api::Failure;
use tabwire_api::api::{PolicyProfile, SessionStatus, ShimBrowser, StatusResponse};

use super::Context;
use super::action::unreadable;
use super::session::open_port;
use crate::output::printer::table;
use tabwire_client::request_daemon;
use tabwire_client::{RequestError, request};

pub(super) fn run(context: &Context<'_>) -> Result<(), Failure> {
    let timeout = context.timeout.unwrap_or(Duration::from_secs(10));
    let response = match request(&context.environment.paths.socket(), "GET", "/v1/status", None, timeout) {
        Ok(response) => response,
        Err(RequestError::NotRunning) => {
            context.printer.result(&json!({"running": false, "sessions": []}), || {
                "no daemon runs, so there are no sessions; `tabwire open URL` starts both".to_owned()
            });
            return Ok(());
        }
        Err(RequestError::DaemonOlder) => {
            request_daemon(&context.socket(), "GET", "/v1/status", None, timeout)?
        }
        Err(RequestError::Failed(failure)) => return Err(failure),
    };
    let status: StatusResponse = serde_json::from_value(response).map_err(|error| unreadable(&error))?;
    let usual = context.configuration.session_defaults()?.policy;
    let is_open = |session: &&SessionStatus| session.active && session.policy == PolicyProfile::Open.as_str();
    if usual == Some(PolicyProfile::Guarded) {
        for session in status.sessions.iter().filter(is_open) {
            context.printer.warning(&format!(
                "POLICY OPEN: session {} may read and do everything that is not denied, although guarded is configured.",
                session.name
            ));
        }
    }
    for session in &status.sessions {
        if let Some(port) = session.open_port {
            context.printer.warning(&format!("OPEN PORT: session {}: {}.", session.name, open_port(port)));
        }
    }
    context.printer.result(&json!(status), || describe(&status));
    Ok(())
}

/// The status as text.
pub(super) fn describe(status: &StatusResponse) -> String {
    let head = format!(
        "daemon {} runs as process {} on port {} for {}",
        status.version,
        status.pid,
        status.port,
        age(status.uptime_seconds)
    );
    let head = match status.lost_log_lines {
        0 => head,
        lost => format!(
            "{head}\n{lost} lines of its log were lost: the reader or the disk was too slow, or the disk is full"
        ),
    };
    let shim_browsers = describe_shim_browsers(&status.shim_browsers);
    if status.sessions.is_empty() {
        return format!("{head}\nno sessions; `tabwire open URL` starts one{shim_browsers}");
    }
    // Sessions of several projects can have the same name.
    let has_projects = status.sessions.iter().any(|session| !session.project.is_global());
    let project = |text: String| has_projects.then_some(text);
    let heading = ["SESSION", "STATE", "BROWSER", "OWNERSHIP", "POLICY", "PID", "TABS", "CLIENTS", "UP"];
    let heading = project("PROJECT".to_owned()).into_iter().chain(heading.map(str::to_owned));
    let mut rows = vec![heading.collect::<Vec<_>>()];
    rows.extend(status.sessions.iter().map(|session| {
        let cells = [
            session.name.to_string(),
            session.state.clone(),
            session.browser_version.clone().unwrap_or_else(|| session.upstream.clone()),
            session.ownership.clone(),
            policy_of(session),
            session.browser_pid.map(|pid| pid.to_string()).unwrap_or_default(),
            session.tabs.to_string(),
            session.clients.to_string(),
            age(session.uptime_seconds),
        ];
        project(session.project.to_string()).into_iter().chain(cells).collect()
    }));
    format!("{head}\n\n{}{shim_browsers}", table(&rows))
}

/// The policy, and whether pages cannot see the automation.
fn policy_of(session: &SessionStatus) -> String {
    let hidden = if session.hides_automation { ", hides automation" } else { "" };
    format!("{}{hidden}", session.policy)
}

/// The browsers of Chrome shims; empty without one.
fn describe_shim_browsers(browsers: &[ShimBrowser]) -> String {
    if browsers.is_empty() {
        return String::new();
    }
    let heading = ["SHIM BROWSER", "OWNERSHIP", "WINDOW", "PID", "LINES", "PROFILE"];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    rows.extend(browsers.iter().map(|browser| {
        let window = browser.headless.map(|headless| if headless { "none" } else { "yes" });
        vec![
            browser.product.clone().unwrap_or_else(|| "not known".to_owned()),
            browser.ownership.clone(),
            window.unwrap_or("not known").to_owned(),
            browser.pid.map(|pid| pid.to_string()).unwrap_or_default(),
            browser.lines.to_string(),
            browser.profile.as_ref().map(|profile| profile.display().to_string()).unwrap_or_default(),
        ]
    }));
    format!("\n\n{}", table(&rows))
}

pub(super) fn age(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..86_400 => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

#[cfg(test)]
mod tests {
    use tabwire_api::api::SessionStatus;
    use tabwire_api::{ProjectKey, SessionName};

    use super::*;

    #[test]
    fn sessions_with_one_name_differ_by_project() {
        let session = |project: ProjectKey| SessionStatus {
            name: SessionName::default(),
            project,
            ..SessionStatus::default()
        };
        let project: ProjectKey = serde_json::from_value(json!("shop-1a2b3c4d")).expect("a key");
        let mut status: StatusResponse = serde_json::from_value(json!({
            "version": "1", "pid": 1, "port": 1, "uptime_seconds": 1, "sessions": [],
        }))
        .expect("a status");
        status.sessions = vec![session(ProjectKey::default())];
        assert!(!describe(&status).contains("PROJECT"), "{}", describe(&status));
        status.sessions.push(session(project));
        let text = describe(&status);
        assert!(text.contains("PROJECT") && text.contains("shop-1a2b3c4d"), "{text}");
    }
}
