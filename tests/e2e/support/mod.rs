//! Shared code of the tests: a `World` per test, processes, servers, clients and fakes.

pub(crate) mod cdp_client;
pub(crate) mod chromium;
pub(crate) mod dashboard_page;
pub(crate) mod dashboard_socket;
pub(crate) mod debugger_bar;
pub(crate) mod either_browser;
pub(crate) mod extension_pages;
pub(crate) mod fake_daemon;
pub(crate) mod fake_grid;
pub(crate) mod fixture_site;
pub(crate) mod http_server;
pub(crate) mod page_checks;
pub(crate) mod process;
pub(crate) mod real_grid;
pub(crate) mod rogue_daemon;
pub(crate) mod virtual_display;
pub(crate) mod wait;
pub(crate) mod watchdog;
pub(crate) mod world;
