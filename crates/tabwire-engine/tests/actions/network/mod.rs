//! Requests, routes, HAR files, network settings and URL parsing.

pub(crate) mod har;
pub(crate) mod requests;
pub(crate) mod routes;
pub(crate) mod settings;
pub(crate) mod url_corpus;
pub(crate) mod url_parsing;
