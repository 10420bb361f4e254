//! A fake browser that follows a script, at the other end of an in-process link.

use std::time::Duration;

use bytes::BytesMut;
use serde_json::Value;
use tabwire_cdp::{Connection, FrameSink, FrameSource, ReceivedFrame, TaskGroup, channel_pair};

/// Longer than any step of a healthy test, on real or virtual time.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(20);

/// The other end of a connection under test.
pub(crate) struct ScriptedBrowser {
    source: FrameSource,
    sink: FrameSink,
}

/// Connects to a new scripted browser.
pub(crate) fn connect(tasks: &TaskGroup) -> (Connection, ScriptedBrowser) {
    let ((source, sink), (far_source, far_sink)) = channel_pair();
    (Connection::start(source, sink, tasks), ScriptedBrowser { source: far_source, sink: far_sink })
}

impl ScriptedBrowser {
    /// Runs a script: `client> 1 Page.enable @S` is expected, `browser> {json}` is sent.
    pub(crate) async fn play(&mut self, script: &str) {
        for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
            match line.split_once("> ") {
                Some(("client", expected)) => {
                    assert_eq!(self.hear().await, expected, "client's next command");
                }
                Some(("browser", frame)) => self.say(frame.as_bytes()).await,
                _ => panic!("not a line of a script: {line}"),
            }
        }
    }

    /// Waits for a command and returns it as `id method @session`.
    pub(crate) async fn hear(&mut self) -> String {
        let next = tokio::time::timeout(TIMEOUT, self.source.next());
        let frame = match next.await.expect("the client sends something") {
            Ok(Some(ReceivedFrame::Frame(frame))) => frame,
            other => panic!("expected a command, got {other:?}"),
        };
        let command: Value = serde_json::from_slice(&frame).expect("commands are JSON");
        let session = command["sessionId"].as_str().map(|session| format!(" @{session}"));
        let method = command["method"].as_str().expect("commands have methods");
        format!("{} {method}{}", command["id"], session.unwrap_or_default())
    }

    /// Sends bytes unchanged.
    pub(crate) async fn say(&mut self, frame: &[u8]) {
        self.sink.send(BytesMut::from(frame)).await.expect("the client listens");
    }
}
