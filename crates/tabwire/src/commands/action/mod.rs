//! Runs actions of the registry, `open` and `close` in the daemon, and prints the results.

pub(super) mod batch;
pub(super) mod passphrase;

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use tabwire_api::api::{ActionRequest, ActionResponse, PolicyProfile, Recovery, SessionOptions};
use tabwire_api::{Failure, Remedy, Step, TabId};
use tabwire_engine::{Definition, line_address, page_outline};

use crate::cli::invocation::ActionFlags;
use crate::cli::session_flags::SessionFlags;
use crate::commands::Context;
use crate::config::Key;
use crate::output::progress::{find_approval, progress_line};
use crate::output::result_table::{find_table, print_table};
use crate::output::spinner::{alert_once, spin_with};
use tabwire_client::request_daemon_text;
use tabwire_daemon::limits::RENT_WAIT;

/// The daemon's default timeout of an action.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// How long the release of the session's earlier browser and the connection to a new one may take.
const RELEASE_TIME: Duration = Duration::from_secs(40);

/// How long an approval request waits for a response.
const APPROVAL_TIMEOUT: Duration = Duration::from_secs(60);

/// Runs one action and prints its notices.
pub(crate) fn run_action(
    context: &Context<'_>,
    name: &str,
    label: &str,
    request: ActionRequest,
) -> Result<ActionResponse, Failure> {
    let start = std::time::Instant::now();
    let response = request_action(context, name, label, request)?;
    let response: ActionResponse = serde_json::from_str(&response).map_err(|error| unreadable(&error))?;
    context.printer.detail(|| {
        let tab = response.tab.map(|tab| format!(", tab {tab}")).unwrap_or_default();
        format!("{name}: session {}{tab}, {} ms", context.key(), start.elapsed().as_millis())
    });
    print_notices(context, &response.notices);
    if let Some(recovery) = &response.recovery {
        print_recovery(context, recovery);
    }
    Ok(response)
}

/// Runs one action; returns the response as text.
pub(super) fn request_action(
    context: &Context<'_>,
    name: &str,
    label: &str,
    request: ActionRequest,
) -> Result<String, Failure> {
    let timeout_ms = context.timeout.map(|timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX));
    let request = ActionRequest {
        session: context.session.clone(),
        project: context.project_key(),
        defaults: context.session_defaults()?,
        base_url: context.base_url.clone(),
        default_base_url: context.configuration.text(Key::BaseUrl).map(|set| set.value.to_owned()),
        client: context.client.clone(),
        timeout_ms,
        roots: if request.roots.is_empty() { absolute_roots(&context.roots)? } else { request.roots.clone() },
        // Without it, the daemon refuses relative paths with a remedy.
        working_directory: std::env::current_dir().ok(),
        ..request
    };
    warn_of_open(context, &request.options, &request.defaults);
    let uses_extension = request.options.extension().or(request.defaults.extension()).is_some();
    let policy = request.options.policy.or(request.defaults.policy);
    let is_guarded = policy == Some(PolicyProfile::Guarded) || (uses_extension && policy.is_none());
    // The user may have to approve the action first.
    let approval = if is_guarded { APPROVAL_TIMEOUT } else { Duration::ZERO };
    let timeout = context.timeout.unwrap_or(DEFAULT_TIMEOUT).saturating_add(approval);
    let timeout = timeout.saturating_add(rent_time(&request));
    let path = format!("/v1/actions/{name}");
    let key = context.key();
    let poll = || progress_line(context.environment, &key);
    let send = || {
        spin_with(label, context.printer.shows_progress(), poll, || {
            request_daemon_text(&context.socket(), "POST", &path, Some(&json!(request)), timeout)
        })
    };
    if !is_guarded {
        return send();
    }
    let printer = context.printer;
    alert_once(|| find_approval(context.environment, &key), move |text| printer.notice(text), send)
}

/// How long a session may wait for a rented browser, and how long its release may take.
fn rent_time(request: &ActionRequest) -> Duration {
    let wait = request.options.rent_wait_seconds.or(request.defaults.rent_wait_seconds);
    let is_rented = request.options.is_rented() || request.defaults.is_rented();
    if is_rented { wait.map_or(RENT_WAIT, Duration::from_secs) + RELEASE_TIME } else { Duration::ZERO }
}

pub(super) fn print_notices(context: &Context<'_>, notices: &[String]) {
    for notice in notices {
        context.printer.notice(notice);
    }
}

/// Warns when the session is open although `guarded` is configured.
pub(crate) fn warn_of_open(context: &Context<'_>, asked: &SessionOptions, usual: &SessionOptions) {
    let is_open = asked.policy == Some(PolicyProfile::Open);
    if is_open && usual.policy == Some(PolicyProfile::Guarded) {
        context.printer.warning(
            "POLICY OPEN: this session may do everything that is not denied, although `guarded` is configured.",
        );
    }
}

/// Prints what the recovery of a lost browser restored.
fn print_recovery(context: &Context<'_>, recovery: &Recovery) {
    let tabs = match recovery.tabs.len() {
        0 => "without tabs".to_owned(),
        1 => "with its tab".to_owned(),
        count => format!("with its {count} tabs"),
    };
    let reason = &recovery.reason;
    context
        .printer
        .notice(&format!("The session's browser was lost ({reason}); a new one was started, {tabs}."));
    for lost in &recovery.lost {
        context.printer.notice(&format!("lost: {lost}"));
    }
}

/// Makes the directories absolute: the daemon has another working directory.
pub(super) fn absolute_roots(roots: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let absolute = roots.iter().map(std::path::absolute).collect::<Result<_, _>>();
    absolute.map_err(|error| {
        let message = format!("Invalid directory in `root`: {error}.");
        Failure::new(tabwire_api::ErrorCode::BadArgs, message)
    })
}

pub(crate) fn unreadable(error: &serde_json::Error) -> Failure {
    Failure::new(tabwire_api::ErrorCode::Internal, format!("The daemon's response is invalid: {error}."))
        .with_remedy(Remedy::new(
            "The daemon may have another version. Run {}.",
            [Step::command("tabwire daemon stop")],
        ))
}

fn text<'a>(result: &'a Value, field: &str) -> &'a str {
    result.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// Runs an action of the registry.
pub(super) fn run(
    context: &Context<'_>,
    definition: &Definition,
    mut params: Value,
    flags: &ActionFlags,
    snapshot: bool,
    options: SessionFlags,
) -> Result<(), Failure> {
    passphrase::fill_in(context, definition.name, &mut params)?;
    let layout = find_table(definition, &params).filter(|_| context.printer.is_terminal_text());
    let text = !context.printer.is_json() && layout.is_none();
    let raw = context.printer.is_raw();
    let (restart, options) = (options.restart, options.into_options()?);
    let is_captured = context.configuration.switch(Key::Capture).is_some_and(|set| set.value);
    let tab: Option<TabId> = flags.tab.as_deref().and_then(|tab| tab.parse().ok());
    let tab_name = flags.tab.clone().filter(|_| tab.is_none());
    let pin_tab = flags.pin_tab;
    let capture = flags.capture || is_captured;
    let request = ActionRequest {
        params,
        tab,
        tab_name,
        snapshot,
        capture,
        text,
        raw,
        options,
        restart,
        pin_tab,
        ..ActionRequest::default()
    };
    let response = run_action(context, definition.name, &definition.command_name(), request)?;
    context.printer.result(&response, || match layout {
        Some(layout) => print_table(&layout, &response.result),
        None => response.text.clone().unwrap_or_default(),
    });
    Ok(())
}

pub(crate) fn open(
    context: &Context<'_>,
    params: Value,
    (capture, snapshot): (bool, bool),
    options: SessionOptions,
    restart: bool,
) -> Result<(), Failure> {
    // Text shows the snapshot, because its refs are what the next command needs.
    let snapshot = snapshot || !(context.printer.is_json() || context.printer.is_raw());
    let request = ActionRequest { params, capture, snapshot, options, restart, ..ActionRequest::default() };
    let response = run_action(context, "open", "opening the page", request)?;
    context.printer.result(&response, || {
        let result = &response.result;
        if context.printer.is_raw() {
            return text(result, "tab").to_owned();
        }
        let mut lines = vec![format!("{}  {}", text(result, "tab"), line_address(text(result, "url")))];
        let shown = text(result, "snapshot");
        if !shown.is_empty() {
            lines.push(shown.to_owned());
            return lines.join("\n");
        }
        let outline = page_outline(text(result, "title"), text(result, "text"));
        lines.extend((!outline.is_empty()).then_some(outline));
        if result.get("truncated").and_then(Value::as_bool) == Some(true) {
            lines.push("… (truncated; see `tabwire snapshot`)".to_owned());
        }
        lines.join("\n")
    });
    Ok(())
}

pub(super) fn close(context: &Context<'_>, params: Value) -> Result<(), Failure> {
    let request = ActionRequest { params, ..ActionRequest::default() };
    let response = run_action(context, "close", "closing", request)?;
    context.printer.result(&response, || {
        let result = &response.result;
        match text(result, "tab") {
            "" => {
                format!("Session {} is closed; its browser: {}.", response.session, text(result, "browser"))
            }
            tab => format!("Tab {tab} is closed."),
        }
    });
    Ok(())
}
