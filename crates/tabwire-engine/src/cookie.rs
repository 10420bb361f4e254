//! A cookie as browsers keep it. Its value is a secret and is never shown unless somebody asked for it (T39).

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A cookie's value, which is not printed by accident.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub(crate) struct CookieValue(String);

impl CookieValue {
    /// Takes a value.
    pub(crate) fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// The value itself, for the browser, for a state file or for whoever asked for it.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for CookieValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "[{} bytes]", self.0.len())
    }
}

/// When a cookie is sent to a site from pages of other sites.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
#[value(rename_all = "lower")]
pub(crate) enum SameSite {
    /// Never.
    #[serde(alias = "Strict")]
    Strict,
    /// When a link is followed.
    #[serde(alias = "Lax")]
    Lax,
    /// Always; only for secure cookies.
    #[serde(alias = "None")]
    None,
}

impl SameSite {
    /// The protocol's word, which is Playwright's too.
    pub(crate) const fn as_protocol(self) -> &'static str {
        match self {
            Self::Strict => "Strict",
            Self::Lax => "Lax",
            Self::None => "None",
        }
    }
}

/// The page that a partitioned cookie belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PartitionKey {
    pub(crate) top_level_site: String,
    #[serde(default)]
    pub(crate) has_cross_site_ancestor: bool,
}

/// A cookie in the protocol's words.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Cookie {
    pub(crate) name: String,
    pub(crate) value: CookieValue,
    /// With a dot in front when it holds for the hosts below as well.
    pub(crate) domain: String,
    pub(crate) path: String,
    /// Seconds since 1970; negative when it ends with the browser.
    #[serde(default = "with_the_browser")]
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

const fn with_the_browser() -> f64 {
    -1.0
}

impl Cookie {
    /// Whether it holds for a host, its dot aside, or one below it.
    pub(crate) fn is_of_domain(&self, domain: &str) -> bool {
        let own = self.domain.trim_start_matches('.');
        let asked = domain.trim_start_matches('.');
        own.eq_ignore_ascii_case(asked)
            || own
                .len()
                .checked_sub(asked.len() + 1)
                .is_some_and(|at| own.as_bytes()[at] == b'.' && own[at + 1..].eq_ignore_ascii_case(asked))
    }

    /// Whether its time is over.
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

    /// The parameters that remove it and no other.
    pub(crate) fn to_removal(&self) -> Value {
        let mut params = json!({"name": self.name, "domain": self.domain, "path": self.path});
        if let Some(key) = &self.partition_key {
            params["partitionKey"] = json!(key);
        }
        params
    }

    /// Whether it is the same cookie: a browser keeps one of them.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.name == other.name
            && self.domain == other.domain
            && self.path == other.path
            && self.partition_key == other.partition_key
    }
}

/// Seconds since 1970.
pub(crate) fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cookie(domain: &str, expires: f64) -> Cookie {
        let told =
            json!({"name": "a", "value": "secret-canary", "domain": domain, "path": "/", "expires": expires});
        serde_json::from_value(told).expect("a cookie")
    }

    #[test]
    fn a_cookie_is_of_its_domain_and_those_above() {
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
    fn time_is_over_when_it_is_past() {
        assert!(cookie("a", 1.0).is_expired());
        assert!(!cookie("a", -1.0).is_expired() && !cookie("a", now() + 60.0).is_expired());
    }
}
