//! Rows are found by session, client, action, time and outcome.

use std::time::{Duration, Instant, SystemTime};

use rusqlite::Connection;
use tabwire_journal::{Asker, Entry, Filter, JournalError, Outcome, Reader, RowNumber, SafeMessage};
use tabwire_wire::{ErrorCode, SessionName};

use crate::sample::{Desk, PATIENCE, click};
use tabwire_journal::Bounds;

fn numbers(desk: &Desk, filter: &Filter) -> Vec<i64> {
    desk.rows(filter).iter().map(|row| row.number.0).collect()
}

#[test]
fn filters_choose_rows() {
    let desk = Desk::new();
    let later = SystemTime::UNIX_EPOCH + Duration::from_secs(2_000_000_000);
    let failed = Outcome::Failed { code: ErrorCode::Timeout, message: SafeMessage::own("Too late.") };
    desk.write([
        click(),
        Entry { session: SessionName::new("work").expect("a name"), ..click() },
        Entry { asker: Asker { name: Some("agent".to_owned()), ..Asker::default() }, ..click() },
        Entry { action: "tab_new", time: later, ..click() },
        Entry { outcome: failed, ..click() },
    ]);
    let all = Filter::default();
    let check =
        |filter: Filter, expected: &[i64]| assert_eq!(numbers(&desk, &filter), expected, "{filter:?}");
    check(all.clone(), &[1, 2, 3, 4, 5]);
    check(Filter { session: SessionName::new("work").ok(), ..all.clone() }, &[2]);
    check(Filter { client: Some("agent".to_owned()), ..all.clone() }, &[3]);
    check(Filter { client: Some("node".to_owned()), ..all.clone() }, &[1, 2, 4, 5]);
    check(Filter { client: Some("41".to_owned()), failed: true, ..all.clone() }, &[5]);
    check(Filter { action: Some("tab-new".to_owned()), ..all.clone() }, &[4]);
    check(Filter { since_ms: Some(2_000_000_000_000), ..all.clone() }, &[4]);
    check(Filter { after: Some(RowNumber(3)), ..all.clone() }, &[4, 5]);
    check(Filter { action: Some("' OR 1 --".to_owned()), ..all.clone() }, &[]);
    let reader = Reader::open(&desk.path).expect("a journal");
    let last: Vec<i64> = reader.last(&all, 2).expect("rows").iter().map(|row| row.number.0).collect();
    assert_eq!(last, [4, 5], "the newest last");
    let found = reader.find(RowNumber(5)).expect("read").expect("a row");
    assert_eq!((found.result.as_str(), found.message.as_deref()), ("TIMEOUT", Some("Too late.")));
    assert_eq!(reader.find(RowNumber(6)).expect("read"), None);
    assert_eq!(reader.ends().expect("read"), Some((RowNumber(1), RowNumber(5))));
}

#[test]
fn changes_by_others_are_noticed_and_so_is_another_file() {
    let desk = Desk::new();
    assert!(matches!(Reader::open(&desk.path), Err(JournalError::Missing)));
    let journal = desk.start(Bounds::default());
    journal.append(click(), PATIENCE).expect("written");
    let mut reader = Reader::open(&desk.path).expect("a journal");
    assert!(reader.has_changed().expect("read"), "the first look is news");
    assert!(!reader.has_changed().expect("read"));
    journal.append(click(), PATIENCE).expect("written");
    let due = Instant::now() + PATIENCE;
    while !reader.has_changed().expect("read") {
        assert!(Instant::now() < due, "it is carried into the database without being asked");
        std::thread::yield_now();
    }
    assert!(!reader.was_replaced());
    journal.close(PATIENCE).expect("closed");
    std::fs::rename(&desk.path, desk.home.path().join("elsewhere")).expect("moved");
    assert!(!reader.was_replaced(), "none is no other");
    desk.write([click()]);
    assert!(reader.was_replaced());
}

#[test]
fn rows_that_cannot_be_brought_in_are_said_to_be_missing() {
    let desk = Desk::new();
    desk.write([click()]);
    let journal = desk.start(Bounds::default());
    // Until the pad is there, rows go into the database themselves.
    let pad = desk.path.with_file_name("journal.db-pad");
    while pad.metadata().map_or(0, |data| data.len()) == 0 {
        journal.append(click(), PATIENCE).expect("written");
    }
    let reader = Reader::open(&desk.path).expect("a journal");
    assert!(!reader.is_behind());
    let before = reader.last(&Filter::default(), 1_000).expect("rows").len();
    let blocker = Connection::open(&desk.path).expect("a database");
    blocker.execute_batch("BEGIN IMMEDIATE").expect("held");
    journal.append(click(), PATIENCE).expect("on the pad");
    let reader = Reader::open(&desk.path).expect("a journal");
    assert!(reader.is_behind());
    assert_eq!(reader.last(&Filter::default(), 1_000).expect("rows").len(), before);
    blocker.execute_batch("COMMIT").expect("let go");
    let reader = Reader::open(&desk.path).expect("a journal");
    assert!(!reader.is_behind());
    assert_eq!(reader.last(&Filter::default(), 1_000).expect("rows").len(), before + 1);
}
