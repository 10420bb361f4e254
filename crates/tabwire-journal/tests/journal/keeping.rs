//! What is kept: bounded in rows and bytes, brought forward, set aside when it cannot be used.

use std::os::unix::fs::PermissionsExt;
use std::sync::mpsc;

use rusqlite::Connection;
use tabwire_journal::{Bounds, Filter, JournalError, Reader};

use crate::sample::{Desk, PATIENCE, bytes_of, click, large};

#[test]
fn a_row_is_read_as_it_was_written() {
    let desk = Desk::new();
    desk.write([click()]);
    assert_eq!(desk.files(), ["journal.db"], "closing leaves one file");
    let rows = desk.rows(&Filter::default());
    let expected = serde_json::json!({
        "number": 1, "time": "2026-01-01T00:00:00.250Z", "duration_ms": 12.345, "session": {"name": "default"},
        "client": {"pid": 41, "program": "node", "door": "socket"}, "action": "click", "effect": "act",
        "tab": "pipe:7f3a:3", "origin": "https://shop.test", "decision": "allow", "decided_by": "profile open",
        "result": "ok", "params": {"target": "#pay", "nth": 2}, "changes": {"navigated": true},
    });
    assert_eq!(serde_json::to_value(&rows[0]).expect("JSON"), expected);
    let mode =
        |name: &str| desk.path.with_file_name(name).metadata().expect("a file").permissions().mode() & 0o777;
    assert_eq!(mode("journal.db"), 0o600);
    let journal = desk.start(Bounds::default());
    journal.append(click(), PATIENCE).expect("written");
    assert_eq!(["-wal", "-shm", "-pad"].map(|end| mode(&format!("journal.db{end}"))), [0o600; 3]);
}

#[test]
fn rows_are_bounded_and_numbers_go_on() {
    let desk = Desk::new();
    let journal = desk.start(Bounds { rows: 200, ..Bounds::default() });
    for _ in 0..1_000 {
        journal.append(click(), PATIENCE).expect("written");
    }
    journal.close(PATIENCE).expect("closed");
    let rows = desk.rows(&Filter::default());
    // The size is looked at every 64 rows.
    assert!((100..=264).contains(&rows.len()), "{}", rows.len());
    assert_eq!(rows.last().map(|row| row.number.0), Some(1_000));
}

#[test]
fn bytes_are_bounded_at_every_moment() {
    let desk = Desk::new();
    let bounds = Bounds { rows: 1_000_000, bytes: 1_500_000, log_bytes: 200_000 };
    let journal = desk.start(bounds);
    let mut largest = 0;
    for _ in 0..6_000 {
        journal.append(large(), PATIENCE).expect("written");
        largest = largest.max(bytes_of(&desk.path));
    }
    assert!(largest > bounds.bytes / 2 && largest <= bounds.bytes, "{largest} of {}", bounds.bytes);
    journal.close(PATIENCE).expect("closed");
    let kept = desk.rows(&Filter::default());
    assert_eq!(kept.last().map(|row| row.number.0), Some(6_000), "the newest are kept");
    assert!(kept.len() > 400, "{} rows are few for that many bytes", kept.len());
    // A smaller bound is kept to as well: the file gives its room back.
    let smaller = Bounds { bytes: 700_000, ..bounds };
    let journal = desk.start(smaller);
    for _ in 0..100 {
        journal.append(large(), PATIENCE).expect("written");
    }
    journal.close(PATIENCE).expect("closed");
    assert!(bytes_of(&desk.path) <= smaller.bytes, "{}", bytes_of(&desk.path));
}

#[test]
fn a_file_of_a_newer_version_is_set_aside_whole() {
    let desk = Desk::new();
    desk.write([click(), click()]);
    Connection::open(&desk.path)
        .and_then(|file| file.pragma_update(None, "user_version", 99))
        .expect("changed");
    assert!(matches!(Reader::open(&desk.path), Err(JournalError::Newer { found: 99, known: 2 })));
    desk.write([click()]);
    assert_eq!(desk.numbers(), [1], "a new one is begun");
    let told = desk.set_aside.lock().expect("not poisoned");
    let aside = told.first().expect("it is said");
    assert!(matches!(aside.reason, JournalError::Newer { .. }), "{aside:?}");
    assert_eq!(desk.files(), ["journal-newer-1.db", "journal.db"]);
    let kept = Connection::open(&aside.path).expect("a database");
    let rows: i64 = kept.query_row("SELECT count(*) FROM entries", [], |row| row.get(0)).expect("rows");
    assert_eq!(rows, 2);
}

#[test]
fn damaged_files_are_set_aside_and_nothing_is_deleted() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path.parent().expect("a directory")).expect("made");
    for (round, garbage) in
        [&b"no database at all, but long enough to be looked at"[..], &[7; 9_000]].iter().enumerate()
    {
        std::fs::write(&desk.path, garbage).expect("written");
        assert!(matches!(Reader::open(&desk.path), Err(JournalError::Damaged)));
        desk.write([click()]);
        assert_eq!(desk.numbers(), [1]);
        let aside = desk.path.with_file_name(format!("journal-damaged-{}.db", round + 1));
        assert_eq!(std::fs::read(aside).expect("kept"), *garbage);
    }
    // The head is fine; the rows are not.
    desk.write((0..50).map(|_| large()));
    let mut bytes = std::fs::read(&desk.path).expect("a file");
    bytes[4_096..].fill(0xa5);
    std::fs::write(&desk.path, &bytes).expect("written");
    desk.write([click()]);
    assert_eq!(desk.numbers(), [1]);
    assert_eq!(
        desk.files(),
        ["journal-damaged-1.db", "journal-damaged-2.db", "journal-damaged-3.db", "journal.db"]
    );
    assert_eq!(desk.set_aside.lock().expect("not poisoned").len(), 3);
}

#[test]
fn what_waits_is_bounded_and_whatever_was_acknowledged_is_written_once() {
    const HANDED: usize = 4_000;
    let desk = Desk::new();
    desk.write([click()]);
    let journal = desk.start(Bounds::default());
    journal.append(click(), PATIENCE).expect("written");
    let blocker = Connection::open(&desk.path).expect("a database");
    blocker.execute_batch("BEGIN IMMEDIATE").expect("held");
    let (sender, receiver) = mpsc::channel();
    for _ in 0..HANDED {
        let sender = sender.clone();
        journal.hand_over(click(), Box::new(move |result| drop(sender.send(result))));
    }
    // The pad takes some hundred, as many as may wait go to the thread, the others are refused.
    let at_once: Vec<_> = receiver.try_iter().collect();
    let safe = at_once.iter().filter(|result| result.is_ok()).count();
    let refused = at_once.len() - safe;
    assert!(safe >= 300 && refused >= 300, "{safe} on the pad, {refused} refused");
    assert!(at_once.iter().all(|result| matches!(result, Ok(()) | Err(JournalError::Backlog))));
    assert!(bytes_of(&desk.path) < 1_000_000);
    blocker.execute_batch("COMMIT").expect("let go");
    for _ in at_once.len()..HANDED {
        receiver.recv_timeout(PATIENCE).expect("an acknowledgement").expect("written");
    }
    assert_eq!(desk.rows(&Filter::default()).len(), 2 + HANDED - refused);
    journal.close(PATIENCE).expect("closed");
    assert!(matches!(journal.append(click(), PATIENCE), Err(JournalError::Closed)));
}
