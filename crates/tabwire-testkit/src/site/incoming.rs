//! A request together with the state of the site.

use crate::http_request::HttpRequest;

use super::form_fields;
use super::request_counts::RequestCounts;

/// A request to the site.
#[derive(Debug, Clone, Copy)]
pub(super) struct Incoming<'site> {
    /// The request as it was understood.
    pub(super) request: &'site HttpRequest,
    /// The head of the request as it came over the wire.
    pub(super) head: &'site str,
    /// The port of all the site's names.
    pub(super) port: u16,
    /// Request counts, this request included.
    pub(super) request_counts: &'site RequestCounts,
}

impl<'site> Incoming<'site> {
    /// The path without its query.
    pub(super) fn path(self) -> &'site str {
        &self.request.path
    }

    /// Whether the method is that one.
    pub(super) fn is(self, method: &str) -> bool {
        self.request.method == method
    }

    /// Finds a parameter of the query, decoded.
    pub(super) fn text(self, name: &str) -> Option<String> {
        form_fields::find(&self.request.query, name)
    }

    /// Gets a number of the query, kept below a bound.
    pub(super) fn number(self, name: &str, otherwise: u32, most: u32) -> u32 {
        self.request.number(name).unwrap_or(otherwise).min(most)
    }

    /// Finds a field of the form in the body, decoded.
    pub(super) fn field(self, name: &str) -> Option<String> {
        form_fields::find(&String::from_utf8_lossy(&self.request.body), name)
    }

    /// Finds a cookie's value.
    pub(super) fn cookie(self, name: &str) -> Option<&'site str> {
        self.cookies().into_iter().find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// The cookies in the order in which they came.
    pub(super) fn cookies(self) -> Vec<(&'site str, &'site str)> {
        let pairs = self.request.header("cookie").unwrap_or_default().split(';').map(str::trim);
        pairs.filter(|pair| !pair.is_empty()).map(|pair| pair.split_once('=').unwrap_or((pair, ""))).collect()
    }

    /// The headers with lower-case names, in the order in which they came.
    pub(super) fn headers(self) -> Vec<(String, &'site str)> {
        let lines = self.head.lines().skip(1).filter_map(|line| line.split_once(':'));
        lines.map(|(name, value)| (name.to_ascii_lowercase(), value.trim())).collect()
    }
}
