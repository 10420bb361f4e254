//! Cookies. Their values are secret and shown only on request (T39).

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A cookie value. Its `Debug` output hides it.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub(crate) struct CookieValue(String);

impl CookieValue {
    /// Wraps a value.
    pub(crate) fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// The value itself, for the browser, a state file or a caller that requested it.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for CookieValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "[{} bytes]", self.0.len())
    }
}

/// The SameSite attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
#[value(rename_all = "lower")]
pub(crate) enum SameSite {
    /// Never sent from other sites.
    #[serde(alias = "Strict")]
    Strict,
    /// Sent when a link is followed.
    #[serde(alias = "Lax")]
    Lax,
    /// Always sent; only for secure cookies.
    #[serde(alias = "None")]
    None,
}

impl SameSite {
    /// The name in CDP and Playwright.
    pub(crate) const fn as_protocol(self) -> &'static str {
        match self {
            Self::Strict => "Strict",
            Self::Lax => "Lax",
            Self::None => "None",
        }
    }
}

/// The partition of a partitioned cookie.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PartitionKey {
    pub(crate) top_level_site: String,
    #[serde(default)]
    pub(crate) has_cross_site_ancestor: bool,
}

/// A cookie as CDP sends it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Cookie {
    pub(crate) name: String,
    pub(crate) value: CookieValue,
    /// With a leading dot when it covers subdomains.
    pub(crate) domain: String,
    pub(crate) path: String,
    /// Unix time in seconds; negative for a session cookie.
    #[serde(default = "session_cookie")]
    pub(crate) expires: f64,
    #[serde(default)]
    pub(crate) http_only: bool,
    #[serde(default)]
    pub(crate) secure: bool,
    #[serde(default)]
    pub(crate) same_site: Option<SameSite>,
    #[serde(default)]
    pub(crate) partition_key: Option<PartitionKey>,
}

const fn session_cookie() -> f64 {
    -1.0
}

impl Cookie {
    /// Whether its domain is this one or a subdomain of it.
    pub(crate) fn is_of_domain(&self, domain: &str) -> bool {
        let own = self.domain.trim_start_matches('.');
        let asked = domain.trim_start_matches('.');
        own.eq_ignore_ascii_case(asked)
            || own
                .len()
                .checked_sub(asked.len() + 1)
                .is_some_and(|at| own.as_bytes()[at] == b'.' && own[at + 1..].eq_ignore_ascii_case(asked))
    }

    /// Whether it has expired.
    pub(crate) fn is_expired(&self) -> bool {
        (0.0..now()).contains(&self.expires)
    }

    /// The parameters that set it.
    pub(crate) fn to_params(&self) -> Value {
        let mut params = json!({
            "name": self.name, "value": self.value.expose(), "domain": self.domain, "path": self.path,
            "httpOnly": self.http_only, "secure": self.secure,
        });
        if self.expires >= 0.0 {
            params["expires"] = json!(self.expires);
        }
        if let Some(same_site) = self.same_site {
            params["sameSite"] = json!(same_site.as_protocol());
        }
        if let Some(key) = &self.partition_key {
            params["partitionKey"] = json!(key);
        }
        params
    }

    /// The parameters that delete exactly this cookie.
    pub(crate) fn to_removal(&self) -> Value {
        let mut params = json!({"name": self.name, "domain": self.domain, "path": self.path});
        if let Some(key) = &self.partition_key {
            params["partitionKey"] = json!(key);
        }
        params
    }

    /// Whether it has the same identity: a browser keeps one of them.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.name == other.name
            && self.domain == other.domain
            && self.path == other.path
            && self.partition_key == other.partition_key
    }
}

/// Unix time in seconds.
pub(crate) fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cookie(domain: &str, expires: f64) -> Cookie {
        let value =
            json!({"name": "a", "value": "secret-canary", "domain": domain, "path": "/", "expires": expires});
        serde_json::from_value(value).expect("a cookie")
    }

    #[test]
    fn a_cookie_belongs_to_its_domain_and_parent_domains() {
        for (domain, asked, is_of) in [
            (".shop.example.org", "example.org", true),
            ("shop.example.org", "shop.example.org", true),
            ("shop.example.org", ".EXAMPLE.org", true),
            ("notexample.org", "example.org", false),
            ("example.org", "shop.example.org", false),
            ("org", "example.org", false),
        ] {
            assert_eq!(cookie(domain, -1.0).is_of_domain(asked), is_of, "{domain} {asked}");
        }
    }

    #[test]
    fn t39_a_value_is_not_printed_by_accident() {
        assert!(!format!("{:?}", cookie("a", -1.0)).contains("canary"));
    }

    #[test]
    fn a_cookie_expires_at_its_time() {
        assert!(cookie("a", 1.0).is_expired());
        assert!(!cookie("a", -1.0).is_expired() && !cookie("a", now() + 60.0).is_expired());
    }
}
