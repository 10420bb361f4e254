//! State files with cookies and local storage: Playwright's storage state.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tabwire_api::{ErrorCode, Failure, Remedy, Step};

use crate::storage::cookie::{Cookie, CookieValue, PartitionKey, SameSite};

/// The content of a state file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct SavedState {
    #[serde(default)]
    pub(crate) cookies: Vec<SavedCookie>,
    #[serde(default)]
    pub(crate) origins: Vec<SavedOrigin>,
}

/// A cookie in Playwright's format.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SavedCookie {
    name: String,
    #[serde(serialize_with = "expose")]
    value: CookieValue,
    domain: String,
    #[serde(default = "whole_site")]
    path: String,
    /// -1 for a session cookie.
    #[serde(default = "session_cookie")]
    expires: f64,
    #[serde(default)]
    http_only: bool,
    #[serde(default)]
    secure: bool,
    #[serde(default)]
    same_site: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    partition_key: Option<SavedPartition>,
    #[serde(rename = "_crHasCrossSiteAncestor", default, skip_serializing_if = "Option::is_none")]
    has_cross_site_ancestor: Option<bool>,
}

/// A partition in Playwright's or in CDP's format.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum SavedPartition {
    Site(String),
    Key(PartitionKey),
}

/// The storage of an origin.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SavedOrigin {
    pub(crate) origin: String,
    #[serde(default)]
    pub(crate) local_storage: Vec<SavedEntry>,
    /// IndexedDB, which is neither read nor written.
    #[serde(rename = "indexedDB", default, skip_serializing_if = "Option::is_none")]
    pub(crate) databases: Option<Value>,
}

/// One key of local storage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SavedEntry {
    pub(crate) name: String,
    pub(crate) value: String,
}

fn expose<S: serde::Serializer>(value: &CookieValue, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(value.expose())
}

fn whole_site() -> String {
    "/".to_owned()
}

const fn session_cookie() -> f64 {
    -1.0
}

impl SavedState {
    /// Parses a state file.
    pub(crate) fn read(content: &[u8]) -> Result<Self, Failure> {
        serde_json::from_slice(content).map_err(|error| {
            // The parser's message may quote the content.
            let message = format!(
                "The file is not a storage state: error at line {}, column {}.",
                error.line(),
                error.column()
            );
            Failure::new(ErrorCode::BadArgs, message).with_remedy(Remedy::new(
                "It must be JSON with `cookies` and `origins`, as {} and Playwright write it.",
                [Step::action("state")],
            ))
        })
    }

    /// The content of the file.
    pub(crate) fn write(&self) -> Result<Vec<u8>, Failure> {
        serde_json::to_vec_pretty(self).map_err(|error| {
            Failure::new(ErrorCode::Internal, format!("The state cannot be written: {error}."))
        })
    }
}

impl SavedCookie {
    /// The cookie for CDP.
    pub(crate) fn to_cookie(&self) -> Cookie {
        let same_site = match self.same_site.as_deref() {
            Some("Strict") => Some(SameSite::Strict),
            Some("Lax") => Some(SameSite::Lax),
            Some("None") => Some(SameSite::None),
            _ => None,
        };
        let partition_key = self.partition_key.as_ref().map(|partition| match partition {
            SavedPartition::Key(key) => key.clone(),
            SavedPartition::Site(site) => PartitionKey {
                top_level_site: site.clone(),
                has_cross_site_ancestor: self.has_cross_site_ancestor.unwrap_or(false),
            },
        });
        Cookie {
            name: self.name.clone(),
            value: self.value.clone(),
            domain: self.domain.clone(),
            path: self.path.clone(),
            expires: self.expires,
            http_only: self.http_only,
            secure: self.secure,
            same_site,
            partition_key,
        }
    }
}

impl From<Cookie> for SavedCookie {
    fn from(cookie: Cookie) -> Self {
        let key = cookie.partition_key;
        Self {
            name: cookie.name,
            value: cookie.value,
            domain: cookie.domain,
            path: cookie.path,
            expires: cookie.expires,
            http_only: cookie.http_only,
            secure: cookie.secure,
            // The default of browsers, and what Playwright writes.
            same_site: Some(cookie.same_site.unwrap_or(SameSite::Lax).as_protocol().to_owned()),
            has_cross_site_ancestor: key.as_ref().map(|key| key.has_cross_site_ancestor),
            partition_key: key.map(|key| SavedPartition::Site(key.top_level_site)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_playwright_are_parsed() {
        let file = br#"{
          "cookies": [
            {"name": "a", "value": "1", "domain": ".x.org", "path": "/", "expires": -1, "httpOnly": true,
             "secure": true, "sameSite": "None", "partitionKey": "https://y.org", "_crHasCrossSiteAncestor": true}
          ],
          "origins": [{"origin": "https://x.org", "localStorage": [{"name": "k", "value": "v"}], "indexedDB": []}]
        }"#;
        let state = SavedState::read(file).expect("read");
        let cookie = state.cookies[0].to_cookie();
        assert!(cookie.partition_key.as_ref().is_some_and(|key| key.has_cross_site_ancestor), "{cookie:?}");
        assert_eq!(cookie.same_site, Some(SameSite::None));
        let again = SavedState::read(&state.write().expect("written")).expect("read");
        assert_eq!(again.cookies[0].to_cookie(), cookie);
        assert_eq!(again.origins[0].local_storage, [SavedEntry { name: "k".into(), value: "v".into() }]);
    }

    #[test]
    fn t39_an_invalid_file_is_not_quoted_in_the_error() {
        let failure = SavedState::read(br#"{"cookies": ["secret-canary"]}"#).expect_err("not a cookie");
        assert_eq!(failure.code, ErrorCode::BadArgs);
        assert!(!format!("{failure:?}").contains("canary"));
    }
}
