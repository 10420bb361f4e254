//! Masks secrets in headers, URLs and bodies (T39), by the names of their fields.

use serde_json::Value;

/// Replaces a secret in every output. The page agent has the same text in `page/agent/name/value_state.js`.
pub const MASK: &str = "•••";

/// Parts of secret names, without separators.
const PARTS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "privatekey",
    "authorization",
    "credential",
    "session",
    "csrf",
    "xsrf",
    "cookie",
    "signature",
    "onetimecode",
];

/// Whole secret names.
const WHOLE: &[&str] =
    &["auth", "xauth", "pwd", "pass", "jwt", "sid", "sig", "otp", "pin", "totp", "xauthkey"];

/// Further secret names in URLs, where they hardly mean anything else.
const IN_URL: &[&str] = &["code", "key"];

fn is_secret(name: &str) -> bool {
    let name = plain(name);
    WHOLE.contains(&name.as_str()) || PARTS.iter().any(|part| name.contains(part))
}

fn plain(name: &str) -> String {
    name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The value of a header with secrets masked.
#[must_use]
pub fn mask_header(name: &str, value: &str) -> String {
    match name.to_ascii_lowercase().as_str() {
        "cookie" => {
            let pairs = value.split(';').map(|pair| mask_pair(pair.trim(), |_| true));
            pairs.collect::<Vec<_>>().join("; ")
        }
        "set-cookie" => match value.split_once(';') {
            Some((pair, attributes)) => format!("{};{attributes}", mask_pair(pair, |_| true)),
            None => mask_pair(value, |_| true),
        },
        // Keep the authentication scheme.
        "authorization" | "proxy-authorization" => match value.split_once(' ') {
            Some((scheme, _)) => format!("{scheme} {MASK}"),
            None => MASK.to_owned(),
        },
        // A challenge contains no secret.
        "www-authenticate" | "proxy-authenticate" => value.to_owned(),
        "referer" | "location" | "content-location" | "origin" => mask_url(value),
        name if is_secret(name) && !name.starts_with("access-control-") && !name.starts_with("sec-") => {
            MASK.to_owned()
        }
        _ => value.to_owned(),
    }
}

/// `name=value`, masked when the name is secret.
fn mask_pair(pair: &str, is_secret: impl Fn(&str) -> bool) -> String {
    match pair.split_once('=') {
        Some((name, value)) if !value.is_empty() && is_secret(name) => format!("{name}={MASK}"),
        _ => pair.to_owned(),
    }
}

/// A URL without its password and with secret parameters masked.
#[must_use]
pub fn mask_url(url: &str) -> String {
    let (base, rest) = match url.find(['?', '#']) {
        Some(at) => url.split_at(at),
        None => (url, ""),
    };
    let mut masked = mask_user(base);
    let mut rest = rest;
    while let Some(mark) = rest.chars().next() {
        let end = rest[1..].find(['?', '#']).map_or(rest.len(), |at| at + 1);
        masked.push(mark);
        masked.push_str(&mask_fields(&rest[1..end], |name| {
            is_secret(name) || IN_URL.contains(&plain(name).as_str())
        }));
        rest = &rest[end..];
    }
    masked
}

/// An endpoint of a browser: scheme, host and port. User name, password, path and query can hold a secret.
#[must_use]
pub fn mask_endpoint(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").map_or(("", url), |(scheme, rest)| (scheme, rest));
    let (authority, path) = rest.find(['/', '?', '#']).map_or((rest, ""), |at| rest.split_at(at));
    let separator = if scheme.is_empty() { "" } else { "://" };
    let (user, host) = match authority.rsplit_once('@') {
        Some((_, host)) => (format!("{MASK}@"), host),
        None => (String::new(), authority),
    };
    let path = if matches!(path, "" | "/") { String::new() } else { format!("/{MASK}") };
    format!("{scheme}{separator}{user}{host}{path}")
}

fn mask_user(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    match authority.rsplit_once('@') {
        Some((user, host)) => {
            let user = user.split_once(':').map_or(user, |(user, _)| user);
            format!("{scheme}://{user}:{MASK}@{host}{path}")
        }
        None => url.to_owned(),
    }
}

fn mask_fields(fields: &str, is_secret: impl Fn(&str) -> bool) -> String {
    fields.split('&').map(|pair| mask_pair(pair, &is_secret)).collect::<Vec<_>>().join("&")
}

/// A body with secret fields of forms and JSON masked.
#[must_use]
pub fn mask_body(body: &str, content_type: &str) -> String {
    let content_type = content_type.to_ascii_lowercase();
    if content_type.contains("x-www-form-urlencoded") {
        return mask_fields(body, is_secret);
    }
    if content_type.contains("multipart/form-data") {
        return mask_parts(body);
    }
    let looks_like_json = body.trim_start().starts_with(['{', '[']);
    if (content_type.contains("json") || looks_like_json)
        && let Ok(mut value) = serde_json::from_str::<Value>(body)
        && mask_value(&mut value)
    {
        return value.to_string();
    }
    body.to_owned()
}

/// Masks secrets in a JSON value; returns whether there were any.
fn mask_value(value: &mut Value) -> bool {
    match value {
        Value::Array(values) => values.iter_mut().fold(false, |any, value| mask_value(value) | any),
        Value::Object(fields) => fields.iter_mut().fold(false, |any, (name, value)| {
            let holds = matches!(value, Value::String(_) | Value::Number(_));
            if holds && is_secret(name) {
                *value = Value::from(MASK);
                return true;
            }
            mask_value(value) | any
        }),
        _ => false,
    }
}

fn mask_parts(body: &str) -> String {
    let parts = body.split("\r\n--").map(|part| match part.split_once("\r\n\r\n") {
        Some((head, _)) if is_secret(field_of(head)) => format!("{head}\r\n\r\n{MASK}"),
        _ => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("\r\n--")
}

fn field_of(head: &str) -> &str {
    let after = head.split_once(" name=\"").map_or("", |(_, after)| after);
    after.split_once('"').map_or("", |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t39_secrets_in_headers_are_masked_by_name() {
        for (name, value, shown) in [
            ("Authorization", "Bearer abc.def", "Bearer •••"),
            ("authorization", "abc", "•••"),
            ("Cookie", "session=abc; theme=dark", "session=•••; theme=•••"),
            ("Set-Cookie", "session=abc; Path=/; HttpOnly", "session=•••; Path=/; HttpOnly"),
            ("X-Api-Key", "abc", "•••"),
            ("X-CSRF-Token", "abc", "•••"),
            ("Accept", "text/html", "text/html"),
            ("WWW-Authenticate", "Basic realm=\"x\"", "Basic realm=\"x\""),
            ("Referer", "https://a.test/?token=abc", "https://a.test/?token=•••"),
        ] {
            assert_eq!(mask_header(name, value), shown, "{name}");
        }
    }

    #[test]
    fn t39_secrets_in_urls_are_masked() {
        for (url, shown) in [
            (
                "https://a.test/x?a=1&access_token=abc&b=2#id_token=def",
                "https://a.test/x?a=1&access_token=•••&b=2#id_token=•••",
            ),
            ("https://user:pass@a.test/x", "https://user:•••@a.test/x"),
            ("https://a.test/?code=abc&keyword=k", "https://a.test/?code=•••&keyword=k"),
            ("https://a.test/@scope?x", "https://a.test/@scope?x"),
            ("data:text/html,hi", "data:text/html,hi"),
        ] {
            assert_eq!(mask_url(url), shown);
        }
    }

    #[test]
    fn t39_secrets_in_bodies_are_masked() {
        let form = "application/x-www-form-urlencoded";
        assert_eq!(mask_body("user=a&password=b", form), "user=a&password=•••");
        let json = r#"{"user":"a","deep":[{"refreshToken":"x","password":null}]}"#;
        let shown = mask_body(json, "application/json");
        assert!(shown.contains(r#""refreshToken":"•••""#) && shown.contains(r#""user":"a""#), "{shown}");
        let untouched = "{ \"a\":  1 }";
        assert_eq!(mask_body(untouched, "application/json"), untouched);
        let parts = "--x\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nabc\r\n--x--\r\n";
        assert!(!mask_body(parts, "multipart/form-data; boundary=x").contains("abc"));
    }
}
