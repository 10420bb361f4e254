//! The cookie that `cookies set` sets, checked before the browser gets it.

use serde_json::json;
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use url::Url;

use super::{Cookies, bad};
use crate::storage::cookie::{Cookie, CookieValue, PartitionKey, SameSite, now};

impl Cookies {
    /// The cookie to set.
    pub(super) fn to_cookie(&self, page_url: &str) -> Result<Cookie, Failure> {
        let (Some(name), Some(value)) = (&self.name, &self.value) else {
            return Err(bad("`set` needs a name and a value.", "Give both."));
        };
        let is_bad = |letter: char| letter == ';' || (letter.is_control() && letter != '\t');
        if name.contains(|letter| letter == '=' || is_bad(letter)) || value.contains(is_bad) {
            return Err(bad(
                "A cookie contains no semicolons or control characters, and its name no `=`.",
                "Encode the value, e.g. with percent signs.",
            ));
        }
        if self.same_site == Some(SameSite::None) && !self.secure {
            return Err(bad("Browsers accept `same_site` none only with `secure`.", secure()));
        }
        if self.partition.is_some() && !self.secure {
            return Err(bad("Browsers accept partitioned cookies only with `secure`.", secure()));
        }
        if self.path.as_ref().is_some_and(|path| !path.starts_with('/')) {
            return Err(bad("`path` must start with a slash.", "Use `/` for the whole site."));
        }
        Ok(Cookie {
            name: name.clone(),
            value: CookieValue::new(value),
            domain: self.cookie_domain(page_url)?,
            path: self.path.clone().unwrap_or_else(|| "/".to_owned()),
            expires: self.end()?,
            http_only: self.http_only,
            secure: self.secure,
            same_site: self.same_site,
            partition_key: self
                .partition
                .as_ref()
                .map(|site| PartitionKey { top_level_site: site.clone(), has_cross_site_ancestor: false }),
        })
    }

    /// The cookie's domain: with a leading dot for `domain`, without one for the host of a URL.
    fn cookie_domain(&self, page_url: &str) -> Result<String, Failure> {
        if let Some(domain) = &self.domain {
            return Ok(format!(".{}", domain.trim_start_matches('.')));
        }
        let url = web_address(self.url.as_deref().unwrap_or(page_url))?;
        Ok(url.host_str().unwrap_or_default().to_owned())
    }

    fn end(&self) -> Result<f64, Failure> {
        let end = match (self.expires, self.max_age) {
            (None, None) => return Ok(-1.0),
            (Some(expires), _) => expires,
            (None, Some(seconds)) => now() + seconds,
        };
        if end.is_finite() && end > now() {
            return Ok(end);
        }
        Err(bad("The cookie is expired already.", "To remove a cookie, use the verb `clear`."))
    }
}

fn secure() -> Remedy {
    Remedy::new("Add {}.", [Step::argument("secure")])
}

/// Reads a URL that cookies can be sent to.
pub(super) fn web_address(text: &str) -> Result<Url, Failure> {
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    url.ok_or_else(|| {
        Failure::new(ErrorCode::BadArgs, format!("{text:?} is not an http or https URL."))
            .with_remedy(super::set_scope())
            .with_details(json!({"url": text}))
    })
}
