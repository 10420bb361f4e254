//! `login`: fills in a login that was saved, and sends it. The password is never told, not even to whoever asks.

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
use crate::limits::{LOGIN_FIELDS_DEADLINE, LOGIN_LOOK};
use crate::page::Page;
use crate::page::navigation::LoadState;
use crate::secrets::fill::find_login;
use crate::secrets::login::SavedLogin;
use crate::secrets::redaction::Redaction;
use crate::settle::InputAction;
use crate::snapshot::{DocumentName, ElementKey, line_address};
use tabwire_secrets::Passphrase;
use tabwire_secrets::totp_code;

/// Log in with a login that `tabwire auth save` saved.
///
/// Opens the login's page unless the tab shows its origin with a form, fills in name and password, then a one-time code
/// if one is asked for, and sends each. Only the saved origin gets them. They are never shown.
// Not to be printed: it may hold a passphrase.
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
    /// The passphrase itself. A terminal is asked for it; a file keeps it out of histories.
    #[arg(skip)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text", "x-secret" = "secret"))]
    passphrase: Option<String>,
}

/// How a login went, as far as the page shows.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct LoggedIn {
    /// The login.
    name: String,
    /// Where it was filled in.
    origin: String,
    /// Who logs in.
    username: String,
    /// What was filled in, in order: `name`, `password`, `code`.
    filled: Vec<String>,
    /// Where the tab is now.
    url: String,
    /// Whether the page asks for a password again, as after a wrong one.
    asks_again: bool,
}

/// What the page agent has filled in.
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
        Example::new("tabwire login shop", "Log in with what `tabwire auth save shop` has saved."),
        Example::new(
            "tabwire login shop --passphrase-file key.txt",
            "The same, when a passphrase seals the logins.",
        ),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::State).hiding(&["passphrase"]);
    type Output = LoggedIn;

    fn needs(&self) -> Needs {
        // The keeper of saved logins judges the saved origin before it gives anything out.
        Needs::destination()
    }

    async fn run(self, context: &Context) -> Result<LoggedIn, Failure> {
        let began = Instant::now();
        let login = self.find(context).await?;
        // Whoever was asked for it took time of their own.
        let context = &context.with_time_since(began);
        let page = open_form(context, &login).await?;
        let mut wanted = vec!["name", "password"];
        wanted.retain(|part| *part != "name" || !login.username.is_empty());
        let mut filled = Vec::new();
        // Name, password and code may each be on a page of their own.
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
        tell(context, &page, &login, filled).await
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

/// Stays where a form for the login is, else goes to the login's page.
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

/// Fills in what the page asks for, once it does; none when it asks for nothing in time.
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
            // After a form was sent, being elsewhere is an end like any other.
            Err(failure) if !is_first && failure.code == ErrorCode::PolicyDenied => {
                return if wanted.contains(&"password") { Err(failure) } else { Ok(None) };
            }
            Ok(None) if Instant::now() < until => tokio::time::sleep(LOGIN_LOOK).await,
            step => return step,
        }
    }
}

fn now() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

/// Sends what was filled in: by the button that was named, else by the form's own, else by the Enter key.
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

async fn tell(
    context: &Context,
    page: &Page,
    login: &SavedLogin,
    filled: Vec<String>,
) -> Result<LoggedIn, Failure> {
    let mut redaction = Redaction::default();
    login.strike_from(&mut redaction);
    let place = page.info(context.deadline).await?;
    let asks = page.call::<bool>("showsPasswordField", &json!({}), context.deadline).await;
    Ok(LoggedIn {
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
    let message = format!("{} shows no field for a password. {so_far} was filled in.", login.origin);
    Failure::new(ErrorCode::SelectorNotFound, message).with_remedy(Remedy::new(
        "Check the page with {}. The user can save the login with the form's URL or a selector: {}.",
        [Step::action("snapshot"), Step::command("tabwire auth save --password-selector SELECTOR")],
    ))
}

impl Render for LoggedIn {
    fn render(&self) -> String {
        let mut lines = vec![
            format!("filled in {} of {} at {}", self.filled.join(", "), self.username, self.origin),
            format!("now at {}", line_address(&self.url)),
        ];
        if self.asks_again {
            lines.push("The page asks for a password again: it may not have taken this one.".to_owned());
        }
        lines.join("\n")
    }
}
