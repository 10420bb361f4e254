//! Downloads in contexts that several clients share.
//!
//! The browser has one download directory a context, and the last client to set it would take the others'
//! files. So the house has them saved in a staging directory, and each client's go where it asked for them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Value, json};
use tabwire_wire::{CdpSessionId, ClientId};

use crate::from_client::Command;
use crate::mux::Mux;
use crate::output::Output;
use crate::target_entry::Owner;

/// What one browser-level cdp session asked for with `Browser.setDownloadBehavior`.
#[derive(Clone, Debug)]
struct Wish {
    client: ClientId,
    behavior: Behavior,
    events: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Behavior {
    /// Save under the name the site suggests.
    Allow(PathBuf),
    /// Save under the download's own id.
    AllowAndName(PathBuf),
    /// Save nothing.
    Deny,
    /// As if nothing had been asked for.
    Default,
}

/// A download under way.
#[derive(Clone, Debug)]
struct Download {
    suggested: String,
    /// The cdp sessions it concerns.
    audience: Vec<CdpSessionId>,
}

/// A finished file on its way to where a client wants it.
#[derive(Clone, Debug)]
struct Placement {
    client: ClientId,
    session: CdpSessionId,
    params: Value,
    to: PathBuf,
    events: bool,
}

/// Downloads of shared contexts.
#[derive(Debug, Default)]
pub(crate) struct Downloads {
    staging: Option<PathBuf>,
    wishes: BTreeMap<CdpSessionId, Wish>,
    running: BTreeMap<String, Download>,
    placements: BTreeMap<u64, Placement>,
    next: u64,
    /// Whether the house has files saved in the staging directory.
    staged: bool,
}

impl Downloads {
    /// The browser is gone, and with it everything under way.
    pub(crate) fn clear(&mut self) {
        let staging = self.staging.take();
        *self = Self { staging, next: self.next, ..Self::default() };
    }
}

impl Mux {
    /// Has downloads of shared contexts saved in this directory until they are placed.
    pub fn stage_downloads(&mut self, directory: PathBuf) {
        self.downloads.staging = Some(directory);
    }

    /// `Browser.setDownloadBehavior`; says whether the mux has taken care of it.
    pub(crate) fn command_downloads(&mut self, command: &Command<'_>, params: &Value, now: Instant) -> bool {
        let context = params.get("browserContextId").and_then(Value::as_str);
        let own = context.is_some_and(|context| self.contexts.contains_key(context));
        if own || self.downloads.staging.is_none() {
            return false;
        }
        let path = params.get("downloadPath").and_then(Value::as_str).map(PathBuf::from);
        let behavior = match (params.get("behavior").and_then(Value::as_str), path) {
            (Some("allow"), Some(path)) => Behavior::Allow(path),
            (Some("allowAndName"), Some(path)) => Behavior::AllowAndName(path),
            (Some("deny"), _) => Behavior::Deny,
            (Some("default"), _) => Behavior::Default,
            // The browser knows best what is wrong with it.
            _ => return false,
        };
        let events = params.get("eventsEnabled").and_then(Value::as_bool).unwrap_or(false);
        let wish = Wish { client: command.client, behavior, events };
        self.downloads.wishes.insert(command.session.clone(), wish);
        self.stage_or_not(now);
        self.answer(command, json!({}));
        true
    }

    /// Turns staging on while somebody wants files, and off when nobody does.
    fn stage_or_not(&mut self, now: Instant) {
        let wants = |wish: &Wish| matches!(wish.behavior, Behavior::Allow(_) | Behavior::AllowAndName(_));
        let wanted = self.downloads.wishes.values().any(wants);
        let Some(staging) = self.downloads.staging.clone().filter(|_| wanted != self.downloads.staged) else {
            return;
        };
        self.downloads.staged = wanted;
        let params = if wanted {
            json!({"behavior": "allowAndName", "downloadPath": staging, "eventsEnabled": true})
        } else {
            json!({"behavior": "default", "eventsEnabled": false})
        };
        self.house_command("Browser.setDownloadBehavior", params, now);
    }

    /// A cdp session is gone, and its wish with it.
    pub(crate) fn forget_download_wish(&mut self, session: &CdpSessionId, now: Instant) {
        if self.downloads.wishes.remove(session).is_some() {
            self.stage_or_not(now);
        }
    }

    /// `Browser.downloadWillBegin` and `Browser.downloadProgress` on the house session.
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
                self.tell_download(&audience.unwrap_or_default(), method, params);
            }
            _ => {
                let audience = self.downloads.running.get(guid).map(|download| download.audience.clone());
                self.tell_download(&audience.unwrap_or_default(), method, params);
            }
        }
    }

    fn download_begins(&mut self, guid: &str, params: &Value, now: Instant) {
        let text = |field: &str| params.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        let audience = self.download_audience(&text("frameId"));
        let denied = |session: &CdpSessionId| {
            self.downloads.wishes.get(session).is_some_and(|wish| wish.behavior == Behavior::Deny)
        };
        if !audience.is_empty() && audience.iter().all(denied) {
            self.house_command("Browser.cancelDownload", json!({"guid": guid}), now);
        }
        self.tell_download(&audience, "Browser.downloadWillBegin", params);
        let download = Download { suggested: text("suggestedFilename"), audience };
        self.downloads.running.insert(guid.to_owned(), download);
    }

    /// Who a download in a frame concerns: the page's owner; everyone with a wish when that is not known.
    fn download_audience(&self, frame: &str) -> Vec<CdpSessionId> {
        let owner = self.targets.find(frame).map(|target| &target.owner);
        let concerns = |wish: &Wish| match owner {
            Some(Owner::Client(client)) => wish.client == *client,
            _ => true,
        };
        self.downloads
            .wishes
            .iter()
            .filter(|(_, wish)| concerns(wish))
            .map(|(session, _)| session.clone())
            .collect()
    }

    fn tell_download(&mut self, audience: &[CdpSessionId], method: &str, params: &Value) {
        for session in audience {
            if let Some(client) =
                self.downloads.wishes.get(session).filter(|wish| wish.events).map(|wish| wish.client)
            {
                self.tell(client, session, method, params.clone());
            }
        }
    }

    /// The file is whole: it goes to everyone it concerns, and only then are they told.
    fn download_completed(&mut self, guid: &str, params: &Value) {
        let Some(download) = self.downloads.running.remove(guid) else { return };
        let Some(from) = self.downloads.staging.as_ref().map(|staging| staging.join(guid)) else { return };
        let mut places = Vec::new();
        for session in download.audience {
            let Some(wish) = self.downloads.wishes.get(&session) else { continue };
            let to = match &wish.behavior {
                Behavior::Allow(directory) => directory.join(file_name(&download.suggested, guid)),
                Behavior::AllowAndName(directory) => directory.join(guid),
                Behavior::Deny | Behavior::Default => continue,
            };
            let (client, events, params) = (wish.client, wish.events, params.clone());
            places.push(Placement { client, session, params, to, events });
        }
        let last = places.len().saturating_sub(1);
        if places.is_empty() {
            self.outbox.push(Output::DropDownload(from));
            return;
        }
        for (number, placement) in places.into_iter().enumerate() {
            self.downloads.next += 1;
            let (ticket, to) = (self.downloads.next, placement.to.clone());
            self.downloads.placements.insert(ticket, placement);
            let from = from.clone();
            self.outbox.push(Output::PlaceDownload { ticket, from, to, keep: number != last });
        }
    }

    /// A file was placed, or could not be; its client is told how the download ended.
    pub fn download_placed(&mut self, ticket: u64, placed: bool) {
        let Some(mut placement) = self.downloads.placements.remove(&ticket) else { return };
        if !placement.events || !self.downloads.wishes.contains_key(&placement.session) {
            return;
        }
        if let Some(members) = placement.params.as_object_mut() {
            if placed {
                members.insert("filePath".to_owned(), json!(placement.to));
            } else {
                members.insert("state".to_owned(), json!("canceled"));
            }
        }
        self.tell(placement.client, &placement.session, "Browser.downloadProgress", placement.params);
    }
}

/// The last part of a suggested name, so that no site chooses a directory.
fn file_name<'a>(suggested: &'a str, guid: &'a str) -> &'a Path {
    Path::new(suggested).file_name().map_or(Path::new(guid), Path::new)
}
