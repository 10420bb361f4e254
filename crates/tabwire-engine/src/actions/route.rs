//! `route`: aborts, fulfils or changes requests of a tab.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_policy::{Capability, Needs, Scope};

use crate::action::context::Context;
use crate::action::{Action, Effect, Example, ToolGroup, ToolOptions};
use crate::limits::{ROUTE_BODY_BYTES, ROUTES};
use crate::network::{
    AbortReason, Change, HeaderList, ListedRoute, MockResponse, ResourceKind, Route as Rule, RouteEffect,
    RouteList, UrlGlob, is_header_name, origin_of,
};
use crate::page::Page;
use crate::url::checked_url;

/// Abort, fulfil or change requests of the tab, by URL and kind; without a URL, list the routes.
///
/// Choose one: --abort, a response (--status, --header, --body, --body-file), or a change of the request (--to-url,
/// --to-method, --set-header, --remove-header, --post-data). Routes hold for all frames, survive navigation, and end
/// with `unroute` or the tab. The newest matching route applies. A tab with routes does not use the cache.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema, clap::Args)]
#[serde(default)]
pub(crate) struct Route {
    /// URLs that contain this, or match it as a glob: `*` stands for anything, slashes too (/api/*.json).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "pattern"))]
    url: Option<String>,
    /// Only this kind of request; may be repeated.
    #[arg(long = "type", value_enum, value_name = "KIND")]
    #[serde(rename = "type", skip_serializing_if = "Vec::is_empty")]
    kinds: Vec<ResourceKind>,
    /// The maximum number of requests it applies to.
    #[arg(long, value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    times: Option<u32>,
    /// Fail the request with this reason.
    #[arg(long, value_enum, value_name = "REASON", num_args = 0..=1, default_missing_value = "blocked")]
    #[serde(skip_serializing_if = "Option::is_none")]
    abort: Option<AbortReason>,
    /// Respond with this status; 200 by default.
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    /// Respond with this header, `Name: value`; may be repeated.
    #[arg(long = "header", value_name = "HEADER")]
    #[serde(rename = "header", skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-carries" = "response"))]
    headers: Vec<String>,
    /// Respond with this text.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "response"))]
    body: Option<String>,
    /// Respond with the current content of this file.
    #[arg(long, value_name = "PATH")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "file_given"))]
    body_file: Option<PathBuf>,
    /// Send the request to this URL. The page sees the original URL.
    #[arg(long, value_name = "URL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "url"))]
    to_url: Option<String>,
    /// Send it with this method.
    #[arg(long, value_name = "METHOD")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "request", "x-log" = "keyword"))]
    to_method: Option<String>,
    /// Send it with this header, `Name: value`; may be repeated.
    #[arg(long = "set-header", value_name = "HEADER")]
    #[serde(rename = "set_header", skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-carries" = "request"))]
    set_headers: Vec<String>,
    /// Send it without this header; may be repeated.
    #[arg(long = "remove-header", value_name = "NAME")]
    #[serde(rename = "remove_header", skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-carries" = "request"))]
    remove_headers: Vec<String>,
    /// Send this text in place of its body.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "request"))]
    post_data: Option<String>,
}

impl Action for Route {
    const NAME: &'static str = "route";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] = &[
        Example::new(
            "tabwire route '*/api/user' --body '{\"name\": \"Anna\"}'",
            "Respond to a request instead of the server.",
        ),
        Example::new("tabwire route --type image --abort blocked", "Block all images."),
        Example::new("tabwire route", "List the routes."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Network);
    type Output = RouteList;

    fn needs(&self) -> Needs {
        // A mocked document or script is code of the caller, which needs `eval`. The policy also checks the origin of
        // each intercepted request.
        let lists = self.abort.is_none() && !self.fulfils() && !self.changes();
        let to_url = self.to_url.as_deref().and_then(|url| checked_url(url).ok());
        Needs::tab(if lists { Capability::Read } else { Capability::Act })
            .and_if(self.fulfils() || self.changes(), Capability::Eval, Scope::Page)
            .and_if(self.body_file.is_some(), Capability::Upload, Scope::Page)
            .at(Capability::Act, to_url)
    }

    async fn run(self, context: &Context) -> Result<RouteList, Failure> {
        let rule = self.to_rule(context)?;
        let page = context.page().await?;
        let Some(rule) = rule else {
            return page.unless_blocked(async { Ok(list(&page, None)) }).await;
        };
        let number = {
            let mut settings = page.network().settings();
            if settings.routes.len() >= ROUTES {
                let message = format!("The tab has {ROUTES} routes, which is the maximum.");
                return Err(Failure::new(ErrorCode::Backpressure, message)
                    .with_remedy(Remedy::new("Remove some with {}.", [Step::action("unroute")])));
            }
            settings.routes.add(rule)
        };
        if let Err(failure) = page.apply_interception(context.deadline).await {
            page.network().settings().routes.take(|route| route.number == number);
            return Err(failure);
        }
        Ok(list(&page, Some(number)))
    }
}

fn list(page: &Page, added: Option<u32>) -> RouteList {
    let settings = page.network().settings();
    RouteList { added, removed: Vec::new(), routes: settings.routes.iter().map(ListedRoute::from).collect() }
}

fn bad(message: &str) -> Failure {
    Failure::new(ErrorCode::BadArgs, message).with_remedy(Remedy::new("See {}.", [Step::usage("route")]))
}

impl Route {
    fn fulfils(&self) -> bool {
        self.status.is_some() || !self.headers.is_empty() || self.body.is_some() || self.body_file.is_some()
    }

    fn changes(&self) -> bool {
        let has_headers = !self.set_headers.is_empty() || !self.remove_headers.is_empty();
        has_headers || self.to_url.is_some() || self.to_method.is_some() || self.post_data.is_some()
    }

    /// The requested rule; none if the request is to list the rules.
    fn to_rule(&self, context: &Context) -> Result<Option<Rule>, Failure> {
        let kinds = [self.abort.is_some(), self.fulfils(), self.changes()];
        let asked = kinds.iter().filter(|kind| **kind).count();
        let Some(url) = &self.url else {
            let is_bare = asked == 0 && self.kinds.is_empty() && self.times.is_none();
            return if is_bare {
                Ok(None)
            } else {
                Err(bad("A route needs a URL pattern; `*` matches all."))
            };
        };
        let effect = match (asked, self.abort) {
            (1, Some(reason)) => RouteEffect::Abort(reason),
            (1, None) if self.fulfils() => RouteEffect::Fulfil(self.to_response(context)?),
            (1, None) => RouteEffect::Rewrite(self.to_change()?),
            (0, _) => {
                return Err(bad("The route neither aborts, fulfils nor changes requests."));
            }
            _ => {
                return Err(bad("Aborting, fulfilling and changing a request exclude each other."));
            }
        };
        if self.times == Some(0) {
            return Err(bad("`times` must be at least 1."));
        }
        let glob = UrlGlob::parse(url)?;
        Ok(Some(Rule {
            number: 0,
            glob,
            kinds: self.kinds.clone(),
            effect,
            times: self.times,
            hits: 0,
            refused: 0,
        }))
    }

    fn to_response(&self, context: &Context) -> Result<MockResponse, Failure> {
        let status = self.status.unwrap_or(200);
        if !(200..=599).contains(&status) {
            return Err(bad("`status` must be 200 to 599."));
        }
        let body = match (&self.body, &self.body_file) {
            (Some(_), Some(_)) => return Err(bad("`body` and `body_file` exclude each other.")),
            (Some(text), None) => text.clone().into_bytes(),
            (None, Some(path)) => context.files.read(path)?,
            (None, None) => Vec::new(),
        };
        if body.len() > ROUTE_BODY_BYTES {
            return Err(bad("The body is larger than 16 MiB, the maximum for a route."));
        }
        let mut headers = HeaderList::parse(&self.headers)?;
        if headers.find("content-type").is_none() {
            let path =
                self.body_file.as_ref().and_then(|path| path.extension()).and_then(|ending| ending.to_str());
            headers.push("content-type", content_type_of(path.unwrap_or_default(), &body));
        }
        Ok(MockResponse { status, headers, body })
    }

    fn to_change(&self) -> Result<Change, Failure> {
        let is_name = |name: &String| is_header_name(name);
        if !self.remove_headers.iter().all(is_name) || !self.to_method.iter().all(is_name) {
            return Err(bad("The method or a header name has invalid characters."));
        }
        let url = self.to_url.as_deref().map(checked_url).transpose()?;
        if url.as_ref().is_some_and(|url| !url.starts_with("http") || !has_host(url)) {
            return Err(bad("`to_url` must be an http or https URL."));
        }
        Ok(Change {
            url,
            method: self.to_method.as_ref().map(|method| method.to_ascii_uppercase()),
            set_headers: HeaderList::parse(&self.set_headers)?,
            remove_headers: self.remove_headers.clone(),
            post_data: self.post_data.clone().map(String::into_bytes),
        })
    }
}

/// Whether a URL has a valid host.
fn has_host(url: &str) -> bool {
    let Some(origin) = origin_of(url) else { return false };
    let host = origin.split_once("://").map_or("", |(_, host)| host);
    let is_plain = |letter: char| letter.is_alphanumeric() || ".-_:".contains(letter);
    (host.starts_with('[') && host.contains(']')) || host.chars().all(is_plain)
}

/// The content type of a response without a content-type header.
fn content_type_of(extension: &str, body: &[u8]) -> &'static str {
    match extension.to_ascii_lowercase().as_str() {
        "html" | "htm" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "webp" => "image/webp",
        "gif" => "image/gif",
        _ if body.first().is_some_and(|first| b"{[".contains(first)) => "application/json",
        _ if body.first() == Some(&b'<') => "text/html; charset=utf-8",
        _ if std::str::from_utf8(body).is_ok() => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
