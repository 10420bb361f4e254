//! `login`: fills in a saved login and submits it. No result, log line or error contains the password.

use std::time::{Duration, SystemTime};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_policy::Needs;
use tokio::time::Instant;

use crate::action::context::Context;
use crate::action::result::Changes;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::actions::{click_element, submit_form};
use crate::browser::visited_origins::origin_of;
use crate::input::element::ResolvedTarget;
use crate::input::mouse::Click;
use crate::page::Page;
use crate::page::navigation::LoadState;
use crate::secrets::fill::find_login;
use crate::secrets::login::SavedLogin;
use crate::secrets::redaction::Redaction;
use crate::settle::InputAction;
use crate::snapshot::{DocumentName, ElementKey, line_address};
use tabwire_secrets::Passphrase;
use tabwire_secrets::totp_code;

/// Interval of checks for login fields.
const LOGIN_INTERVAL: Duration = Duration::from_millis(50);

/// How long a page may take to show its login fields. Many pages render them late.
const LOGIN_FIELDS_DEADLINE: Duration = Duration::from_secs(5);

/// Log in with a login that `tabwire auth save` saved.
///
/// Opens the login page unless the tab shows a login form of its origin. Fills in and submits the name and the
/// password, then a TOTP code if the page requests one. Only the saved origin receives them. They are never shown.
// No `Debug`: it may hold a passphrase.
#[derive(Clone, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Login {
    /// The saved login's name.
    #[schemars(extend("x-carries" = "text", "x-log" = "keyword"))]
    name: String,
    /// A file whose first line is the passphrase of the saved logins, if they have one.
    #[arg(long, value_name = "FILE")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "file_read", "x-log" = "hidden"))]
    passphrase_file: Option<String>,
    /// The passphrase itself. A terminal prompts for it; a file keeps it out of shell histories.
    #[arg(skip)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text", "x-secret" = "secret"))]
    passphrase: Option<String>,
}

/// The result of a login, as far as the page shows.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct LoginResult {
    /// The login.
    name: String,
    /// The origin that received it.
    origin: String,
    /// The user name.
    username: String,
    /// What was filled in, in order: `name`, `password`, `code`.
    filled: Vec<String>,
    /// The tab's URL now.
    url: String,
    /// Whether the page shows a password field again, as after a wrong password.
    asks_again: bool,
}

/// The fields that the page agent filled in.
#[derive(Deserialize)]
struct LoginStep {
    filled: Vec<String>,
    document: DocumentName,
    key: ElementKey,
    submit: Option<ElementKey>,
}

impl Action for Login {
    const NAME: &'static str = "login";
    const EFFECT: Effect = Effect::Navigate;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire login shop", "Log in with the login that `tabwire auth save shop` saved."),
        Example::new(
            "tabwire login shop --passphrase-file key.txt",
            "The same with logins that are encrypted with a passphrase.",
        ),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::State).hiding(&["passphrase"]);
    type Output = LoginResult;

    fn needs(&self) -> Needs {
        // The login store checks the policy for the saved origin before it returns the login.
        Needs::destination()
    }

    async fn run(self, context: &Context) -> Result<LoginResult, Failure> {
        let began = Instant::now();
        let login = self.find(context).await?;
        // The time that the login store takes does not count: it may wait for the user's approval.
        let context = &context.with_time_since(began);
        let page = open_form(context, &login).await?;
        let mut wanted = vec!["name", "password"];
        wanted.retain(|part| *part != "name" || !login.username.is_empty());
        let mut filled = Vec::new();
        // Name, password and code may be on separate pages.
        while !wanted.is_empty() {
            let is_first = filled.is_empty();
            let Some(step) = await_step(context, &page, &login, &wanted, is_first).await? else { break };
            wanted.retain(|part| !step.filled.iter().any(|done| done == part));
            send(context, &page, &step).await?;
            if step.filled.iter().any(|part| part == "password") {
                wanted = if login.totp_secret.is_some() { vec!["code"] } else { Vec::new() };
            }
            filled.extend(step.filled);
        }
        if !filled.iter().any(|part| part == "password") {
            return Err(no_form(&login, &filled));
        }
        describe_result(context, &page, &login, filled).await
    }
}

impl Login {
    async fn find(&self, context: &Context) -> Result<SavedLogin, Failure> {
        let passphrase = match (&self.passphrase_file, &self.passphrase) {
            (Some(path), _) => Some(Passphrase::from_file(&context.files.read(path.as_ref())?)?),
            (None, Some(text)) => Some(Passphrase::from_file(text.as_bytes())?),
            (None, None) => None,
        };
        find_login(context, &self.name, passphrase).await
    }
}

/// Opens the login page, unless the tab shows a password field of its origin.
async fn open_form(context: &Context, login: &SavedLogin) -> Result<Page, Failure> {
    let page = context.tab_page().await?;
    page.unless_blocked(async { Ok(()) }).await?;
    let here = page.session().readable_roots().into_iter().next().and_then(|main| origin_of(&main.url));
    let asks = here.as_ref() == Some(&login.origin)
        && page.call::<bool>("showsPasswordField", &json!({}), context.deadline).await.unwrap_or(false);
    if !asks {
        context.browser.navigate(&page, &login.url, LoadState::Load, context.deadline).await?;
    }
    Ok(page)
}

/// Waits for fields and fills them in; none if no field appears in time.
async fn await_step(
    context: &Context,
    page: &Page,
    login: &SavedLogin,
    wanted: &[&str],
    is_first: bool,
) -> Result<Option<LoginStep>, Failure> {
    let until = context.deadline.instant().min(Instant::now() + LOGIN_FIELDS_DEADLINE);
    loop {
        let code = match &login.totp_secret {
            Some(secret) if wanted.contains(&"code") => Some(totp_code(secret.expose(), now())?),
            _ => None,
        };
        let argument = json!({
            "origin": login.origin,
            "wanted": wanted,
            "name": login.username,
            "password": login.password.expose(),
            "code": code,
            "selectors": login.selectors,
        });
        let step: Result<Option<LoginStep>, Failure> = page.call("logIn", &argument, context.deadline).await;
        match step {
            // A page on another origin after a submit means that the login is over.
            Err(failure) if !is_first && failure.code == ErrorCode::PolicyDenied => {
                return if wanted.contains(&"password") { Err(failure) } else { Ok(None) };
            }
            Ok(None) if Instant::now() < until => tokio::time::sleep(LOGIN_INTERVAL).await,
            step => return step,
        }
    }
}

fn now() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

/// Submits the fields: with the saved selector's button, else the form's submit button, else the Enter key.
async fn send(context: &Context, page: &Page, step: &LoginStep) -> Result<Changes, Failure> {
    let at = |key: ElementKey| ResolvedTarget {
        frame: page.main_frame().clone(),
        spec: json!({"document": step.document, "key": key}),
        nth: None,
        guess: None,
    };
    if let Some(button) = step.submit {
        let action = InputAction::on(context, page);
        let button =
            page.prepare_resolved(&at(button), "click", json!({"guard": true}), context.deadline).await?;
        return click_element(action, &button, &Click::at(button.info.point)).await;
    }
    let resolved = at(step.key);
    let field = page.prepare_resolved(&resolved, "read", json!({}), context.deadline).await?;
    Ok(submit_form(context, page, &resolved, &field).await?.1)
}

async fn describe_result(
    context: &Context,
    page: &Page,
    login: &SavedLogin,
    filled: Vec<String>,
) -> Result<LoginResult, Failure> {
    let mut redaction = Redaction::default();
    login.add_secrets_to(&mut redaction);
    let place = page.info(context.deadline).await?;
    let asks = page.call::<bool>("showsPasswordField", &json!({}), context.deadline).await;
    Ok(LoginResult {
        name: login.name.clone(),
        origin: login.origin.clone(),
        username: login.username.clone(),
        filled,
        url: redaction.clean(&place.url),
        asks_again: asks.unwrap_or(false),
    })
}

fn no_form(login: &SavedLogin, filled: &[String]) -> Failure {
    let so_far = if filled.is_empty() { "Nothing" } else { "Only the name" };
    let message = format!("{} shows no password field. {so_far} was filled in.", login.origin);
    Failure::new(ErrorCode::SelectorNotFound, message).with_remedy(Remedy::new(
        "Check the page with {}. The user can save the login with the form's URL or a selector: {}.",
        [Step::action("snapshot"), Step::command("tabwire auth save --password-selector SELECTOR")],
    ))
}

impl Render for LoginResult {
    fn render(&self) -> String {
        let mut lines = vec![
            format!("filled in {} of {} at {}", self.filled.join(", "), self.username, self.origin),
            format!("now at {}", line_address(&self.url)),
        ];
        if self.asks_again {
            lines.push("The page shows a password field again: the password may be wrong.".to_owned());
        }
        lines.join("\n")
    }
}
