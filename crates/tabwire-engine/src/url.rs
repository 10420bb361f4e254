//! An address as people type it: completed and read as browsers read it, or refused.
//!
//! Only pages of the web are opened, read and acted on. Which of them may be is for others to decide.

use tabwire_api::{ErrorCode, Failure};
use url::Url;

/// Schemes of addresses that are opened.
const OPENED: &[&str] = &["http", "https", "data", "blob"];

/// Schemes of pages that are read and acted on: what is opened, and what browsers show in its place.
const READ: &[&str] = &["http", "https", "data", "blob", "about", "chrome-error"];

/// Completes an address as a person types it and writes it as browsers do; refuses what is not one (T20, T23).
///
/// # Errors
/// With `BAD_ARGS` and the reason, or `POLICY_DENIED` for addresses that are not of the web.
pub fn checked_url(text: &str) -> Result<String, Failure> {
    let text = text.trim();
    let bad = |why: &str| {
        Failure::new(ErrorCode::BadArgs, format!("`{text}` cannot be opened: {why}."))
            .with_remedy("Give an address such as https://example.org or example.org/path.")
    };
    if text.is_empty() {
        return Err(bad("it is empty"));
    }
    if text.chars().any(|letter| letter.is_control() || letter == ' ') {
        return Err(bad("it has blanks or control characters"));
    }
    let url = Url::parse(&completed(text)).map_err(|error| bad(&error.to_string()))?;
    match url.scheme() {
        "about" if matches!(url.path(), "blank") => return Ok(url.into()),
        scheme if OPENED.contains(&scheme) => {}
        "javascript" | "mailto" | "tel" | "ws" | "wss" => {
            return Err(bad("its scheme is not one a page can have"));
        }
        scheme => return Err(not_of_the_web(&format!("`{text}` is not opened: addresses with {scheme}:"))),
    }
    let inner = inner_address(url.as_str());
    if [Some(&url), inner.as_ref()].into_iter().flatten().any(has_star) {
        return Err(bad("its host has a `*`, which browsers and others read differently"));
    }
    if let Some(inner) = inner.as_ref().filter(|inner| !is_of_the_web(inner)) {
        let scheme = inner.scheme();
        return Err(not_of_the_web(&format!(
            "`{text}` is not opened: addresses with {scheme}: inside of others"
        )));
    }
    if has_user(&url) || inner.as_ref().is_some_and(has_user) {
        return Err(bad("it carries a user name or password, which are easily taken for a host").with_remedy(
            "Leave out what is before the `@`; use `tabwire http-auth` for sites that ask for a password.",
        ));
    }
    Ok(url.into())
}

/// Adds the scheme people leave out: `host:port` is a host when it has a dot, is a number or is this machine.
fn completed(text: &str) -> String {
    let scheme = text.split_once(':').map(|(scheme, _)| scheme);
    match scheme {
        None => format!("https://{text}"),
        Some(host) if host.eq_ignore_ascii_case("localhost") || host.contains('.') => {
            format!("http://{text}")
        }
        Some(host) if host.contains(['/', '?', '#']) => format!("https://{text}"),
        Some(_) if text.starts_with('[') => format!("http://{text}"),
        Some(_) => text.to_owned(),
    }
}

fn has_star(url: &Url) -> bool {
    url.host_str().is_some_and(|host| host.contains('*'))
}

fn has_user(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

/// The address of the page that made a blob, which is inside of the blob's; none when that page has no address.
fn inner_address(url: &str) -> Option<Url> {
    Url::parse(url.strip_prefix("blob:")?).ok()
}

fn is_of_the_web(inner: &Url) -> bool {
    matches!(inner.scheme(), "http" | "https")
}

/// Refuses pages that are not of the web, wherever they came from.
pub(crate) fn check_readable(url: &str) -> Result<(), Failure> {
    let scheme = url.split_once(':').map_or("", |(scheme, _)| scheme).to_ascii_lowercase();
    if let Some(inner) = inner_address(url).filter(|inner| !is_of_the_web(inner)) {
        let scheme = inner.scheme();
        return Err(not_of_the_web(&format!(
            "The tab shows a part of an address with {scheme}:. Such pages"
        )));
    }
    // A page that has not begun to load has no address yet.
    if url.is_empty() || READ.contains(&scheme.as_str()) {
        return Ok(());
    }
    Err(not_of_the_web(&format!("The tab shows an address with {scheme}:. Such pages")))
}

fn not_of_the_web(what: &str) -> Failure {
    let message = format!("{what} are neither read nor acted on.");
    Failure::new(ErrorCode::PolicyDenied, message)
        .with_remedy("Use http: or https:. Serve local files from a small web server on this machine.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_completed_as_people_type_them() {
        for (typed, opened) in [
            ("https://example.org", "https://example.org/"),
            ("example.org/a", "https://example.org/a"),
            ("localhost:8080/x", "http://localhost:8080/x"),
            ("127.0.0.1:1", "http://127.0.0.1:1/"),
            ("about:blank", "about:blank"),
            ("data:text/html,hi", "data:text/html,hi"),
            ("HTTP://EXAMPLE.org.:80/%7Ea/../b", "http://example.org./b"),
            ("http://0x7f.1/", "http://127.0.0.1/"),
            ("http://ex%61mple.org/", "http://example.org/"),
            ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ] {
            assert_eq!(checked_url(typed).as_deref(), Ok(opened), "{typed}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for bad in [
            "",
            " ",
            "javascript:alert(1)",
            "JaVaScRiPt:1",
            "two words",
            "a\nb",
            "mailto:x@y",
            "http://",
            "http://[::1",
            "http://user@example.org/",
            "https://example.org@evil.example/",
            "http://a:b@c/",
            "http:\\\\x@y",
            "blob:http://x@y/1",
            "http://a*b/",
        ] {
            assert_eq!(checked_url(bad).expect_err(bad).code, ErrorCode::BadArgs, "{bad}");
        }
    }

    #[test]
    fn t20_local_schemes_are_neither_opened_nor_read() {
        for local in [
            "file:///etc/passwd",
            "FILE:///etc/passwd",
            "file:/etc/passwd",
            "file://localhost/etc/passwd",
            "chrome://settings",
            "chrome-extension://abc/x.html",
            "devtools://devtools/bundled/inspector.html",
            "view-source:https://example.org",
            "filesystem:https://example.org/x",
            "ftp://example.org/",
            "chrome-search://x",
            "about:config",
            "edge://settings",
            "brave://settings",
            "intranet:80",
            "vbscript:x",
            "jar:file:///x",
            "blob:file:///x",
            "BLOB:Chrome://settings/x",
            "blob:blob:https://a/1",
            "content://x",
            "android-app://x",
            "resource://x",
        ] {
            let failure = checked_url(local).expect_err(local);
            assert_eq!(failure.code, ErrorCode::PolicyDenied, "{local}: {failure:?}");
        }
        for page in [
            "file:///x",
            "FILE:///x",
            "chrome://newtab/",
            "chrome-extension://a/b",
            "devtools://x",
            "view-source:http://x",
            "blob:file:///1",
            "blob:chrome-extension://a/1",
        ] {
            assert_eq!(check_readable(page).expect_err(page).code, ErrorCode::PolicyDenied, "{page}");
        }
        for page in [
            "http://a/",
            "https://a/",
            "about:blank",
            "about:srcdoc",
            "data:,x",
            "blob:http://a/1",
            "blob:null/1",
            "",
            "chrome-error://chromewebdata/",
        ] {
            assert!(check_readable(page).is_ok(), "{page}");
        }
    }
}
