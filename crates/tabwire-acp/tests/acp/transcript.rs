//! How events become items.

use serde_json::json;
use tabwire_acp::{
    Change, ChatState, Event, ItemBody, NoticeKind, QuestionOutcome, RpcError, Step, ToolStatus, Transcript,
    UserMessage,
};

use crate::support::Stage;

fn texts(transcript: &Transcript) -> Vec<String> {
    let name = |body: &ItemBody| match body {
        ItemBody::User(message) => format!("user {}", message.text),
        ItemBody::Agent { text, .. } => format!("agent {text}"),
        ItemBody::Thought { text, .. } => format!("thought {text}"),
        ItemBody::Tool(facts) => format!("tool {} {:?}", facts.call, facts.status),
        ItemBody::Plan { entries } => format!("plan {}", entries.len()),
        ItemBody::Question { outcome, .. } => format!("question {outcome:?}"),
        ItemBody::Step(step) => format!("step {} {:?}", step.action, step.succeeded),
        ItemBody::Approval { text, .. } => format!("approval {text}"),
        ItemBody::Notice { notice, .. } => format!("notice {notice:?}"),
    };
    transcript.items().iter().map(|item| name(&item.body)).collect()
}

fn chunk(stage: &mut Stage, kind: &str, message: Option<&str>, text: &str) {
    let content = json!({"type": "text", "text": text});
    stage.update(&json!({"sessionUpdate": kind, "messageId": message, "content": content}));
}

#[test]
fn chunks_are_appended_to_their_message() {
    let (mut stage, _) = Stage::working();
    chunk(&mut stage, "agent_thought_chunk", None, "hm");
    chunk(&mut stage, "agent_message_chunk", None, "a");
    chunk(&mut stage, "agent_message_chunk", None, "b");
    stage.update(&json!({"sessionUpdate": "tool_call", "toolCallId": "c"}));
    chunk(&mut stage, "agent_message_chunk", None, "c");
    chunk(&mut stage, "agent_message_chunk", Some("m1"), "d");
    stage.update(&json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"}));
    chunk(&mut stage, "agent_message_chunk", Some("m1"), "e");
    let expected = ["thought hm", "agent ab", "tool c Some(Completed)", "agent c", "agent de"];
    assert_eq!(texts(&stage.transcript), expected);
}

#[test]
fn a_message_that_waits_splits_no_text_and_moves_to_where_it_is_sent() {
    let (mut stage, _) = Stage::working();
    chunk(&mut stage, "agent_message_chunk", None, "a");
    let message = UserMessage { text: "later".to_owned(), queued: true, ..UserMessage::default() };
    let (id, _) = stage.transcript.user_message(message);
    chunk(&mut stage, "agent_message_chunk", None, "b");
    stage.update(&json!({"sessionUpdate": "tool_call", "toolCallId": "c", "status": "completed"}));
    assert_eq!(texts(&stage.transcript), ["agent ab", "user later", "tool c Some(Completed)"]);
    let (moved, changes) = stage.transcript.move_to_end(id);
    assert!(
        matches!(&changes[..], [Change::Removed { id: gone }, Change::Item { item }] if *gone == id && item.id == moved)
    );
    assert_eq!(texts(&stage.transcript), ["agent ab", "tool c Some(Completed)", "user later"]);
    // The last one stays what it is.
    assert_eq!(stage.transcript.move_to_end(moved), (moved, Vec::new()));
    assert!(!stage.transcript.change(moved, |_| {}).is_empty(), "it is found by its new id");
}

#[test]
fn a_finished_tool_call_does_not_begin_again_or_change_its_name() {
    let (mut stage, _) = Stage::working();
    let named = |name: &str| json!({"claudeCode": {"toolName": name}});
    let call = |status: &str, name: &str| {
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "c",
        "status": status, "_meta": named(name)})
    };
    stage.update(&call("completed", "Bash"));
    stage.update(&call("in_progress", "mcp__tabwire_chat__click"));
    let [item] = stage.transcript.items() else { panic!("one call") };
    let ItemBody::Tool(facts) = &item.body else { panic!("{item:?}") };
    assert_eq!((facts.status, facts.meta_tool.as_deref()), (Some(ToolStatus::Completed), Some("Bash")));
}

#[test]
fn each_plan_of_a_turn_replaces_the_one_before() {
    let (mut stage, _) = Stage::working();
    let plan = |count: usize| {
        let entries = vec![json!({"content": "do", "status": "pending"}); count];
        json!({"sessionUpdate": "plan", "entries": entries})
    };
    stage.transcript.user_message(UserMessage { text: "one".to_owned(), ..UserMessage::default() });
    stage.update(&plan(1));
    stage.update(&plan(3));
    stage.transcript.user_message(UserMessage { text: "two".to_owned(), ..UserMessage::default() });
    stage.update(&plan(2));
    assert_eq!(texts(&stage.transcript), ["user one", "plan 3", "user two", "plan 2"]);
}

#[test]
fn the_end_of_a_turn_ends_what_is_open() {
    let (mut stage, prompt) = Stage::working();
    stage.transcript.set_state(ChatState::Working);
    stage.update(&json!({"sessionUpdate": "tool_call", "toolCallId": "c"}));
    stage.ask(7);
    let step = Step {
        action: "click".to_owned(),
        site: None,
        label: None,
        screenshot: None,
        nested: false,
        succeeded: None,
        error: None,
        milliseconds: 0,
    };
    stage.transcript.step(step);
    for event in stage.client.cancel().expect("a turn runs") {
        stage.transcript.apply(&event);
    }
    stage.respond(&prompt, &json!({"stopReason": "cancelled"}));
    let expected = [
        "tool c Some(Cancelled)".to_owned(),
        format!("question {:?}", Some(QuestionOutcome::Withdrawn)),
        "step click Some(false)".to_owned(),
        "notice Stopped".to_owned(),
    ];
    assert_eq!(texts(&stage.transcript), expected);
    assert_eq!(stage.transcript.state(), ChatState::Idle);
}

#[test]
fn a_transcript_survives_storage_and_goes_on_with_new_ids() {
    let (mut stage, _) = Stage::working();
    chunk(&mut stage, "agent_message_chunk", None, "a");
    stage.update(&json!({"sessionUpdate": "tool_call", "toolCallId": "c", "rawInput": {"server": "x"}}));
    stage.ask(7);
    stage.transcript.apply(&Event::TurnFailed(RpcError { code: 1, message: "no".to_owned() }));
    let stored = serde_json::to_string(&stage.transcript).expect("JSON");
    let mut read: Transcript = serde_json::from_str(&stored).expect("the same");
    assert_eq!(read.items(), stage.transcript.items());
    assert_eq!(read.state(), ChatState::Offline, "no agent runs after a restart");
    let (id, changes) = read.user_message(UserMessage::default());
    assert!(read.items().iter().rev().skip(1).all(|item| item.id < id));
    assert_eq!(changes.len(), 1);
    assert!(matches!(&changes[0], Change::Item { .. }));
    let notices = read
        .items()
        .iter()
        .filter(|item| matches!(item.body, ItemBody::Notice { notice: NoticeKind::Failed, .. }));
    assert_eq!(notices.count(), 1);
}
