//! `route_decision` and `route_handlers`: a script decides about requests that the browser has paused for it.

use std::path::PathBuf;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::{ErrorCode, Failure};
use tabwire_policy::{Capability, Needs, Scope};

use crate::action::context::Context;
use crate::action::{Action, Effect, Example, ToolGroup, ToolOptions};
use crate::actions::script::Nothing;
use crate::feed::RouteDecision as Verdict;
use crate::limits::{ROUTE_BODY_BYTES, ROUTES};
use crate::network::{AbortReason, Change, HeaderList, MockResponse, is_header_name};
use crate::url::checked_url;

/// Decide about a paused request.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema, clap::Args)]
#[serde(default)]
pub(crate) struct RouteDecision {
    /// The number of the question.
    question: u64,
    /// What happens to the request.
    #[arg(value_enum)]
    decision: DecisionKind,
    /// How it fails.
    #[arg(long, value_enum)]
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<AbortReason>,
    /// The status of the response.
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    /// The headers of the response, or those that change, as `Name: value`.
    #[arg(long)]
    #[schemars(extend("x-carries" = "text"))]
    headers: Vec<String>,
    /// Names of request headers that are removed.
    #[arg(long)]
    #[schemars(extend("x-carries" = "text"))]
    remove_headers: Vec<String>,
    /// The body in base64.
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text"))]
    body: Option<String>,
    /// A file that is the body of the response.
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "file_given"))]
    path: Option<PathBuf>,
    /// The URL that the request is sent to.
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "url"))]
    url: Option<String>,
    /// The method of the request.
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text", "x-log" = "keyword"))]
    method: Option<String>,
}

/// What happens to a paused request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DecisionKind {
    /// It goes on as if there were no script.
    #[default]
    Pass,
    /// It fails.
    Abort,
    /// It gets a response of the script.
    Fulfill,
    /// It is changed and continues.
    Continue,
}

impl Action for RouteDecision {
    const NAME: &'static str = "route_decision";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] = &[];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Execute);
    type Output = Nothing;

    fn needs(&self) -> Needs {
        // The request is judged by its own URL and its document, when the script is asked and when its decision is applied.
        let url = self.url.as_deref().and_then(|url| checked_url(url).ok());
        Needs::nothing().and_if(self.path.is_some(), Capability::Upload, Scope::Page).at(Capability::Act, url)
    }

    async fn run(self, context: &Context) -> Result<Nothing, Failure> {
        let question = self.question;
        let verdict = self.to_verdict(context)?;
        if context.browser.feed().decide(question, verdict) {
            return Ok(Nothing {});
        }
        Err(Failure::new(ErrorCode::NotActionable, "Route is already handled!")
            .with_remedy("A request is decided about once, within 30 seconds."))
    }
}

fn bad(message: &str) -> Failure {
    Failure::new(ErrorCode::BadArgs, message)
}

impl RouteDecision {
    fn to_verdict(&self, context: &Context) -> Result<Verdict, Failure> {
        Ok(match self.decision {
            DecisionKind::Pass => Verdict::Pass,
            DecisionKind::Abort => Verdict::Abort(self.reason.unwrap_or(AbortReason::Failed)),
            DecisionKind::Fulfill => Verdict::Fulfil(MockResponse {
                status: self.status.unwrap_or(200),
                headers: HeaderList::parse(&self.headers)?,
                body: match &self.path {
                    Some(path) => context.files.read(path)?,
                    None => self.decoded()?.unwrap_or_default(),
                },
            }),
            DecisionKind::Continue => Verdict::Continue(self.to_change()?),
        })
    }

    fn decoded(&self) -> Result<Option<Vec<u8>>, Failure> {
        let Some(body) = &self.body else { return Ok(None) };
        let body = BASE64_STANDARD.decode(body).map_err(|_| bad("`body` is not base64."))?;
        if body.len() > ROUTE_BODY_BYTES {
            return Err(bad("The body is larger than 16 MiB."));
        }
        Ok(Some(body))
    }

    fn to_change(&self) -> Result<Change, Failure> {
        let is_name = |name: &String| is_header_name(name);
        if !self.remove_headers.iter().all(is_name) || !self.method.iter().all(is_name) {
            return Err(bad("The method or a header name has invalid characters."));
        }
        Ok(Change {
            url: self.url.as_deref().map(checked_url).transpose()?,
            method: self.method.clone(),
            set_headers: HeaderList::parse(&self.headers)?,
            remove_headers: self.remove_headers.clone(),
            post_data: self.decoded()?,
        })
    }
}

/// Ask the script about requests from now on.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema, clap::Args)]
#[serde(default)]
pub(crate) struct RouteHandlers {
    /// The URL patterns of the browser: `*` stands for anything. None ends it.
    #[schemars(extend("x-carries" = "pattern"))]
    patterns: Vec<String>,
    /// In all tabs, not only in this one.
    #[arg(long)]
    all: bool,
}

impl Action for RouteHandlers {
    const NAME: &'static str = "route_handlers";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] = &[];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Execute);
    type Output = Nothing;

    fn needs(&self) -> Needs {
        Needs::tab(Capability::Act)
    }

    async fn run(self, context: &Context) -> Result<Nothing, Failure> {
        if self.patterns.len() > ROUTES {
            return Err(bad(&format!("A script has at most {ROUTES} routes.")));
        }
        let page = context.tab_page().await?;
        // The caller has set the patterns of the script; here the browser gets them.
        let pages = if self.all { context.browser.attached_pages() } else { vec![page] };
        for page in pages {
            page.apply_interception(context.deadline).await?;
        }
        Ok(Nothing {})
    }
}
