//! Faults: a killed writer, concurrent writers and readers, a full disk.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use rusqlite::Connection;
use tabwire_audit::{Bounds, Filter, Reader};

use crate::sample::{TIMEOUT, TestLog, click};

const PROGRAM: &str = env!("CARGO_BIN_EXE_audit-for-tests");

/// How often a writer is killed.
const ROUNDS: usize = 30;

fn start(program: &str, arguments: &[&str]) -> Child {
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

/// The lines that a child prints.
fn lines(child: &mut Child) -> impl Iterator<Item = String> + use<> {
    BufReader::new(child.stdout.take().expect("piped")).lines().map_while(Result::ok)
}

#[test]
fn a_killed_writer_loses_no_acknowledged_row() {
    let test = TestLog::new();
    let path = test.path.display().to_string();
    let mut acknowledged = 0;
    for round in 0..ROUNDS {
        let mut writer = start(PROGRAM, &["append", &path]);
        let mut printed = lines(&mut writer);
        // Lines that it printed before it died were acknowledged too.
        let mut counted: i64 = 0;
        for line in printed.by_ref().take(1 + (round * round) % 97) {
            counted = line.parse().expect("a number");
        }
        writer.kill().expect("killed");
        acknowledged += printed.filter_map(|line| line.parse().ok()).last().unwrap_or(counted);
        writer.wait().expect("our own child");
        let reader = Reader::open(&test.path).expect("readable right after");
        let (first, last) = reader.ends().expect("read").expect("rows");
        assert_eq!(first.0, 1);
        // One row may have been committed and not yet printed.
        let heard = acknowledged..=acknowledged + 1;
        assert!(heard.contains(&last.0), "round {round}: {last} rows, {acknowledged} were acknowledged");
        acknowledged = last.0;
        let rows = reader.last(&Filter::default(), u32::MAX).expect("read").len();
        assert_eq!(i64::try_from(rows).expect("few"), last.0, "round {round}: none is missing");
    }
    let whole = Connection::open(&test.path).expect("a database");
    let verdict: String = whole.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("checked");
    assert_eq!(verdict, "ok");
}

#[test]
fn two_processes_write_one_log() {
    let test = TestLog::new();
    let path = test.path.display().to_string();
    let mut writer = start(PROGRAM, &["append", &path]);
    let mut printed = lines(&mut writer);
    assert_eq!(printed.next().as_deref(), Some("1"));
    let log = test.start(Bounds::default());
    let mut theirs: usize = 1;
    for _ in 0..10 {
        for _ in 0..10 {
            log.append(click(), TIMEOUT).expect("written");
        }
        theirs = printed.next().and_then(|line| line.parse().ok()).expect("the other process writes on");
    }
    writer.kill().expect("killed");
    theirs = printed.filter_map(|line| line.parse().ok()).last().unwrap_or(theirs);
    writer.wait().expect("our own child");
    log.append(click(), TIMEOUT).expect("written");
    log.close(TIMEOUT).expect("closed");
    let rows = test.rows(&Filter::default());
    let ours = rows.iter().filter(|row| row.origin.is_some()).count();
    assert_eq!(ours, 101);
    assert!((theirs..=theirs + 1).contains(&(rows.len() - ours)), "{theirs} of {}", rows.len() - ours);
}

#[test]
fn two_processes_read_while_one_writes() {
    let test = TestLog::new();
    let path = test.path.display().to_string();
    let mut writer = start(PROGRAM, &["append", &path]);
    let mut printed = lines(&mut writer);
    let mut readers = [(); 2].map(|()| start(PROGRAM, &["read", &path, "1500"]));
    let last = printed.by_ref().nth(1_999);
    assert_eq!(last.as_deref(), Some("2000"), "readers do not block the writer");
    for reader in &mut readers {
        assert!(reader.wait().expect("our own child").success());
    }
    writer.kill().expect("killed");
    writer.wait().expect("our own child");
}

/// A disk of 1 MiB, half of it taken by a filler.
const SMALL_DISK: &str = r#"
    mount -t tmpfs -o size=1m,mode=0700 none "$1" && head -c 512k /dev/zero > "$1/filler" &&
    "$0" append "$1/audit.sqlite" "$1/filler" && "$0" read "$1/audit.sqlite" 60 && echo whole
"#;

/// No file may grow beyond 100 KiB.
const SMALL_FILES: &str = r#"trap "" XFSZ; ulimit -f 200; "$0" append "$1/audit.sqlite""#;

#[test]
fn f32_a_full_disk_fails_rows_and_nothing_else() {
    let test = TestLog::new();
    let place = test.home.path().display().to_string();
    let may_mount = Command::new("unshare")
        .args(["--mount", "mount", "-t", "tmpfs", "none", &place])
        .status()
        .is_ok_and(|status| status.success());
    let mut child = if may_mount {
        start("unshare", &["--mount", "sh", "-c", SMALL_DISK, PROGRAM, &place])
    } else {
        start("sh", &["-c", SMALL_FILES, PROGRAM, &place])
    };
    let printed: Vec<String> = lines(&mut child).collect();
    child.wait().expect("our own child");
    let full = printed.iter().filter(|line| *line == "full").count();
    assert!(full >= 3, "{printed:?}");
    let before = printed.iter().take_while(|line| *line != "full").count();
    assert!(before > 10, "rows were written before: {printed:?}");
    assert!(
        printed.iter().all(|line| line == "full" || line == "whole" || line.parse::<u32>().is_ok()),
        "{printed:?}"
    );
    if may_mount {
        // With room again, rows are written again, and none is missing between.
        let numbers: Vec<usize> = printed.iter().filter_map(|line| line.parse().ok()).collect();
        assert_eq!(numbers, (1..=numbers.len()).collect::<Vec<_>>());
        assert!(numbers.len() >= before + 50, "{printed:?}");
        assert_eq!(printed.last().map(String::as_str), Some("whole"));
    }
}
