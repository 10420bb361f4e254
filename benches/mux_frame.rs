//! The cost of the mux per frame, compared with copying the frame.
#![expect(clippy::print_stdout, reason = "a bench prints its table")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use tabwire_api::ClientId;
use tabwire_mux::{ClientOptions, Mux, Output};
use tabwire_testkit::bench::{Sample, micros};

const CLIENT: ClientId = ClientId(1);

/// A mux with one client attached to one page.
fn ready() -> Mux {
    let now = Instant::now();
    let mut mux = Mux::new();
    mux.start(None, now);
    mux.client_joined(CLIENT, ClientOptions::default(), now);
    let mut sessions = 0;
    // Responds to the mux's commands as a browser until there are no more.
    loop {
        let outputs = mux.take_outputs();
        let asked: Vec<serde_json::Value> = outputs
            .into_iter()
            .filter_map(|output| match output {
                Output::ToBrowser(frame) => serde_json::from_slice(&frame).ok(),
                _ => None,
            })
            .collect();
        if asked.is_empty() {
            break;
        }
        for command in asked {
            let session = command.get("sessionId").and_then(|id| id.as_str());
            let suffix = session.map(|id| format!(r#","sessionId":"{id}""#)).unwrap_or_default();
            let result = if command["method"] == "Target.attachToBrowserTarget" {
                sessions += 1;
                format!(r#"{{"sessionId":"{sessions:032X}"}}"#)
            } else {
                "{}".to_owned()
            };
            let response = format!(r#"{{"id":{},"result":{result}{suffix}}}"#, command["id"]);
            mux.from_browser(BytesMut::from(response.as_bytes()), now);
        }
    }
    let root = format!("{:032X}", 2);
    let attached = format!(
        r#"{{"method":"Target.attachedToTarget","params":{{"sessionId":"{:032X}","targetInfo":{{"targetId":"T","type":"page","title":"","url":"about:blank","attached":true}},"waitingForDebugger":false}},"sessionId":"{root}"}}"#,
        99
    );
    mux.from_browser(BytesMut::from(attached.as_bytes()), now);
    mux.take_outputs();
    mux
}

fn padded(head: &str, tail: &str, size: usize) -> String {
    let filler = size.saturating_sub(head.len() + tail.len());
    format!("{head}{}{tail}", "x".repeat(filler))
}

fn per_round(rounds: u32, mut work: impl FnMut(u32)) -> Duration {
    let mut sample = Sample::default();
    for _ in 0..7 {
        let before = Instant::now();
        for round in 0..rounds {
            work(round);
        }
        sample.add(before.elapsed() / rounds);
    }
    sample.minimum()
}

fn main() {
    let page = format!("{:032X}", 99);
    for size in [200, 20_000, 1_000_000] {
        let rounds = if size > 100_000 { 300 } else { 20_000 };
        let now = Instant::now();
        let event = padded(
            r#"{"method":"Runtime.consoleAPICalled","params":{"text":""#,
            &format!(r#""}},"sessionId":"{page}"}}"#),
            size,
        );
        let mut mux = ready();
        let copy = per_round(rounds, |_| drop(black_box(BytesMut::from(event.as_bytes()))));
        let event_cost = per_round(rounds, |_| {
            mux.from_browser(BytesMut::from(event.as_bytes()), now);
            black_box(mux.take_outputs());
        });
        let command = padded(
            &format!(
                r#"{{"id":7,"sessionId":"{page}","method":"Runtime.evaluate","params":{{"expression":""#
            ),
            r#""}}"#,
            200,
        );
        let mut mux = ready();
        let trip = per_round(rounds, |_| {
            mux.from_client(CLIENT, BytesMut::from(command.as_bytes()), now);
            let id = mux
                .take_outputs()
                .into_iter()
                .find_map(|output| match output {
                    Output::ToBrowser(frame) => {
                        let text = std::str::from_utf8(&frame).ok()?;
                        text.strip_prefix(r#"{"id":"#)?.split(',').next()?.parse::<u64>().ok()
                    }
                    _ => None,
                })
                .expect("forwarded");
            let response = padded(
                &format!(r#"{{"id":{id},"result":{{"value":""#),
                &format!(r#""}},"sessionId":"{page}"}}"#),
                size,
            );
            mux.from_browser(BytesMut::from(response.as_bytes()), now);
            black_box(mux.take_outputs());
        });
        let build = per_round(rounds, |round| {
            let head = format!(r#"{{"id":{round},"result":{{"value":""#);
            let response = padded(&head, &format!(r#""}},"sessionId":"{page}"}}"#), size);
            drop(black_box(BytesMut::from(response.as_bytes())));
            drop(black_box(BytesMut::from(command.as_bytes())));
        });
        println!(
            "{size:>8} B: event {} over its copy of {}; command and response {} over building both",
            micros(event_cost.saturating_sub(copy)),
            micros(copy),
            micros(trip.saturating_sub(build)),
        );
    }
}
