//! `requests`: lists the requests of a page and their responses.

use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::{ErrorCode, Failure, count};
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::result::BareValue;
use crate::action::{Action, Column, Effect, Example, Render, ResultTable, ToolGroup, ToolOptions};
use crate::frames::policy::OmittedSites;
use crate::network::{ListedRequest, RefusedRequests, RequestEntry, ResourceKind, UrlGlob};
use crate::snapshot::enclose;

/// Default number of requests in a list.
const REQUESTS_LISTED: usize = 100;

/// List the requests the page made.
///
/// Images, styles, scripts and fonts are counted, and listed only if they failed or with --all. `request N` shows one
/// request in full.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Requests {
    /// Only URLs that contain this, or match it as a glob: `*` stands for anything (/api/*.json).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "pattern"))]
    url: Option<String>,
    /// Only this method.
    #[arg(long)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "pattern", "x-log" = "keyword"))]
    method: Option<String>,
    /// Only responses with this status: 404, 4xx or 400-499.
    #[arg(long)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "pattern", "x-log" = "keyword"))]
    status: Option<String>,
    /// Only this kind; may be repeated.
    #[arg(long = "type", value_enum, value_name = "KIND")]
    #[serde(default, rename = "type", skip_serializing_if = "Vec::is_empty")]
    kinds: Vec<ResourceKind>,
    /// Only requests that failed or have a status of 400 or more.
    #[arg(long)]
    #[serde(default)]
    failed: bool,
    /// Only WebSockets and event streams.
    #[arg(long)]
    #[serde(default)]
    websockets: bool,
    /// Only requests since the last call of `requests`.
    #[arg(long)]
    #[serde(default)]
    new: bool,
    /// List images, styles, scripts and fonts too.
    #[arg(long)]
    #[serde(default)]
    all: bool,
    /// The maximum to list, the newest ones.
    #[arg(long, default_value_t = REQUESTS_LISTED)]
    #[serde(default = "listed")]
    limit: usize,
}

const fn listed() -> usize {
    REQUESTS_LISTED
}

/// Requests of a page.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct RequestList {
    /// The requests, the oldest first.
    requests: Vec<ListedRequest>,
    /// Matching images, styles, scripts and fonts that are not listed.
    hidden_static: usize,
    /// Older matches above the limit.
    left_out: usize,
    /// Requests that are no longer kept.
    forgotten: u64,
}

/// A range of statuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct StatusRange(u16, u16);

impl FromStr for StatusRange {
    type Err = Failure;

    fn from_str(text: &str) -> Result<Self, Failure> {
        let read = || {
            if let Some(class) = text.strip_suffix("xx") {
                let first = class.parse::<u16>().ok().filter(|class| (1..=5).contains(class))? * 100;
                return Some(Self(first, first + 99));
            }
            let (from, to) = text.split_once('-').unwrap_or((text, text));
            let range = Self(from.trim().parse().ok()?, to.trim().parse().ok()?);
            (range.0 <= range.1 && (100..=599).contains(&range.0)).then_some(range)
        };
        read().ok_or_else(|| {
            Failure::new(ErrorCode::BadArgs, "Invalid status.")
                .with_remedy("Give a status such as 404, a class such as 4xx, or a range such as 400-499.")
        })
    }
}

/// The parsed filters.
struct RequestFilter<'a> {
    asked: &'a Requests,
    glob: Option<UrlGlob>,
    status: Option<StatusRange>,
}

impl RequestFilter<'_> {
    fn has(&self, entry: &RequestEntry) -> bool {
        let is_stream = matches!(entry.kind, ResourceKind::Websocket | ResourceKind::EventSource);
        let status =
            |range: StatusRange| entry.status().is_some_and(|status| (range.0..=range.1).contains(&status));
        self.glob.as_ref().is_none_or(|glob| glob.matches(&entry.url))
            && self.asked.method.as_ref().is_none_or(|method| method.eq_ignore_ascii_case(&entry.method))
            && self.status.is_none_or(status)
            && (self.asked.kinds.is_empty() || self.asked.kinds.contains(&entry.kind))
            && (!self.asked.failed || entry.is_failed())
            && (!self.asked.websockets || is_stream)
    }

    fn hides(&self, entry: &RequestEntry) -> bool {
        !self.asked.all && self.asked.kinds.is_empty() && entry.is_static() && !entry.is_failed()
    }
}

impl Action for Requests {
    const NAME: &'static str = "requests";
    const EFFECT: Effect = Effect::Read;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire requests", "List the page's requests.").in_skill(),
        Example::new(
            "tabwire requests '/api/*' --status 4xx",
            "Only those that match and have a 4xx status.",
        ),
        Example::new("tabwire requests --new --failed", "Only new ones that failed."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Network);
    const TABLE: Option<ResultTable> = Some(ResultTable {
        rows: "requests",
        columns: &[
            Column::new("N", "number"),
            Column::new("METHOD", "method"),
            Column::new("STATUS", "status"),
            Column::new("STATE", "state"),
            Column::new("TYPE", "type"),
            Column::new("BYTES", "bytes"),
            Column::new("MS", "milliseconds"),
            Column::new("ADDRESS", "url"),
        ],
        empty: "no requests",
        notes: &[
            ("hidden_static", "images, styles, scripts and fonts are not listed (--all)"),
            ("left_out", "older ones are not listed (--limit)"),
            ("forgotten", "are no longer kept"),
        ],
    });
    type Output = RequestList;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Read).showing_past()
    }

    async fn run(self, context: &Context) -> Result<RequestList, Failure> {
        if self.limit == 0 {
            return Err(Failure::new(ErrorCode::BadArgs, "`limit` must be at least 1."));
        }
        let glob = self.url.as_deref().map(UrlGlob::parse).transpose()?;
        let status = self.status.as_deref().map(StatusRange::from_str).transpose()?;
        let page = context.page().await?;
        page.sync_events().await;
        // The list needs no call into the page, so it works while a dialog is open.
        let mut log = page.network().log();
        let listed = log.mark_listed();
        let since = if self.new { listed } else { 0 };
        let wanted = RequestFilter { asked: &self, glob, status };
        let (mut requests, mut hidden_static) = (Vec::new(), 0);
        let refused = RefusedRequests::find(&log, page.network().policy(), Capability::Read);
        let mut withheld = OmittedSites::default();
        for entry in log.since(since).filter(|entry| wanted.has(entry)) {
            if let Some(url) = refused.url_for(entry) {
                withheld.add(url);
            } else if wanted.hides(entry) {
                hidden_static += 1;
            } else {
                requests.push(ListedRequest::from(entry));
            }
        }
        let left_out = requests.len().saturating_sub(self.limit);
        requests.drain(..left_out);
        context.notices.add(withheld.notice("request", "requests"));
        Ok(RequestList { requests, hidden_static, left_out, forgotten: log.forgotten() })
    }
}

impl Render for RequestList {
    fn render(&self) -> String {
        let lines: String = self.requests.iter().map(|request| request.line() + "\n").collect();
        let mut notes = Vec::new();
        if self.hidden_static > 0 {
            notes.push(format!("{} static hidden (`all`)", self.hidden_static));
        }
        if self.left_out > 0 {
            notes.push(format!("{} older left out (`limit`)", self.left_out));
        }
        if self.forgotten > 0 {
            notes.push(format!("{} no longer kept", self.forgotten));
        }
        let count = match self.requests.len() {
            0 => "no requests".to_owned(),
            listed => count(listed, "request"),
        };
        let heading = std::iter::once(count).chain(notes).collect::<Vec<_>>().join("; ");
        if lines.is_empty() { heading } else { enclose(&heading, &lines).trim_end().to_owned() }
    }

    fn bare(&self) -> Option<BareValue> {
        let cut = format!("{} older requests are not listed; raise `limit` for more.", self.left_out);
        let lines = self.requests.iter().map(ListedRequest::line);
        Some(BareValue::lines(lines).with_cut((self.left_out > 0).then_some(cut)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_ranges_are_parsed() {
        for (text, from, to) in [("404", 404, 404), ("4xx", 400, 499), ("200-299", 200, 299)] {
            assert_eq!(text.parse::<StatusRange>().ok(), Some(StatusRange(from, to)));
        }
        for bad in ["", "9xx", "xx", "299-200", "ok", "0"] {
            assert!(bad.parse::<StatusRange>().is_err(), "{bad}");
        }
    }
}
