//! A handle on one of the user's own browsers, while its extension is connected.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tabwire_api::{ErrorCode, Failure};
use tabwire_browser::BrowserRun;
use tabwire_cdp::{FrameSink, FrameSource};
use tabwire_extension::BrowserStats;
use tabwire_extension::link_message::{BrowserState, Hello};
use tokio::sync::{mpsc, oneshot, watch};

use crate::hub::attachments::AttachmentList;

/// How long an extension may take to respond to a probe.
const EXTENSION_PROBE: Duration = Duration::from_millis(800);

/// The two halves of a connection.
pub(crate) type Ends = (FrameSource, FrameSink);

/// A command to the task of a browser.
pub(crate) enum ExtensionCommand {
    /// The extension has reconnected, with the state of its browser.
    Reconnect(Box<(BrowserState, Ends)>),
    /// A hub serves the browser.
    Serve(oneshot::Sender<Result<Ends, Failure>>),
    /// Checks whether the extension responds.
    Probe(oneshot::Sender<()>),
    /// Requests the status of the browser.
    Facts(oneshot::Sender<ExtensionFacts>),
    /// Shows a notification to the user. It replaces the one before.
    Notify(String),
    /// The key was replaced; disconnects the extension.
    Dismiss,
}

/// The status of one of the user's own browsers.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct ExtensionFacts {
    /// Whether its extension is connected. It may be asleep.
    pub(crate) awake: bool,
    /// Which tabs are shared: `shared` or `all`.
    pub(crate) mode: String,
    /// Whether the user has paused everything.
    pub(crate) paused: bool,
    /// Tabs that can be driven.
    pub(crate) tabs: usize,
    /// Tabs with an attached debugger.
    pub(crate) driven: usize,
    /// Shared tabs that extensions cannot access.
    pub(crate) off_limits: usize,
}

/// One of the user's own browsers.
#[derive(Clone, Debug)]
pub(crate) struct ExtensionBrowser {
    /// The install id: one profile of one browser.
    pub(crate) install: String,
    /// `Chrome/156.0.0.0`.
    pub(crate) product: String,
    /// Its brand.
    pub(crate) name: String,
    /// The extension's version.
    pub(crate) version: String,
    /// The run of the browser.
    pub(crate) run: String,
    pub(crate) commands: mpsc::Sender<ExtensionCommand>,
    /// The clients attached to its tabs.
    pub(crate) attachments: AttachmentList,
    /// Its latest counters.
    pub(crate) holdings: watch::Receiver<BrowserStats>,
}

impl ExtensionBrowser {
    pub(crate) fn new(
        hello: &Hello,
        run: &str,
        commands: mpsc::Sender<ExtensionCommand>,
        holdings: watch::Receiver<BrowserStats>,
    ) -> Self {
        Self {
            install: hello.install.clone(),
            product: hello.browser.product.clone(),
            name: hello.browser.name.clone(),
            version: hello.version.clone(),
            run: run.to_owned(),
            commands,
            attachments: AttachmentList::default(),
            holdings,
        }
    }

    pub(crate) fn run(&self) -> BrowserRun {
        BrowserRun::named(&format!("{}/{}", self.install, self.run))
    }

    /// Whether a name matches: a prefix of the install id, or the brand.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        let brand = self.name.to_ascii_lowercase();
        self.install.starts_with(name) || brand.split(' ').any(|word| word == name.to_ascii_lowercase())
    }

    /// Its status; `None` when its task is busy or gone.
    pub(crate) async fn facts(&self) -> Option<ExtensionFacts> {
        let (reply, response) = oneshot::channel();
        let exchange = async {
            self.commands.send(ExtensionCommand::Facts(reply)).await.ok()?;
            response.await.ok()
        };
        tokio::time::timeout(EXTENSION_PROBE, exchange).await.ok().flatten()
    }

    /// Whether its extension responds now.
    pub(crate) async fn is_responsive(&self) -> bool {
        let (reply, response) = oneshot::channel();
        let exchange = async {
            self.commands.send(ExtensionCommand::Probe(reply)).await.ok()?;
            response.await.ok()
        };
        tokio::time::timeout(EXTENSION_PROBE, exchange).await.ok().flatten().is_some()
    }

    /// The connection for a hub.
    pub(crate) async fn serve(&self) -> Result<Ends, Failure> {
        let (reply, response) = oneshot::channel();
        let gone = || Failure::new(ErrorCode::ExtensionDisconnected, "The extension has disconnected.");
        self.commands.send(ExtensionCommand::Serve(reply)).await.map_err(|_| gone())?;
        response.await.map_err(|_| gone())?
    }
}

/// A random prefix for the CDP session ids of a browser.
pub(crate) fn session_scope() -> Arc<str> {
    let mut bytes = [0_u8; 8];
    // Without randomness all browsers have the same prefix, which is harmless.
    let _ = getrandom::fill(&mut bytes);
    bytes.iter().map(|byte| format!("{byte:02X}")).collect::<String>().into()
}
