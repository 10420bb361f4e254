//! An audit log in its own directory, and entries for it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use rusqlite::Connection;
use serde_json::json;
use tabwire_api::SessionName;
use tabwire_audit::{
    AuditLog, Bounds, ClientInfo, Entry, Filter, LogVisibility, Origin, Outcome, Quarantine, Reader, Row,
    Ruling, Summary, Transport,
};
use tempfile::TempDir;

/// How long one operation may take.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(20);

/// An audit log in its own directory.
pub(crate) struct TestLog {
    pub(crate) home: TempDir,
    pub(crate) path: PathBuf,
    pub(crate) quarantined: Arc<Mutex<Vec<Quarantine>>>,
}

impl TestLog {
    pub(crate) fn new() -> Self {
        let home = tempfile::tempdir().expect("a directory");
        let path = home.path().join("state").join("audit.sqlite");
        Self { home, path, quarantined: Arc::default() }
    }

    pub(crate) fn start(&self, bounds: Bounds) -> AuditLog {
        let reported = Arc::clone(&self.quarantined);
        AuditLog::start(&self.path, bounds, move |quarantined| {
            reported.lock().expect("not poisoned").push(quarantined.clone());
        })
        .expect("an audit log")
    }

    /// Writes rows and closes the log.
    pub(crate) fn write(&self, entries: impl IntoIterator<Item = Entry>) {
        let log = self.start(Bounds::default());
        for entry in entries {
            log.append(entry, TIMEOUT).expect("written");
        }
        log.close(TIMEOUT).expect("closed");
    }

    /// The numbers of all rows, by a connection that leaves no files behind.
    pub(crate) fn numbers(&self) -> Vec<i64> {
        let connection = Connection::open(&self.path).expect("a database");
        let mut statement = connection.prepare("SELECT number FROM entries").expect("an audit log");
        let numbers = statement.query_map([], |row| row.get(0)).expect("rows");
        numbers.map(|number| number.expect("a number")).collect()
    }

    pub(crate) fn rows(&self, filter: &Filter) -> Vec<Row> {
        Reader::open(&self.path).expect("an audit log").last(filter, 1_000_000).expect("rows")
    }

    /// The names of all files in its directory.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path.parent().expect("a directory")).expect("a directory");
        let mut names: Vec<_> =
            entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

/// Bytes of an audit log on disk, with its write-ahead log.
pub(crate) fn bytes_of(path: &Path) -> u64 {
    let beside = |suffix: &str| PathBuf::from(format!("{}{suffix}", path.display()));
    [path.to_owned(), beside("-wal")]
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
        client: ClientInfo {
            name: None,
            pid: Some(41),
            program: Some("node".to_owned()),
            transport: Transport::Socket,
        },
        action: "click",
        effect: "act",
        tab: Some("pipe:7f3a:3".parse().expect("a tab")),
        origin: Origin::of("https://shop.test/cart?secret"),
        ruling: Ruling::open(),
        outcome: Outcome::Done,
        parameters: Summary::of(
            &params,
            &[("target", LogVisibility::Target), ("nth", LogVisibility::Keyword)],
        ),
        changes: Summary::of(&json!({"navigated": true}), &[("navigated", LogVisibility::Keyword)]),
        run: None,
    }
}

/// An entry of about this many bytes.
pub(crate) fn large() -> Entry {
    let text = "x".repeat(200);
    let names = ["a", "b", "c", "d"];
    let table = names.map(|name| (name, LogVisibility::Path));
    let params = names.iter().map(|name| ((*name).to_owned(), json!(text))).collect();
    Entry { parameters: Summary::of(&serde_json::Value::Object(params), &table), ..click() }
}
