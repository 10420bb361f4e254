//! Site patterns. Scheme, host, port and path match separately; a pattern is never a glob over the URL.

use std::net::Ipv4Addr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use url::{Host, Url};

use crate::page_url::{PageUrl, WebUrl};
use crate::special_host::SpecialHost;

/// Most bytes of a site pattern.
const SITE_BYTES: usize = 2_048;

/// A site pattern, such as `https://*.example.org/app`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site(Pattern);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Pattern {
    Web {
        scheme: SchemePattern,
        host: HostPattern,
        port: PortPattern,
        /// Without a trailing slash; empty for every path.
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
    /// Every subdomain, without the domain itself.
    Below(String),
    Exactly(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PortPattern {
    /// The default port of the scheme.
    Usual,
    Any,
    Exactly(u16),
}

/// Why a text is not a site pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SiteError {
    /// Empty.
    #[error("it is empty")]
    Empty,
    /// Too long.
    #[error("it is too long")]
    Long,
    /// A user name before `@` is easily mistaken for the host.
    #[error("it contains a user name or password")]
    User,
    /// The host is invalid, or has a `*` in a wrong place.
    #[error("`{0}` is not a host; use example.org, *.example.org or *")]
    Host(String),
    /// The port is invalid.
    #[error("`{0}` is not a port")]
    Port(String),
    /// A site has no query or fragment.
    #[error("it has a query or a fragment; a site ends with its path")]
    Query,
    /// The scheme has no sites.
    #[error("`{0}` is not a scheme of a site")]
    Scheme(String),
}

impl Site {
    /// Parses a pattern. The default scheme is `https`, and `http` for loopback and private hosts.
    ///
    /// # Errors
    /// When the text is not a pattern.
    pub fn parse(text: &str) -> Result<Self, SiteError> {
        Self::parse_with(text, |host| {
            match Url::parse(&format!("http://{host}/")).ok().and_then(special_of) {
                Some(_) => SchemePattern::Plain,
                None => SchemePattern::Secure,
            }
        })
    }

    /// Parses a pattern for a denial. Without a scheme it covers every scheme and port.
    ///
    /// # Errors
    /// When the text is not a pattern.
    pub fn parse_denied(text: &str) -> Result<Self, SiteError> {
        let has_scheme = text.contains("://");
        let mut site = Self::parse_with(text, |_| SchemePattern::Any)?;
        if let Pattern::Web { port: port @ PortPattern::Usual, .. } = &mut site.0 {
            *port = if has_scheme { PortPattern::Usual } else { PortPattern::Any };
        }
        Ok(site)
    }

    /// The site of a URL: its origin, or its scheme.
    #[must_use]
    pub fn of(url: &PageUrl) -> Option<Self> {
        match url {
            PageUrl::Web(web) => Some(Self(Pattern::Web {
                scheme: if web.is_secure { SchemePattern::Secure } else { SchemePattern::Plain },
                host: HostPattern::Exactly(web.host.clone()),
                port: if web.port == usual_port(web.is_secure) {
                    PortPattern::Usual
                } else {
                    PortPattern::Exactly(web.port)
                },
                path: String::new(),
            })),
            PageUrl::Other { scheme, .. } => {
                Some(Self(Pattern::Other { scheme: scheme.clone(), rest: String::new() }))
            }
            PageUrl::Host { host, .. } => Some(Self(Pattern::Web {
                scheme: SchemePattern::Any,
                host: HostPattern::Exactly(host.clone()),
                port: PortPattern::Any,
                path: String::new(),
            })),
            PageUrl::Everywhere => Some(Self(EVERYWHERE)),
            PageUrl::Blank | PageUrl::BlankOfAnother | PageUrl::Invalid(_) => None,
        }
    }

    /// Whether a grant for the site covers the URL. A `*` never covers special hosts.
    #[must_use]
    pub fn grants(&self, url: &PageUrl) -> bool {
        self.matches(url, HostPattern::matches_origin) && self.covers_special(url)
    }

    /// Whether a denial for the site covers the URL. A denial of `example.org` covers `example.org.`, because both
    /// names resolve to the same servers.
    #[must_use]
    pub fn forbids(&self, url: &PageUrl) -> bool {
        self.matches(url, HostPattern::matches_name)
    }

    /// Whether an `ask` rule for the site covers the URL. Like a denial, it covers every spelling of the name.
    #[must_use]
    pub fn asks(&self, url: &PageUrl) -> bool {
        self.forbids(url) && self.covers_special(url)
    }

    /// The origins of the site as a CDP URL pattern; none for other schemes.
    #[must_use]
    pub fn url_pattern(&self) -> Option<String> {
        let Pattern::Web { scheme, host, port, .. } = &self.0 else { return None };
        let bare = Pattern::Web {
            scheme: *scheme,
            host: match host {
                // A colon would start a named group there.
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

    /// The URL patterns of a denied site: hosts with and without a trailing dot.
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

    /// Whether it is `*`.
    #[must_use]
    pub fn is_everywhere(&self) -> bool {
        self.0 == EVERYWHERE
    }

    fn parse_with(text: &str, usual: impl Fn(&str) -> SchemePattern) -> Result<Self, SiteError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(SiteError::Empty);
        }
        if text.len() > SITE_BYTES {
            return Err(SiteError::Long);
        }
        if text == "*" {
            return Ok(Self(EVERYWHERE));
        }
        if text.contains(['?', '#']) {
            return Err(SiteError::Query);
        }
        let (scheme, rest) = match text.split_once("://") {
            Some((scheme, rest)) => match scheme.to_ascii_lowercase().as_str() {
                "https" => (Some(SchemePattern::Secure), rest),
                "http" => (Some(SchemePattern::Plain), rest),
                "*" => (Some(SchemePattern::Any), rest),
                _ => return parse_other(text),
            },
            None if is_scheme_alone(text) => return parse_other(text),
            None => (None, text),
        };
        // URL Standard: in http and https URLs a backslash is a slash.
        let end = rest.find(['/', '\\']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let (host, port) = split_port(authority)?;
        let scheme = scheme.unwrap_or_else(|| usual(host));
        let (host, port) = (HostPattern::parse(host)?, port);
        Ok(Self(Pattern::Web { scheme, host, port, path: parse_path(path)? }))
    }

    fn matches(&self, url: &PageUrl, is_host: fn(&HostPattern, &str) -> bool) -> bool {
        match (&self.0, url) {
            (Pattern::Web { scheme, host, port, path }, PageUrl::Web(web)) => {
                scheme.matches(web)
                    && is_host(host, &web.host)
                    && port.matches(web)
                    && is_in_folder(&web.path, path)
            }
            (Pattern::Web { host, .. }, PageUrl::Host { host: theirs, .. }) => is_host(host, theirs),
            (Pattern::Other { scheme, rest }, PageUrl::Other { scheme: theirs, rest: place }) => {
                scheme == theirs && (rest.is_empty() || is_in_folder(place, rest))
            }
            (_, PageUrl::Everywhere | PageUrl::Blank) => self.is_everywhere(),
            _ => false,
        }
    }

    /// Whether the pattern is specific enough for a special host.
    fn covers_special(&self, url: &PageUrl) -> bool {
        let (PageUrl::Web(WebUrl { special: Some(special), .. })
        | PageUrl::Host { special: Some(special), .. }) = url
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
    fn matches(self, web: &WebUrl) -> bool {
        match self {
            Self::Secure => web.is_secure,
            Self::Plain => !web.is_secure,
            Self::Any => true,
        }
    }
}

impl HostPattern {
    fn parse(text: &str) -> Result<Self, SiteError> {
        let wrong = || SiteError::Host(text.to_owned());
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

    /// The same host with a trailing dot; none for IP addresses and where there is one already.
    fn with_last_dot(&self) -> Option<Self> {
        let dotted = |name: &String| (!name.ends_with(['.', ']'])).then(|| format!("{name}."));
        match self {
            Self::Any => None,
            Self::Exactly(name) if name.parse::<Ipv4Addr>().is_ok() => None,
            Self::Exactly(name) => dotted(name).map(Self::Exactly),
            Self::Below(name) => dotted(name).map(Self::Below),
        }
    }

    /// Whether the host matches, ignoring trailing dots.
    fn matches_name(&self, host: &str) -> bool {
        let host = host.trim_end_matches('.');
        match self {
            Self::Any => true,
            Self::Exactly(name) => host == name.trim_end_matches('.'),
            Self::Below(name) => is_below(host, name.trim_end_matches('.')),
        }
    }

    /// Whether the host matches exactly, as in an origin.
    fn matches_origin(&self, host: &str) -> bool {
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
    fn matches(self, web: &WebUrl) -> bool {
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

/// Whether a text without `://` is a scheme instead of a host with a port.
fn is_scheme_alone(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let is_word = scheme.chars().all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter));
    let is_port = rest.split('/').next().is_some_and(|port| {
        port == "*" || (!port.is_empty() && port.chars().all(|digit| digit.is_ascii_digit()))
    });
    is_word && scheme.chars().next().is_some_and(|letter| letter.is_ascii_alphabetic()) && !is_port
}

/// Parses a pattern with another scheme.
fn parse_other(text: &str) -> Result<Site, SiteError> {
    let (scheme, rest) = text.split_once(':').unwrap_or((text, ""));
    let scheme = scheme.to_ascii_lowercase();
    let is_word = scheme.chars().all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter));
    if !is_word || matches!(scheme.as_str(), "http" | "https" | "javascript" | "vbscript" | "about") {
        return Err(SiteError::Scheme(scheme));
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

fn split_port(authority: &str) -> Result<(&str, PortPattern), SiteError> {
    if authority.contains('@') {
        return Err(SiteError::User);
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
            _ => Err(SiteError::Port(digits.to_owned())),
        },
    }
}

/// Normalises a path and removes the trailing slash.
fn parse_path(text: &str) -> Result<String, SiteError> {
    let url = Url::parse(&format!("http://site.invalid{text}")).map_err(|_| SiteError::Query)?;
    Ok(url.path().trim_end_matches('/').to_owned())
}

/// Whether a path is a folder or below it. Compares whole segments.
fn is_in_folder(path: &str, folder: &str) -> bool {
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
        Self::parse(&text)
            .map_err(|fault| serde::de::Error::custom(format!("`{text}` is not a site: {fault}")))
    }
}
