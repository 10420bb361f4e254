//! A request together with the state of the site.

use crate::http_request::HttpRequest;

use crate::site::http::form_fields;
use crate::site::request_counts::RequestCounts;

/// A request to the site.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Incoming<'site> {
    /// The parsed request.
    pub(crate) request: &'site HttpRequest,
    /// The raw head of the request.
    pub(crate) head: &'site str,
    /// The port of all host names of the site.
    pub(crate) port: u16,
    /// Request counts, including this request.
    pub(crate) request_counts: &'site RequestCounts,
}

impl<'site> Incoming<'site> {
    /// The path without its query.
    pub(crate) fn path(self) -> &'site str {
        &self.request.path
    }

    /// Whether the request has this method.
    pub(crate) fn is(self, method: &str) -> bool {
        self.request.method == method
    }

    /// Finds a parameter of the query, decoded.
    pub(crate) fn text(self, name: &str) -> Option<String> {
        form_fields::find(&self.request.query, name)
    }

    /// Finds a number in the query, with a default and a maximum.
    pub(crate) fn number(self, name: &str, otherwise: u32, most: u32) -> u32 {
        self.request.number(name).unwrap_or(otherwise).min(most)
    }

    /// Finds a field of the form in the body, decoded.
    pub(crate) fn field(self, name: &str) -> Option<String> {
        form_fields::find(&String::from_utf8_lossy(&self.request.body), name)
    }

    /// Finds a cookie's value.
    pub(crate) fn cookie(self, name: &str) -> Option<&'site str> {
        self.cookies().into_iter().find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// The cookies, in the received order.
    pub(crate) fn cookies(self) -> Vec<(&'site str, &'site str)> {
        let pairs = self.request.header("cookie").unwrap_or_default().split(';').map(str::trim);
        pairs.filter(|pair| !pair.is_empty()).map(|pair| pair.split_once('=').unwrap_or((pair, ""))).collect()
    }

    /// The headers with lower-case names, in the received order.
    pub(crate) fn headers(self) -> Vec<(String, &'site str)> {
        let lines = self.head.lines().skip(1).filter_map(|line| line.split_once(':'));
        lines.map(|(name, value)| (name.to_ascii_lowercase(), value.trim())).collect()
    }
}
