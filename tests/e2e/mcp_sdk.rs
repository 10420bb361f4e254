//! The official SDK for Rust as a client of the real binary, in both lifecycles of the protocol.

use std::process::Stdio;

use rmcp::model::{CallToolRequestParams, ProtocolVersion, ReadResourceRequestParams};
use rmcp::{ClientLifecycleMode, ClientServiceExt};
use serde_json::json;

use crate::fixture_site::FixtureSite;
use crate::world::World;

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
            assert_eq!(client.list_all_tools().await.expect("tools").len(), 28, "{lifecycle:?}");
            let call = |name: &'static str, arguments: serde_json::Value| {
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
