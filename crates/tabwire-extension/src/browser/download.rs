//! Downloads. Chrome's debugger reports them on pages, clients expect them from the browser, and only
//! `chrome.downloads` knows the path of the file.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tabwire_cdp::lenient_json;

use tabwire_cdp::ProtocolError;

use crate::browser::EmulatedBrowser;
use crate::browser::pending::{OnResponse, PendingRequest, Requester};

use crate::link::message::ChromeTab;
use crate::target::debuggee::DebuggeeId;

/// Running downloads that are tracked in one browser; further ones are not reported.
const DOWNLOADS_TRACKED: usize = 256;

/// Running downloads by GUID.
#[derive(Debug, Default)]
pub(super) struct Downloads(BTreeMap<String, RunningDownload>);

#[derive(Clone, Debug)]
struct RunningDownload {
    tab: ChromeTab,
    url: String,
}

impl Downloads {
    /// Tracks a download; says whether it is new and there was room.
    fn start(&mut self, guid: String, tab: ChromeTab, url: String) -> bool {
        let is_new = self.0.len() < DOWNLOADS_TRACKED && !self.0.contains_key(&guid);
        if is_new {
            self.0.insert(guid, RunningDownload { tab, url });
        }
        is_new
    }

    fn find(&self, guid: &str) -> Option<RunningDownload> {
        self.0.get(guid).cloned()
    }

    fn finish(&mut self, guid: &str) {
        self.0.remove(guid);
    }

    pub(super) fn remove_tab(&mut self, tab: ChromeTab) {
        self.0.retain(|_, download| download.tab != tab);
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

impl EmulatedBrowser {
    /// Handles `Page.downloadWillBegin` and `Page.downloadProgress`.
    pub(super) fn download_event(&mut self, debuggee_id: &DebuggeeId, method: &str, params: &str) {
        let params = lenient_json::read(params.as_bytes());
        let text = |field: &str| params.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        let guid = text("guid");
        if method == "Page.downloadWillBegin" {
            if self.downloads.start(guid, debuggee_id.tab, text("url")) {
                self.send_download_event("Browser.downloadWillBegin", &params);
            }
            return;
        }
        let Some(RunningDownload { tab, url }) = self.downloads.find(&guid) else { return };
        match text("state").as_str() {
            "completed" => {
                self.downloads.finish(&guid);
                // Chrome sends a page's debugger no file name; `chrome.downloads` has it, found by its URL.
                let pending = PendingRequest::internal(OnResponse::Download(params));
                self.request("download", json!({"tab": tab, "url": url}), pending);
            }
            state => {
                if state == "canceled" {
                    self.downloads.finish(&guid);
                }
                self.send_download_event("Browser.downloadProgress", &params);
            }
        }
    }

    /// `Browser.cancelDownload`. The page reports the end of the download.
    pub(super) fn cancel_download(&mut self, params: &Value, requester: Requester) {
        let guid = params.get("guid").and_then(Value::as_str).unwrap_or_default();
        let Some(RunningDownload { tab, url }) = self.downloads.find(guid) else {
            let message = "No download item found for the given GUID";
            return self.fail(&requester, &ProtocolError::chrome(-32602, message));
        };
        let pending = PendingRequest { requester, on_response: OnResponse::Acknowledge };
        self.request("cancel_download", json!({"tab": tab, "url": url}), pending);
    }

    /// Reports a finished download with its file, or as canceled when the extension did not find the file.
    pub(super) fn download_located(&mut self, mut params: Value, response: Option<&str>) {
        let response = response.map(|response| lenient_json::read(response.as_bytes()));
        let file = response.as_ref().and_then(|response| response.get("file")).cloned();
        if let Some(members) = params.as_object_mut() {
            match file {
                Some(file) => members.insert("filePath".to_owned(), file),
                None => members.insert("state".to_owned(), Value::from("canceled")),
            };
        }
        self.send_download_event("Browser.downloadProgress", &params);
    }

    fn send_download_event(&mut self, method: &str, params: &Value) {
        for session in self.sessions.receiving_downloads() {
            self.send_event(Some(&session), method, &params.to_string());
        }
    }
}
