//! Filters, and how a reader follows a log.

use std::time::{Duration, Instant, SystemTime};

use tabwire_api::{ErrorCode, SessionName};
use tabwire_audit::{AuditError, ClientInfo, Entry, Filter, Outcome, Reader, RowNumber, SafeMessage};

use crate::sample::{TIMEOUT, TestLog, click};
use tabwire_audit::Bounds;

fn numbers(test: &TestLog, filter: &Filter) -> Vec<i64> {
    test.rows(filter).iter().map(|row| row.number.0).collect()
}

#[test]
fn equal_reads_of_one_run_are_one_row_with_a_count() {
    let test = TestLog::new();
    let read = || Entry { action: "query", effect: "read", run: Some("7f".to_owned()), ..click() };
    let other = || Entry { run: Some("80".to_owned()), ..read() };
    let failed = Outcome::Failed { code: ErrorCode::Timeout, message: SafeMessage::own("Too late.") };
    test.write([
        read(),
        read(),
        // Rows of other runs are between, as with two clients.
        other(),
        read(),
        other(),
        // Acting, failing and calls outside of runs always have rows of their own.
        Entry { action: "click", effect: "act", ..read() },
        Entry { action: "click", effect: "act", ..read() },
        read(),
        Entry { outcome: failed, ..read() },
        Entry { run: None, ..read() },
        Entry { run: None, ..read() },
    ]);
    let rows = test.rows(&Filter::default());
    let seen: Vec<_> = rows.iter().map(|row| (row.action.as_str(), row.run.as_deref(), row.times)).collect();
    assert_eq!(
        seen,
        [
            ("query", Some("7f"), 3),
            ("query", Some("80"), 2),
            ("click", Some("7f"), 1),
            ("click", Some("7f"), 1),
            ("query", Some("7f"), 1),
            ("query", Some("7f"), 1),
            ("query", None, 1),
            ("query", None, 1),
        ]
    );
    assert!((rows[0].duration_ms - 3.0 * 12.345).abs() < 0.01, "{}", rows[0].duration_ms);
    let of_run = test.rows(&Filter { run: Some("80".to_owned()), ..Filter::default() });
    assert_eq!(of_run.len(), 1);
}

#[test]
fn filters_choose_rows() {
    let test = TestLog::new();
    let later = SystemTime::UNIX_EPOCH + Duration::from_secs(2_000_000_000);
    let failed = Outcome::Failed { code: ErrorCode::Timeout, message: SafeMessage::own("Too late.") };
    test.write([
        click(),
        Entry { session: SessionName::new("work").expect("a name"), ..click() },
        Entry { client: ClientInfo { name: Some("agent".to_owned()), ..ClientInfo::default() }, ..click() },
        Entry { action: "tab_new", time: later, ..click() },
        Entry { outcome: failed, ..click() },
    ]);
    let all = Filter::default();
    let check =
        |filter: Filter, expected: &[i64]| assert_eq!(numbers(&test, &filter), expected, "{filter:?}");
    check(all.clone(), &[1, 2, 3, 4, 5]);
    check(Filter { session: SessionName::new("work").ok(), ..all.clone() }, &[2]);
    check(Filter { client: Some("agent".to_owned()), ..all.clone() }, &[3]);
    check(Filter { client: Some("node".to_owned()), ..all.clone() }, &[1, 2, 4, 5]);
    check(Filter { client: Some("41".to_owned()), failed: true, ..all.clone() }, &[5]);
    check(Filter { action: Some("tab-new".to_owned()), ..all.clone() }, &[4]);
    check(Filter { since_ms: Some(2_000_000_000_000), ..all.clone() }, &[4]);
    check(Filter { after: Some(RowNumber(3)), ..all.clone() }, &[4, 5]);
    check(Filter { action: Some("' OR 1 --".to_owned()), ..all.clone() }, &[]);
    let reader = Reader::open(&test.path).expect("an audit log");
    let last: Vec<i64> = reader.last(&all, 2).expect("rows").iter().map(|row| row.number.0).collect();
    assert_eq!(last, [4, 5], "the newest last");
    let found = reader.find(RowNumber(5)).expect("read").expect("a row");
    assert_eq!((found.result.as_str(), found.message.as_deref()), ("TIMEOUT", Some("Too late.")));
    assert_eq!(reader.find(RowNumber(6)).expect("read"), None);
    assert_eq!(reader.ends().expect("read"), Some((RowNumber(1), RowNumber(5))));
}

#[test]
fn a_reader_notices_commits_and_a_replaced_file() {
    let test = TestLog::new();
    assert!(matches!(Reader::open(&test.path), Err(AuditError::Missing)));
    let log = test.start(Bounds::default());
    log.append(click(), TIMEOUT).expect("written");
    let mut reader = Reader::open(&test.path).expect("an audit log");
    assert!(reader.has_changed().expect("read"), "the first call reports a change");
    assert!(!reader.has_changed().expect("read"));
    log.append(click(), TIMEOUT).expect("written");
    let due = Instant::now() + TIMEOUT;
    while !reader.has_changed().expect("read") {
        assert!(Instant::now() < due, "the other connection sees the commit");
        std::thread::yield_now();
    }
    assert!(!reader.was_replaced());
    log.close(TIMEOUT).expect("closed");
    std::fs::rename(&test.path, test.home.path().join("elsewhere")).expect("moved");
    assert!(!reader.was_replaced(), "a missing file does not count");
    test.write([click()]);
    assert!(reader.was_replaced());
}
