//! Actions of the registry, `open` and `close`: asks the daemon and prints what it answers.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use tabwire_engine::{Definition, line_address, page_outline};
use tabwire_wire::Failure;
use tabwire_wire::api::{ActionAnswer, ActionRequest, PolicyProfile, Recovery, SessionOptions};

use super::{Context, passphrase};
use crate::config::Key;
use crate::daemon_start::ask_daemon_text;
use crate::invocation::ActionFlags;
use crate::progress_line::progress_line;
use crate::result_table::ResultTable;
use crate::session_flags::SessionFlags;
use crate::spinner::spin_with;

/// How long an action may take when the caller says nothing, as the daemon counts it.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long a person has to answer whether something may be done.
const APPROVAL: Duration = Duration::from_secs(60);

/// Asks for one action and tells the user what the daemon wants known.
pub(crate) fn ask_action(
    context: &Context<'_>,
    name: &str,
    label: &str,
    request: ActionRequest,
) -> Result<ActionAnswer, Failure> {
    let answer = request_action(context, name, label, request)?;
    let answer: ActionAnswer = serde_json::from_str(&answer).map_err(|error| unreadable(&error))?;
    tell_notices(context, &answer.notices);
    if let Some(recovery) = &answer.recovery {
        tell_recovery(context, recovery);
    }
    Ok(answer)
}

/// Asks for one action; gives the answer as the text it came as.
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
        defaults: context.configuration.session_defaults()?,
        base_url: context.base_url.clone(),
        default_base_url: context.configuration.text(Key::BaseUrl).map(|set| set.value.to_owned()),
        client: context.client.clone(),
        timeout_ms,
        roots: absolute_roots(&context.roots)?,
        // Without one, relative paths are refused with what to do.
        working_directory: std::env::current_dir().ok(),
        ..request
    };
    warn_of_open(context, &request.options, &request.defaults);
    let is_guarded = request.options.policy.or(request.defaults.policy) == Some(PolicyProfile::Guarded);
    // Somebody may have to be asked first.
    let asking = if is_guarded { APPROVAL } else { Duration::ZERO };
    let timeout = context.timeout.unwrap_or(PATIENCE).saturating_add(asking);
    let path = format!("/v1/actions/{name}");
    let look = || progress_line(context.environment, &context.key());
    spin_with(label, context.printer.shows_progress(), look, || {
        ask_daemon_text(context.environment, "POST", &path, Some(&json!(request)), timeout)
    })
}

/// Says what the daemon wants known.
pub(super) fn tell_notices(context: &Context<'_>, notices: &[String]) {
    for notice in notices {
        context.printer.notice(notice);
    }
}

/// Says loudly that somebody chose to be unguarded where guarded is usual.
pub(crate) fn warn_of_open(context: &Context<'_>, asked: &SessionOptions, usual: &SessionOptions) {
    let is_open = asked.policy == Some(PolicyProfile::Open);
    if is_open && usual.policy == Some(PolicyProfile::Guarded) {
        context.printer.warning(
            "POLICY OPEN: this session reads and does everything that was not denied, although guarded is configured.",
        );
    }
}

/// Says what came back of a browser that was gone.
fn tell_recovery(context: &Context<'_>, recovery: &Recovery) {
    let tabs = match recovery.tabs.len() {
        0 => "no tabs were open".to_owned(),
        1 => "its tab was opened again".to_owned(),
        count => format!("its {count} tabs were opened again"),
    };
    let reason = &recovery.reason;
    context
        .printer
        .notice(&format!("The session's browser was gone ({reason}); a new one was started and {tabs}."));
    for lost in &recovery.lost {
        context.printer.notice(&format!("lost: {lost}"));
    }
}

/// Directories as they are seen from here, not from the daemon.
pub(super) fn absolute_roots(roots: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let absolute = roots.iter().map(std::path::absolute).collect::<Result<_, _>>();
    absolute.map_err(|error| {
        let message = format!("The directory given with --root cannot be found: {error}.");
        Failure::new(tabwire_wire::ErrorCode::BadArgs, message)
    })
}

pub(crate) fn unreadable(error: &serde_json::Error) -> Failure {
    Failure::new(
        tabwire_wire::ErrorCode::Internal,
        format!("The daemon's answer is not understood: {error}."),
    )
    .with_hint("The daemon may be of another version; run `tabwire daemon stop`.")
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
    let layout = ResultTable::find(definition.name, &params).filter(|_| context.printer.is_for_people());
    let text = !context.printer.is_json() && layout.is_none();
    let raw = context.printer.is_raw();
    let (restart, options) = (options.restart, options.into_options()?);
    let is_captured = context.configuration.switch(Key::Capture).is_some_and(|set| set.value);
    let ActionFlags { tab, pin_tab, .. } = *flags;
    let capture = flags.capture || is_captured;
    let request = ActionRequest {
        params,
        tab,
        snapshot,
        capture,
        text,
        raw,
        options,
        restart,
        pin_tab,
        ..ActionRequest::default()
    };
    let answer = ask_action(context, definition.name, &definition.command_name(), request)?;
    context.printer.answer(&answer, || match layout {
        Some(layout) => layout.lay_out(&answer.result),
        None => answer.text.clone().unwrap_or_default(),
    });
    Ok(())
}

pub(crate) fn open(
    context: &Context<'_>,
    params: Value,
    capture: bool,
    options: SessionOptions,
    restart: bool,
) -> Result<(), Failure> {
    let request = ActionRequest { params, capture, options, restart, ..ActionRequest::default() };
    let answer = ask_action(context, "open", "opening the page", request)?;
    context.printer.answer(&answer, || {
        let result = &answer.result;
        if context.printer.is_raw() {
            return text(result, "tab").to_owned();
        }
        let mut lines = vec![format!("{}  {}", text(result, "tab"), line_address(text(result, "url")))];
        let outline = page_outline(text(result, "title"), text(result, "text"));
        lines.extend((!outline.is_empty()).then_some(outline));
        if result.get("truncated").and_then(Value::as_bool) == Some(true) {
            lines.push("… (cut; see what can be done with `tabwire snapshot`)".to_owned());
        }
        lines.join("\n")
    });
    Ok(())
}

pub(super) fn close(context: &Context<'_>, params: Value) -> Result<(), Failure> {
    let request = ActionRequest { params, ..ActionRequest::default() };
    let answer = ask_action(context, "close", "closing", request)?;
    context.printer.answer(&answer, || {
        let result = &answer.result;
        match text(result, "tab") {
            "" => format!("Session {} is closed; its browser: {}.", answer.session, text(result, "browser")),
            tab => format!("Tab {tab} is closed."),
        }
    });
    Ok(())
}
