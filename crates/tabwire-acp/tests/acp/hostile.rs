//! Lines that no agent should send.

use serde_json::{Value, json};
use tabwire_acp::limits::{ITEM_TEXT_BYTES, ITEMS, LINE_BYTES, NAME_BYTES, QUESTIONS, TRANSCRIPT_BYTES};
use tabwire_acp::{Event, ItemBody, LineBuffer, LineTooLong, Opening};

use crate::support::{SESSION, Stage, everything, permission, setup};

#[test]
fn lines_are_split_in_the_same_way_however_they_arrive() {
    let stream = b"{\"a\":1}\r\n\n{\"b\":2}\nrest";
    for size in 1..stream.len() {
        let mut buffer = LineBuffer::default();
        let mut lines = Vec::new();
        for piece in stream.chunks(size) {
            buffer.extend(piece).expect("short");
            while let Some(line) = buffer.take_line() {
                lines.push(String::from_utf8(line).expect("text"));
            }
        }
        assert_eq!(lines, ["{\"a\":1}", "", "{\"b\":2}"], "pieces of {size}");
    }
}

#[test]
fn a_line_without_an_end_is_refused_at_the_limit() {
    let mut buffer = LineBuffer::default();
    let piece = vec![b'x'; LINE_BYTES / 4];
    for _ in 0..4 {
        assert_eq!(buffer.extend(&piece), Ok(()));
        assert_eq!(buffer.take_line(), None);
    }
    assert_eq!(buffer.extend(b"x"), Err(LineTooLong));
    assert_eq!(buffer.extend(b"\n"), Ok(()), "a line of just the limit");
    assert_eq!(buffer.take_line().map(|line| line.len()), Some(LINE_BYTES));
}

#[test]
fn what_is_no_message_is_counted_and_ignored() {
    let (mut stage, _) = Stage::working();
    let deep = "[".repeat(100_000);
    let lines: [&[u8]; 12] = [
        b"Loading...",
        b"{",
        b"[]",
        b"null",
        b"17",
        b"\xff\xfe",
        b"{\"id\":1}",
        b"{\"method\":7}",
        b"{\"id\":{},\"method\":\"session/update\"}",
        b"{\"id\":null,\"method\":\"session/request_permission\"}",
        b"{\"jsonrpc\":\"2.0\",\"error\":null}",
        deep.as_bytes(),
    ];
    for line in lines {
        assert_eq!(
            stage.client.receive(line),
            [],
            "{:?}",
            String::from_utf8_lossy(&line[..line.len().min(60)])
        );
    }
    assert_eq!(stage.client.counters().bad_lines, 12);
    assert_eq!(stage.client.receive(b"  \t"), [], "an empty line is nothing");
    assert!(stage.sent().is_empty() && stage.client.is_working());
}

#[test]
fn unknown_methods_get_an_error_and_unknown_updates_are_counted() {
    let (mut stage, _) = Stage::working();
    for method in ["fs/read_text_file", "fs/write_text_file", "terminal/create", "_other/thing", ""] {
        let request = json!({"jsonrpc": "2.0", "id": 3, "method": method, "params": {"sessionId": SESSION}});
        assert_eq!(stage.receive(&request), []);
        assert_eq!(stage.sent_one()["error"]["code"], -32601, "{method}");
    }
    for update in [
        json!({"sessionUpdate": "something_new"}),
        json!({"sessionUpdate": 7}),
        json!({"sessionUpdate": "agent_message_chunk"}),
        json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "hologram"}}),
        json!({"sessionUpdate": "agent_message_chunk", "content": "text"}),
        json!({"sessionUpdate": "tool_call"}),
        json!({"sessionUpdate": "tool_call", "toolCallId": "x".repeat(NAME_BYTES + 1)}),
        json!({"sessionUpdate": "usage_update", "used": -1, "size": 1}),
        json!({"sessionUpdate": "current_mode_update"}),
        json!({"sessionUpdate": "config_option_update", "configOptions": "all"}),
        Value::Null,
    ] {
        assert_eq!(stage.update(&update), [], "{update}");
    }
    assert_eq!(stage.client.counters().unknown_updates, 11);
    assert_eq!(stage.client.counters().refused_requests, 5);
}

#[test]
fn wrong_requests_are_refused_with_a_reason() {
    let (mut stage, _) = Stage::working();
    let ask = |params: Value| json!({"jsonrpc": "2.0", "id": "a", "method": "session/request_permission", "params": params});
    let call = json!({"toolCallId": "c"});
    for wrong in [
        ask(Value::Null),
        ask(json!({"sessionId": SESSION, "toolCall": call})),
        ask(json!({"sessionId": SESSION, "toolCall": call, "options": []})),
        ask(json!({"sessionId": SESSION, "toolCall": call, "options": [{"name": "no id"}]})),
        ask(json!({"sessionId": SESSION, "toolCall": {}, "options": [{"optionId": "a"}]})),
        permission(&json!("a"), "another session"),
        json!({"id": "a", "method": "elicitation/create", "params": {"sessionId": SESSION, "mode": "url"}}),
    ] {
        assert_eq!(stage.receive(&wrong), []);
        assert_eq!(stage.sent_one()["error"]["code"], -32602, "{wrong}");
    }
    assert_eq!(stage.ask(1).len(), 1);
    assert_eq!(stage.ask(1), [], "the same id again");
    assert_eq!(stage.sent_one()["error"]["code"], -32600);
    for id in 2..=u64::try_from(QUESTIONS).expect("small") {
        assert_eq!(stage.ask(id).len(), 1);
    }
    assert_eq!(stage.ask(1_000), [], "too many");
    assert_eq!(stage.sent_one()["error"]["code"], -32600);
}

#[test]
fn a_second_response_and_messages_of_other_sessions_are_ignored() {
    let (mut stage, prompt) = Stage::working();
    let update = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x"}});
    for session in [json!("s2"), json!(7), Value::Null] {
        let params = json!({"sessionId": session, "update": update});
        assert_eq!(stage.receive(&json!({"method": "session/update", "params": params})), []);
    }
    assert_eq!(stage.respond(&prompt, &json!({"stopReason": "end_turn"})).len(), 1);
    assert_eq!(stage.respond(&prompt, &json!({"stopReason": "end_turn"})), [], "twice");
    assert_eq!(stage.receive(&json!({"id": "1", "result": {}})), [], "an id that is none of ours");
    assert_eq!(stage.receive(&json!({"id": 9_999, "result": {}})), []);
    assert_eq!(stage.client.counters().stray_messages, 6);
    assert_eq!(stage.ask(5), [], "no turn runs");
    assert_eq!(stage.sent_one()["result"]["outcome"]["outcome"], "cancelled");
}

#[test]
fn a_session_without_a_usable_id_is_not_opened() {
    for id in [Value::Null, json!(7), json!(""), json!("x".repeat(NAME_BYTES + 1))] {
        let mut stage = Stage::ready(&everything());
        stage.client.open(Opening::New, &setup()).expect("ready");
        let request = stage.sent_one();
        let events = stage.respond(&request, &json!({"sessionId": id}));
        assert!(matches!(events.as_slice(), [Event::OpenFailed(_)]), "{id}");
    }
}

#[test]
fn a_flood_stays_within_the_bounds_of_the_transcript() {
    let (mut stage, _) = Stage::working();
    let long = "x".repeat(ITEM_TEXT_BYTES / 2 + 1);
    for _ in 0..4 {
        stage.update(
            &json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": long}}),
        );
    }
    let [item] = stage.transcript.items() else { panic!("one message") };
    assert!(matches!(&item.body, ItemBody::Agent { text, cut: true, .. } if text.len() == ITEM_TEXT_BYTES));
    for message in 0..40 {
        let content = json!({"type": "text", "text": long});
        let update = json!({"sessionUpdate": "agent_message_chunk", "messageId": message.to_string(), "content": content});
        stage.update(&update);
    }
    assert!(stage.transcript.bytes() <= TRANSCRIPT_BYTES && stage.transcript.is_shortened());
    for call in 0..ITEMS + 10 {
        stage.update(&json!({"sessionUpdate": "tool_call", "toolCallId": call.to_string()}));
    }
    assert_eq!(stage.transcript.items().len(), ITEMS);
}
