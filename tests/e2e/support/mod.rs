//! Shared code of the tests: a `World` per test, processes, servers, clients and fakes.

pub(crate) mod cdp_client;
pub(crate) mod chromium;
pub(crate) mod debugger_bar;
pub(crate) mod either_browser;
pub(crate) mod extension_pages;
pub(crate) mod fake_daemon;
pub(crate) mod fixture_site;
pub(crate) mod http_server;
pub(crate) mod process;
pub(crate) mod rogue_daemon;
pub(crate) mod wait;
pub(crate) mod watchdog;
pub(crate) mod world;
