//! `extract_links`: lists the links of a page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tabwire_api::{ErrorCode, Failure};
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::result::BareValue;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::limits::LINKS_LISTED;
use crate::read::PartArguments;
use crate::snapshot::{LinkTarget, PageText, enclose};

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
    links: Vec<FrameLink>,
    #[serde(default)]
    more: usize,
}

#[derive(Deserialize)]
struct FrameLink {
    text: PageText,
    url: LinkTarget,
}

impl Action for ExtractLinks {
    const NAME: &'static str = "extract_links";
    const EFFECT: Effect = Effect::Read;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire extract-links", "List the page's links."),
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
                .with_remedy("Raise `limit` or leave it out."));
        }
        let page = context.page().await?;
        let (first, wanted) = match self.part.element()? {
            None => (page.scope(context.deadline).await?, json!({})),
            Some(target) => page.find_element(&target, context.deadline).await?,
        };
        let asks_all = self.part.target.is_none();
        let main: FrameLinks = page.call_in(&first, "links", &wanted, context.deadline).await?;
        let url = LinkTarget::new(&main.url).as_str().to_owned();
        let mut responses = vec![main];
        let others = page.scope_frames().into_iter().filter(|frame| asks_all && frame.id != first);
        let begun: Vec<_> = others
            .map(|frame| page.session().call(&frame.id, "links", &json!({}), context.deadline))
            .collect();
        for reply in begun {
            // A frame that was removed meanwhile has no links.
            match page.unless_blocked(reply).await.map(serde_json::from_value::<FrameLinks>) {
                Ok(Ok(response)) => responses.push(response),
                Err(failure) if failure.code == ErrorCode::DialogOpen => return Err(failure),
                _ => {}
            }
        }
        Ok(self.gather(url, responses, limit))
    }
}

impl ExtractLinks {
    fn gather(&self, url: String, responses: Vec<FrameLinks>, limit: usize) -> Links {
        let wanted = self.filter.as_ref().map(|filter| filter.to_lowercase());
        let mut links: Vec<Link> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        let mut more = 0;
        for response in responses {
            more += response.more;
            for link in response.links {
                let link = Link { text: link.text.as_str().to_owned(), url: link.url.as_str().to_owned() };
                let fits = wanted.as_ref().is_none_or(|wanted| {
                    link.text.to_lowercase().contains(wanted) || link.url.to_lowercase().contains(wanted)
                });
                if fits && seen.insert(link.url.clone()) {
                    links.push(link);
                }
            }
        }
        let total = links.len() + more;
        links.truncate(limit);
        Links { url, truncated: links.len() < total, links, total }
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
            .map(|link| format!("- {} {}\n", PageText::new(&link.text).quoted(), link.url))
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
