//! The browser of a test: Chromium, or Firefox behind its emulated browser.

mod emulated;
mod firefox;

use std::path::{Path, PathBuf};

use tabwire_cdp::{FrameSink, FrameSource, TaskGroup, WebSocketUrl};
use tabwire_testkit::bench::{BareBrowser, CHROMIUM};

use self::firefox::Firefox;

/// Debian's Firefox.
pub(crate) const FIREFOX: &str = "/usr/bin/firefox-esr";

/// A running browser. Ends with the test.
pub(crate) enum TestBrowser {
    Chromium(BareBrowser),
    Firefox(Box<Firefox>),
}

impl TestBrowser {
    pub(crate) fn start(program: &Path) -> Self {
        match is_firefox(program) {
            true => Self::Firefox(Box::new(Firefox::start(program))),
            false => Self::Chromium(BareBrowser::start(program)),
        }
    }

    pub(crate) fn is_chromium(&self) -> bool {
        matches!(self, Self::Chromium(_))
    }

    /// Connects to the browser, which then has one empty page.
    pub(crate) async fn connect(&self, tasks: &TaskGroup) -> (FrameSource, FrameSink) {
        match self {
            Self::Chromium(browser) => {
                let address = WebSocketUrl::parse(&browser.websocket()).expect("an address");
                address.connect().await.expect("a connection to the browser")
            }
            Self::Firefox(browser) => browser.connect(tasks).await,
        }
    }
}

/// The browser that the tests use: `TABWIRE_TEST_BROWSER` (`firefox` names Debian's), else Chromium.
pub(crate) fn test_browser() -> PathBuf {
    let program = tabwire_testkit::bench::test_browser();
    if program == Path::new("firefox") { FIREFOX.into() } else { program }
}

/// Chromium itself for tests that its headless shell cannot run, or Firefox when the tests use that.
pub(crate) fn whole_browser() -> PathBuf {
    let program = test_browser();
    if is_firefox(&program) { program } else { CHROMIUM.into() }
}

fn is_firefox(program: &Path) -> bool {
    program.file_name().is_some_and(|name| name.to_string_lossy().starts_with("firefox"))
}
