//! The state of a page that its events report: dialog, file chooser, console, requests.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tabwire_cdp::{CdpSession, Event};
use tokio::sync::watch;

use crate::cdp::EventObserver;
use crate::frames::tree::ContextId;
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
    emulation: tokio::sync::Mutex<Emulation>,
    init_scripts: tokio::sync::Mutex<InitScripts>,
}

impl PageState {
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

    pub(crate) fn network(&self) -> &PageNetwork {
        &self.network
    }

    /// The emulation in effect; locked while it is changed.
    pub(crate) fn emulation(&self) -> &tokio::sync::Mutex<Emulation> {
        &self.emulation
    }

    /// The init scripts; locked while they are changed.
    pub(crate) fn init_scripts(&self) -> &tokio::sync::Mutex<InitScripts> {
        &self.init_scripts
    }

    /// The open dialog.
    pub(crate) fn dialog(&self) -> watch::Receiver<Option<Dialog>> {
        self.dialog.subscribe()
    }

    /// Called when the dialog was handled: Chrome reports its closing late or never.
    pub(crate) fn dialog_closed(&self) {
        self.dialog.send_replace(None);
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
        match event.method() {
            "Page.javascriptDialogOpening" => {
                if let Ok(dialog) = event.to::<Dialog>() {
                    let dialog = dialog.redacted(self.network.policy());
                    self.dialog.send_replace(Some(dialog));
                }
            }
            "Page.javascriptDialogClosed" => self.dialog_closed(),
            "Page.fileChooserOpened" => {
                if let Ok(chooser) = event.to::<FileChooser>() {
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
        self.network.joined(session);
    }
}
