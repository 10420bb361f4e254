//! What is known of a page from what its browser told: open dialog, file chooser, console, requests.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tabwire_cdp::{CdpSession, Event};
use tokio::sync::watch;

use crate::cdp_driver::Observer;
use crate::console_log::ConsoleLog;
use crate::dialog::Dialog;
use crate::emulation::Emulation;
use crate::file_chooser::FileChooser;
use crate::frame_table::WorldId;
use crate::init_scripts::InitScripts;
use crate::network::PageNetwork;

/// What is known of one page.
#[derive(Debug)]
pub(crate) struct PageRecord {
    dialog: watch::Sender<Option<Dialog>>,
    chooser: watch::Sender<Option<FileChooser>>,
    console: Mutex<ConsoleLog>,
    network: Arc<PageNetwork>,
    emulation: tokio::sync::Mutex<Emulation>,
    init_scripts: tokio::sync::Mutex<InitScripts>,
}

impl PageRecord {
    pub(crate) fn new(network: PageNetwork) -> Self {
        Self {
            dialog: watch::Sender::default(),
            chooser: watch::Sender::default(),
            console: Mutex::default(),
            network: Arc::new(network),
            emulation: tokio::sync::Mutex::default(),
            init_scripts: tokio::sync::Mutex::default(),
        }
    }

    /// The page's network: its requests, and what is changed on their way.
    pub(crate) fn network(&self) -> &PageNetwork {
        &self.network
    }

    /// What the page is made to take its device for; held while it is changed.
    pub(crate) fn emulation(&self) -> &tokio::sync::Mutex<Emulation> {
        &self.emulation
    }

    /// The scripts that run before the page's own; held while they are changed.
    pub(crate) fn init_scripts(&self) -> &tokio::sync::Mutex<InitScripts> {
        &self.init_scripts
    }

    /// The open dialog, now and as it changes.
    pub(crate) fn dialog(&self) -> watch::Receiver<Option<Dialog>> {
        self.dialog.subscribe()
    }

    /// The dialog has been answered; its closing may be told late or never.
    pub(crate) fn dialog_answered(&self) {
        self.dialog.send_replace(None);
    }

    /// The file chooser that waits for files, now and as it changes.
    pub(crate) fn chooser(&self) -> watch::Receiver<Option<FileChooser>> {
        self.chooser.subscribe()
    }

    /// The file chooser has been given its files, or is not wanted any more.
    pub(crate) fn chooser_answered(&self) {
        self.chooser.send_replace(None);
    }

    /// What the page wrote to its console.
    pub(crate) fn console(&self) -> MutexGuard<'_, ConsoleLog> {
        self.console.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for PageRecord {
    fn observe(&self, session: &CdpSession, event: &Event) {
        match event.method() {
            "Page.javascriptDialogOpening" => {
                if let Ok(dialog) = event.to::<Dialog>() {
                    let dialog = dialog.judged(self.network.policy());
                    self.dialog.send_replace(Some(dialog));
                }
            }
            "Page.javascriptDialogClosed" => self.dialog_answered(),
            "Page.fileChooserOpened" => {
                if let Ok(chooser) = event.to::<FileChooser>() {
                    self.chooser.send_replace(Some(chooser.on(session)));
                }
            }
            "Runtime.consoleAPICalled" | "Runtime.exceptionThrown" | "Log.entryAdded" => {
                let urls = self.network.frame_urls();
                let url_of = |world: Option<WorldId>| {
                    let urls = urls?;
                    let known = world.and_then(|world| urls.find_world(session, world));
                    known.or_else(|| urls.find_root(session))
                };
                self.console().observe(event, url_of);
            }
            method if method.starts_with("Network.") => self.network.observe(session, event),
            _ => {}
        }
    }

    fn joined(&self, session: &CdpSession) {
        self.network.joined(session);
    }
}
