//! Requests of scripts: routes, facts of requests, requests of their own, an idle network.

pub(super) mod http_fetch;
pub(super) mod network_idle;
pub(super) mod request_facts;
pub(super) mod route_decision;
