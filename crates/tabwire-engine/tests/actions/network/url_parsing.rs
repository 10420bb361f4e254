//! Our URL parsing against the browser's (T23): a request goes only to the host that was checked.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_api::ErrorCode;
use tabwire_engine::checked_url;

use crate::actions::network::url_corpus::{ADDRESSES, generated};
use crate::actions::support::stage::Stage;

/// Addresses that are made up besides those of the table.
const GENERATED: usize = 4_000;

/// Schemes of pages that are opened.
const OPENED: &[&str] = &["http:", "https:", "data:", "blob:"];

/// What the browser reads in an address.
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

    /// Whether it may be opened, as the browser understands it; the innermost address counts.
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

/// What the browser reads in an address, and in the one inside it.
#[derive(Clone, Debug, Deserialize)]
struct Told {
    outer: Option<Reading>,
    inner: Option<Reading>,
}

/// Asks the browser to read all of them in one call.
async fn readings(stage: &Stage, texts: &[String]) -> Vec<Told> {
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

/// Why we and the browser disagree on an address; none when we do not.
fn disagreement(text: &str, told: &Told, ours_told: &Told) -> Option<String> {
    let theirs = told.outer.as_ref();
    let ours = match checked_url(text) {
        Ok(ours) => ours,
        Err(failure) => {
            let theirs = theirs.filter(|theirs| theirs.may_be_opened(told.inner.as_ref()))?;
            let why = format!("refused ({}), the browser opens {}", failure.message, theirs.href);
            return (!is_refused_on_purpose(text, theirs)).then_some(why);
        }
    };
    let Some(read) = &ours_told.outer else { return Some(format!("the browser does not read {ours}")) };
    let url = url::Url::parse(&ours).ok()?;
    let port = url.port().map(|port| port.to_string()).unwrap_or_default();
    let parts = (format!("{}:", url.scheme()), url.host_str().unwrap_or_default().to_owned(), port);
    if parts != read.parts() {
        return Some(format!("{ours} is {parts:?} to us and {read:?} to the browser"));
    }
    if !read.may_be_opened(ours_told.inner.as_ref()) {
        return Some(format!("{ours} may not be opened"));
    }
    // Read without our completing it, it must mean the same or nothing that a page can be.
    let theirs = theirs.filter(|theirs| is_known_scheme(&theirs.protocol))?;
    (theirs.parts() != parts).then(|| format!("opens {ours}, the browser {}", theirs.href))
}

/// What browsers open and we do not: blanks and invisible characters, and hosts that no name or number is written
/// like. Nobody is sent anywhere by a refusal.
fn is_refused_on_purpose(text: &str, theirs: &Reading) -> bool {
    let host = &theirs.hostname;
    let is_odd = text.trim().chars().any(|letter| letter.is_control() || letter == ' ');
    is_odd || host.contains("xn--") || host.contains('%') || host.contains('*') || host.starts_with('[')
}

/// Whether a scheme is one; what is before the colon may be a host too.
fn is_known_scheme(protocol: &str) -> bool {
    let name = protocol.trim_end_matches(':');
    !(name.contains('.') || name == "localhost")
}

async fn check(stage: &Stage, texts: Vec<String>) {
    // What is around an address is no part of it.
    let texts: Vec<String> = texts.iter().map(|text| text.trim().to_owned()).collect();
    let opened: Vec<String> = texts.iter().map(|text| checked_url(text).unwrap_or_default()).collect();
    let (told, ours_told) = (readings(stage, &texts).await, readings(stage, &opened).await);
    let found: Vec<String> = texts
        .iter()
        .zip(told.iter().zip(&ours_told))
        .filter_map(|(text, (told, ours))| Some(format!("{text:?}: {}", disagreement(text, told, ours)?)))
        .collect();
    assert!(found.is_empty(), "{} of {}:\n{}", found.len(), texts.len(), found.join("\n"));
    let accepted = opened.iter().filter(|opened| !opened.is_empty()).count();
    assert!(accepted > texts.len() / 10, "only {accepted} of {} are addresses", texts.len());
    for (text, told) in texts.iter().zip(&told) {
        let Some(read) = &told.outer else { continue };
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
async fn t23_addresses_are_read_as_the_browser_reads_them() {
    let stage = Stage::at("/plain").await;
    assert!(ADDRESSES.len() >= 200, "{} addresses", ADDRESSES.len());
    check(&stage, ADDRESSES.iter().map(|text| (*text).to_owned()).collect()).await;
    check(&stage, generated(GENERATED)).await;
}
