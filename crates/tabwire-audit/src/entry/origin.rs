//! The origin of a page, and URLs without secrets.

use serde::Serialize;
use url::{Position, Url};

use crate::entry::visibility::{CUT, cut};
use crate::limits::{NAME_BYTES, VALUE_BYTES};

/// A path segment of this length with digits and letters counts as a secret, such as a token or a session id.
const SECRET_PART: usize = 16;

/// Scheme, host and port of a page; never its path, query or fragment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Origin(String);

impl Origin {
    /// The origin of a URL, or its scheme if it has none.
    #[must_use]
    pub fn of(address: &str) -> Option<Self> {
        let url = Url::parse(address.trim()).ok()?;
        let text = match url.origin() {
            origin @ url::Origin::Tuple(..) => origin.ascii_serialization(),
            url::Origin::Opaque(_) if url.scheme() == "about" && url.path() == "blank" => {
                "about:blank".to_owned()
            }
            url::Origin::Opaque(_) => format!("{}:", url.scheme()),
        };
        Some(Self(cut(&text, NAME_BYTES)))
    }

    /// The origin as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A URL without user, password, query, fragment, and path segments that look like tokens.
#[must_use]
pub fn safe_address(address: &str) -> String {
    let Ok(url) = Url::parse(address.trim()) else { return CUT.to_owned() };
    if !matches!(url.scheme(), "http" | "https" | "file") {
        return Origin::of(address).map_or_else(|| CUT.to_owned(), |origin| origin.0);
    }
    let path: Vec<&str> =
        url.path().split('/').map(|part| if is_tokenlike(part) { CUT } else { part }).collect();
    let origin = match url.scheme() {
        "file" => "file://".to_owned(),
        _ => url.origin().ascii_serialization(),
    };
    let rest = if url[Position::AfterPath..].is_empty() { "" } else { "?…" };
    cut(&format!("{origin}{}{rest}", path.join("/")), VALUE_BYTES)
}

fn is_tokenlike(part: &str) -> bool {
    part.len() >= SECRET_PART
        && part.bytes().any(|byte| byte.is_ascii_digit())
        && part.bytes().any(|byte| byte.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_has_no_path() {
        let check = |address: &str, expected: Option<&str>| {
            assert_eq!(Origin::of(address).as_ref().map(Origin::as_str), expected, "{address}");
        };
        check("https://anna:secret@shop.test:8443/cart?id=1#x", Some("https://shop.test:8443"));
        check("http://shop.test:80/", Some("http://shop.test"));
        check("about:blank", Some("about:blank"));
        check("data:text/html,secret", Some("data:"));
        check("javascript:secret()", Some("javascript:"));
        check("file:///srv/secret", Some("file:"));
        check("blob:https://shop.test/0-secret", Some("https://shop.test"));
        check("no address", None);
    }

    #[test]
    fn t39_a_url_loses_query_fragment_and_user() {
        let check = |address: &str, expected: &str| assert_eq!(safe_address(address), expected, "{address}");
        check("https://anna:secret@shop.test/cart/2?token=secret#secret", "https://shop.test/cart/2?…");
        check("https://shop.test/reset/0a1b2c3d4e5f6a7b8c9d", "https://shop.test/reset/…");
        check("https://shop.test/a-long-title-of-an-article", "https://shop.test/a-long-title-of-an-article");
        check("data:text/html,secret", "data:");
        check("shop.test/cart", "…");
        check("file:///srv/page.html?secret", "file:///srv/page.html?…");
    }
}
