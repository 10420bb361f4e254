//! `request_facts`: headers or a body of a request that a script saw in an event.

use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure};
use tabwire_cdp::CdpError;
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::feed::{header_pairs, request_facts, response_facts};
use crate::network::{
    Body, HeaderList, Outcome, RequestEntry, check_request, fetch_body, fetch_sent, judged_urls, mask_body,
};
use crate::page::Page;

/// How often a response is checked for its end.
const INTERVAL: Duration = Duration::from_millis(10);

/// Largest body.
const BODY_BYTES: usize = 10 * 1024 * 1024;

/// Read a part of a request.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct RequestFacts {
    /// The number of the request; 0 for the last navigation of the page.
    number: u64,
    /// The part.
    #[arg(value_enum)]
    part: RequestPart,
}

/// A part of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RequestPart {
    /// The headers as they were sent and received, and the response.
    Headers,
    /// The body that was sent.
    RequestBody,
    /// The body that was received. Waits until it is complete.
    ResponseBody,
    /// Nothing but the end. Waits for it.
    End,
}

/// A part of a request.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub(crate) struct RequestFactsResult {
    /// The request.
    request: Option<Value>,
    /// The request headers.
    request_headers: Value,
    /// The response, with its headers; none before it has begun.
    response: Option<Value>,
    /// The body in base64.
    body: Option<String>,
    /// Why the request failed.
    error: Option<String>,
    /// Bytes that were received, with headers.
    bytes: u64,
}

impl Action for RequestFacts {
    const NAME: &'static str = "request_facts";
    const EFFECT: Effect = Effect::Read;
    const EXAMPLES: &'static [Example] = &[];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Execute);
    type Output = RequestFactsResult;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Read).showing_past()
    }

    async fn run(self, context: &Context) -> Result<RequestFactsResult, Failure> {
        let page = context.tab_page().await?;
        page.sync_events().await;
        let entry = self.wait(&page, context).await?;
        let policy = page.network().policy();
        check_request(&page.network().log(), &entry, policy, Capability::Read)?;
        // A client that may run scripts on the sites can read all of this anyway.
        let shows_secrets = context.is_filtered
            && (policy.is_idle()
                || judged_urls(&entry).iter().all(|url| policy.allows(url, Capability::Eval)));
        let list = |headers: &HeaderList| {
            if shows_secrets { header_pairs(headers) } else { header_pairs(&headers.masked()) }
        };
        let body = match self.part {
            RequestPart::Headers | RequestPart::End => None,
            RequestPart::RequestBody => {
                fetch_sent(&entry, context.deadline).await.map_err(CdpError::into_failure)?.map(Body::Text)
            }
            RequestPart::ResponseBody => Some(response_body(&entry, context).await?),
        };
        let mut response = entry.response.as_ref().map(|_| response_facts(&entry));
        if let (Some(response), Some(head)) = (&mut response, &entry.response) {
            response["headers"] = list(&head.headers);
        }
        let mut request = request_facts(&entry, None);
        request["headers"] = list(&entry.headers);
        if !shows_secrets {
            request["post_data"] = Value::Null;
            request["post_bytes"] = Value::Null;
        }
        Ok(RequestFactsResult {
            request: Some(request),
            request_headers: list(&entry.headers),
            response,
            body: body.map(|body| encode(body, shows_secrets, entry.content_type())).transpose()?,
            error: match &entry.outcome {
                Outcome::Failed(error) => Some(error.clone()),
                _ => None,
            },
            bytes: entry.bytes,
        })
    }
}

impl RequestFacts {
    fn find(&self, page: &Page) -> Result<RequestEntry, Failure> {
        let log = page.network().log();
        let main = page.main_frame().as_str();
        let is_last = |entry: &&RequestEntry| entry.is_navigation && entry.frame == main;
        let found = match self.number {
            0 => log.since(0).filter(is_last).last(),
            number => log.find(number),
        };
        found.cloned().ok_or_else(|| {
            Failure::new(ErrorCode::BadArgs, "The request is no longer known.")
                .with_remedy("Read requests soon after their event; only the newest are kept.")
        })
    }

    /// The request, once the part that is asked for is there.
    async fn wait(&self, page: &Page, context: &Context) -> Result<RequestEntry, Failure> {
        loop {
            let entry = self.find(page)?;
            let waits = matches!(self.part, RequestPart::ResponseBody | RequestPart::End)
                && entry.outcome == Outcome::UnderWay;
            if !waits {
                return Ok(entry);
            }
            if tokio::time::Instant::now() >= context.deadline.instant() || page.is_gone() {
                return Err(Failure::new(ErrorCode::Timeout, "The response did not end in time."));
            }
            tokio::time::sleep(INTERVAL).await;
        }
    }
}

async fn response_body(entry: &RequestEntry, context: &Context) -> Result<Body, Failure> {
    if entry.outcome == Outcome::Redirected {
        return Err(Failure::new(ErrorCode::BadArgs, "Response body is unavailable for redirect responses"));
    }
    fetch_body(entry, context.deadline).await.map_err(|error| match error {
        CdpError::Protocol { .. } => Failure::new(
            ErrorCode::NotActionable,
            "The browser no longer has the body of the response; the page may have navigated away.",
        )
        .with_remedy("Read it before the page navigates."),
        error => error.into_failure(),
    })
}

fn encode(body: Body, shows_secrets: bool, content_type: &str) -> Result<String, Failure> {
    let bytes = match body {
        Body::Text(text) if !shows_secrets => mask_body(&text, content_type).into_bytes(),
        Body::Text(text) => text.into_bytes(),
        Body::Bytes(bytes) => bytes,
    };
    if bytes.len() > BODY_BYTES {
        let message = format!("The body is larger than {BODY_BYTES} bytes.");
        return Err(Failure::new(ErrorCode::BadArgs, message)
            .with_remedy("Save it with `tabwire.request({ number, save: ['response-body'] })`."));
    }
    Ok(BASE64_STANDARD.encode(bytes))
}

impl Render for RequestFactsResult {
    fn render(&self) -> String {
        json!(self).to_string()
    }
}
