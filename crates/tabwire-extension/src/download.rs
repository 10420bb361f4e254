//! Downloads: the debugger tells of them on pages, clients want to hear of them from the browser, and where the file
//! is only Chrome's own list of downloads says. Knows nothing of files.

use serde_json::{Value, json};
use tabwire_cdp::lenient_json;
use tabwire_wire::CdpSessionId;

use crate::debuggee::DebuggeeId;
use crate::emulated_browser::EmulatedBrowser;
use crate::limits::DOWNLOADS_FOLLOWED;
use crate::pending::{Asker, Pending, Task};
use crate::reply::ProtocolError;
use crate::virtual_session::Place;

impl EmulatedBrowser {
    /// `Page.downloadWillBegin` and `Page.downloadProgress`.
    pub(crate) fn download_event(&mut self, place: &DebuggeeId, method: &str, params: &str) {
        let params = lenient_json::read(params.as_bytes());
        let text = |field: &str| params.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        let guid = text("guid");
        if method == "Page.downloadWillBegin" {
            if self.downloads.len() < DOWNLOADS_FOLLOWED && !self.downloads.contains_key(&guid) {
                self.downloads.insert(guid, (place.tab, text("url")));
                self.tell_of_download("Browser.downloadWillBegin", &params);
            }
            return;
        }
        let Some((tab, url)) = self.downloads.get(&guid).cloned() else { return };
        match text("state").as_str() {
            "completed" => {
                self.downloads.remove(&guid);
                let pending = Pending { asker: Asker::Nobody, task: Task::Download(params) };
                self.ask("download", json!({"tab": tab, "url": url}), pending);
            }
            state => {
                if state == "canceled" {
                    self.downloads.remove(&guid);
                }
                self.tell_of_download("Browser.downloadProgress", &params);
            }
        }
    }

    /// `Browser.cancelDownload`: one that is under way breaks off, which its page then tells.
    pub(crate) fn cancel_download(&mut self, params: &Value, asker: Asker) {
        let guid = params.get("guid").and_then(Value::as_str).unwrap_or_default();
        let Some((tab, url)) = self.downloads.get(guid).cloned() else {
            let message = "No download item found for the given GUID";
            return self.fail(&asker, &ProtocolError::like_chrome(-32602, message));
        };
        let pending = Pending { asker, task: Task::Done };
        self.ask("cancel_download", json!({"tab": tab, "url": url}), pending);
    }

    /// The file of a download that is finished was found, or was not.
    pub(crate) fn download_found(&mut self, mut params: Value, answer: Option<&str>) {
        let answer = answer.map(|answer| lenient_json::read(answer.as_bytes()));
        let file = answer.as_ref().and_then(|answer| answer.get("file")).cloned();
        if let Some(members) = params.as_object_mut() {
            match file {
                Some(file) => members.insert("filePath".to_owned(), file),
                None => members.insert("state".to_owned(), Value::from("canceled")),
            };
        }
        self.tell_of_download("Browser.downloadProgress", &params);
    }

    fn tell_of_download(&mut self, method: &str, params: &Value) {
        let listening = |place: &Place| matches!(place, Place::Browser { downloads: true, .. });
        let told = self.sessions.iter().filter(|(_, session)| listening(&session.place));
        for session in told.map(|(id, _)| id.clone()).collect::<Vec<CdpSessionId>>() {
            self.tell(Some(&session), method, &params.to_string());
        }
    }
}
