//! What a process has sent in one run. It may ignore its own limits, so they are checked here again.

use tabwire_script::limits::{CALLS, CALLS_AT_ONCE, CONSOLE_BYTES, IMAGES};
use tabwire_script::message::FromChild;

/// How much more than its own limit a process may send. One that is not broken stops before.
const TOLERANCE: usize = 2;

/// Counts of one run.
#[derive(Debug, Default)]
pub(crate) struct Received {
    calls: u64,
    console_bytes: usize,
    images: usize,
    ready: usize,
    listens: u64,
}

impl Received {
    /// Counts a message of the run `run`, none between two runs, with this number of calls under way.
    ///
    /// # Errors
    /// With the reason why the process is ended.
    pub(crate) fn count(
        &mut self,
        run: Option<u64>,
        under_way: usize,
        message: &FromChild,
    ) -> Result<(), &'static str> {
        match message {
            FromChild::Call(_) => {
                self.calls += 1;
                refuse_if(self.calls > CALLS, "it made too many calls")?;
                refuse_if(under_way >= CALLS_AT_ONCE, "it made too many calls at once")
            }
            FromChild::Console(line) => {
                // An empty line costs something too.
                self.console_bytes += line.level.len() + line.text.len() + 1;
                let most = (CONSOLE_BYTES + CONSOLE_BYTES / 4) * TOLERANCE;
                refuse_if(self.console_bytes > most, "it printed too much")
            }
            FromChild::Image(_) => {
                self.images += 1;
                refuse_if(self.images > IMAGES * TOLERANCE, "it showed too many images")
            }
            FromChild::Ready => {
                self.ready += 1;
                refuse_if(self.ready > 1, "it was ready twice")
            }
            FromChild::Listen(_) => {
                self.listens += 1;
                refuse_if(self.listens > CALLS, "it changed its listeners too often")
            }
            FromChild::Done(done) => refuse_if(Some(done.run) != run, "it ended a run that is not under way"),
        }
    }

    /// Whether the limit of images is just exceeded, so that the client learns it once.
    pub(crate) const fn exceeds_images_now(&self) -> bool {
        self.images == IMAGES + 1
    }

    /// Whether an image may still be shown.
    pub(crate) const fn shows_image(&self) -> bool {
        self.images <= IMAGES
    }
}

const fn refuse_if(is_wrong: bool, reason: &'static str) -> Result<(), &'static str> {
    if is_wrong { Err(reason) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn message(value: serde_json::Value) -> FromChild {
        serde_json::from_value(value).expect("a message")
    }

    /// How many equal messages are taken before the process is ended.
    fn taken(value: &serde_json::Value) -> Option<usize> {
        let mut received = Received::default();
        let message = message(value.clone());
        (0..3_000_000).find(|_| received.count(Some(7), 0, &message).is_err())
    }

    #[test]
    fn no_message_can_be_sent_without_end() {
        let call = json!({"call": {"id": 1, "action": "get"}});
        assert_eq!(taken(&call), usize::try_from(CALLS).ok());
        assert!(taken(&json!({"console": {"level": "log", "text": ""}})).is_some());
        assert!(taken(&json!({"console": {"level": "", "text": ""}})).is_some());
        assert_eq!(taken(&json!({"image": {"path": "/x"}})), Some(IMAGES * TOLERANCE));
        assert_eq!(taken(&json!("ready")), Some(1));
        assert_eq!(taken(&json!({"listen": {}})), usize::try_from(CALLS).ok());
    }

    #[test]
    fn the_end_of_another_run_and_too_many_calls_at_once_are_refused() {
        let mut received = Received::default();
        assert!(received.count(Some(7), 0, &message(json!({"done": {"run": 7}}))).is_ok());
        assert!(received.count(Some(7), 0, &message(json!({"done": {"run": 6}}))).is_err());
        let call = message(json!({"call": {"id": 1, "action": "get"}}));
        assert!(received.count(Some(7), CALLS_AT_ONCE - 1, &call).is_ok());
        assert!(received.count(Some(7), CALLS_AT_ONCE, &call).is_err());
    }
}
