//! The official Rust SDK as a client of the binary, in both lifecycles of the protocol.

use std::collections::VecDeque;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientConfig, ElicitRequestParams, ElicitResult,
    ElicitationAction, ErrorData, Implementation, ProtocolVersion, ReadResourceRequestParams,
};
use rmcp::service::{RequestContext, RoleClient};
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt};
use serde_json::{Value, json};

use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

fn lifecycles() -> [ClientLifecycleMode; 2] {
    [
        ClientLifecycleMode::Initialize,
        ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] },
    ]
}

#[test]
fn the_rust_sdk_is_served_in_both_lifecycles() {
    let (world, site) = (World::new(), FixtureSite::start());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    for lifecycle in lifecycles() {
        let command = world.command(env!("CARGO_BIN_EXE_tabwire"), &["mcp", "--policy", "open"]);
        let page = site.page("/form");
        let lifecycle = &lifecycle;
        runtime.block_on(async move {
            let mut command = tokio::process::Command::from(command);
            let mut process = command.stdin(Stdio::piped()).spawn().expect("the binary starts");
            let ends = (process.stdout.take().expect("piped"), process.stdin.take().expect("piped"));
            let client = ().serve_with_lifecycle(ends, lifecycle.clone()).await.expect("greeted");
            assert_eq!(client.list_all_tools().await.expect("tools").len(), 29, "{lifecycle:?}");
            let call = |name: &'static str, arguments: Value| {
                let arguments = arguments.as_object().cloned().expect("an object");
                client.call_tool(CallToolRequestParams::new(name).with_arguments(arguments))
            };
            let opened = call("navigate", json!({"url": page})).await.expect("no protocol error");
            assert_ne!(opened.is_error, Some(true), "{opened:?}");
            let filled =
                call("fill", json!({"selector": "#name", "value": "Anna"})).await.expect("no protocol error");
            assert_ne!(filled.is_error, Some(true), "{filled:?}");
            let read = client.read_resource(ReadResourceRequestParams::new("tabwire://snapshot")).await;
            assert!(format!("{:?}", read.expect("readable")).contains("Anna"), "{lifecycle:?}");
            client.cancel().await.expect("it was there");
            assert!(process.wait().await.expect("it ends").success());
        });
        assert!(world.browser_processes().is_empty(), "its browser has ended with it");
    }
}

/// A user who gives the answers of a list, and records the questions.
#[derive(Clone, Default)]
struct Person {
    says: Arc<Mutex<VecDeque<&'static str>>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl ClientHandler for Person {
    fn get_info(&self) -> ClientConfig {
        let capabilities = serde_json::from_value(json!({"elicitation": {}})).expect("capabilities");
        ClientConfig::new(capabilities, Implementation::new("person", "1"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, .. } = request else {
            return Ok(ElicitResult::new(ElicitationAction::Decline));
        };
        self.asked.lock().expect("not poisoned").push(message);
        Ok(match self.says.lock().expect("not poisoned").pop_front() {
            Some("decline") | None => ElicitResult::new(ElicitationAction::Decline),
            Some(said) => ElicitResult::new(ElicitationAction::Accept).with_content(json!({"answer": said})),
        })
    }
}

/// Starts a server and calls its tools one after the other; returns the results.
async fn calls<H: ClientHandler>(
    world: &World,
    client: H,
    lifecycle: &ClientLifecycleMode,
    calls: &[(&'static str, Value)],
) -> Vec<CallToolResult> {
    let command = world.command(env!("CARGO_BIN_EXE_tabwire"), &["mcp", "--results", "text"]);
    let mut process =
        tokio::process::Command::from(command).stdin(Stdio::piped()).spawn().expect("the binary starts");
    let ends = (process.stdout.take().expect("piped"), process.stdin.take().expect("piped"));
    let client = client.serve_with_lifecycle(ends, lifecycle.clone()).await.expect("greeted");
    let mut responses = Vec::new();
    for (name, arguments) in calls {
        let arguments = arguments.as_object().cloned().expect("an object");
        let call = client.call_tool(CallToolRequestParams::new(*name).with_arguments(arguments));
        responses.push(call.await.expect("no protocol error"));
    }
    client.cancel().await.expect("it was there");
    assert!(process.wait().await.expect("it ends").success());
    responses
}

#[test]
fn the_user_of_an_mcp_client_is_asked_in_both_lifecycles() {
    let site = FixtureSite::start();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    for lifecycle in lifecycles() {
        let world = World::new();
        let here = ("navigate", json!({"url": site.page("/form")}));
        let there = ("navigate", json!({"url": site.url("b", "/form")}));
        let person = Person::default();
        person.says.lock().expect("not poisoned").extend(["decline", "no", "once", "session", "always"]);
        let asked = Arc::clone(&person.asked);
        // Denied twice; allowed once, for one call only; allowed for the session; allowed on another site.
        let script = [&here, &here, &here, &here, &("get_text", json!({})), &there].map(Clone::clone);
        let responses = runtime.block_on(calls(&world, person, &lifecycle, &script));
        let failed: Vec<bool> = responses.iter().map(|response| response.is_error == Some(true)).collect();
        assert_eq!(failed, [true, true, false, false, false, false], "{lifecycle:?}: {responses:?}");
        let asked = asked.lock().expect("not poisoned").clone();
        assert_eq!(asked.len(), 5, "{lifecycle:?}: {asked:?}");
        let is_reported = |message: &String| message.contains("`navigate`") && message.contains("person");
        assert!(asked.iter().all(is_reported), "who asks for what: {asked:?}");
        assert!(asked[0].contains("a.localhost") && asked[4].contains("b.localhost"), "{asked:?}");
        // A permanent grant also applies to the next client, which cannot be asked; nothing else does.
        let responses = runtime.block_on(calls(&world, (), &lifecycle, &[here, there]));
        let failed: Vec<bool> = responses.iter().map(|response| response.is_error == Some(true)).collect();
        assert_eq!(failed, [true, false], "{lifecycle:?}: {responses:?}");
    }
}
