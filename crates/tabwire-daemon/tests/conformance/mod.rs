//! The official conformance suites, whole, against a real daemon that also offers what the suites call.
//!
//! Port, gate, door and protocol are the product's own code; only the tools, resources and prompts are the suites'.
//! That the product itself, without them, passes what is about any server is shown in `tests/e2e/mcp/stock.rs`.

mod run;
mod suite_extras;
mod suite_question;
mod suite_server;
mod suite_tool;

use run::{COMING, RELEASED, Suite};
use suite_server::SuiteServer;

/// What is not passed, as scenario and check, with the reason.
const NOT_PASSED: [(&str, &str, &str); 1] = [(
    "dns-rebinding-protection",
    "localhost-host-valid-accepted",
    "it wants pages of this machine to be let in, and no page is (T04)",
)];

/// Runs a suite and sees that it was whole, and that nothing else is found than what is known.
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
fn the_released_suite_passes_whole() {
    check(&RELEASED, &SuiteServer::start(), None);
}

#[test]
fn the_coming_suite_passes_whole_in_every_revision_it_knows() {
    let server = SuiteServer::start();
    for revision in ["2026-07-28", "2025-11-25"] {
        check(&COMING, &server, Some(revision));
    }
}
