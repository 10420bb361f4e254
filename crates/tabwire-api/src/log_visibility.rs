//! How much of a value the audit log shows.

/// How much of a value the audit log shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogVisibility {
    /// Only that a value was given.
    Hidden,
    /// A number, a flag, or a short text without spaces; any other text is hidden.
    Keyword,
    /// How many items a list has.
    Count,
    /// A URL without user, query and fragment.
    Url,
    /// Only the origin of a URL.
    Origin,
    /// A ref or a selector, without quoted text.
    Target,
    /// A file's path.
    Path,
}

impl LogVisibility {
    /// Parses the value of a parameter's attribute.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "hidden" => Some(Self::Hidden),
            "keyword" => Some(Self::Keyword),
            "count" => Some(Self::Count),
            "url" => Some(Self::Url),
            "origin" => Some(Self::Origin),
            "target" => Some(Self::Target),
            "path" => Some(Self::Path),
            _ => None,
        }
    }
}
