//! Bounds in rows and bytes, migration, quarantine of unusable files, and the bound of the queue.

use std::os::unix::fs::PermissionsExt;
use std::sync::mpsc;

use rusqlite::Connection;
use tabwire_audit::{AuditError, Bounds, Filter, Reader};

use crate::sample::{TIMEOUT, TestLog, bytes_of, click, large};

#[test]
fn a_row_is_read_as_it_was_written() {
    let test = TestLog::new();
    test.write([click()]);
    assert_eq!(test.files(), ["audit.sqlite"], "closing leaves one file");
    let rows = test.rows(&Filter::default());
    let expected = serde_json::json!({
        "number": 1, "time": "2026-01-01T00:00:00.250Z", "duration_ms": 12.345, "session": {"name": "default"},
        "client": {"pid": 41, "program": "node", "transport": "socket"}, "action": "click", "effect": "act",
        "tab": "pipe:7f3a:3", "origin": "https://shop.test", "decision": "allow", "decided_by": "policy open",
        "result": "ok", "params": {"target": "#pay", "nth": 2}, "changes": {"navigated": true},
    });
    assert_eq!(serde_json::to_value(&rows[0]).expect("JSON"), expected);
    let mode =
        |name: &str| test.path.with_file_name(name).metadata().expect("a file").permissions().mode() & 0o777;
    assert_eq!(mode("audit.sqlite"), 0o600);
    let log = test.start(Bounds::default());
    log.append(click(), TIMEOUT).expect("written");
    assert_eq!(["-wal", "-shm"].map(|end| mode(&format!("audit.sqlite{end}"))), [0o600; 2]);
}

#[test]
fn rows_are_bounded_and_numbers_go_on() {
    let test = TestLog::new();
    let log = test.start(Bounds { rows: 200, ..Bounds::default() });
    for _ in 0..1_000 {
        log.append(click(), TIMEOUT).expect("written");
    }
    log.close(TIMEOUT).expect("closed");
    let rows = test.rows(&Filter::default());
    // The size is checked every 64 rows.
    assert!((100..=264).contains(&rows.len()), "{}", rows.len());
    assert_eq!(rows.last().map(|row| row.number.0), Some(1_000));
}

#[test]
fn bytes_are_bounded_at_every_moment() {
    let test = TestLog::new();
    let bounds = Bounds { rows: 1_000_000, bytes: 1_500_000, wal_bytes: 200_000 };
    let log = test.start(bounds);
    let mut largest = 0;
    for _ in 0..6_000 {
        log.append(large(), TIMEOUT).expect("written");
        largest = largest.max(bytes_of(&test.path));
    }
    assert!(largest > bounds.bytes / 2 && largest <= bounds.bytes, "{largest} of {}", bounds.bytes);
    log.close(TIMEOUT).expect("closed");
    let kept = test.rows(&Filter::default());
    assert_eq!(kept.last().map(|row| row.number.0), Some(6_000), "the newest are kept");
    assert!(kept.len() > 400, "{} rows are few for that many bytes", kept.len());
    // The file shrinks to a smaller bound.
    let smaller = Bounds { bytes: 700_000, ..bounds };
    let log = test.start(smaller);
    for _ in 0..100 {
        log.append(large(), TIMEOUT).expect("written");
    }
    log.close(TIMEOUT).expect("closed");
    assert!(bytes_of(&test.path) <= smaller.bytes, "{}", bytes_of(&test.path));
}

#[test]
fn a_file_of_a_newer_version_is_quarantined() {
    let test = TestLog::new();
    test.write([click(), click()]);
    Connection::open(&test.path)
        .and_then(|file| file.pragma_update(None, "user_version", 99))
        .expect("changed");
    assert!(matches!(Reader::open(&test.path), Err(AuditError::Newer { found: 99, known: 4 })));
    test.write([click()]);
    assert_eq!(test.numbers(), [1], "a new one is created");
    let reported = test.quarantined.lock().expect("not poisoned");
    let quarantined = reported.first().expect("it is reported");
    assert!(matches!(quarantined.reason, AuditError::Newer { .. }), "{quarantined:?}");
    assert_eq!(test.files(), ["audit-newer-1.sqlite", "audit.sqlite"]);
    let kept = Connection::open(&quarantined.path).expect("a database");
    let rows: i64 = kept.query_row("SELECT count(*) FROM entries", [], |row| row.get(0)).expect("rows");
    assert_eq!(rows, 2);
}

#[test]
fn damaged_files_are_quarantined_and_not_deleted() {
    let test = TestLog::new();
    std::fs::create_dir(test.path.parent().expect("a directory")).expect("made");
    for (round, garbage) in
        [&b"no database at all, but long enough to be looked at"[..], &[7; 9_000]].iter().enumerate()
    {
        std::fs::write(&test.path, garbage).expect("written");
        assert!(matches!(Reader::open(&test.path), Err(AuditError::Damaged)));
        test.write([click()]);
        assert_eq!(test.numbers(), [1]);
        let quarantined = test.path.with_file_name(format!("audit-damaged-{}.sqlite", round + 1));
        assert_eq!(std::fs::read(quarantined).expect("kept"), *garbage);
    }
    // The head is fine; the rows are not.
    test.write((0..50).map(|_| large()));
    let mut bytes = std::fs::read(&test.path).expect("a file");
    bytes[4_096..].fill(0xa5);
    std::fs::write(&test.path, &bytes).expect("written");
    test.write([click()]);
    assert_eq!(test.numbers(), [1]);
    assert_eq!(
        test.files(),
        ["audit-damaged-1.sqlite", "audit-damaged-2.sqlite", "audit-damaged-3.sqlite", "audit.sqlite"]
    );
    assert_eq!(test.quarantined.lock().expect("not poisoned").len(), 3);
}

#[test]
fn the_queue_is_bounded_and_acknowledged_rows_are_written_once() {
    const HANDED: usize = 4_000;
    let test = TestLog::new();
    test.write([click()]);
    let log = test.start(Bounds::default());
    log.append(click(), TIMEOUT).expect("written");
    let blocker = Connection::open(&test.path).expect("a database");
    blocker.execute_batch("BEGIN IMMEDIATE").expect("held");
    let (sender, receiver) = mpsc::channel();
    for _ in 0..HANDED {
        let sender = sender.clone();
        log.submit(click(), Box::new(move |result| drop(sender.send(result))));
    }
    // A batch is with the thread, the queue is full, and the rest is refused.
    let at_once: Vec<_> = receiver.try_iter().collect();
    let refused = at_once.len();
    assert!((1_000..HANDED - 1_000).contains(&refused), "{refused} refused");
    assert!(at_once.iter().all(|result| matches!(result, Err(AuditError::Backlog))));
    assert!(bytes_of(&test.path) < 1_000_000);
    blocker.execute_batch("COMMIT").expect("released");
    for _ in at_once.len()..HANDED {
        receiver.recv_timeout(TIMEOUT).expect("an acknowledgement").expect("written");
    }
    assert_eq!(test.rows(&Filter::default()).len(), 2 + HANDED - refused);
    log.close(TIMEOUT).expect("closed");
    assert!(matches!(log.append(click(), TIMEOUT), Err(AuditError::Closed)));
}

#[test]
fn a_database_under_its_old_name_is_renamed_and_migrated() {
    let test = TestLog::new();
    test.write([click(), click()]);
    let old = test.path.with_file_name("journal.db");
    let database = Connection::open(&test.path).expect("a database");
    let undo = "ALTER TABLE entries DROP COLUMN run; ALTER TABLE entries DROP COLUMN times;
        ALTER TABLE entries RENAME COLUMN transport TO door; PRAGMA user_version = 2;
        CREATE TABLE pad (one INTEGER PRIMARY KEY CHECK (one = 1), carried INTEGER NOT NULL) STRICT;";
    database.execute_batch(undo).expect("an older schema");
    drop(database);
    std::fs::rename(&test.path, old).expect("renamed");
    test.write([click()]);
    assert_eq!(test.files(), ["audit.sqlite"]);
    assert_eq!(test.numbers(), [1, 2, 3]);
}
