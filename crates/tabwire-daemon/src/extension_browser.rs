//! A handle on one of the user's own browsers, as long as its extension is paired. Knows nothing of how it is served.

use std::sync::Arc;

use serde::Serialize;
use tabwire_browser::BrowserRun;
use tabwire_cdp::{FrameSink, FrameSource};
use tabwire_extension::Holdings;
use tabwire_extension::link_message::{Hello, Present};
use tabwire_wire::{ErrorCode, Failure};
use tokio::sync::{mpsc, oneshot, watch};

use crate::driver_board::DriverBoard;
use crate::limits::EXTENSION_PROBE;

/// The two halves of a line.
pub(crate) type Ends = (FrameSource, FrameSink);

/// What the task behind a browser is asked.
pub(crate) enum LineCommand {
    /// The extension dialled again, and told how its browser stands.
    Line(Box<(Present, Ends)>),
    /// A hub wants to serve it.
    Serve(oneshot::Sender<Result<Ends, Failure>>),
    /// Is anybody there?
    Probe(oneshot::Sender<()>),
    /// How does the browser stand?
    Facts(oneshot::Sender<ExtensionFacts>),
    /// Something for the user to see there; the newest takes the place of the one before.
    Tell(String),
    /// Its key is not good any more.
    Dismiss,
}

/// How one of the user's own browsers stands.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct ExtensionFacts {
    /// Whether its extension is connected now; it may only be asleep.
    pub(crate) awake: bool,
    /// Which tabs are shared: `shared` or `all`.
    pub(crate) mode: String,
    /// Whether the user has paused everything.
    pub(crate) paused: bool,
    /// Tabs that can be driven.
    pub(crate) tabs: usize,
    /// Tabs that the debugger is on.
    pub(crate) driven: usize,
    /// Tabs that are shared and that extensions may not enter.
    pub(crate) off_limits: usize,
}

/// One of the user's own browsers.
#[derive(Clone, Debug)]
pub(crate) struct ExtensionBrowser {
    /// Which profile of which browser.
    pub(crate) install: String,
    /// `Chrome/156.0.0.0`.
    pub(crate) product: String,
    /// Its brand.
    pub(crate) name: String,
    /// The extension's version.
    pub(crate) version: String,
    /// Which run of the browser.
    pub(crate) run: String,
    pub(crate) commands: mpsc::Sender<LineCommand>,
    /// Who drives what in it.
    pub(crate) board: DriverBoard,
    /// How it stands, as of a moment ago.
    pub(crate) holdings: watch::Receiver<Holdings>,
}

impl ExtensionBrowser {
    pub(crate) fn new(
        hello: &Hello,
        run: &str,
        commands: mpsc::Sender<LineCommand>,
        holdings: watch::Receiver<Holdings>,
    ) -> Self {
        Self {
            install: hello.install.clone(),
            product: hello.browser.product.clone(),
            name: hello.browser.name.clone(),
            version: hello.version.clone(),
            run: run.to_owned(),
            commands,
            board: DriverBoard::default(),
            holdings,
        }
    }

    pub(crate) fn run(&self) -> BrowserRun {
        BrowserRun::named(&format!("{}/{}", self.install, self.run))
    }

    /// Whether it is meant by a name: the beginning of its install, or its brand.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        let brand = self.name.to_ascii_lowercase();
        self.install.starts_with(name) || brand.split(' ').any(|word| word == name.to_ascii_lowercase())
    }

    /// How it stands; nothing when its task is busy or gone.
    pub(crate) async fn facts(&self) -> Option<ExtensionFacts> {
        let (reply, answer) = oneshot::channel();
        let asked = async {
            self.commands.send(LineCommand::Facts(reply)).await.ok()?;
            answer.await.ok()
        };
        tokio::time::timeout(EXTENSION_PROBE, asked).await.ok().flatten()
    }

    /// Whether its extension answers right now.
    pub(crate) async fn answers(&self) -> bool {
        let (reply, answer) = oneshot::channel();
        let asked = async {
            self.commands.send(LineCommand::Probe(reply)).await.ok()?;
            answer.await.ok()
        };
        tokio::time::timeout(EXTENSION_PROBE, asked).await.ok().flatten().is_some()
    }

    /// The wires that a hub serves it over.
    pub(crate) async fn serve(&self) -> Result<Ends, Failure> {
        let (reply, answer) = oneshot::channel();
        let gone =
            || Failure::new(ErrorCode::ExtensionDisconnected, "The browser's extension has just gone.");
        self.commands.send(LineCommand::Serve(reply)).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}

/// The name that cdp sessions of a browser begin with; nobody can guess it, and no two are alike.
pub(crate) fn session_scope() -> Arc<str> {
    let mut bytes = [0_u8; 8];
    // Without randomness it would be the same for all, which only matters where browsers are compared.
    let _ = getrandom::fill(&mut bytes);
    bytes.iter().map(|byte| format!("{byte:02X}")).collect::<String>().into()
}
