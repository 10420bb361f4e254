//! Firefox with the profile and the session that a keeper gives it.

#![expect(clippy::disallowed_types, reason = "a test starts its browser")]

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tabwire_api::BrowserId;
use tabwire_bidi::BrowserFacts;
use tabwire_browser::{BidiSession, BrowserEngine, LaunchSpec, Marionette, WindowSize, firefox};
use tabwire_cdp::{FrameSink, FrameSource, ReceivedFrame, TaskGroup, WebSocketUrl};

use super::emulated;

/// How long Firefox may take until it has a session.
const START: Duration = Duration::from_secs(90);

/// A window whose page has the size that the headless shell of Chromium gives it.
const WINDOW: WindowSize = WindowSize { width: 800, height: 687 };

/// A command for an empty page, and the id that it has.
const OPEN: (&[u8], &str) =
    (br#"{"id":1,"method":"Target.createTarget","params":{"url":"about:blank"}}"#, "\"id\":1,");

/// A running Firefox.
pub(crate) struct Firefox {
    child: Child,
    session: BidiSession,
    _marionette: Marionette,
    _profile: tempfile::TempDir,
}

impl Firefox {
    pub(crate) fn start(program: &Path) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let spec = LaunchSpec {
            engine: BrowserEngine::Firefox,
            window: Some(WINDOW),
            ..LaunchSpec::new(BrowserId::new("b1"), program.to_owned(), directory.path().to_owned())
        };
        let mut command = Command::new(program);
        command.args(spec.arguments(None).expect("arguments"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        firefox::prepare(&spec, &mut command).expect("a profile");
        let child = command.spawn().expect("Firefox starts");
        let mut marionette = Marionette::new(&firefox::profile_of(&spec));
        let until = Instant::now() + START;
        while marionette.advance().expect("a session").is_none() {
            assert!(Instant::now() < until, "Firefox created no session in time");
            std::thread::park_timeout(Duration::from_millis(2));
        }
        let session = marionette.session().expect("it exists").clone();
        Self { child, session, _marionette: marionette, _profile: directory }
    }

    /// Connects over an emulated browser, and opens the empty page that Chromium has from its start.
    pub(super) async fn connect(&self, tasks: &TaskGroup) -> (FrameSource, FrameSink) {
        let address =
            WebSocketUrl::parse(&self.session.url).expect("an address").with_prompt_acknowledgements();
        let link = address.connect().await.expect("a connection to Firefox");
        let facts = BrowserFacts {
            product: self.session.product.clone(),
            user_agent: self.session.user_agent.clone(),
            anchor: self.session.anchor.clone(),
        };
        let (mut source, mut sink) = emulated::start(link, facts, tasks);
        sink.send(OPEN.0.into()).await.expect("sent");
        loop {
            match source.next().await {
                Ok(Some(ReceivedFrame::Frame(frame))) => {
                    if String::from_utf8_lossy(&frame).contains(OPEN.1) {
                        return (source, sink);
                    }
                }
                other => panic!("no response of the emulated browser: {other:?}"),
            }
        }
    }
}

impl Drop for Firefox {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
