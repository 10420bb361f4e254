//! A journal in a directory of its own, and entries to put into it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use rusqlite::Connection;
use serde_json::json;
use tabwire_journal::{
    Asker, Bounds, Door, Entry, Filter, Journal, Origin, Outcome, Reader, Row, Ruling, SetAside, Summary,
    Telling,
};
use tabwire_wire::SessionName;
use tempfile::TempDir;

/// How long anything may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A journal's place.
pub(crate) struct Desk {
    pub(crate) home: TempDir,
    pub(crate) path: PathBuf,
    pub(crate) set_aside: Arc<Mutex<Vec<SetAside>>>,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let home = tempfile::tempdir().expect("a directory");
        let path = home.path().join("state").join("journal.db");
        Self { home, path, set_aside: Arc::default() }
    }

    pub(crate) fn start(&self, bounds: Bounds) -> Journal {
        let told = Arc::clone(&self.set_aside);
        Journal::start(&self.path, bounds, move |aside| {
            told.lock().expect("not poisoned").push(aside.clone());
        })
        .expect("a journal")
    }

    /// Writes rows and closes the journal.
    pub(crate) fn write(&self, entries: impl IntoIterator<Item = Entry>) {
        let journal = self.start(Bounds::default());
        for entry in entries {
            journal.append(entry, PATIENCE).expect("written");
        }
        journal.close(PATIENCE).expect("closed");
    }

    /// The numbers of all rows, by a connection that leaves no files behind.
    pub(crate) fn numbers(&self) -> Vec<i64> {
        let connection = Connection::open(&self.path).expect("a database");
        let mut statement = connection.prepare("SELECT number FROM entries").expect("a journal");
        let numbers = statement.query_map([], |row| row.get(0)).expect("rows");
        numbers.map(|number| number.expect("a number")).collect()
    }

    pub(crate) fn rows(&self, filter: &Filter) -> Vec<Row> {
        Reader::open(&self.path).expect("a journal").last(filter, 1_000_000).expect("rows")
    }

    /// The names of the files beside the journal.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path.parent().expect("a directory")).expect("a directory");
        let mut names: Vec<_> =
            entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

/// Bytes a journal takes on disk, with its write-ahead log and its pad.
pub(crate) fn bytes_of(path: &Path) -> u64 {
    let beside = |suffix: &str| PathBuf::from(format!("{}{suffix}", path.display()));
    [path.to_owned(), beside("-wal"), beside("-pad")]
        .iter()
        .filter_map(|file| file.metadata().ok())
        .map(|data| data.len())
        .sum()
}

/// An entry about a click.
pub(crate) fn click() -> Entry {
    let params = json!({"target": "#pay", "nth": 2});
    Entry {
        time: SystemTime::UNIX_EPOCH + Duration::from_millis(1_767_225_600_250),
        duration: Duration::from_micros(12_345),
        project: None,
        session: SessionName::default(),
        asker: Asker { name: None, pid: Some(41), program: Some("node".to_owned()), door: Door::Socket },
        action: "click",
        effect: "act",
        tab: Some("pipe:7f3a:3".parse().expect("a tab")),
        origin: Origin::of("https://shop.test/cart?secret"),
        ruling: Ruling::open(),
        outcome: Outcome::Done,
        parameters: Summary::of(&params, &[("target", Telling::Target), ("nth", Telling::Word)]),
        changes: Summary::of(&json!({"navigated": true}), &[("navigated", Telling::Word)]),
    }
}

/// An entry of about this many bytes.
pub(crate) fn large() -> Entry {
    let text = "x".repeat(200);
    let names = ["a", "b", "c", "d"];
    let table = names.map(|name| (name, Telling::Path));
    let params = names.iter().map(|name| ((*name).to_owned(), json!(text))).collect();
    Entry { parameters: Summary::of(&serde_json::Value::Object(params), &table), ..click() }
}
