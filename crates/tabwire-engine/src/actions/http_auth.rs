//! `http_auth`: sets the credentials for HTTP authentication.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_policy::{Capability, Needs, Scope};

use crate::action::context::Context;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::network::{Credentials, origin_of};

/// Set the user name and password for HTTP authentication.
///
/// Only one origin receives them: the given one, else that of the tab's page, else the first page that requests them.
/// The password is never shown.
// No `Debug`: it holds a password.
#[derive(Clone, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct HttpAuth {
    /// The user name; without one, show the user name and origin that are set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text"))]
    user: Option<String>,
    /// The password. --password-file keeps it out of process lists and shell histories.
    #[arg(long, allow_hyphen_values = true)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text", "x-secret" = "secret"))]
    password: Option<String>,
    /// A file whose first line is the password.
    #[arg(long, value_name = "PATH")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "file_given", "x-log" = "hidden"))]
    password_file: Option<PathBuf>,
    /// The origin that receives them: https://example.org.
    #[arg(long, value_name = "URL")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "origin"))]
    origin: Option<String>,
    /// Remove the credentials.
    #[arg(long)]
    #[serde(default)]
    clear: bool,
}

/// The credentials that are set, without the password.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct HttpAuthState {
    /// The user name; absent if no credentials are set.
    user: Option<String>,
    /// The only origin that receives them; absent until the first page requests them.
    origin: Option<String>,
}

impl Action for HttpAuth {
    const NAME: &'static str = "http_auth";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] = &[
        Example::new(
            "tabwire http-auth anna --password-file secret.txt --origin https://example.org",
            "Set the credentials for a site.",
        ),
        Example::new("tabwire http-auth --clear", "Remove the credentials."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Network);
    type Output = HttpAuthState;

    fn needs(&self) -> Needs {
        let scope = || self.origin.clone().map_or(Scope::Page, Scope::Url);
        let from_file = self.password_file.is_some();
        let gives = self.user.is_some() || self.origin.is_some() || from_file;
        Needs::tab(Capability::Act).and_if(gives, Capability::Act, scope()).and_if(
            from_file,
            Capability::Upload,
            scope(),
        )
    }

    async fn run(self, context: &Context) -> Result<HttpAuthState, Failure> {
        let password = self.read_password(context)?;
        let origin = self.read_origin()?;
        let page = context.page().await?;
        page.unless_blocked(async { Ok(()) }).await?;
        let is_change = self.user.is_some() || self.clear;
        if is_change {
            let here = || page.session().readable_roots().first().and_then(|frame| origin_of(&frame.url));
            let credentials = match (self.user, password) {
                (Some(user), Some(password)) => Some(Credentials::new(user, password, origin.or_else(here))),
                _ => None,
            };
            page.network().settings().credentials = credentials;
            page.apply_interception(context.deadline).await?;
        }
        let settings = page.network().settings();
        let credentials = settings.credentials.as_ref();
        Ok(HttpAuthState {
            user: credentials.map(|credentials| credentials.user.clone()),
            origin: credentials.and_then(|credentials| credentials.origin.clone()),
        })
    }
}

impl HttpAuth {
    fn read_password(&self, context: &Context) -> Result<Option<String>, Failure> {
        let bad = |message: &str| {
            Failure::new(ErrorCode::BadArgs, message).with_remedy(Remedy::new(
                "Give a user name and {}, or {} alone.",
                [Step::argument("password_file"), Step::argument("clear")],
            ))
        };
        let has_password = self.password.is_some() || self.password_file.is_some();
        match &self.user {
            None if has_password || self.origin.is_some() => {
                Err(bad("`password` and `origin` need a user name."))
            }
            Some(_) if self.clear => Err(bad("`clear` takes no user name.")),
            None => Ok(None),
            Some(user) if user.contains(':') || user.chars().any(char::is_control) => {
                Err(bad("A user name contains no colon or control characters."))
            }
            Some(_) => match (&self.password, &self.password_file) {
                (Some(password), None) => Ok(Some(password.clone())),
                (None, Some(path)) => {
                    let content = context.files.read(path)?;
                    let text = String::from_utf8(content)
                        .map_err(|_| bad("The password file is not UTF-8 text."))?;
                    Ok(Some(text.lines().next().unwrap_or_default().to_owned()))
                }
                (None, None) => Err(bad("A user name needs a password; it may be empty.")),
                (Some(_), Some(_)) => Err(bad("`password` and `password_file` exclude each other.")),
            },
        }
    }

    fn read_origin(&self) -> Result<Option<String>, Failure> {
        let Some(origin) = &self.origin else { return Ok(None) };
        match origin_of(origin) {
            Some(origin) => Ok(Some(origin)),
            None => Err(Failure::new(ErrorCode::BadArgs, "`origin` is not an http or https URL.")
                .with_remedy("Give scheme and host, e.g. https://example.org:8443.")),
        }
    }
}

impl Render for HttpAuthState {
    fn render(&self) -> String {
        match (&self.user, &self.origin) {
            (None, _) => "no credentials are set".to_owned(),
            (Some(user), Some(origin)) => format!("{user} for {origin}"),
            (Some(user), None) => format!("{user} for the first page that requests credentials"),
        }
    }
}
