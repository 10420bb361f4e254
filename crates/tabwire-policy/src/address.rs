//! An address that somebody wants to go to, or where a page is, read as browsers read it.

use std::net::IpAddr;

use url::{Host, Url};

use crate::limits::ADDRESS_LETTERS;
use crate::special_host::SpecialHost;

/// Where a page is, or is to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A page of the web; a blob counts as the page that made it.
    Web(WebAddress),
    /// No page yet. Nobody wrote into it.
    Blank,
    /// An empty page that another page opened, and may have written into.
    BlankOfAnother,
    /// Something the browser, an extension or the machine has: `file:`, `chrome:`, `data:` and whatever else.
    Other {
        /// Its scheme.
        scheme: String,
        /// What follows the scheme, without query and fragment.
        rest: String,
    },
    /// A host with every scheme and port, as cookies are kept for.
    Host {
        /// The host, without a dot before it.
        host: String,
        /// What kind of host it is, if it is not of the internet.
        special: Option<SpecialHost>,
    },
    /// The browser as a whole: what concerns every site it knows.
    Everywhere,
    /// Nothing that could be judged.
    Wrong(AddressFault),
}

/// A page of the web.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebAddress {
    pub(crate) is_secure: bool,
    /// As the browser writes it. `example.org.` is another origin than `example.org`, so the last dot stays.
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) path: String,
    pub(crate) special: Option<SpecialHost>,
    /// The name that led here, when the host is what it led to.
    pub(crate) name: Option<String>,
}

/// Why an address cannot be judged, and is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressFault {
    /// Browsers could not read it either.
    #[error("it is no address")]
    Unreadable,
    /// What is before an `@` is easily taken for a host.
    #[error("it carries a user name or password")]
    User,
    /// Browsers and others read it differently.
    #[error("its host has a `*`")]
    Star,
    /// Code, not a place.
    #[error("it is code and not a place")]
    Code,
    /// Longer than any address of a page.
    #[error("it is too long")]
    Long,
}

impl Address {
    /// Reads an address.
    #[must_use]
    pub fn read(text: &str) -> Self {
        if text.is_empty() {
            return Self::Blank;
        }
        // Megabytes of a page in its address need not be parsed to be known for what they are.
        if text.starts_with("data:") {
            return Self::Other { scheme: "data".to_owned(), rest: String::new() };
        }
        if text.len() > ADDRESS_LETTERS {
            return Self::Wrong(AddressFault::Long);
        }
        match Url::parse(text) {
            Ok(url) => Self::of(&url),
            Err(_) => Self::Wrong(AddressFault::Unreadable),
        }
    }

    /// The host that a cookie's domain names.
    #[must_use]
    pub fn of_cookie_domain(domain: &str) -> Self {
        match Self::read(&format!("http://{}/", domain.trim_start_matches('.'))) {
            Self::Web(web) => Self::Host { host: web.host, special: web.special },
            _ => Self::Wrong(AddressFault::Unreadable),
        }
    }

    /// The same place under the address that its name led to, if that is none of the internet and the name does not
    /// say so itself. To be judged as well: a name is anybody's to give.
    #[must_use]
    pub fn reached_at(&self, address: IpAddr) -> Option<Self> {
        let Self::Web(web) = self else { return None };
        let host: Host<&str> = match address {
            IpAddr::V4(address) => Host::Ipv4(address),
            IpAddr::V6(address) => Host::Ipv6(address),
        };
        let special = SpecialHost::of(&host)?;
        let is_said = web.special == Some(special) || web.host == host.to_string();
        let name = Some(web.host.clone());
        let there = WebAddress { host: host.to_string(), special: Some(special), name, ..web.clone() };
        (!is_said).then_some(Self::Web(there))
    }

    /// Where a page is that another page opened.
    #[must_use]
    pub fn opened_by_page(self) -> Self {
        if self == Self::Blank { Self::BlankOfAnother } else { self }
    }

    /// The address without path and query, as it may be told.
    #[must_use]
    pub fn told(&self) -> String {
        match self {
            Self::Web(web) => web.origin(),
            Self::Blank | Self::BlankOfAnother => "An empty page".to_owned(),
            Self::Other { scheme, .. } => format!("An address with {scheme}:"),
            Self::Host { host, .. } => host.clone(),
            Self::Everywhere => "The browser as a whole".to_owned(),
            Self::Wrong(_) => "This address".to_owned(),
        }
    }

    /// How it came that this address is judged, when its name does not tell.
    pub(crate) fn led_by(&self) -> Option<String> {
        let Self::Web(WebAddress { name: Some(name), host, special, .. }) = self else { return None };
        let what = special.map_or("", SpecialHost::sentence);
        Some(format!("{name} leads to {host}; {what}."))
    }

    fn of(url: &Url) -> Self {
        let rest = || url.as_str().split_once(':').map_or("", |(_, rest)| rest);
        match url.scheme() {
            "http" | "https" => WebAddress::of(url).map_or_else(Self::Wrong, Self::Web),
            "about" if matches!(url.path(), "blank" | "srcdoc") => Self::Blank,
            "javascript" | "vbscript" => Self::Wrong(AddressFault::Code),
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

impl WebAddress {
    fn of(url: &Url) -> Result<Self, AddressFault> {
        if !url.username().is_empty() || url.password().is_some() {
            return Err(AddressFault::User);
        }
        let host = url.host().ok_or(AddressFault::Unreadable)?;
        let name = match &host {
            Host::Domain(name) => (*name).to_owned(),
            address => address.to_string(),
        };
        if name.contains('*') {
            return Err(AddressFault::Star);
        }
        if name.trim_end_matches('.').is_empty() {
            return Err(AddressFault::Unreadable);
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

    /// Scheme, host and port, as people write them.
    #[must_use]
    pub fn origin(&self) -> String {
        let (scheme, usual) = if self.is_secure { ("https", 443) } else { ("http", 80) };
        if self.port == usual {
            format!("{scheme}://{}", self.host)
        } else {
            format!("{scheme}://{}:{}", self.host, self.port)
        }
    }

    /// What is special about its host.
    #[must_use]
    pub const fn special(&self) -> Option<SpecialHost> {
        self.special
    }
}
