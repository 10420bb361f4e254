//! Downloads in contexts that several clients share.
//!
//! The browser has one download directory per context, so the last client to set it would receive the files
//! of the others. In the default context and in the contexts of partitions, the mux therefore saves files in
//! a staging directory and moves each to the directory its client requested. In a context that a client
//! created, the browser saves straight to that client's directory. The mux sends the events in both cases,
//! because the browser sends every download event to every listener.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Value, json};
use tabwire_api::{BrowserContextId, CdpSessionId, ClientId};

use crate::mux::Mux;
use crate::output::Output;
use crate::routing::from_client::Command;
use crate::target::entry::{Owner, TargetEntry};

/// Downloads tracked at once; the browser saves further ones without events to clients.
const DOWNLOADS_FOLLOWED: usize = 1_024;

/// One `Browser.setDownloadBehavior` of a browser-level CDP session.
#[derive(Clone, Debug)]
struct BehaviorRequest {
    client: ClientId,
    behavior: Behavior,
    events: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Behavior {
    /// Save under the file name that the site suggests.
    Allow(PathBuf),
    /// Save under the download's GUID.
    AllowAndName(PathBuf),
    /// The browser saves straight to the client's directory; the client created the context.
    Direct,
    /// Save nothing.
    Deny,
    /// The browser's default, as if no behavior was set.
    Default,
}

/// A browser-level CDP session, and whether the request is for contexts that the client created.
type RequestKey = (CdpSessionId, bool);

/// A running download.
#[derive(Clone, Debug)]
struct Download {
    suggested: String,
    /// The browser saves it straight to the client's directory.
    direct: bool,
    /// The requests whose clients receive its events and its file.
    audience: Vec<RequestKey>,
}

/// A finished file that is being moved or copied to a client's directory.
#[derive(Clone, Debug)]
struct Placement {
    client: ClientId,
    key: RequestKey,
    params: Value,
    to: PathBuf,
    events: bool,
}

/// The download settings that the mux last sent to the browser.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Mode {
    /// Download events are on, in every context.
    listening: bool,
    /// Contexts whose downloads are saved in the staging directory; `None` is the default one.
    staging: BTreeSet<Option<BrowserContextId>>,
}

/// Where the browser saves downloads of shared contexts.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Saving {
    /// In this directory, until the file is moved to its client.
    Staged(PathBuf),
    /// In the user's own download directory. The file stays there, and clients get copies.
    UserDirectory,
}

/// Downloads of shared contexts.
#[derive(Debug, Default)]
pub(crate) struct Downloads {
    saving: Option<Saving>,
    requests: BTreeMap<RequestKey, BehaviorRequest>,
    running: BTreeMap<String, Download>,
    placements: BTreeMap<u64, Placement>,
    next: u64,
    mode: Mode,
}

impl Downloads {
    /// The browser is gone, and all running downloads with it.
    pub(crate) fn clear(&mut self) {
        let saving = self.saving.take();
        *self = Self { saving, next: self.next, ..Self::default() };
    }
}

impl Mux {
    /// Saves downloads of shared contexts in this directory until they are moved to their clients.
    pub fn stage_downloads(&mut self, directory: PathBuf) {
        self.downloads.saving = Some(Saving::Staged(directory));
    }

    /// Leaves downloads where the browser saves them, and copies them to clients.
    pub fn copy_downloads(&mut self) {
        self.downloads.saving = Some(Saving::UserDirectory);
    }

    /// Handles `Browser.setDownloadBehavior`; returns false when the browser has to handle it.
    pub(crate) fn command_downloads(&mut self, command: &Command<'_>, params: &Value, now: Instant) -> bool {
        let context = params.get("browserContextId").and_then(Value::as_str);
        let own =
            context.is_some_and(|context| self.state.partitions.contexts().client_of(context).is_some());
        if !self.serves_downloads() {
            return false;
        }
        let events = params.get("eventsEnabled").and_then(Value::as_bool).unwrap_or(false);
        if own {
            let key = (command.session.clone(), true);
            self.set_download_options(
                key,
                BehaviorRequest { client: command.client, behavior: Behavior::Direct, events },
                now,
            );
            return false;
        }
        let path = params.get("downloadPath").and_then(Value::as_str).map(PathBuf::from);
        let behavior = match (params.get("behavior").and_then(Value::as_str), path) {
            (Some("allow"), Some(path)) => Behavior::Allow(path),
            (Some("allowAndName"), Some(path)) => Behavior::AllowAndName(path),
            (Some("deny"), _) => Behavior::Deny,
            (Some("default"), _) => Behavior::Default,
            // Invalid parameters: the browser's own error names what is wrong.
            _ => return false,
        };
        let key = (command.session.clone(), false);
        self.set_download_options(key, BehaviorRequest { client: command.client, behavior, events }, now);
        self.respond(command, json!({}));
        true
    }

    /// Whether the mux, not the browser, sends download events to clients.
    pub(crate) const fn serves_downloads(&self) -> bool {
        self.downloads.saving.is_some()
    }

    fn set_download_options(&mut self, key: RequestKey, request: BehaviorRequest, now: Instant) {
        self.downloads.requests.insert(key, request);
        self.update_download_settings(now);
    }

    /// Turns on in the browser only the download events and saving that clients requested.
    fn update_download_settings(&mut self, now: Instant) {
        let saves = |request: &&BehaviorRequest| {
            matches!(request.behavior, Behavior::Allow(_) | Behavior::AllowAndName(_))
        };
        let requests = self.downloads.requests.values();
        let staging: BTreeSet<_> = requests
            .clone()
            .filter(saves)
            .map(|request| self.state.default_context_of(request.client).cloned())
            .collect();
        let listening = !staging.is_empty() || requests.clone().any(|request| request.events);
        let before =
            std::mem::replace(&mut self.downloads.mode, Mode { listening, staging: staging.clone() });
        let mut changed: BTreeSet<_> = staging.symmetric_difference(&before.staging).cloned().collect();
        if changed.is_empty() && listening != before.listening {
            changed.insert(None);
        }
        for context in changed {
            // `eventsEnabled` is one switch for all contexts, and every command sets it.
            let mut params = match &self.downloads.saving {
                Some(Saving::Staged(directory)) if staging.contains(&context) => {
                    json!({"behavior": "allowAndName", "downloadPath": directory, "eventsEnabled": true})
                }
                _ => json!({"behavior": "default", "eventsEnabled": listening}),
            };
            if let (Some(context), Some(members)) = (context, params.as_object_mut()) {
                members.insert("browserContextId".to_owned(), json!(context.as_str()));
            }
            self.control_command("Browser.setDownloadBehavior", params, now);
        }
    }

    /// A CDP session is gone, and its download requests with it.
    pub(crate) fn remove_download_options(&mut self, session: &CdpSessionId, now: Instant) {
        let before = self.downloads.requests.len();
        self.downloads.requests.retain(|(owner, _), _| owner != session);
        if self.downloads.requests.len() < before {
            self.update_download_settings(now);
        }
    }

    /// `Browser.downloadWillBegin` and `Browser.downloadProgress` on the control session.
    pub(crate) fn on_download_event(&mut self, method: &str, params: &Value, now: Instant) {
        let Some(guid) = params.get("guid").and_then(Value::as_str) else { return };
        if method == "Browser.downloadWillBegin" {
            self.download_begins(guid, params, now);
            return;
        }
        match params.get("state").and_then(Value::as_str) {
            Some("completed") => self.download_completed(guid, params),
            Some("canceled") => {
                let audience = self.downloads.running.remove(guid).map(|download| download.audience);
                self.send_download_event(&audience.unwrap_or_default(), method, params);
            }
            _ => {
                let audience = self.downloads.running.get(guid).map(|download| download.audience.clone());
                self.send_download_event(&audience.unwrap_or_default(), method, params);
            }
        }
    }

    fn download_begins(&mut self, guid: &str, params: &Value, now: Instant) {
        let text = |field: &str| params.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (direct, audience) = self.download_audience(&text("frameId"));
        let denied = |key: &RequestKey| {
            self.downloads.requests.get(key).is_some_and(|request| request.behavior == Behavior::Deny)
        };
        if !direct && !audience.is_empty() && audience.iter().all(denied) {
            // `Browser.cancelDownload` looks in the default context unless it names another one.
            let home = audience.first().and_then(|key| self.downloads.requests.get(key));
            let home = home.and_then(|request| self.state.default_context_of(request.client));
            let params = match home {
                Some(home) => json!({"guid": guid, "browserContextId": home.as_str()}),
                None => json!({"guid": guid}),
            };
            self.control_command("Browser.cancelDownload", params, now);
        }
        self.send_download_event(&audience, "Browser.downloadWillBegin", params);
        let download = Download { suggested: text("suggestedFilename"), direct, audience };
        if self.downloads.running.len() < DOWNLOADS_FOLLOWED {
            self.downloads.running.insert(guid.to_owned(), download);
        }
    }

    /// Whether a frame is in a context that a client created, and which requests a download in it belongs to:
    /// those of the page's owner, or all of the partition when the page has no owner. In a tab of the user: those of
    /// clients that are attached to it.
    fn download_audience(&self, frame: &str) -> (bool, Vec<RequestKey>) {
        let page = self.state.targets.page_of_frame(frame);
        let owner = page.map(|page| &page.owner);
        let partition = match page {
            Some(page) => self.state.partition_of(page),
            None => self.state.partitions.is_empty().then_some(None),
        };
        let partition_of =
            |client: ClientId| self.state.clients.get(client).map(|client| client.options.partition.as_ref());
        let direct = page
            .and_then(TargetEntry::context_text)
            .is_some_and(|context| self.state.partitions.contexts().client_of(context).is_some());
        let concerns = |request: &BehaviorRequest| match owner {
            Some(Owner::Client(client)) => request.client == *client,
            _ if partition.is_some() && partition_of(request.client) == partition => true,
            _ => page.is_some_and(|page| {
                let client = self.state.clients.get(request.client);
                client.is_some_and(|client| self.state.is_user_tab(client, page))
                    && self.state.sessions.is_attached(request.client, page.id.as_str())
            }),
        };
        let requests =
            self.downloads.requests.iter().filter(|((_, own), request)| *own == direct && concerns(request));
        (direct, requests.map(|(key, _)| key.clone()).collect())
    }

    fn send_download_event(&mut self, audience: &[RequestKey], method: &str, params: &Value) {
        for key in audience {
            let request = self.downloads.requests.get(key).filter(|request| request.events);
            if let Some(client) = request.map(|request| request.client) {
                self.send_event(client, &key.0, method, params.clone());
            }
        }
    }

    /// The file is complete. Clients receive the event after the file is in their directory.
    fn download_completed(&mut self, guid: &str, params: &Value) {
        let Some(download) = self.downloads.running.remove(guid) else { return };
        if download.direct {
            return self.send_download_event(&download.audience, "Browser.downloadProgress", params);
        }
        let (from, stays) = match &self.downloads.saving {
            Some(Saving::Staged(staging)) => (staging.join(guid), false),
            Some(Saving::UserDirectory) => {
                let file = params.get("filePath").and_then(Value::as_str).unwrap_or_default();
                (PathBuf::from(file), true)
            }
            None => return,
        };
        let mut places = Vec::new();
        for key in download.audience {
            let Some(request) = self.downloads.requests.get(&key) else { continue };
            let to = match &request.behavior {
                Behavior::Allow(directory) => directory.join(file_name(&download.suggested, guid)),
                Behavior::AllowAndName(directory) => directory.join(guid),
                Behavior::Direct | Behavior::Deny | Behavior::Default => continue,
            };
            let (client, events, params) = (request.client, request.events, params.clone());
            places.push(Placement { client, key, params, to, events });
        }
        let last = places.len().saturating_sub(1);
        if places.is_empty() {
            if !stays {
                self.router.push(Output::DropDownload(from));
            }
            return;
        }
        for (number, placement) in places.into_iter().enumerate() {
            self.downloads.next += 1;
            let (ticket, to) = (self.downloads.next, placement.to.clone());
            self.downloads.placements.insert(ticket, placement);
            let from = from.clone();
            self.router.push(Output::PlaceDownload { ticket, from, to, keep: stays || number != last });
        }
    }

    /// A file was moved or copied, or that failed; its client receives the final progress event.
    pub fn download_placed(&mut self, ticket: u64, placed: bool) {
        let Some(mut placement) = self.downloads.placements.remove(&ticket) else { return };
        if !placement.events || !self.downloads.requests.contains_key(&placement.key) {
            return;
        }
        if let Some(members) = placement.params.as_object_mut() {
            if placed {
                members.insert("filePath".to_owned(), json!(placement.to));
            } else {
                members.insert("state".to_owned(), json!("canceled"));
            }
        }
        self.send_event(placement.client, &placement.key.0, "Browser.downloadProgress", placement.params);
    }
}

/// The last path segment of a suggested name, so that a site cannot choose a directory.
fn file_name<'a>(suggested: &'a str, guid: &'a str) -> &'a Path {
    Path::new(suggested).file_name().map_or(Path::new(guid), Path::new)
}
