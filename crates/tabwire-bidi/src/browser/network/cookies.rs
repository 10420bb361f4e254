//! Cookies: `Storage.*` on the browser and a tab, `Network.*` on a tab.

use serde_json::{Value, json};
use tabwire_api::ErrorCode;
use tabwire_cdp::ProtocolError;

use crate::browser::{EmulatedBrowser, Reply};
use crate::gaps::PARTITIONED;
use crate::protocol::message::{BidiError, flag, number, text};
use crate::state::context::DEFAULT_USER_CONTEXT;

impl EmulatedBrowser {
    pub(in crate::browser) fn cookie_command(
        &mut self,
        method: &str,
        params: &Value,
        tab: Option<&str>,
        reply: Reply,
    ) {
        let own = tab.and_then(|tab| self.contexts.find(tab)).map(|context| context.user_context.clone());
        let context = match (text(params, "browserContextId"), own) {
            ("", Some(own)) => own,
            ("", None) => DEFAULT_USER_CONTEXT.to_owned(),
            (context, _) => context.to_owned(),
        };
        let partition = json!({"type": "storageKey", "userContext": context});
        match method {
            "Storage.getCookies" => self.get_cookies(partition, Vec::new(), reply),
            "Network.getCookies" => {
                let given = params.get("urls").and_then(Value::as_array);
                let mut urls: Vec<String> =
                    given.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
                if urls.is_empty()
                    && let Some(found) = tab.and_then(|tab| self.contexts.find(tab))
                {
                    urls.push(found.url.clone());
                }
                self.get_cookies(partition, urls, reply);
            }
            "Storage.setCookies" => {
                let cookies = params.get("cookies").and_then(Value::as_array).cloned().unwrap_or_default();
                self.set_cookies(cookies, partition, reply);
            }
            "Network.setCookie" => self.set_cookies(vec![params.clone()], partition, reply),
            "Storage.clearCookies" => {
                self.send_acknowledged("storage.deleteCookies", json!({"partition": partition}), reply);
            }
            "Network.deleteCookies" => {
                let host = host_of(text(params, "url"));
                let domain = [text(params, "domain"), host].into_iter().find(|one| !one.is_empty());
                let mut filter = json!({"name": text(params, "name")});
                if let Some(domain) = domain {
                    filter["domain"] = json!(domain);
                }
                if !text(params, "path").is_empty() {
                    filter["path"] = json!(text(params, "path"));
                }
                let delete = json!({"filter": filter, "partition": partition});
                self.send_acknowledged("storage.deleteCookies", delete, reply);
            }
            method => self.refuse(reply, method),
        }
    }

    fn get_cookies(&mut self, partition: Value, urls: Vec<String>, reply: Reply) {
        let then = move |browser: &mut Self, outcome: Result<Value, BidiError>| match outcome {
            Ok(found) => {
                let all = found.get("cookies").and_then(Value::as_array);
                let wanted = |cookie: &&Value| urls.is_empty() || urls.iter().any(|url| applies(cookie, url));
                let cookies: Vec<Value> = all.into_iter().flatten().filter(wanted).map(to_cdp).collect();
                browser.succeed(reply, json!({"cookies": cookies}));
            }
            Err(error) => browser.fail(reply, &error.to_protocol()),
        };
        self.send("storage.getCookies", json!({"partition": partition}), Box::new(then));
    }

    /// Sets cookies one after the other; the first error is the response.
    fn set_cookies(&mut self, mut cookies: Vec<Value>, partition: Value, reply: Reply) {
        if cookies.is_empty() {
            return self.succeed(reply, json!({"success": true}));
        }
        let first = cookies.remove(0);
        if first.get("partitionKey").is_some_and(|key| !key.is_null()) {
            let message = format!("{PARTITIONED} (Network.setCookie)");
            return self.fail(reply, &ProtocolError::tabwire(ErrorCode::UnsupportedHere, message));
        }
        let cookie = match to_bidi(&first) {
            Ok(cookie) => cookie,
            Err(message) => return self.fail(reply, &ProtocolError::invalid_params(message)),
        };
        let set = json!({"cookie": cookie, "partition": partition.clone()});
        let then = move |browser: &mut Self, outcome: Result<Value, BidiError>| match outcome {
            Ok(_) => browser.set_cookies(cookies, partition, reply),
            Err(error) => browser.fail(reply, &error.to_protocol()),
        };
        self.send("storage.setCookie", set, Box::new(then));
    }
}

fn host_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    if host.starts_with('[') {
        return host.split_inclusive(']').next().unwrap_or_default();
    }
    host.split(':').next().unwrap_or_default()
}

fn path_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let path = rest.find('/').map_or("/", |at| &rest[at..]);
    path.split(['?', '#']).next().unwrap_or("/")
}

/// Whether a cookie is sent with a request to a URL.
fn applies(cookie: &Value, url: &str) -> bool {
    let (host, path) = (host_of(url), path_of(url));
    let domain = text(cookie, "domain");
    let in_domain = match domain.strip_prefix('.') {
        Some(above) => host == above || host.ends_with(domain),
        None => host == domain,
    };
    let scope = text(cookie, "path");
    let in_path = path == scope
        || path.starts_with(scope) && (scope.ends_with('/') || path[scope.len()..].starts_with('/'));
    let is_secure = url.starts_with("https:") || matches!(host, "localhost" | "127.0.0.1" | "[::1]");
    in_domain && in_path && (!flag(cookie, "secure") || is_secure)
}

/// The text of BiDi's `BytesValue`.
pub(in crate::browser) fn bytes_text(value: Option<&Value>) -> String {
    use base64::Engine as _;
    let Some(value) = value else { return String::new() };
    let content = text(value, "value");
    if text(value, "type") != "base64" {
        return content.to_owned();
    }
    let bytes = base64::prelude::BASE64_STANDARD.decode(content).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn to_cdp(cookie: &Value) -> Value {
    let value = bytes_text(cookie.get("value"));
    let expiry = number(cookie, "expiry");
    let mut converted = json!({
        "name": cookie.get("name"), "domain": cookie.get("domain"), "path": cookie.get("path"),
        "expires": expiry.unwrap_or(-1.0), "size": cookie.get("size"), "httpOnly": cookie.get("httpOnly"),
        "secure": cookie.get("secure"), "session": expiry.is_none(), "priority": "Medium",
        "sourceScheme": if flag(cookie, "secure") { "Secure" } else { "NonSecure" }, "sourcePort": -1,
        "value": value,
    });
    let same_site = match text(cookie, "sameSite") {
        "strict" => Some("Strict"),
        "lax" => Some("Lax"),
        "none" => Some("None"),
        _ => None,
    };
    if let Some(same_site) = same_site {
        converted["sameSite"] = json!(same_site);
    }
    converted
}

fn to_bidi(cookie: &Value) -> Result<Value, String> {
    let url = text(cookie, "url");
    let domain = [text(cookie, "domain"), host_of(url)].into_iter().find(|one| !one.is_empty());
    let Some(domain) = domain else { return Err("a cookie needs a domain or a URL".to_owned()) };
    let path = match (text(cookie, "path"), url) {
        ("", _) => "/",
        (path, _) => path,
    };
    let mut converted = json!({
        "name": text(cookie, "name"), "value": {"type": "string", "value": text(cookie, "value")},
        "domain": domain, "path": path, "httpOnly": flag(cookie, "httpOnly"),
        "secure": flag(cookie, "secure") || cookie.get("secure").is_none() && url.starts_with("https:"),
    });
    if let Some(same_site) = cookie.get("sameSite").and_then(Value::as_str) {
        converted["sameSite"] = json!(same_site.to_ascii_lowercase());
    }
    if let Some(expires) = cookie.get("expires").and_then(Value::as_f64).filter(|at| *at >= 0.0) {
        converted["expiry"] = json!(expires.floor());
        // Firefox takes whole seconds only.
        if let Ok(whole) = format!("{expires:.0}").parse::<u64>() {
            converted["expiry"] = json!(whole);
        }
    }
    check_prefix(&converted, text(cookie, "domain"))?;
    Ok(converted)
}

/// Refuses a cookie whose name promises what it does not keep, as Chrome does. Firefox would store it.
fn check_prefix(cookie: &Value, domain: &str) -> Result<(), String> {
    let name = text(cookie, "name").to_ascii_lowercase();
    let is_secure = flag(cookie, "secure");
    let is_kept = match name.as_str() {
        name if name.starts_with("__host-") => {
            is_secure && !domain.starts_with('.') && text(cookie, "path") == "/"
        }
        name if name.starts_with("__secure-") => is_secure,
        _ => true,
    };
    if is_kept {
        return Ok(());
    }
    Err("the prefix of the cookie's name requires other attributes".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_apply_to_their_host_and_path() {
        let cookie = |domain: &str, path: &str| json!({"domain": domain, "path": path});
        assert!(applies(&cookie("a.test", "/"), "http://a.test:80/x?y"));
        assert!(!applies(&cookie("a.test", "/"), "http://b.a.test/"));
        assert!(applies(&cookie(".a.test", "/"), "http://b.a.test/"));
        assert!(!applies(&cookie("a.test", "/x"), "http://a.test/xy"));
        assert!(applies(&cookie("a.test", "/x"), "http://a.test/x/y"));
        assert!(!applies(&json!({"domain": "a.test", "path": "/", "secure": true}), "http://a.test/"));
    }

    #[test]
    fn prefixes_of_names_are_checked() {
        let cookie = |name: &str, url: &str, domain: &str| {
            to_bidi(&json!({"name": name, "value": "v", "url": url, "domain": domain})).is_ok()
        };
        assert!(
            cookie("__Host-a", "https://a.test/", "") && cookie("__Secure-a", "https://a.test/", "a.test")
        );
        assert!(
            !cookie("__Host-a", "http://a.test/", "") && !cookie("__host-a", "https://a.test/", ".a.test")
        );
        assert!(!cookie("__Secure-a", "http://a.test/", ""));
    }

    #[test]
    fn cookies_convert_both_ways() {
        let set = to_bidi(&json!({"name": "n", "value": "v", "url": "https://a.test/", "expires": 12.7}));
        let set = set.expect("a cookie");
        assert_eq!(set["expiry"], json!(13));
        assert_eq!((&set["domain"], &set["secure"]), (&json!("a.test"), &json!(true)));
        assert!(to_bidi(&json!({"name": "n"})).is_err());
        let read =
            to_cdp(&json!({"name": "n", "value": {"type": "string", "value": "v"}, "sameSite": "lax"}));
        assert_eq!(
            (&read["value"], &read["sameSite"], &read["session"]),
            (&json!("v"), &json!("Lax"), &json!(true))
        );
    }
}
