//! Cookies in results: everything but the value, unless it was requested.

use schemars::JsonSchema;
use serde::Serialize;

use crate::snapshot::worded;
use crate::storage::cookie::{Cookie, SameSite, now};

/// A cookie in a result.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct CookieView {
    /// Its name.
    name: String,
    /// Its value, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    /// The length of its value.
    bytes: usize,
    /// The host; with a leading dot it includes subdomains.
    domain: String,
    /// The path prefix.
    path: String,
    /// Expiry as Unix time in seconds; absent for a session cookie.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<f64>,
    /// Whether scripts cannot read it.
    http_only: bool,
    /// Whether it is sent only over https.
    secure: bool,
    /// The SameSite attribute.
    #[serde(skip_serializing_if = "Option::is_none")]
    same_site: Option<SameSite>,
    /// The top-level site of a partitioned cookie.
    #[serde(skip_serializing_if = "Option::is_none")]
    partition: Option<String>,
}

impl CookieView {
    /// Its name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Its value; empty unless requested.
    pub(crate) fn value(&self) -> &str {
        self.value.as_deref().unwrap_or_default()
    }

    /// A cookie with or without its value.
    pub(crate) fn of(cookie: &Cookie, with_value: bool) -> Self {
        Self {
            name: cookie.name.clone(),
            value: with_value.then(|| cookie.value.expose().to_owned()),
            bytes: cookie.value.expose().len(),
            domain: cookie.domain.clone(),
            path: cookie.path.clone(),
            expires: (cookie.expires >= 0.0).then_some(cookie.expires),
            http_only: cookie.http_only,
            secure: cookie.secure,
            same_site: cookie.same_site,
            partition: cookie.partition_key.as_ref().map(|key| key.top_level_site.clone()),
        }
    }

    /// The cookie in one line.
    pub(crate) fn line(&self) -> String {
        let value = match &self.value {
            // Escapes every misleading character.
            Some(value) => format!("{value:?}"),
            None => format!("[{} bytes]", self.bytes),
        };
        let mut line =
            format!("{}={value}  {}{}", worded(&self.name), worded(&self.domain), worded(&self.path));
        for (is_so, word) in [(self.http_only, "  http-only"), (self.secure, "  secure")] {
            if is_so {
                line.push_str(word);
            }
        }
        if let Some(same_site) = self.same_site {
            line.push_str("  same-site=");
            line.push_str(&same_site.as_protocol().to_ascii_lowercase());
        }
        if let Some(partition) = &self.partition {
            line.push_str("  partition=");
            line.push_str(&worded(partition));
        }
        match self.expires {
            None => line.push_str("  until the browser closes"),
            Some(end) => line.push_str(&format!("  for {}", lasting(end - now()))),
        }
        line
    }
}

/// A duration in the largest unit that fits.
fn lasting(seconds: f64) -> String {
    for (unit, name) in [(86_400.0, "days"), (3_600.0, "hours"), (60.0, "minutes")] {
        if seconds >= 2.0 * unit {
            return format!("{:.0} {name}", seconds / unit);
        }
    }
    format!("{:.0} seconds", seconds.max(0.0))
}

#[cfg(test)]
mod tests {
    use super::lasting;

    #[test]
    fn durations_use_the_largest_unit_that_fits() {
        let shown: Vec<String> = [-5.0, 90.0, 150.0, 7_300.0, 864_000.0].map(lasting).into();
        assert_eq!(shown, ["0 seconds", "90 seconds", "2 minutes", "2 hours", "10 days"]);
    }
}
