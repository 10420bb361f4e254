//! Downloads: where they are saved, their begin and end. BiDi reports no progress.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};
use tabwire_api::CdpSessionId;

use crate::browser::{EmulatedBrowser, Output, Reply};
use crate::protocol::message::{BidiError, flag, text};
use crate::state::context::{DEFAULT_USER_CONTEXT, NavigationEnd};

/// Downloads that are followed at once.
const DOWNLOADS: usize = 1_024;

/// The downloads of a browser.
#[derive(Debug, Default)]
pub(crate) struct Downloads {
    /// Where each user context saves files under the id of the download, as CDP's `allowAndName`.
    named: BTreeMap<String, PathBuf>,
    /// The id for CDP and the user context, by BiDi's navigation.
    running: BTreeMap<String, Download>,
    /// Files that are being moved to their name for CDP.
    moving: BTreeMap<u64, String>,
}

#[derive(Clone, Debug)]
struct Download {
    guid: String,
    user_context: String,
}

impl EmulatedBrowser {
    pub(in crate::browser) fn set_download_behavior(
        &mut self,
        session: Option<&CdpSessionId>,
        params: &Value,
        reply: Reply,
    ) {
        if let Some(entry) = self.sessions.find_mut(session) {
            entry.downloads = flag(params, "eventsEnabled");
        }
        let context = match text(params, "browserContextId") {
            "" => DEFAULT_USER_CONTEXT,
            context => context,
        };
        let folder = text(params, "downloadPath");
        let behavior = text(params, "behavior");
        if behavior == "allowAndName" {
            self.downloads.named.insert(context.to_owned(), PathBuf::from(folder));
        } else {
            self.downloads.named.remove(context);
        }
        let wanted = match behavior {
            "deny" => json!({"type": "denied"}),
            "allow" | "allowAndName" => json!({"type": "allowed", "destinationFolder": folder}),
            _ => Value::Null,
        };
        let mut command = json!({"downloadBehavior": wanted});
        command["userContexts"] = json!([context]);
        let then = move |browser: &mut Self, outcome: Result<Value, BidiError>| {
            browser.acknowledge(reply, outcome);
        };
        self.send("browser.setDownloadBehavior", command, Box::new(then));
    }

    pub(in crate::browser) fn download_begins(&mut self, id: &str, params: &Value) {
        let navigation = text(params, "navigation").to_owned();
        self.navigation_ended(id, params, NavigationEnd::Download);
        let key = download_key(id, params);
        if self.downloads.running.len() >= DOWNLOADS {
            return;
        }
        let user_context = self.contexts.find(id).map(|context| context.user_context.clone());
        let number = self.next_number();
        let guid = format!("{navigation}-{number}");
        let user_context = user_context.unwrap_or_else(|| DEFAULT_USER_CONTEXT.to_owned());
        self.downloads.running.insert(key, Download { guid: guid.clone(), user_context });
        let event = json!({
            "frameId": id, "guid": guid, "url": text(params, "url"),
            "suggestedFilename": text(params, "suggestedFilename"),
        });
        if let Some(tab) = self.contexts.tab_of(id).map(|tab| tab.id.clone()) {
            self.tab_event(&tab, "Page.downloadWillBegin", &event);
        }
        self.download_event("Browser.downloadWillBegin", &event);
    }

    pub(in crate::browser) fn download_ended(&mut self, id: &str, params: &Value) {
        let Some(download) = self.downloads.running.remove(&download_key(id, params)) else { return };
        let path = text(params, "filepath");
        if text(params, "status") != "complete" {
            return self.download_progress(&download.guid, "canceled", None, 0);
        }
        match self.downloads.named.get(&download.user_context).filter(|_| !path.is_empty()) {
            Some(folder) => {
                let to = folder.join(&download.guid);
                let number = self.next_number();
                self.downloads.moving.insert(number, download.guid);
                self.outputs.push(Output::MoveFile { number, from: PathBuf::from(path), to });
            }
            None => self.download_progress(&download.guid, "completed", Some(path), 0),
        }
    }

    /// A file of this size was moved, or could not be: its download is complete, or has failed.
    pub fn file_moved(&mut self, number: u64, size: Option<u64>) {
        let Some(guid) = self.downloads.moving.remove(&number) else { return };
        let state = if size.is_some() { "completed" } else { "canceled" };
        self.download_progress(&guid, state, None, size.unwrap_or_default());
    }

    fn download_progress(&mut self, guid: &str, state: &str, path: Option<&str>, size: u64) {
        let mut event = json!({"guid": guid, "totalBytes": size, "receivedBytes": size, "state": state});
        if let Some(path) = path {
            event["filePath"] = json!(path);
        }
        self.download_event("Browser.downloadProgress", &event);
    }

    fn download_event(&mut self, method: &str, event: &Value) {
        for session in self.sessions.browser_sessions(|session| session.downloads) {
            self.send_event(session.as_ref(), method, event);
        }
    }
}

/// What tells downloads apart: the navigation, or the page and the URL.
fn download_key(context: &str, params: &Value) -> String {
    match text(params, "navigation") {
        "" => format!("{context} {}", text(params, "url")),
        navigation => navigation.to_owned(),
    }
}
