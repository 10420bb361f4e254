//! Holds responses until a test releases them.

use std::collections::BTreeSet;

use tokio::sync::watch;
use tokio::time::timeout;

use super::limits;

/// Gates with waiting requests, and open gates. A test chooses the names.
#[derive(Debug, Default)]
pub(super) struct Gates {
    reached: watch::Sender<BTreeSet<String>>,
    opened: watch::Sender<BTreeSet<String>>,
}

impl Gates {
    /// Waits until a gate is open, at most `MAX_HANG`.
    pub(super) async fn pass(&self, gate: &str) {
        note(&self.reached, gate);
        seen(&self.opened, gate).await;
    }

    /// Opens a gate for waiting and later requests.
    pub(super) fn open(&self, gate: &str) {
        note(&self.opened, gate);
    }

    /// Waits until a request has reached a gate; false after the timeout.
    pub(super) async fn is_reached(&self, gate: &str) -> bool {
        seen(&self.reached, gate).await
    }
}

fn note(names: &watch::Sender<BTreeSet<String>>, gate: &str) {
    names.send_modify(|names| {
        if names.len() < limits::GATES {
            names.insert(gate.to_owned());
        }
    });
}

async fn seen(names: &watch::Sender<BTreeSet<String>>, gate: &str) -> bool {
    let mut names = names.subscribe();
    let noted = names.wait_for(|names| names.contains(gate));
    timeout(limits::MAX_HANG, noted).await.is_ok_and(|noted| noted.is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn waiting_request_passes_when_the_gate_opens() {
        let gates = Gates::default();
        let passed = async {
            gates.pass("one").await;
            true
        };
        let opened = async {
            assert!(gates.is_reached("one").await);
            gates.open("one");
        };
        assert!(tokio::join!(passed, opened).0);
        gates.pass("one").await;
    }
}
