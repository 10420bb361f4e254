//! Credentials for HTTP authentication, bound to one origin.

use std::fmt;

use serde_json::{Value, json};

/// A user name and a password. `Debug` hides the password.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Credentials {
    pub(crate) user: String,
    password: String,
    /// The only origin that gets them; none until the first request for them.
    pub(crate) origin: Option<String>,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Credentials").field("user", &self.user).finish_non_exhaustive()
    }
}

impl Credentials {
    pub(crate) fn new(user: String, password: String, origin: Option<String>) -> Self {
        Self { user, password, origin }
    }

    /// Whether an origin may have them. The first origin that asks becomes the only one.
    pub(crate) fn admit(&mut self, origin: &str, is_page: bool) -> bool {
        match &self.origin {
            Some(known) => known == origin,
            None if is_page => {
                self.origin = Some(origin.to_owned());
                true
            }
            None => false,
        }
    }

    /// The response to an authentication challenge. Contains the password.
    pub(crate) fn expose_response(&self) -> Value {
        json!({"response": "ProvideCredentials", "username": self.user, "password": self.password})
    }
}

/// The origin of a URL: `https://a.test:8443`; none when it has no server.
pub(crate) fn origin_of(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    let default_port = match scheme.as_str() {
        "http" | "ws" => ":80",
        "https" | "wss" => ":443",
        _ => return None,
    };
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host).to_ascii_lowercase();
    let host = host.strip_suffix(default_port).unwrap_or(&host);
    (!host.is_empty() && !host.contains(char::is_whitespace)).then(|| format!("{scheme}://{host}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_scheme_host_and_port() {
        assert_eq!(origin_of("HTTPS://user@A.test:443/x").as_deref(), Some("https://a.test"));
        assert_eq!(origin_of("http://a.test:8080?x").as_deref(), Some("http://a.test:8080"));
        assert_eq!(origin_of("http://a.test\\@b.test").as_deref(), Some("http://a.test"));
        assert_eq!(origin_of("about:blank"), None);
        assert_eq!(origin_of("https:///x"), None);
    }

    #[test]
    fn t39_credentials_go_to_one_origin_and_never_into_a_log() {
        let mut credentials = Credentials::new("alice".to_owned(), "hunter2".to_owned(), None);
        assert!(!credentials.admit("http://ads.test", false));
        assert!(credentials.admit("http://a.test", true));
        assert!(!credentials.admit("http://b.test", true));
        assert!(credentials.admit("http://a.test", false));
        assert!(!format!("{credentials:?}").contains("hunter2"));
    }
}
