//! The files of chats: a record and a transcript each, for the user only.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tabwire_acp::{OptionValue, Transcript};
use tabwire_api::{ProjectKey, SessionName};
use tabwire_browser::{BrowserError, PrivateDir, atomic_file};

use crate::chat::ChatId;

/// Chats that are kept. The oldest are deleted.
pub(crate) const CHATS: usize = 500;

/// Bytes of all transcripts. The oldest are deleted.
const STORE_BYTES: u64 = 64 * 1024 * 1024;

/// Days after the last change until a chat is deleted.
const DAYS: u64 = 90;

/// Largest record, and largest transcript as JSON.
const RECORD_BYTES: usize = 64 * 1024;
const TRANSCRIPT_BYTES: usize = 32 * 1024 * 1024;

/// What is kept of a chat besides its transcript.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ChatRecord {
    pub(crate) id: ChatId,
    /// The agent's id.
    pub(crate) agent: String,
    pub(crate) title: String,
    /// The browser session.
    pub(crate) session: SessionName,
    /// Whether the browser session was made for the chat and ends with it.
    pub(crate) owns_session: bool,
    /// How its browser is reached: `auto`, `launch`, `extension` or `extension:INSTALL`.
    pub(crate) upstream: String,
    /// The directory in which the agent works.
    pub(crate) directory: PathBuf,
    /// The project of the session, as the agent's MCP server found it in the directory.
    #[serde(default)]
    pub(crate) project: ProjectKey,
    /// Options of the agent's session that the user has chosen.
    #[serde(default)]
    pub(crate) options: BTreeMap<String, OptionValue>,
    /// The agent's id of its session.
    #[serde(default)]
    pub(crate) agent_session: Option<String>,
    /// Seconds since 1970.
    pub(crate) created: u64,
    /// Seconds since 1970.
    pub(crate) updated: u64,
}

/// The directory of chats. Writes nothing while the history is off.
#[derive(Debug)]
pub(crate) struct ChatStore {
    directory: PathBuf,
    is_on: bool,
}

impl ChatStore {
    pub(crate) const fn new(directory: PathBuf, is_on: bool) -> Self {
        Self { directory, is_on }
    }

    fn record_file(&self, id: &ChatId) -> PathBuf {
        self.directory.join(format!("{id}.chat.json"))
    }

    fn transcript_file(&self, id: &ChatId) -> PathBuf {
        self.directory.join(format!("{id}.items.json"))
    }

    /// Writes a chat.
    pub(crate) fn write(&self, record: &ChatRecord, transcript: &Value) -> Result<(), BrowserError> {
        if !self.is_on {
            return Ok(());
        }
        PrivateDir::create(&self.directory)?;
        atomic_file::write(&self.transcript_file(&record.id), transcript.to_string().as_bytes())?;
        let record_bytes = serde_json::to_vec(record).unwrap_or_default();
        atomic_file::write(&self.record_file(&record.id), &record_bytes)
    }

    /// All records, the newest first. Files that cannot be read are left out.
    pub(crate) fn list(&self) -> Vec<ChatRecord> {
        let entries = std::fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let ids = entries.filter_map(|entry| {
            let name = entry.file_name();
            ChatId::parse(name.to_str()?.strip_suffix(".chat.json")?)
        });
        let mut records: Vec<ChatRecord> = ids.filter_map(|id| self.find(&id)).collect();
        records.sort_by_key(|record| std::cmp::Reverse(record.updated));
        records
    }

    /// The record of a chat.
    pub(crate) fn find(&self, id: &ChatId) -> Option<ChatRecord> {
        let bytes = atomic_file::read(&self.record_file(id), RECORD_BYTES).ok()?;
        serde_json::from_slice(&bytes).ok().filter(|record: &ChatRecord| record.id == *id)
    }

    /// The transcript of a chat; an empty one when it cannot be read.
    pub(crate) fn transcript(&self, id: &ChatId) -> Transcript {
        let bytes = atomic_file::read(&self.transcript_file(id), TRANSCRIPT_BYTES).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    /// Deletes a chat.
    pub(crate) fn remove(&self, id: &ChatId) {
        // A chat whose history is off has no files.
        let _ = std::fs::remove_file(self.record_file(id));
        let _ = std::fs::remove_file(self.transcript_file(id));
    }

    /// Deletes chats that are too old or too many, except those that run. Returns the deleted ones.
    pub(crate) fn prune(&self, now: u64, runs: impl Fn(&ChatId) -> bool) -> Vec<ChatId> {
        let mut bytes = 0;
        let mut removed = Vec::new();
        for (index, record) in self.list().iter().enumerate() {
            bytes += std::fs::metadata(self.transcript_file(&record.id)).map_or(0, |file| file.len());
            let is_old = now.saturating_sub(record.updated) > DAYS * 24 * 60 * 60;
            if (is_old || index >= CHATS || bytes > STORE_BYTES) && !runs(&record.id) {
                self.remove(&record.id);
                removed.push(record.id.clone());
            }
        }
        removed
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use serde_json::json;

    use super::*;

    fn record(updated: u64) -> ChatRecord {
        ChatRecord {
            id: ChatId::draw().expect("randomness"),
            agent: "codex".to_owned(),
            title: "A chat".to_owned(),
            session: SessionName::default(),
            owns_session: true,
            upstream: "auto".to_owned(),
            directory: PathBuf::from("/tmp"),
            project: ProjectKey::default(),
            options: BTreeMap::new(),
            agent_session: None,
            created: 0,
            updated,
        }
    }

    #[test]
    fn chats_are_kept_for_the_user_only_and_deleted_when_too_many() {
        let home = tempfile::tempdir().expect("a directory");
        let store = ChatStore::new(home.path().join("chats"), true);
        let now = 100 * 24 * 60 * 60;
        let (old, new) = (record(1), record(now));
        for one in [&old, &new] {
            store.write(one, &json!(Transcript::default())).expect("written");
        }
        let mode = store.transcript_file(&new.id).metadata().expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(
            store.list().first().map(|record| record.id.clone()),
            Some(new.id.clone()),
            "the newest first"
        );
        assert_eq!(store.prune(now, |id| *id == old.id), [], "a chat that runs stays");
        assert_eq!(store.prune(now, |_| false), std::slice::from_ref(&old.id));
        assert_eq!(store.find(&old.id), None);
        assert_eq!(store.find(&new.id), Some(new));
    }

    #[test]
    fn the_oldest_chats_beyond_500_and_64_mib_are_deleted() {
        let home = tempfile::tempdir().expect("a directory");
        let store = ChatStore::new(home.path().join("chats"), true);
        let now = 1_000_000;
        for at in 0..=CHATS {
            store.write(&record(now + at as u64), &json!({})).expect("written");
        }
        let oldest = store.list().pop().expect("a chat");
        assert_eq!(store.prune(now, |_| false), [oldest.id]);
        assert_eq!(store.list().len(), CHATS);
        // The sizes of files count, not what they hold.
        for newest in store.list().iter().take(3) {
            let file = std::fs::File::options().write(true).open(store.transcript_file(&newest.id));
            file.and_then(|file| file.set_len(STORE_BYTES / 2)).expect("longer");
        }
        let kept = store.list()[..2].to_vec();
        assert_eq!(store.prune(now, |_| false).len(), CHATS - 2);
        assert_eq!(store.list(), kept, "the third is too much, and all older ones go before it");
    }

    #[test]
    fn nothing_is_written_while_the_history_is_off() {
        let home = tempfile::tempdir().expect("a directory");
        let store = ChatStore::new(home.path().join("chats"), false);
        store.write(&record(1), &json!(Transcript::default())).expect("nothing to do");
        assert!(!home.path().join("chats").exists());
    }
}
