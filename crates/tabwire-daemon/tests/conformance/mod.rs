//! The official MCP conformance suites against a real daemon that also offers the tools that the suites call.
//!
//! Port, gate, endpoint and protocol are the product's own code; only tools, resources and prompts are for the suites.
//! `tests/e2e/mcp/stock.rs` runs the general checks against the product without these additions.

mod run;
mod suite_extras;
mod suite_question;
mod suite_server;
mod suite_tool;

use run::{COMING, RELEASED, Suite};
use suite_server::SuiteServer;

/// Known failures: scenario, check and reason.
const NOT_PASSED: [(&str, &str, &str); 1] = [(
    "dns-rebinding-protection",
    "localhost-host-valid-accepted",
    "it expects local pages to be admitted, and no page is (T04)",
)];

/// Runs a suite, and checks that it ran completely and found only known failures.
fn check(suite: &Suite, server: &SuiteServer, revision: Option<&str>) {
    let outcome = suite.run(&server.address, revision);
    assert_eq!(outcome.scenarios, suite.list(revision), "{revision:?}");
    let found: Vec<(&str, &str)> =
        outcome.findings.iter().map(|finding| (finding.scenario.as_str(), finding.check.as_str())).collect();
    let known: Vec<(&str, &str)> =
        NOT_PASSED.iter().map(|(scenario, check, _)| (*scenario, *check)).collect();
    assert_eq!(found, known, "{revision:?}: {:#?}", outcome.findings);
    assert!(outcome.passed > outcome.scenarios.len(), "{revision:?}: {outcome:?}");
}

#[test]
fn the_released_suite_passes() {
    check(&RELEASED, &SuiteServer::start(), None);
}

#[test]
fn the_draft_suite_passes_in_every_revision() {
    let server = SuiteServer::start();
    for revision in ["2026-07-28", "2025-11-25"] {
        check(&COMING, &server, Some(revision));
    }
}
