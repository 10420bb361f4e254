//! `extract_links`: lists the links of a page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tabwire_api::{ErrorCode, Failure, FrameId, Remedy, Step};
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::result::BareValue;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::frames::policy::site_of;
use crate::page::Page;
use crate::page::wait::matches_pattern;
use crate::read::PartArguments;
use crate::snapshot::{DocumentName, ElementKey, LinkTarget, PageText, enclose};

/// Default number of links in one result.
const LINKS_LISTED: usize = 200;

/// List the links of the page or of an element: text and absolute URL, each URL once.
///
/// Hidden links are left out.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct ExtractLinks {
    #[command(flatten)]
    #[serde(flatten)]
    part: PartArguments,
    /// Only links whose text or URL contains this, ignoring case.
    #[arg(long, value_name = "TEXT")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "pattern"))]
    filter: Option<String>,
    /// Only links whose URL matches one of these patterns; `*` stands for anything. May be repeated.
    #[arg(long, value_name = "PATTERN")]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-carries" = "pattern"))]
    include: Vec<String>,
    /// No links whose URL matches one of these patterns. May be repeated.
    #[arg(long, value_name = "PATTERN")]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-carries" = "pattern"))]
    exclude: Vec<String>,
    /// Only links to the page's own origin.
    #[arg(long)]
    #[serde(default)]
    same_origin: bool,
    /// The maximum of links; 200 by default.
    #[arg(long, value_name = "N")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    limit: Option<usize>,
}

/// One link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Link {
    /// Its text.
    text: String,
    /// Its URL.
    url: String,
    /// The ref of its element.
    #[serde(rename = "ref")]
    reference: String,
}

/// The links of a page.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Links {
    /// The page's URL.
    url: String,
    /// The links, in the order of the page.
    links: Vec<Link>,
    /// How many links there are in all.
    total: usize,
    /// Whether the limit left some out.
    truncated: bool,
}

#[derive(Deserialize)]
struct FrameLinks {
    url: String,
    document: DocumentName,
    /// The frame, which the caller sets.
    #[serde(skip)]
    frame: Option<FrameId>,
    links: Vec<FrameLink>,
    #[serde(default)]
    more: usize,
}

#[derive(Deserialize)]
struct FrameLink {
    text: PageText,
    url: LinkTarget,
    key: ElementKey,
}

impl Action for ExtractLinks {
    const NAME: &'static str = "extract_links";
    const EFFECT: Effect = Effect::Read;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire extract-links", "List the page's links."),
        Example::new(
            "tabwire extract-links --same-origin --exclude '*/logout*'",
            "List links within the site, without one.",
        ),
        Example::new(
            "tabwire extract-links --filter pdf --raw",
            "Print only URLs of links that contain pdf.",
        ),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Default);
    type Output = Links;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Read)
    }

    async fn run(self, context: &Context) -> Result<Links, Failure> {
        let limit = self.limit.unwrap_or(LINKS_LISTED);
        if limit == 0 {
            return Err(Failure::new(ErrorCode::BadArgs, "`limit` must be at least 1.")
                .with_remedy(Remedy::new("Raise {} or leave it out.", [Step::argument("limit")])));
        }
        let page = context.page().await?;
        let (first, wanted) = match self.part.element()? {
            None => (page.scope(context.deadline).await?, json!({})),
            Some(target) => page.find_element(&target, context.find_deadline()).await?,
        };
        let asks_all = self.part.target.is_none();
        let mut main: FrameLinks = page.call_in(&first, "links", &wanted, context.deadline).await?;
        main.frame = Some(first.clone());
        let url = LinkTarget::new(&main.url).as_str().to_owned();
        let mut responses = vec![main];
        let others = page.scope_frames().into_iter().filter(|frame| asks_all && frame.id != first);
        let begun: Vec<_> = others
            .map(|frame| {
                let reply = page.session().call(&frame.id, "links", &json!({}), context.deadline);
                (frame.id, reply)
            })
            .collect();
        for (frame, reply) in begun {
            // A frame that was removed meanwhile has no links.
            match page.unless_blocked(reply).await.map(serde_json::from_value::<FrameLinks>) {
                Ok(Ok(response)) => responses.push(FrameLinks { frame: Some(frame), ..response }),
                Err(failure) if failure.code == ErrorCode::DialogOpen => return Err(failure),
                _ => {}
            }
        }
        Ok(self.gather(&page, url, responses, limit))
    }
}

impl ExtractLinks {
    fn gather(&self, page: &Page, url: String, responses: Vec<FrameLinks>, limit: usize) -> Links {
        let mut links: Vec<Link> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        let (mut more, mut total) = (0, 0);
        for FrameLinks { links: found, document, frame, more: unlisted, .. } in responses {
            more += unlisted;
            let Some(frame) = frame else { continue };
            for link in found {
                let (text, target) = (link.text.as_str(), link.url.as_str());
                if !self.fits(text, target, &url) || !seen.insert(target.to_owned()) {
                    continue;
                }
                total += 1;
                if links.len() < limit {
                    let reference = page.mint(&frame, &document, link.key).to_string();
                    links.push(Link { text: text.to_owned(), url: target.to_owned(), reference });
                }
            }
        }
        let total = total + more;
        Links { url, truncated: links.len() < total, links, total }
    }

    fn fits(&self, text: &str, url: &str, page: &str) -> bool {
        let contains = |wanted: &String| {
            let wanted = wanted.to_lowercase();
            text.to_lowercase().contains(&wanted) || url.to_lowercase().contains(&wanted)
        };
        let matches = |pattern: &String| matches_pattern(url, pattern);
        self.filter.as_ref().is_none_or(contains)
            && (self.include.is_empty() || self.include.iter().any(matches))
            && !self.exclude.iter().any(matches)
            && (!self.same_origin || site_of(url) == site_of(page))
    }
}

impl Render for Links {
    fn render(&self) -> String {
        if self.links.is_empty() {
            return "no links".to_owned();
        }
        let lines: Vec<String> = self
            .links
            .iter()
            .map(|link| {
                format!("- {} [{}] {}\n", PageText::new(&link.text).quoted(), link.reference, link.url)
            })
            .collect();
        let mut text = enclose(&self.url, &lines.concat());
        if self.truncated {
            text.push_str(&format!(
                "cut: {} of {} links; use `filter` or `limit`",
                self.links.len(),
                self.total
            ));
        }
        text.truncate(text.trim_end().len());
        text
    }

    fn bare(&self) -> Option<BareValue> {
        let cut = format!("These are {} of {} links; raise `limit` for more.", self.links.len(), self.total);
        let urls = self.links.iter().map(|link| link.url.clone());
        Some(BareValue::lines(urls).with_cut(self.truncated.then_some(cut)))
    }
}
