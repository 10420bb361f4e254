//! The state of a page that its events report: dialog, file chooser, console, requests.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tabwire_cdp::{CdpSession, Event};
use tokio::sync::watch;

use crate::cdp::{EventObserver, Worker};
use crate::feed::PageFeed;
use crate::frames::tree::ContextId;
use crate::media::live_casts::LiveCasts;
use crate::network::PageNetwork;
use crate::page::console::ConsoleLog;
use crate::page::dialog::{Dialog, FileChooser};
use crate::page::emulation::Emulation;
use crate::page::init_scripts::InitScripts;

/// The state of one page.
#[derive(Debug)]
pub(crate) struct PageState {
    dialog: watch::Sender<Option<Dialog>>,
    chooser: watch::Sender<Option<FileChooser>>,
    console: Mutex<ConsoleLog>,
    network: Arc<PageNetwork>,
    feed: PageFeed,
    emulation: tokio::sync::Mutex<Emulation>,
    init_scripts: tokio::sync::Mutex<InitScripts>,
    /// Navigations that clients have begun.
    navigations: AtomicU64,
    casts: Arc<LiveCasts>,
}

impl PageState {
    pub(crate) fn new(network: PageNetwork, feed: PageFeed) -> Self {
        Self {
            dialog: watch::Sender::default(),
            chooser: watch::Sender::default(),
            console: Mutex::default(),
            network: Arc::new(network),
            feed,
            emulation: tokio::sync::Mutex::default(),
            init_scripts: tokio::sync::Mutex::default(),
            navigations: AtomicU64::new(0),
            casts: Arc::default(),
        }
    }

    pub(crate) fn network(&self) -> &PageNetwork {
        &self.network
    }

    /// Its live views, and the captures that change its size.
    pub(crate) fn casts(&self) -> &Arc<LiveCasts> {
        &self.casts
    }

    /// The emulation in effect; locked while it is changed.
    pub(crate) fn emulation(&self) -> &tokio::sync::Mutex<Emulation> {
        &self.emulation
    }

    /// Counts a navigation. Returns its number.
    pub(crate) fn begin_navigation(&self) -> u64 {
        self.navigations.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// Whether no client has begun a navigation after this one.
    pub(crate) fn is_last_navigation(&self, number: u64) -> bool {
        self.navigations.load(Ordering::SeqCst) == number
    }

    /// The init scripts; locked while they are changed.
    pub(crate) fn init_scripts(&self) -> &tokio::sync::Mutex<InitScripts> {
        &self.init_scripts
    }

    /// The open dialog.
    pub(crate) fn dialog(&self) -> watch::Receiver<Option<Dialog>> {
        self.dialog.subscribe()
    }

    /// Whether a script handles the page's dialogs. Commands then wait until the dialog is closed instead of failing.
    pub(crate) fn is_scripted(&self) -> bool {
        self.feed.closes_dialogs()
    }

    /// Reports a dialog that opened before anyone listened.
    pub(crate) fn report_open_dialog(&self) {
        if let Some(dialog) = &*self.dialog.borrow() {
            self.feed.dialog(dialog);
        }
    }

    /// Called when the dialog that `seen` has read was handled: Chrome reports its closing late or never. A dialog that
    /// the page has opened since then stays.
    pub(crate) fn dialog_handled(&self, seen: &watch::Receiver<Option<Dialog>>) {
        self.dialog.send_if_modified(|open| {
            let is_same = seen.has_changed().is_ok_and(|has_changed| !has_changed);
            if is_same {
                *open = None;
            }
            is_same
        });
    }

    /// The open file chooser.
    pub(crate) fn chooser(&self) -> watch::Receiver<Option<FileChooser>> {
        self.chooser.subscribe()
    }

    /// Called when the file chooser got its files or is no longer needed.
    pub(crate) fn chooser_closed(&self) {
        self.chooser.send_replace(None);
    }

    pub(crate) fn console(&self) -> MutexGuard<'_, ConsoleLog> {
        self.console.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EventObserver for PageState {
    fn observe(&self, session: &CdpSession, event: &Event) {
        self.feed.observe(session, event, self.network.frame_urls());
        match event.method() {
            "Page.javascriptDialogOpening" => {
                if let Ok(dialog) = event.to::<Dialog>() {
                    let dialog = dialog.redacted(self.network.policy());
                    self.feed.dialog(&dialog);
                    self.dialog.send_replace(Some(dialog));
                }
            }
            "Page.frameNavigated" if self.feed.is_of_main_frame(session, event) => {
                self.console().note_navigation();
            }
            "Page.javascriptDialogClosed" => drop(self.dialog.send_replace(None)),
            "Page.fileChooserOpened" => {
                if let Ok(chooser) = event.to::<FileChooser>() {
                    self.feed.chooser(&chooser);
                    self.chooser.send_replace(Some(chooser.on(session)));
                }
            }
            "Runtime.consoleAPICalled" | "Runtime.exceptionThrown" | "Log.entryAdded" => {
                let urls = self.network.frame_urls();
                let url_of = |context: Option<ContextId>| {
                    let urls = urls?;
                    let known = context.and_then(|context| urls.find_by_context(session, context));
                    known.or_else(|| urls.find_by_session(session))
                };
                self.console().observe(event, url_of);
            }
            method if method.starts_with("Network.") => self.network.observe(session, event),
            _ => {}
        }
    }

    fn joined(&self, session: &CdpSession) {
        self.feed.joined(session);
        self.network.joined(session);
    }

    fn worker(&self, worker: &Worker, is_start: bool) {
        self.feed.worker(worker, is_start);
    }

    fn observe_worker(&self, worker: &Worker, event: &Event) {
        self.feed.observe_worker(worker, event);
    }
}
