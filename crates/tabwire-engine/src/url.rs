//! Checks and completes URLs that users type.
//!
//! Only web pages are opened and read. The policy, which decides about sites, is checked elsewhere.

use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use url::Url;

/// Schemes of URLs that can be opened.
const OPENED: &[&str] = &["http", "https", "data", "blob"];

/// Schemes of pages that can be read: those that can be opened, and what Chrome shows when loading fails.
const READ: &[&str] = &["http", "https", "data", "blob", "about", "chrome-error"];

/// Completes a URL as a user types it and normalises it; refuses an invalid one (T20, T23).
///
/// # Errors
/// With `BAD_ARGS` and the reason, or `POLICY_DENIED` for a URL of another scheme.
pub fn checked_url(text: &str) -> Result<String, Failure> {
    let text = text.trim();
    let bad = |why: &str| {
        Failure::new(ErrorCode::BadArgs, format!("`{text}` cannot be opened: {why}."))
            .with_remedy("Give a URL such as https://example.org or example.org/path.")
    };
    if text.is_empty() {
        return Err(bad("it is empty"));
    }
    if text.chars().any(|letter| letter.is_control() || letter == ' ') {
        return Err(bad("it has spaces or control characters"));
    }
    let url = Url::parse(&completed(text)).map_err(|error| bad(&error.to_string()))?;
    match url.scheme() {
        "about" if matches!(url.path(), "blank") => return Ok(url.into()),
        scheme if OPENED.contains(&scheme) => {}
        "javascript" | "mailto" | "tel" | "ws" | "wss" => {
            return Err(bad("a page cannot have its scheme"));
        }
        scheme => return Err(refused_scheme(&format!("`{text}` is not opened: pages with {scheme}:"))),
    }
    let inner = blob_origin(url.as_str());
    if [Some(&url), inner.as_ref()].into_iter().flatten().any(has_star) {
        return Err(bad("its host has a `*`, which browsers interpret differently"));
    }
    if let Some(inner) = inner.as_ref().filter(|inner| !is_http(inner)) {
        let scheme = inner.scheme();
        return Err(refused_scheme(&format!("`{text}` is not opened: blobs of pages with {scheme}:")));
    }
    if has_user(&url) || inner.as_ref().is_some_and(has_user) {
        return Err(bad("it contains a user name or password, which looks like a host").with_remedy(
            Remedy::new(
                "Leave out the part before the `@`; use {} for sites that require a password.",
                [Step::action("http_auth")],
            ),
        ));
    }
    Ok(url.into())
}

/// Adds a missing scheme. `host:port` is a host when it has a dot, is a number or is `localhost`.
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

/// The URL of the page that made a blob, which follows `blob:`; `None` when that page has no URL.
fn blob_origin(url: &str) -> Option<Url> {
    Url::parse(url.strip_prefix("blob:")?).ok()
}

fn is_http(inner: &Url) -> bool {
    matches!(inner.scheme(), "http" | "https")
}

/// Fails when the scheme of a page is not one that can be read.
pub(crate) fn check_readable(url: &str) -> Result<(), Failure> {
    let scheme = url.split_once(':').map_or("", |(scheme, _)| scheme).to_ascii_lowercase();
    if let Some(inner) = blob_origin(url).filter(|inner| !is_http(inner)) {
        let scheme = inner.scheme();
        return Err(refused_scheme(&format!("The tab shows a blob of a page with {scheme}:. Such pages")));
    }
    // A page that has not started to load has no URL yet.
    if url.is_empty() || READ.contains(&scheme.as_str()) {
        return Ok(());
    }
    Err(refused_scheme(&format!("The tab shows a page with {scheme}:. Such pages")))
}

fn refused_scheme(what: &str) -> Failure {
    let message = format!("{what} can be neither read nor used.");
    Failure::new(ErrorCode::PolicyDenied, message)
        .with_remedy("Use http: or https:. Serve local files with a local web server.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_urls_are_completed() {
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
    fn invalid_urls_are_refused() {
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
