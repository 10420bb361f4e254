//! `cookies`: lists, shows, sets and clears cookies.

mod new_cookie;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::result::BareValue;
use crate::action::{
    Action, CellFormat, Column, Effect, Example, Render, ResultTable, ToolGroup, ToolOptions, ToolResult,
};
use crate::page::Page;
use crate::storage::cookie::{Cookie, SameSite};
use crate::storage::jar::CookieScope;
use crate::storage::view::CookieView;

/// List, show, set and clear cookies.
///
/// The scope is the cookies that the page's server receives, unless a domain, a URL or --all is given. `list` shows
/// values only with --values; `get` shows the value of one cookie.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Cookies {
    /// What to do.
    #[arg(value_enum, default_value_t)]
    #[serde(default)]
    verb: Verb,
    /// The cookie's name, for get, set and clear.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text"))]
    name: Option<String>,
    /// The value to set.
    #[arg(allow_hyphen_values = true)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text", "x-secret" = "secret"))]
    value: Option<String>,
    /// Only cookies of this host and its subdomains; for `set`, the cookie's domain.
    #[arg(long, conflicts_with_all = ["url", "all"])]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "domain"))]
    domain: Option<String>,
    /// Only cookies that are sent to this URL; for `set`, the URL it is for.
    #[arg(long, conflicts_with = "all")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "url"))]
    url: Option<String>,
    /// All cookies of the browser; needed to clear everything.
    #[arg(long)]
    #[serde(default)]
    all: bool,
    /// Show values in a list.
    #[arg(long)]
    #[serde(default)]
    #[schemars(extend("x-secret" = "reveals"))]
    values: bool,
    /// For set: the paths it is sent to.
    #[arg(long)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text"))]
    path: Option<String>,
    /// For set: when it expires, in seconds since 1970; a session cookie by default.
    #[arg(long, value_name = "SECONDS", conflicts_with = "max_age")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires: Option<f64>,
    /// For set: how many seconds it lasts.
    #[arg(long, value_name = "SECONDS")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_age: Option<f64>,
    /// For set: keep it from the page's scripts.
    #[arg(long)]
    #[serde(default)]
    http_only: bool,
    /// For set: send it only over https.
    #[arg(long)]
    #[serde(default)]
    secure: bool,
    /// For set: whether it is sent from pages of other sites.
    #[arg(long, value_enum)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    same_site: Option<SameSite>,
    /// For set: the site of the pages in which it is sent, for a partitioned cookie: https://example.org.
    #[arg(long, value_name = "SITE")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "origin", "x-log" = "hidden"))]
    partition: Option<String>,
}

/// What to do with cookies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verb {
    /// List them.
    #[default]
    List,
    /// Show one with its value.
    Get,
    /// Set one.
    Set,
    /// Remove some, or all.
    Clear,
}

/// Cookies, and what was done with them.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct CookiesResult {
    /// What was done.
    verb: Verb,
    /// The cookies that were found, set or cleared.
    cookies: Vec<CookieView>,
    /// How many cookies of other sites are not listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    others: Option<usize>,
}

impl Action for Cookies {
    const NAME: &'static str = "cookies";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire cookies", "List the page's cookies, without their values."),
        Example::new("tabwire cookies get theme --raw", "Print one cookie's value for a script."),
        Example::new("tabwire cookies set theme dark --max-age 3600", "Set one for an hour."),
        Example::new("tabwire cookies clear --domain example.org", "Remove a site's cookies."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::State).returning(ToolResult::Data);
    const TABLE: Option<ResultTable> = Some(ResultTable {
        rows: "cookies",
        columns: &[
            Column::new("NAME", "name"),
            Column::new("VALUE", "value"),
            Column::new("BYTES", "bytes"),
            Column::new("DOMAIN", "domain"),
            Column::new("PATH", "path"),
            Column::new("HTTP ONLY", "http_only").with(CellFormat::Yes),
            Column::new("SECURE", "secure").with(CellFormat::Yes),
            Column::new("SAME SITE", "same_site"),
        ],
        empty: "no cookies here",
        notes: &[("others", "more of other sites (--all)")],
    });
    const HAS_SECRET_RESULT: bool = true;
    type Output = CookiesResult;

    fn needs(&self) -> Needs {
        Needs::every_site(&[Capability::Read, Capability::Act])
            .at(Capability::Act, self.url.clone())
            .at(Capability::Act, self.partition.clone())
    }

    async fn run(self, context: &Context) -> Result<CookiesResult, Failure> {
        self.check()?;
        let page = context.page().await?;
        match self.verb {
            Verb::List => self.list(context, &page).await,
            Verb::Get => self.get(context, &page).await,
            Verb::Set => self.set(context, &page).await,
            Verb::Clear => self.clear(context, &page).await,
        }
    }
}

impl Cookies {
    /// Rejects parameters that exclude each other.
    fn check(&self) -> Result<(), Failure> {
        let is_set = self.verb == Verb::Set;
        let for_set = self.path.is_some()
            || self.expires.is_some()
            || self.max_age.is_some()
            || self.http_only
            || self.secure
            || self.same_site.is_some()
            || self.partition.is_some()
            || self.value.is_some();
        if for_set && !is_set {
            return Err(bad(
                "`value` and cookie attributes are only for the verb `set`.",
                "Use the verb `set`, or leave them out.",
            ));
        }
        if u8::from(self.domain.is_some()) + u8::from(self.url.is_some()) + u8::from(self.all) > 1 {
            return Err(bad("`domain`, `url` and `all` exclude each other.", "Give one of them."));
        }
        if let Some(url) = &self.url {
            new_cookie::web_address(url)?;
        }
        match self.verb {
            Verb::List if self.name.is_some() => Err(bad("`list` takes no name.", "Use the verb `get`.")),
            Verb::Get if self.name.is_none() => Err(bad(
                "`get` needs the cookie's name.",
                Remedy::new("Run {} for the names.", [Step::action("cookies")]),
            )),
            Verb::Clear
                if self.name.is_none() && self.domain.is_none() && self.url.is_none() && !self.all =>
            {
                Err(bad(
                    "`clear` needs a name or a scope.",
                    Remedy::new(
                        "Give a name, {} or {}; {} clears every cookie of the browser.",
                        [Step::argument("domain"), Step::argument("url"), Step::argument("all")],
                    ),
                ))
            }
            Verb::Set if self.all => Err(bad("`set` does not take `all`.", set_scope())),
            _ => Ok(()),
        }
    }

    fn scope(&self) -> CookieScope {
        match (&self.domain, &self.url) {
            (Some(domain), _) => CookieScope::Domain(domain.clone()),
            (None, Some(url)) => CookieScope::Url(url.clone()),
            (None, None) if self.all => CookieScope::All,
            (None, None) => CookieScope::Page,
        }
    }

    async fn list(&self, context: &Context, page: &Page) -> Result<CookiesResult, Failure> {
        let (cookies, count) = page.cookies(&self.scope(), context.deadline).await?;
        let others = count.saturating_sub(cookies.len());
        let cookies = cookies.iter().map(|cookie| CookieView::of(cookie, self.values)).collect();
        Ok(CookiesResult { verb: self.verb, cookies, others: Some(others) })
    }

    async fn get(&self, context: &Context, page: &Page) -> Result<CookiesResult, Failure> {
        let found = self.named(context, page).await?;
        let cookies = found.iter().map(|cookie| CookieView::of(cookie, true)).collect();
        Ok(CookiesResult { verb: self.verb, cookies, others: None })
    }

    /// The cookies of the scope that have the name, if one is given.
    async fn named(&self, context: &Context, page: &Page) -> Result<Vec<Cookie>, Failure> {
        let (mut cookies, _) = page.cookies(&self.scope(), context.deadline).await?;
        if let Some(name) = &self.name {
            cookies.retain(|cookie| cookie.name == *name);
        }
        if cookies.is_empty() && self.name.is_some() {
            let name = self.name.as_deref().unwrap_or_default();
            let message = format!("There is no cookie {name:?} here.");
            return Err(Failure::new(ErrorCode::NotActionable, message).with_remedy(Remedy::new(
                "Run {} for all names and their hosts.",
                [Step::action("cookies").with("all", true)],
            )));
        }
        Ok(cookies)
    }

    async fn clear(&self, context: &Context, page: &Page) -> Result<CookiesResult, Failure> {
        let found = self.named(context, page).await?;
        if self.all && self.name.is_none() {
            page.remove_all_cookies(context.deadline).await?;
        } else {
            page.remove_cookies(&found, context.deadline).await?;
        }
        let cookies = found.iter().map(|cookie| CookieView::of(cookie, false)).collect();
        Ok(CookiesResult { verb: self.verb, cookies, others: None })
    }

    async fn set(&self, context: &Context, page: &Page) -> Result<CookiesResult, Failure> {
        let cookie = self.to_cookie(&page.info(context.deadline).await?.url)?;
        let refused = page.set_cookies(std::slice::from_ref(&cookie), context.deadline).await?;
        let (kept, _) = page.cookies(&CookieScope::All, context.deadline).await?;
        let kept = kept.iter().find(|kept| {
            kept.name == cookie.name
                && kept.path == cookie.path
                && kept.is_of_domain(&cookie.domain)
                && kept.value == cookie.value
        });
        match kept.filter(|_| refused.is_empty()) {
            Some(kept) => {
                let cookies = vec![CookieView::of(kept, false)];
                Ok(CookiesResult { verb: self.verb, cookies, others: None })
            }
            None => {
                let message =
                    format!("The browser rejected the cookie {:?} for {}.", cookie.name, cookie.domain);
                Err(Failure::new(ErrorCode::NotActionable, message).with_remedy(
                    "Check that the domain is no public suffix, that a `__Host-` or `__Secure-` name is `secure` \
                     (`__Host-` with path / and no `domain`), and that name and value have at most 4096 bytes.",
                ))
            }
        }
    }
}

/// Names the parameters that say for which host a cookie is set.
fn set_scope() -> Remedy {
    Remedy::new("Give {} or {}.", [Step::argument("url"), Step::argument("domain")])
}

fn bad(message: &str, remedy: impl Into<Remedy>) -> Failure {
    Failure::new(ErrorCode::BadArgs, message).with_remedy(remedy)
}

impl Render for CookiesResult {
    fn render(&self) -> String {
        let mut lines: Vec<String> = self.cookies.iter().map(CookieView::line).collect();
        match self.verb {
            Verb::Set => lines.insert(0, "set".to_owned()),
            Verb::Clear => lines.insert(0, format!("cleared {}", self.cookies.len())),
            Verb::List if lines.is_empty() => lines.push("no cookies here".to_owned()),
            Verb::List | Verb::Get => {}
        }
        if let Some(others) = self.others.filter(|others| *others > 0) {
            lines.push(format!("({others} more of other sites; `all` lists them)"));
        }
        lines.join("\n")
    }

    fn bare(&self) -> Option<BareValue> {
        let cookies = self.cookies.iter();
        match self.verb {
            Verb::Get => Some(BareValue::lines(cookies.map(|cookie| cookie.value().to_owned()))),
            Verb::List => Some(BareValue::lines(cookies.map(|cookie| cookie.name().to_owned()))),
            Verb::Set | Verb::Clear => None,
        }
    }
}
