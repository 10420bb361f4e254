//! A call of the page agent: how it is written, and what becomes of it when its caller leaves before the answer.
//!
//! Knows the names of the functions that wait, and nothing else of what they do.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
use tabwire_cdp::{Answer, CdpError, CdpSession, Deadline, PendingAnswer};
use tabwire_wire::Failure;

use crate::frame_table::WorldId;
use crate::limits::CALL_OFF;

/// What a world answers in which the agent has not been installed.
pub(super) const ABSENT: i64 = -1;

/// The agent's functions that wait for as long as they are told, and stop when they are called off. A table.
const WAITING: &[&str] = &["waitFor", "prepare", "ticked"];

/// Functions that answer at once and are called often: the browser need not be told to wait for a promise.
const AT_ONCE: &[&str] = &["find", "snapshot"];

/// The name a wait is called off by; never given twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct WaitId(u64);

impl WaitId {
    fn next() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self(LAST.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

/// A call as it is written for the page.
#[derive(Clone, Debug)]
pub(super) struct AgentCall {
    expression: String,
    is_promise: bool,
    wait: Option<WaitId>,
}

impl AgentCall {
    pub(super) fn new(function: &'static str, argument: &Value) -> Self {
        let wait = WAITING.contains(&function).then(WaitId::next);
        let name = wait.map(|WaitId(number)| format!(", {number}")).unwrap_or_default();
        let expression =
            format!("globalThis.tabwire ? tabwire.run(\"{function}\", {argument}{name}) : {ABSENT}");
        Self { expression, is_promise: !AT_ONCE.contains(&function), wait }
    }
}

/// A call that has been sent. Dropped before its answer, it ends the page's part of it too.
#[derive(Debug)]
pub(super) struct Begun {
    session: CdpSession,
    world: WorldId,
    answer: PendingAnswer,
    wait: Option<WaitId>,
}

impl Begun {
    pub(super) fn begin(
        session: &CdpSession,
        world: WorldId,
        call: &AgentCall,
        deadline: Deadline,
    ) -> Result<Self, Failure> {
        let params = evaluation(world, &call.expression, call.is_promise);
        let answer = session.begin("Runtime.evaluate", &params, deadline).map_err(CdpError::into_failure)?;
        Ok(Self { session: session.clone(), world, answer, wait: call.wait })
    }

    pub(super) async fn answer(&mut self) -> Result<Answer, CdpError> {
        self.answer.taken().await
    }

    pub(super) fn place(&self) -> (CdpSession, WorldId) {
        (self.session.clone(), self.world)
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        let Some(WaitId(number)) = self.wait.filter(|_| self.answer.is_open()) else { return };
        let expression = format!("globalThis.tabwire && tabwire.callOff({{ wait: {number} }})");
        // Nobody is left to tell when it does not arrive; the wait then ends by its own time.
        let _ = self.session.begin(
            "Runtime.evaluate",
            &evaluation(self.world, &expression, true),
            Deadline::after(CALL_OFF),
        );
    }
}

fn evaluation(world: WorldId, expression: &str, is_promise: bool) -> Value {
    json!({
        "expression": expression, "contextId": world.number(), "returnByValue": true, "awaitPromise": is_promise,
    })
}
