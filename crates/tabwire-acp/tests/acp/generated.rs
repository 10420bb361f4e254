//! Messages and calls in random orders. Whatever happens, every request gets one response and nothing grows.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use tabwire_acp::limits::QUESTIONS;
use tabwire_acp::{Answer, Event, Opening, OptionValue, QuestionId, Steering};

use crate::support::{SESSION, Stage, everything, permission, setup, text};

/// Marsaglia's generator: the same numbers in every run.
struct Xorshift(u64);

impl Xorshift {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// The agent's side of a random connection.
struct Run {
    stage: Stage,
    random: Xorshift,
    /// Requests of the client without a response.
    unanswered: Vec<Value>,
    /// Requests of the agent, and how many responses they got.
    asked: BTreeMap<u64, usize>,
    open: Vec<QuestionId>,
    next: u64,
}

impl Run {
    fn new(seed: u64) -> Self {
        let (stage, random) = (Stage::new(), Xorshift(seed));
        Self { stage, random, unanswered: Vec::new(), asked: BTreeMap::new(), open: Vec::new(), next: 0 }
    }

    fn collect(&mut self) {
        for line in self.stage.sent() {
            if line.get("method").is_some() {
                if line.get("id").is_some() {
                    self.unanswered.push(line);
                }
            } else {
                let id = line["id"].as_u64().expect("an id of the agent");
                *self.asked.get_mut(&id).expect("a request of the agent") += 1;
            }
        }
    }

    fn note(&mut self, events: &[Event]) {
        for event in events {
            match event {
                Event::Asked(question) => self.open.push(question.id),
                Event::Withdrawn(id) => {
                    assert!(self.open.contains(id), "withdrawn once");
                    self.open.retain(|open| open != id);
                }
                _ => {}
            }
        }
    }

    fn call(&mut self) {
        let client = &mut self.stage.client;
        match self.random.below(9) {
            0 => drop(client.initialize()),
            1 => drop(client.open(Opening::New, &setup())),
            2 => drop(client.open(Opening::Load(SESSION.to_owned()), &setup())),
            3 => drop(client.prompt(&text("x"))),
            4 => drop(client.steer(&text("x"), Steering::Method)),
            5 => drop(client.steer(&text("x"), Steering::SecondPrompt)),
            6 => {
                if let Ok(events) = client.cancel() {
                    for event in &events {
                        self.stage.transcript.apply(event);
                    }
                    self.note(&events);
                }
            }
            7 => drop(client.set_option("mode", OptionValue::Text("b".to_owned()))),
            _ => {
                let count = u64::try_from(self.open.len()).expect("small");
                if count > 0 {
                    let index = usize::try_from(self.random.below(count)).expect("small");
                    let id = self.open.remove(index);
                    let answer = [Answer::Choose("yes".to_owned()), Answer::Decline, Answer::Cancel];
                    let answer = &answer[usize::try_from(self.random.below(3)).expect("small")];
                    client.answer(id, answer).expect("an open question takes an answer");
                    client.answer(id, answer).expect_err("and only one");
                }
            }
        }
    }

    fn agent(&mut self) {
        let events = match self.random.below(6) {
            0 | 1 if !self.unanswered.is_empty() => self.respond(),
            2 => {
                self.next += 1;
                self.asked.insert(self.next, 0);
                self.stage.receive(&permission(&json!(self.next), SESSION))
            }
            3 => {
                let kind = ["agent_message_chunk", "agent_thought_chunk", "unknown"];
                let kind = kind[usize::try_from(self.random.below(3)).expect("small")];
                self.stage.update(&json!({"sessionUpdate": kind, "content": {"type": "text", "text": "x"}}))
            }
            4 => {
                let id = self.random.below(5).to_string();
                self.stage
                    .update(&json!({"sessionUpdate": "tool_call", "toolCallId": id, "status": "completed"}))
            }
            _ => self.stage.receive(&json!({"id": 77_777, "result": {}})),
        };
        self.note(&events);
    }

    fn respond(&mut self) -> Vec<Event> {
        let count = u64::try_from(self.unanswered.len()).expect("small");
        let index = usize::try_from(self.random.below(count)).expect("small");
        let request = self.unanswered.remove(index);
        let modes = json!({"currentModeId": "a", "availableModes": [{"id": "a"}, {"id": "b"}]});
        let result = match request["method"].as_str().expect("a method") {
            "initialize" => everything(),
            "session/new" | "session/load" => json!({"sessionId": SESSION, "modes": modes}),
            _ if self.random.below(5) == 0 => {
                let error = json!({"code": -32603, "message": "no"});
                return self.stage.receive(&json!({"id": request["id"], "error": error}));
            }
            _ => json!({"stopReason": "end_turn", "outcome": "injected"}),
        };
        self.stage.respond(&request, &result)
    }
}

#[test]
fn in_any_order_every_question_gets_one_response_and_turns_end() {
    for seed in 1..=400_u64 {
        let mut run = Run::new(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed));
        for _ in 0..200 {
            if run.random.below(2) == 0 {
                run.call();
            } else {
                run.agent();
            }
            run.collect();
            assert!(run.open.len() <= QUESTIONS);
            assert_eq!(run.stage.client.open_questions(), run.open, "seed {seed}");
        }
        // The agent responds to everything; then no turn runs and no question waits.
        while !run.unanswered.is_empty() {
            let events = run.respond();
            run.note(&events);
            run.collect();
        }
        assert!(!run.stage.client.is_working(), "seed {seed}");
        assert!(run.open.is_empty(), "seed {seed}: a turn that is over asks nothing");
        for (id, responses) in &run.asked {
            assert_eq!(*responses, 1, "seed {seed}: request {id}");
        }
    }
}
