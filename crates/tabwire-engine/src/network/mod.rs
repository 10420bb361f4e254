//! The network of a page: its request log and interception.

pub(crate) mod access;
pub(crate) mod conditions;
pub(crate) mod credentials;
pub(crate) mod egress;
pub(crate) mod events;
pub(crate) mod har;
pub(crate) mod headers;
pub(crate) mod interception;
pub(crate) mod log;
pub(crate) mod page_network;
pub(crate) mod route;

pub(crate) use access::{RefusedRequests, check_request, judged_urls};
pub(crate) use conditions::{Conditions, NetworkState, Pace};
pub(crate) use credentials::{Credentials, origin_of};
pub(crate) use egress::WorkerFence;
pub use egress::{EgressPolicy, UrlRule};
pub(crate) use har::replay::HarReplay;
pub(crate) use har::{HarForm, timings};
pub(crate) use headers::{Header, HeaderList, is_header_name};
pub(crate) use log::body::{Body, fetch_body, fetch_sent};
pub(crate) use log::entry::{Outcome, RequestEntry};
pub(crate) use log::full_request::{FullRequest, Part, SavedPart, ShownBody};
pub(crate) use log::listed::ListedRequest;
pub(crate) use log::message::Message;
pub(crate) use log::resource_kind::ResourceKind;
pub(crate) use page_network::PageNetwork;
pub(crate) use route::listed::{ListedRoute, RouteList};
pub(crate) use route::url_glob::UrlGlob;
pub(crate) use route::{AbortReason, Change, MockResponse, Route, RouteEffect};
pub(crate) use tabwire_secrets::mask_body;
