//! A pattern of sites: scheme, host, port and path, each matched by itself. Never a glob over an address.

use std::net::Ipv4Addr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use url::{Host, Url};

use crate::address::{Address, WebAddress};
use crate::limits::SITE_LETTERS;
use crate::special_host::SpecialHost;

/// A pattern of sites, such as `https://*.example.org/app`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site(Pattern);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Pattern {
    Web {
        scheme: SchemePattern,
        host: HostPattern,
        port: PortPattern,
        /// Without a slash at its end; empty for every path.
        path: String,
    },
    Other {
        scheme: String,
        /// Empty for everything with the scheme.
        rest: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SchemePattern {
    Secure,
    Plain,
    Any,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum HostPattern {
    Any,
    /// Every host below this one, not itself.
    Below(String),
    Exactly(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PortPattern {
    /// The scheme's own.
    Usual,
    Any,
    Exactly(u16),
}

/// Why a text is no pattern of sites.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SiteFault {
    /// Nothing was given.
    #[error("it is empty")]
    Empty,
    /// Longer than anything that somebody types.
    #[error("it is too long")]
    Long,
    /// What is before an `@` is easily taken for a host.
    #[error("it carries a user name or password")]
    User,
    /// The host cannot be read, or a `*` stands where none may.
    #[error("`{0}` is no host; write example.org, *.example.org or *")]
    Host(String),
    /// The port is none.
    #[error("`{0}` is no port")]
    Port(String),
    /// A site ends with its path.
    #[error("it has a query or a fragment; a site ends with its path")]
    Query,
    /// No scheme of sites.
    #[error("`{0}` is no scheme of a site")]
    Scheme(String),
}

impl Site {
    /// Reads a pattern; without a scheme `https` is meant, or `http` for this machine and numbers.
    ///
    /// # Errors
    /// When it is none.
    pub fn read(text: &str) -> Result<Self, SiteFault> {
        Self::read_with(text, |host| match Url::parse(&format!("http://{host}/")).ok().and_then(special_of) {
            Some(_) => SchemePattern::Plain,
            None => SchemePattern::Secure,
        })
    }

    /// Reads a pattern of what is denied; without a scheme every scheme and every port is meant.
    ///
    /// # Errors
    /// When it is none.
    pub fn read_denied(text: &str) -> Result<Self, SiteFault> {
        let has_scheme = text.contains("://");
        let mut site = Self::read_with(text, |_| SchemePattern::Any)?;
        if let Pattern::Web { port: port @ PortPattern::Usual, .. } = &mut site.0 {
            *port = if has_scheme { PortPattern::Usual } else { PortPattern::Any };
        }
        Ok(site)
    }

    /// The site of an address: its origin, or its scheme. None for what has neither.
    #[must_use]
    pub fn of(address: &Address) -> Option<Self> {
        match address {
            Address::Web(web) => Some(Self(Pattern::Web {
                scheme: if web.is_secure { SchemePattern::Secure } else { SchemePattern::Plain },
                host: HostPattern::Exactly(web.host.clone()),
                port: if web.port == usual_port(web.is_secure) {
                    PortPattern::Usual
                } else {
                    PortPattern::Exactly(web.port)
                },
                path: String::new(),
            })),
            Address::Other { scheme, .. } => {
                Some(Self(Pattern::Other { scheme: scheme.clone(), rest: String::new() }))
            }
            Address::Host { host, .. } => Some(Self(Pattern::Web {
                scheme: SchemePattern::Any,
                host: HostPattern::Exactly(host.clone()),
                port: PortPattern::Any,
                path: String::new(),
            })),
            Address::Everywhere => Some(Self(EVERYWHERE)),
            Address::Blank | Address::BlankOfAnother | Address::Wrong(_) => None,
        }
    }

    /// Whether what is allowed on the site is allowed at the address. A `*` never means special hosts.
    #[must_use]
    pub fn grants(&self, address: &Address) -> bool {
        self.matches(address, HostPattern::is_origin_of) && self.names(address)
    }

    /// Whether what is denied on the site is denied at the address. `example.org.` is denied with `example.org`: both
    /// names lead to the same servers.
    #[must_use]
    pub fn forbids(&self, address: &Address) -> bool {
        self.matches(address, HostPattern::is_name_of)
    }

    /// Whether a rule that asks each time asks at the address; every spelling of a name counts, as in a denial.
    #[must_use]
    pub fn asks(&self, address: &Address) -> bool {
        self.forbids(address) && self.names(address)
    }

    /// The whole origins of the site as a pattern that browsers read; none for what is not of the web.
    #[must_use]
    pub fn url_pattern(&self) -> Option<String> {
        let Pattern::Web { scheme, host, port, .. } = &self.0 else { return None };
        let bare = Pattern::Web {
            scheme: *scheme,
            host: match host {
                // A colon would begin a name there.
                HostPattern::Exactly(name) => HostPattern::Exactly(name.replace(':', "\\:")),
                other => other.clone(),
            },
            port: *port,
            path: String::new(),
        };
        if self.is_everywhere() { Some("*://*:*/*".to_owned()) } else { Some(format!("{}/*", Self(bare))) }
    }

    /// Every site: `*`.
    #[must_use]
    pub const fn everywhere() -> Self {
        Self(EVERYWHERE)
    }

    /// The same for a site that is denied: hosts are listed with and without a dot at their end.
    #[must_use]
    pub fn denied_url_patterns(&self) -> Vec<String> {
        let mut spellings = vec![self.clone()];
        if let Pattern::Web { scheme, host, port, path } = &self.0
            && let Some(dotted) = host.with_last_dot()
        {
            let (scheme, port, path) = (*scheme, *port, path.clone());
            spellings.push(Self(Pattern::Web { scheme, host: dotted, port, path }));
        }
        spellings.iter().filter_map(Self::url_pattern).collect()
    }

    /// Whether every site there is, is meant.
    #[must_use]
    pub fn is_everywhere(&self) -> bool {
        self.0 == EVERYWHERE
    }

    fn read_with(text: &str, usual: impl Fn(&str) -> SchemePattern) -> Result<Self, SiteFault> {
        let text = text.trim();
        if text.is_empty() {
            return Err(SiteFault::Empty);
        }
        if text.len() > SITE_LETTERS {
            return Err(SiteFault::Long);
        }
        if text == "*" {
            return Ok(Self(EVERYWHERE));
        }
        if text.contains(['?', '#']) {
            return Err(SiteFault::Query);
        }
        let (scheme, rest) = match text.split_once("://") {
            Some((scheme, rest)) => match scheme.to_ascii_lowercase().as_str() {
                "https" => (Some(SchemePattern::Secure), rest),
                "http" => (Some(SchemePattern::Plain), rest),
                "*" => (Some(SchemePattern::Any), rest),
                _ => return read_other(text),
            },
            None if is_scheme_alone(text) => return read_other(text),
            None => (None, text),
        };
        let end = rest.find(['/', '\\']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let (host, port) = split_port(authority)?;
        let scheme = scheme.unwrap_or_else(|| usual(host));
        let (host, port) = (HostPattern::read(host)?, port);
        Ok(Self(Pattern::Web { scheme, host, port, path: read_path(path)? }))
    }

    fn matches(&self, address: &Address, is_host: fn(&HostPattern, &str) -> bool) -> bool {
        match (&self.0, address) {
            (Pattern::Web { scheme, host, port, path }, Address::Web(web)) => {
                scheme.matches(web)
                    && is_host(host, &web.host)
                    && port.matches(web)
                    && lies_in(&web.path, path)
            }
            (Pattern::Web { host, .. }, Address::Host { host: theirs, .. }) => is_host(host, theirs),
            (Pattern::Other { scheme, rest }, Address::Other { scheme: theirs, rest: place }) => {
                scheme == theirs && (rest.is_empty() || lies_in(place, rest))
            }
            (_, Address::Everywhere | Address::Blank) => self.is_everywhere(),
            _ => false,
        }
    }

    /// Whether the pattern says enough to mean a special host.
    fn names(&self, address: &Address) -> bool {
        let (Address::Web(WebAddress { special: Some(special), .. })
        | Address::Host { special: Some(special), .. }) = address
        else {
            return true;
        };
        match &self.0 {
            Pattern::Web { host: HostPattern::Exactly(_), .. } => true,
            Pattern::Web { host: HostPattern::Below(_), .. } => *special == SpecialHost::Loopback,
            _ => false,
        }
    }
}

const EVERYWHERE: Pattern = Pattern::Web {
    scheme: SchemePattern::Any,
    host: HostPattern::Any,
    port: PortPattern::Any,
    path: String::new(),
};

impl SchemePattern {
    fn matches(self, web: &WebAddress) -> bool {
        match self {
            Self::Secure => web.is_secure,
            Self::Plain => !web.is_secure,
            Self::Any => true,
        }
    }
}

impl HostPattern {
    fn read(text: &str) -> Result<Self, SiteFault> {
        let wrong = || SiteFault::Host(text.to_owned());
        if text == "*" {
            return Ok(Self::Any);
        }
        let (below, name) = match text.strip_prefix("*.") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        if name.is_empty() || name.contains(['*', '@', '%', ' ']) {
            return Err(wrong());
        }
        let url = Url::parse(&format!("http://{name}/")).map_err(|_| wrong())?;
        match url.host() {
            Some(Host::Domain(name)) => {
                if name.trim_end_matches('.').is_empty() {
                    return Err(wrong());
                }
                let name = name.to_owned();
                Ok(if below { Self::Below(name) } else { Self::Exactly(name) })
            }
            Some(address) if !below => Ok(Self::Exactly(address.to_string())),
            _ => Err(wrong()),
        }
    }

    /// The same host with a dot at its end; none for numbers, which have no such spelling, and where there is one.
    fn with_last_dot(&self) -> Option<Self> {
        let dotted = |name: &String| (!name.ends_with(['.', ']'])).then(|| format!("{name}."));
        match self {
            Self::Any => None,
            Self::Exactly(name) if name.parse::<Ipv4Addr>().is_ok() => None,
            Self::Exactly(name) => dotted(name).map(Self::Exactly),
            Self::Below(name) => dotted(name).map(Self::Below),
        }
    }

    /// Whether a host is meant, however many dots end its name or the pattern's.
    fn is_name_of(&self, host: &str) -> bool {
        let host = host.trim_end_matches('.');
        match self {
            Self::Any => true,
            Self::Exactly(name) => host == name.trim_end_matches('.'),
            Self::Below(name) => is_below(host, name.trim_end_matches('.')),
        }
    }

    /// Whether a host is meant as browsers compare hosts of origins: to the letter.
    fn is_origin_of(&self, host: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Exactly(name) => host == name,
            Self::Below(name) => is_below(host, name),
        }
    }
}

fn is_below(host: &str, name: &str) -> bool {
    host.strip_suffix(name).is_some_and(|front| front.len() > 1 && front.ends_with('.'))
}

impl PortPattern {
    fn matches(self, web: &WebAddress) -> bool {
        match self {
            Self::Any => true,
            Self::Usual => web.port == usual_port(web.is_secure),
            Self::Exactly(port) => web.port == port,
        }
    }
}

const fn usual_port(is_secure: bool) -> u16 {
    if is_secure { 443 } else { 80 }
}

fn special_of(url: Url) -> Option<SpecialHost> {
    url.host().as_ref().and_then(SpecialHost::of)
}

/// Whether a text without `://` is a scheme, not a host with a port.
fn is_scheme_alone(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let is_word = scheme.chars().all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter));
    let is_port = rest.split('/').next().is_some_and(|port| {
        port == "*" || (!port.is_empty() && port.chars().all(|digit| digit.is_ascii_digit()))
    });
    is_word && scheme.chars().next().is_some_and(|letter| letter.is_ascii_alphabetic()) && !is_port
}

/// A pattern of what is not of the web: a scheme, and perhaps where it begins.
fn read_other(text: &str) -> Result<Site, SiteFault> {
    let (scheme, rest) = text.split_once(':').unwrap_or((text, ""));
    let scheme = scheme.to_ascii_lowercase();
    let is_word = scheme.chars().all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter));
    if !is_word || matches!(scheme.as_str(), "http" | "https" | "javascript" | "vbscript" | "about") {
        return Err(SiteFault::Scheme(scheme));
    }
    let rest = match Url::parse(text) {
        Ok(url) if !rest.is_empty() => {
            let whole = url.as_str();
            whole.split_once(':').map(|(_, rest)| rest.to_owned()).unwrap_or_default()
        }
        _ => String::new(),
    };
    Ok(Site(Pattern::Other { scheme, rest }))
}

fn split_port(authority: &str) -> Result<(&str, PortPattern), SiteFault> {
    if authority.contains('@') {
        return Err(SiteFault::User);
    }
    let host_end = if authority.starts_with('[') { authority.find(']').map_or(0, |at| at + 1) } else { 0 };
    let Some(colon) = authority.get(host_end..).and_then(|tail| tail.rfind(':')).map(|at| at + host_end)
    else {
        return Ok((authority, PortPattern::Usual));
    };
    let (host, port) = (authority.get(..colon).unwrap_or_default(), authority.get(colon + 1..));
    match port.unwrap_or_default() {
        "*" => Ok((host, PortPattern::Any)),
        digits => match digits.parse::<u16>() {
            Ok(port) if port != 0 => Ok((host, PortPattern::Exactly(port))),
            _ => Err(SiteFault::Port(digits.to_owned())),
        },
    }
}

/// A path as browsers write it, without a slash at its end.
fn read_path(text: &str) -> Result<String, SiteFault> {
    let url = Url::parse(&format!("http://site.invalid{text}")).map_err(|_| SiteFault::Query)?;
    Ok(url.path().trim_end_matches('/').to_owned())
}

/// Whether a path is a folder, or something in it; never by letters alone.
fn lies_in(path: &str, folder: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl std::fmt::Display for Site {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            _ if self.is_everywhere() => formatter.write_str("*"),
            Pattern::Other { scheme, rest } => write!(formatter, "{scheme}:{rest}"),
            Pattern::Web { scheme, host, port, path } => {
                let scheme = match scheme {
                    SchemePattern::Secure => "https",
                    SchemePattern::Plain => "http",
                    SchemePattern::Any => "*",
                };
                let host = match host {
                    HostPattern::Any => "*".to_owned(),
                    HostPattern::Below(name) => format!("*.{name}"),
                    HostPattern::Exactly(name) => name.clone(),
                };
                let port = match port {
                    PortPattern::Usual => String::new(),
                    PortPattern::Any => ":*".to_owned(),
                    PortPattern::Exactly(port) => format!(":{port}"),
                };
                write!(formatter, "{scheme}://{host}{port}{}", path.trim_end_matches('/'))
            }
        }
    }
}

impl Serialize for Site {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Site {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::read(&text).map_err(|fault| serde::de::Error::custom(format!("`{text}` is no site: {fault}")))
    }
}
