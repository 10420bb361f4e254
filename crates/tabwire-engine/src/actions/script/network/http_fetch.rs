//! `http_fetch`: a request of a script, with the cookies of the browser. The policy judges its URL and every redirect.

use std::net::{IpAddr, Ipv4Addr};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure};
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::browser::fetch_tab::{FetchRequest, FetchResponse, FetchTab};
use crate::feed::header_pairs;
use crate::frames::policy::FramePolicy;
use crate::network::{HeaderList, is_header_name, mask_body, origin_of};
use crate::page::Page;

/// Largest body, in both directions.
const BODY_BYTES: usize = 10 * 1024 * 1024;

/// Redirects that are followed by default.
const REDIRECTS: u32 = 20;

/// Headers that only the browser sets.
const OWN_HEADERS: [&str; 6] = ["host", "content-length", "connection", "cookie", "transfer-encoding", "te"];

/// Send a request with the browser's cookies.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct HttpFetch {
    /// The URL.
    #[schemars(extend("x-carries" = "url"))]
    url: String,
    /// The method; GET by default.
    #[arg(long)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text", "x-log" = "keyword"))]
    method: Option<String>,
    /// Headers, as `Name: value`.
    #[arg(long)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-carries" = "text"))]
    headers: Vec<String>,
    /// The body in base64.
    #[arg(long)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text"))]
    body: Option<String>,
    /// How many redirects are followed; 20 by default.
    #[arg(long)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_redirects: Option<u32>,
}

/// A response.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct HttpFetchResult {
    /// Its URL, after redirects.
    url: String,
    /// Its status.
    status: u16,
    /// The text of its status.
    status_text: String,
    /// Its headers.
    headers: Value,
    /// Its body in base64.
    body: String,
}

impl Action for HttpFetch {
    const NAME: &'static str = "http_fetch";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] = &[];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Execute);
    type Output = HttpFetchResult;

    fn needs(&self) -> Needs {
        let characters = self.body.as_ref().map_or(0, |body| body.len() / 4 * 3)
            + self.headers.iter().map(String::len).sum::<usize>();
        let capability = if self.is_read() { Capability::Read } else { Capability::Act };
        Needs::nothing().at(capability, web_url(&self.url).ok()).exchanging(characters)
    }

    async fn run(self, context: &Context) -> Result<HttpFetchResult, Failure> {
        let mut request = self.to_request()?;
        let page = context.tab_page().await?;
        let jar = context.browser.context_of(page.target());
        let mut tab = FetchTab::open(&context.browser, jar.as_ref(), context.deadline).await?;
        let most = self.max_redirects.unwrap_or(REDIRECTS);
        for followed in 0..=most {
            let response = tab.send(&request, context.deadline).await?;
            let policy = page.session().policy();
            check_address(policy, &request.url, &response)?;
            let next = (most > 0).then(|| redirect(&request, &response)).flatten();
            let Some(next) = next else { return Ok(result(context, &page, request.url, response)) };
            if followed == most {
                break;
            }
            check_redirect(context, policy, &request, &next)?;
            request = next;
        }
        Err(Failure::new(ErrorCode::CdpError, format!("Max redirect count exceeded: {most}")))
    }
}

impl HttpFetch {
    fn method(&self) -> String {
        self.method.as_deref().unwrap_or("GET").to_ascii_uppercase()
    }

    fn is_read(&self) -> bool {
        matches!(self.method().as_str(), "GET" | "HEAD")
    }

    fn to_request(&self) -> Result<FetchRequest, Failure> {
        let bad = |message: &str| Failure::new(ErrorCode::BadArgs, message);
        if !is_header_name(&self.method()) {
            return Err(bad("The method has invalid characters."));
        }
        let mut headers = HeaderList::parse(&self.headers)?;
        for name in OWN_HEADERS {
            headers.remove(name);
        }
        let body = self.body.as_ref().map(|body| BASE64_STANDARD.decode(body)).transpose();
        let body = body.map_err(|_| bad("`body` is not base64."))?;
        if body.as_ref().is_some_and(|body| body.len() > BODY_BYTES) {
            return Err(bad("The body is larger than 10 MiB."));
        }
        Ok(FetchRequest { url: web_url(&self.url)?, method: self.method(), headers, body })
    }
}

/// A URL of the web.
fn web_url(text: &str) -> Result<String, Failure> {
    let parsed = url::Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    parsed.map(String::from).ok_or_else(|| {
        Failure::new(ErrorCode::BadArgs, "The URL is not a whole http or https URL.")
            .with_remedy("Requests of scripts go to http and https only.")
    })
}

/// Judges a name that leads to a private address, as navigations are judged.
fn check_address(policy: &FramePolicy, url: &str, response: &FetchResponse) -> Result<(), Failure> {
    let reached = match response.address_space.as_str() {
        "Local" | "Private" => Ipv4Addr::new(10, 0, 0, 1),
        "Loopback" => Ipv4Addr::LOCALHOST,
        _ => return Ok(()),
    };
    policy.check_reached(url, IpAddr::V4(reached), Capability::Read)
}

/// The next request after a redirect, as browsers make it.
fn redirect(request: &FetchRequest, response: &FetchResponse) -> Option<FetchRequest> {
    if !matches!(response.status, 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let to = url::Url::parse(&request.url).ok()?.join(response.headers.find("location")?).ok()?;
    let mut next = FetchRequest { url: to.into(), ..request.clone() };
    let becomes_get = matches!((response.status, request.method.as_str()), (301 | 302, "POST"))
        || response.status == 303 && request.method != "HEAD";
    if becomes_get {
        next.method = "GET".to_owned();
        next.body = None;
        for name in ["content-type", "content-encoding", "content-language", "content-location"] {
            next.headers.remove(name);
        }
    }
    if origin_of(&next.url) != origin_of(&request.url) {
        next.headers.remove("authorization");
    }
    Some(next)
}

/// Judges a redirect before it is followed.
fn check_redirect(
    context: &Context,
    policy: &FramePolicy,
    request: &FetchRequest,
    next: &FetchRequest,
) -> Result<(), Failure> {
    web_url(&next.url)?;
    let is_read = matches!(next.method.as_str(), "GET" | "HEAD");
    policy.check(&next.url, if is_read { Capability::Read } else { Capability::Act })?;
    // The client's own policy is stricter than that of the session, which is all that is known here.
    if !context.is_filtered && origin_of(&next.url) != origin_of(&request.url) {
        let message =
            "The response redirects to another site, which the policy of this client does not allow.";
        return Err(Failure::new(ErrorCode::PolicyDenied, message)
            .with_remedy("Set `maxRedirects: 0` and request the new URL."));
    }
    Ok(())
}

fn result(context: &Context, page: &Page, url: String, response: FetchResponse) -> HttpFetchResult {
    let shows_secrets = context.is_filtered && page.session().policy().allows(&url, Capability::Eval);
    let content_type = response.headers.find("content-type").unwrap_or_default().to_owned();
    let (headers, body) = if shows_secrets {
        (response.headers, response.body)
    } else {
        let body = match String::from_utf8(response.body) {
            Ok(text) => mask_body(&text, &content_type).into_bytes(),
            Err(error) => error.into_bytes(),
        };
        (response.headers.masked(), body)
    };
    HttpFetchResult {
        url,
        status: response.status,
        status_text: response.status_text,
        headers: header_pairs(&headers),
        body: BASE64_STANDARD.encode(body),
    }
}

impl Render for HttpFetchResult {
    fn render(&self) -> String {
        json!({"url": self.url, "status": self.status}).to_string()
    }
}
