//! `request`: shows one request in full, or saves parts of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_cdp::{CdpError, Deadline};
use tabwire_policy::{Capability, Needs, Scope};

use crate::action::context::Context;
use crate::action::output::OutputArguments;
use crate::action::{Action, Effect, Example, ToolGroup, ToolOptions};
use crate::files::FileKind;
use crate::network::{
    Body, FullRequest, HeaderList, ListedRequest, Message, Outcome, Part, RequestEntry, SavedPart, ShownBody,
    check_request, fetch_body, fetch_sent, mask_body, timings,
};
use crate::page::Page;

/// Show one request with its headers, bodies, timing and messages, or save parts of it to files.
///
/// Cookies, credentials and passwords are masked unless --show-secrets is given. A binary body goes to a file.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Request {
    /// Its number, as `requests` lists it.
    number: u64,
    /// Show cookies, Authorization headers, tokens and passwords unmasked.
    #[arg(long)]
    #[serde(default)]
    #[schemars(extend("x-secret" = "reveals"))]
    show_secrets: bool,
    /// Leave the bodies out.
    #[arg(long)]
    #[serde(default)]
    no_body: bool,
    /// A part to save to a file; may be repeated.
    #[arg(long, value_enum, value_name = "PART")]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    save: Vec<Part>,
    #[command(flatten)]
    #[serde(flatten)]
    output: OutputArguments,
}

/// The bodies of a request, as far as the browser still has them.
struct Bodies {
    sent: Option<Result<String, CdpError>>,
    received: Option<Result<Body, CdpError>>,
}

impl Action for Request {
    const NAME: &'static str = "request";
    const EFFECT: Effect = Effect::Read;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire request 12", "Show one request with headers, bodies and timing."),
        Example::new(
            "tabwire request 12 --save response-body --output response.json",
            "Save the response body.",
        ),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Network).hiding(&["force"]).with_timeout();
    type Output = FullRequest;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Read)
            .showing_past()
            .and_if(self.show_secrets, Capability::Eval, Scope::Page)
            .and_if(!self.save.is_empty() || self.output.is_some(), Capability::Download, Scope::Page)
    }

    async fn run(mut self, context: &Context) -> Result<FullRequest, Failure> {
        if self.output.is_some() && self.save.len() != 1 {
            return Err(Failure::new(ErrorCode::BadArgs, "`output` is for exactly one part.").with_remedy(
                Remedy::new("Name the part: {}.", [Step::argument_value("save", "response-body")]),
            ));
        }
        let page = context.page().await?;
        page.sync_events().await;
        page.unless_blocked(async { Ok(()) }).await?;
        let entry = find(&page, self.number)?;
        self.hide_secrets(context, &page, &entry);
        let wants_sent = !self.no_body || self.save.contains(&Part::RequestBody);
        let wants_received = !self.no_body || self.save.contains(&Part::ResponseBody);
        let fetched = fetch_bodies(&entry, wants_sent, wants_received, context.deadline);
        let bodies = page.unless_blocked(async { Ok(fetched.await) }).await?;
        let mut full = self.describe(&entry, &bodies);
        for part in &self.save {
            let content = self.content_of(*part, &entry, &full, &bodies)?;
            full.saved.push(self.write(context, *part, &entry, &content)?);
        }
        let is_binary = matches!(&bodies.received, Some(Ok(Body::Bytes(_))));
        if let (true, false, Some(Ok(body))) =
            (is_binary && !self.no_body, self.save.contains(&Part::ResponseBody), &bodies.received)
        {
            full.saved.push(self.write(context, Part::ResponseBody, &entry, body.as_bytes())?);
        }
        Ok(full)
    }
}

fn find(page: &Page, number: u64) -> Result<RequestEntry, Failure> {
    let log = page.network().log();
    let found = log.find(number).cloned().ok_or_else(|| {
        let message = if number > 0 && number <= log.forgotten() {
            format!("Request {number} is no longer kept.")
        } else {
            format!("The page has made no request {number}.")
        };
        Failure::new(ErrorCode::BadArgs, message)
            .with_remedy(Remedy::new("Run {} for the numbers.", [Step::action("requests").with("all", true)]))
    })?;
    check_request(&log, &found, page.network().policy(), Capability::Read)?;
    Ok(found)
}

async fn fetch_bodies(entry: &RequestEntry, sent: bool, received: bool, deadline: Deadline) -> Bodies {
    let is_whole = entry.outcome == Outcome::Done && entry.message_count == 0;
    let sent = if sent && entry.has_post_data { fetch_sent(entry, deadline).await.transpose() } else { None };
    let received = if received && is_whole { Some(fetch_body(entry, deadline).await) } else { None };
    Bodies { sent, received }
}

impl Request {
    /// Masks secrets in spite of `show_secrets` where the site lacks `eval`.
    fn hide_secrets(&mut self, context: &Context, page: &Page, entry: &RequestEntry) {
        if !self.show_secrets {
            return;
        }
        let (log, policy) = (page.network().log(), page.network().policy());
        if let Err(failure) = check_request(&log, entry, policy, Capability::Eval) {
            self.show_secrets = false;
            context.notices.add([format!("Secrets are masked. {}", failure.message)]);
        }
    }

    fn describe(&self, entry: &RequestEntry, bodies: &Bodies) -> FullRequest {
        let head = entry.response.clone().unwrap_or_default();
        let headers = |list: &HeaderList| if self.show_secrets { list.clone() } else { list.masked() };
        let mut request = ListedRequest::from(entry);
        if self.show_secrets {
            request.url.clone_from(&entry.url);
        }
        let sent_type = entry.headers.find("content-type").unwrap_or_default();
        FullRequest {
            request,
            status_text: head.status_text,
            protocol: head.protocol,
            server: head.remote_address.map(|address| match head.remote_port {
                Some(port) => format!("{address} port {port}"),
                None => address,
            }),
            request_headers: headers(&entry.headers),
            response_headers: headers(&head.headers),
            request_body: bodies.sent.as_ref().filter(|_| !self.no_body).map(|sent| match sent {
                Ok(text) => self.show(text, sent_type),
                Err(error) => missing(error),
            }),
            response_body: bodies.received.as_ref().filter(|_| !self.no_body).map(
                |received| match received {
                    Ok(Body::Text(text)) => self.show(text, entry.content_type()),
                    Ok(Body::Bytes(bytes)) => ShownBody { bytes: bytes.len(), ..ShownBody::default() },
                    Err(error) => missing(error),
                },
            ),
            timing: timings(head.timing.as_ref(), entry),
            message_list: self.messages(entry),
            saved: Vec::new(),
        }
    }

    fn messages(&self, entry: &RequestEntry) -> Vec<Message> {
        let mut messages: Vec<Message> = entry.messages.iter().cloned().collect();
        if !self.show_secrets {
            for message in messages.iter_mut().filter(|message| !message.binary) {
                message.text = mask_body(&message.text, "");
            }
        }
        messages
    }

    fn show(&self, text: &str, content_type: &str) -> ShownBody {
        let shown = if self.show_secrets { text.to_owned() } else { mask_body(text, content_type) };
        ShownBody::of_text(&shown, text.len())
    }

    /// The bytes of a part to save.
    fn content_of(
        &self,
        part: Part,
        entry: &RequestEntry,
        full: &FullRequest,
        bodies: &Bodies,
    ) -> Result<Vec<u8>, Failure> {
        let nothing = || {
            let message = format!("Request {} has no {}.", entry.number, part.as_str().replace('-', " "));
            Failure::new(ErrorCode::BadArgs, message).with_remedy(Remedy::new(
                "Run {} without {} to see its parts.",
                [Step::action("request"), Step::argument("save")],
            ))
        };
        let lines = |headers: &HeaderList| {
            headers.iter().map(|header| format!("{}: {}\n", header.name, header.value)).collect::<String>()
        };
        let mask = |text: &str, content_type: &str| {
            if self.show_secrets { text.to_owned() } else { mask_body(text, content_type) }
        };
        match part {
            Part::RequestHeaders => Ok(lines(&full.request_headers).into_bytes()),
            Part::ResponseHeaders if entry.response.is_some() => {
                Ok(lines(&full.response_headers).into_bytes())
            }
            Part::ResponseHeaders => Err(nothing()),
            Part::Messages if full.message_list.is_empty() => Err(nothing()),
            Part::Messages => serde_json::to_vec_pretty(&full.message_list)
                .map_err(|error| Failure::new(ErrorCode::Internal, format!("Messages: {error}."))),
            Part::RequestBody => match &bodies.sent {
                Some(Ok(text)) => {
                    Ok(mask(text, entry.headers.find("content-type").unwrap_or_default()).into_bytes())
                }
                Some(Err(error)) => Err(body_failure(error)),
                None => Err(nothing()),
            },
            Part::ResponseBody => match &bodies.received {
                Some(Ok(Body::Text(text))) => Ok(mask(text, entry.content_type()).into_bytes()),
                Some(Ok(Body::Bytes(bytes))) => Ok(bytes.clone()),
                Some(Err(error)) => Err(body_failure(error)),
                None => Err(nothing()),
            },
        }
    }

    fn write(
        &self,
        context: &Context,
        part: Part,
        entry: &RequestEntry,
        content: &[u8],
    ) -> Result<SavedPart, Failure> {
        let extension = match part {
            Part::ResponseBody => extension_of(entry.content_type()),
            Part::Messages => "json",
            _ => "txt",
        };
        let name = format!("request-{}-{}.{extension}", entry.number, part.as_str());
        let path = self.output.files(context).write(FileKind::Body, self.output.path(), &name, content)?;
        Ok(SavedPart { part, path, bytes: content.len() })
    }
}

/// A file extension for this content that the system does not execute.
fn extension_of(content_type: &str) -> &'static str {
    let kind = content_type.split(';').next().unwrap_or_default().trim();
    match kind {
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/webp" => "webp",
        "image/gif" => "gif",
        "application/pdf" => "pdf",
        "text/css" => "css",
        "text/csv" => "csv",
        "text/plain" => "txt",
        kind if kind.ends_with("json") => "json",
        _ => "bin",
    }
}

fn body_failure(error: &CdpError) -> Failure {
    Failure::new(ErrorCode::TargetGone, format!("The body is not available: {}.", reason(error))).with_remedy(
        Remedy::new(
            "Record bodies as they arrive: {}, then act, then {}.",
            [Step::action("har").with("action", "start"), Step::action("har").with("action", "stop")],
        ),
    )
}

fn missing(error: &CdpError) -> ShownBody {
    ShownBody { missing: Some(reason(error)), ..ShownBody::default() }
}

fn reason(error: &CdpError) -> String {
    match error {
        CdpError::Protocol { .. } | CdpError::SessionGone { .. } => "the browser no longer has it".to_owned(),
        error => error.to_string(),
    }
}
