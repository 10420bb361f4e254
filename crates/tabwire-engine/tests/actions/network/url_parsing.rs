//! Tabwire's URL parsing against the browser's (T23): a request goes only to the host that was checked.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_api::ErrorCode;
use tabwire_engine::checked_url;

use crate::actions::network::url_corpus::{ADDRESSES, generated};
use crate::actions::support::stage::Stage;

/// How many URLs are generated in addition to the table.
const GENERATED: usize = 4_000;

/// Schemes of pages that may be opened.
const OPENED: &[&str] = &["http:", "https:", "data:", "blob:"];

/// Where Firefox reads less than Tabwire, or Tabwire opens less: a URL that the browser does not read is not opened, and
/// Firefox knows no hosts and user names in `data:` and `blob:` URLs, which lead to no host.
const FIREFOX: &[&str] = &[
    "the browser does not read",
    "the browser opens data:",
    "the browser opens blob:",
    "is (\"data:\"",
    "is (\"blob:\"",
];

/// A URL as the browser parses it.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
struct Reading {
    href: String,
    protocol: String,
    hostname: String,
    port: String,
    username: String,
    password: String,
}

impl Reading {
    /// Scheme, host and port.
    fn parts(&self) -> (String, String, String) {
        (self.protocol.clone(), self.hostname.clone(), self.port.clone())
    }

    /// Whether it may be opened, by the browser's parts of the innermost URL.
    fn may_be_opened(&self, inner: Option<&Reading>) -> bool {
        let is_empty_page =
            self.protocol == "about:" && self.href.split(['?', '#']).next() == Some("about:blank");
        let is_ours = is_empty_page || OPENED.contains(&self.protocol.as_str());
        let is_bare = self.username.is_empty() && self.password.is_empty();
        is_ours
            && is_bare
            && inner.is_none_or(|inner| {
                matches!(inner.protocol.as_str(), "http:" | "https:") && inner.may_be_opened(None)
            })
    }
}

/// A URL as the browser parses it, and the URL inside it.
#[derive(Clone, Debug, Deserialize)]
struct NestedReading {
    outer: Option<Reading>,
    inner: Option<Reading>,
}

/// Lets the browser parse all of them in one call.
async fn readings(stage: &Stage, texts: &[String]) -> Vec<NestedReading> {
    const READ: &str = "(texts) => { const read = (text) => { try { const {href, protocol, hostname, port, username, password} = new URL(text);
        return {href, protocol, hostname, port, username, password}; } catch { return null; } };
        return texts.map((text) => { const outer = read(text); return {outer, inner: outer?.protocol === 'blob:' ? read(outer.href.slice(5)) : null}; }); }";
    let tab = Stage::tab(&stage.act("tabs_list", json!({})).await["tabs"][0]);
    let page = stage.second_session(tab).await;
    let expression = format!("({READ})({})", json!(texts));
    let params = json!({"expression": expression, "returnByValue": true});
    let response = page.send("Runtime.evaluate", &params, Duration::from_secs(30)).await.expect("evaluated");
    let mut response: Value = response.to().expect("read");
    assert!(response["exceptionDetails"].is_null(), "{response}");
    serde_json::from_value(response["result"]["value"].take()).expect("readings")
}

/// Why Tabwire and the browser disagree on a URL; none if they agree.
fn disagreement(text: &str, original: &NestedReading, completed: &NestedReading) -> Option<String> {
    let theirs = original.outer.as_ref();
    let ours = match checked_url(text) {
        Ok(ours) => ours,
        Err(failure) => {
            let theirs = theirs.filter(|theirs| theirs.may_be_opened(original.inner.as_ref()))?;
            let why = format!("refused ({}), the browser opens {}", failure.message, theirs.href);
            return (!is_refused_on_purpose(text, theirs)).then_some(why);
        }
    };
    let Some(read) = &completed.outer else { return Some(format!("the browser does not read {ours}")) };
    let url = url::Url::parse(&ours).ok()?;
    let port = url.port().map(|port| port.to_string()).unwrap_or_default();
    let parts = (format!("{}:", url.scheme()), url.host_str().unwrap_or_default().to_owned(), port);
    if parts != read.parts() {
        return Some(format!("{ours} is {parts:?} for Tabwire and {read:?} for the browser"));
    }
    if !read.may_be_opened(completed.inner.as_ref()) {
        return Some(format!("{ours} may not be opened"));
    }
    // Before completion the browser must parse the same host, or no scheme of a page.
    let theirs = theirs.filter(|theirs| is_known_scheme(&theirs.protocol))?;
    (theirs.parts() != parts).then(|| format!("opens {ours}, the browser {}", theirs.href))
}

/// URLs that browsers open and Tabwire refuses: with blanks, invisible characters or unusual hosts. A refusal is safe:
/// no request is sent.
fn is_refused_on_purpose(text: &str, theirs: &Reading) -> bool {
    let host = &theirs.hostname;
    let is_odd = text.trim().chars().any(|letter| letter.is_control() || letter == ' ');
    is_odd || host.contains("xn--") || host.contains('%') || host.contains('*') || host.starts_with('[')
}

/// Whether it is a scheme; the part before the colon may also be a host.
fn is_known_scheme(protocol: &str) -> bool {
    let name = protocol.trim_end_matches(':');
    !(name.contains('.') || name == "localhost")
}

async fn check(stage: &Stage, texts: Vec<String>) {
    // Surrounding whitespace is not part of a URL.
    let texts: Vec<String> = texts.iter().map(|text| text.trim().to_owned()).collect();
    let opened: Vec<String> = texts.iter().map(|text| checked_url(text).unwrap_or_default()).collect();
    let (originals, completed) = (readings(stage, &texts).await, readings(stage, &opened).await);
    let found: Vec<String> = texts
        .iter()
        .zip(originals.iter().zip(&completed))
        .filter_map(|(text, (original, completed))| {
            Some(format!("{text:?}: {}", disagreement(text, original, completed)?))
        })
        .filter(|problem| stage.is_chromium() || !FIREFOX.iter().any(|known| problem.contains(known)))
        .collect();
    assert!(found.is_empty(), "{} of {}:\n{}", found.len(), texts.len(), found.join("\n"));
    let accepted = opened.iter().filter(|opened| !opened.is_empty()).count();
    assert!(accepted > texts.len() / 10, "only {accepted} of {} are URLs", texts.len());
    for (text, original) in texts.iter().zip(&originals) {
        let Some(read) = &original.outer else { continue };
        if (!read.username.is_empty() || !read.password.is_empty()) && is_known_scheme(&read.protocol) {
            let refused = checked_url(text).expect_err(text);
            assert!(
                matches!(refused.code, ErrorCode::BadArgs | ErrorCode::PolicyDenied),
                "{text:?}: {refused:?}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t23_urls_are_parsed_like_in_the_browser() {
    let stage = Stage::at("/plain").await;
    assert!(ADDRESSES.len() >= 200, "{} addresses", ADDRESSES.len());
    check(&stage, ADDRESSES.iter().map(|text| (*text).to_owned()).collect()).await;
    check(&stage, generated(GENERATED)).await;
}
