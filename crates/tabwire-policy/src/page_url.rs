//! URLs of pages, parsed as browsers parse them.

use std::net::IpAddr;

use url::{Host, Url};

use crate::special_host::SpecialHost;

/// Most bytes of a URL; `data:` URLs may be longer.
const URL_BYTES: usize = 2_097_152;

/// The URL of a page, or what takes its place in a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageUrl {
    /// An http or https page. A blob URL counts as the page that created it.
    Web(WebUrl),
    /// A blank page that no other page opened.
    Blank,
    /// A blank page that another page opened and may have written into.
    BlankOfAnother,
    /// Another scheme: `file:`, `chrome:`, `data:` and so on.
    Other {
        /// The scheme.
        scheme: String,
        /// The rest, without query and fragment.
        rest: String,
    },
    /// A host with every scheme and port: the scope of a cookie.
    Host {
        /// The host, without a leading dot.
        host: String,
        /// Set when the host is not on the internet.
        special: Option<SpecialHost>,
    },
    /// The whole browser: every site.
    Everywhere,
    /// Not a valid URL.
    Invalid(UrlError),
}

/// An http or https URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebUrl {
    pub(crate) is_secure: bool,
    /// As the browser writes it. `example.org.` is another origin than `example.org`, so the last dot stays.
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) path: String,
    pub(crate) special: Option<SpecialHost>,
    /// The name that resolved to `host`, when `host` is the resolved address.
    pub(crate) name: Option<String>,
}

/// Why a URL is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// Browsers cannot parse it.
    #[error("it is not a URL")]
    Unreadable,
    /// A user name before `@` is easily mistaken for the host.
    #[error("it contains a user name or password")]
    User,
    /// Parsers disagree about it.
    #[error("its host contains a `*`")]
    Star,
    /// `javascript:` and `vbscript:`.
    #[error("it is code")]
    Code,
    /// Too long.
    #[error("it is too long")]
    Long,
}

impl PageUrl {
    /// Parses a URL.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        if text.is_empty() {
            return Self::Blank;
        }
        // A data URL can be megabytes long; its scheme is enough.
        if text.starts_with("data:") {
            return Self::Other { scheme: "data".to_owned(), rest: String::new() };
        }
        if text.len() > URL_BYTES {
            return Self::Invalid(UrlError::Long);
        }
        match Url::parse(text) {
            Ok(url) => Self::of(&url),
            Err(_) => Self::Invalid(UrlError::Unreadable),
        }
    }

    /// The host of a cookie domain.
    #[must_use]
    pub fn of_cookie_domain(domain: &str) -> Self {
        match Self::parse(&format!("http://{}/", domain.trim_start_matches('.'))) {
            Self::Web(web) => Self::Host { host: web.host, special: web.special },
            _ => Self::Invalid(UrlError::Unreadable),
        }
    }

    /// The same URL at the IP address that its name resolved to, if that address is not on the internet and the name
    /// does not say so itself. The policy judges both, because anyone can point a name at a private address.
    #[must_use]
    pub fn reached_at(&self, address: IpAddr) -> Option<Self> {
        let Self::Web(web) = self else { return None };
        let host: Host<&str> = match address {
            IpAddr::V4(address) => Host::Ipv4(address),
            IpAddr::V6(address) => Host::Ipv6(address),
        };
        let special = SpecialHost::of(&host)?;
        let is_known = web.special == Some(special) || web.host == host.to_string();
        let name = Some(web.host.clone());
        let resolved = WebUrl { host: host.to_string(), special: Some(special), name, ..web.clone() };
        (!is_known).then_some(Self::Web(resolved))
    }

    /// Marks a blank page as opened by another page.
    #[must_use]
    pub fn opened_by_page(self) -> Self {
        if self == Self::Blank { Self::BlankOfAnother } else { self }
    }

    /// The URL for messages and logs: without path and query.
    #[must_use]
    pub fn label(&self) -> String {
        match self {
            Self::Web(web) => web.origin(),
            Self::Blank | Self::BlankOfAnother => "A blank page".to_owned(),
            Self::Other { scheme, .. } => format!("A {scheme}: URL"),
            Self::Host { host, .. } => host.clone(),
            Self::Everywhere => "Every site".to_owned(),
            Self::Invalid(_) => "This URL".to_owned(),
        }
    }

    /// Explains which name resolved to this address.
    pub(crate) fn resolved_note(&self) -> Option<String> {
        let Self::Web(WebUrl { name: Some(name), host, special, .. }) = self else { return None };
        let what = special.map_or("", SpecialHost::sentence);
        Some(format!("{name} resolves to {host}; {what}."))
    }

    fn of(url: &Url) -> Self {
        let rest = || url.as_str().split_once(':').map_or("", |(_, rest)| rest);
        match url.scheme() {
            "http" | "https" => WebUrl::of(url).map_or_else(Self::Invalid, Self::Web),
            "about" if matches!(url.path(), "blank" | "srcdoc") => Self::Blank,
            "javascript" | "vbscript" => Self::Invalid(UrlError::Code),
            // A blob URL contains the origin that made it: `blob:https://example.org/ID`.
            "blob" => match Url::parse(url.path()) {
                Ok(inner) if matches!(inner.scheme(), "http" | "https") => Self::of(&inner),
                _ => Self::Other { scheme: "blob".to_owned(), rest: String::new() },
            },
            scheme => {
                let end = rest().find(['?', '#']).unwrap_or(rest().len());
                let rest = if scheme == "data" { "" } else { rest().get(..end).unwrap_or_default() };
                Self::Other { scheme: scheme.to_owned(), rest: rest.to_owned() }
            }
        }
    }
}

impl WebUrl {
    fn of(url: &Url) -> Result<Self, UrlError> {
        // `https://bank.example@evil.example/` is a page of the second host, and looks like one of the
        // first.
        if !url.username().is_empty() || url.password().is_some() {
            return Err(UrlError::User);
        }
        let host = url.host().ok_or(UrlError::Unreadable)?;
        let name = match &host {
            Host::Domain(name) => (*name).to_owned(),
            address => address.to_string(),
        };
        if name.contains('*') {
            return Err(UrlError::Star);
        }
        if name.trim_end_matches('.').is_empty() {
            return Err(UrlError::Unreadable);
        }
        Ok(Self {
            is_secure: url.scheme() == "https",
            special: SpecialHost::of(&host),
            host: name,
            port: url.port_or_known_default().unwrap_or_default(),
            path: url.path().to_owned(),
            name: None,
        })
    }

    /// Scheme, host and port.
    #[must_use]
    pub fn origin(&self) -> String {
        let (scheme, usual) = if self.is_secure { ("https", 443) } else { ("http", 80) };
        if self.port == usual {
            format!("{scheme}://{}", self.host)
        } else {
            format!("{scheme}://{}:{}", self.host, self.port)
        }
    }

    /// The kind of its host, if it is not on the internet.
    #[must_use]
    pub const fn special(&self) -> Option<SpecialHost> {
        self.special
    }
}
