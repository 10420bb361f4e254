//! Accidents: a writer that is killed, readers beside it, a disk that is full.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use rusqlite::Connection;
use tabwire_journal::{Filter, Reader};

use crate::sample::Desk;

const PROGRAM: &str = env!("CARGO_BIN_EXE_journal-for-tests");

/// Times a writer is killed.
const ROUNDS: usize = 30;

fn start(program: &str, arguments: &[&str]) -> Child {
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

/// What a child tells, line by line.
fn lines(child: &mut Child) -> impl Iterator<Item = String> + use<> {
    BufReader::new(child.stdout.take().expect("piped")).lines().map_while(Result::ok)
}

#[test]
fn a_killed_writer_loses_no_row_it_acknowledged() {
    let desk = Desk::new();
    let path = desk.path.display().to_string();
    let mut acknowledged = 0;
    for round in 0..ROUNDS {
        let mut writer = start(PROGRAM, &["append", &path]);
        let mut told = lines(&mut writer);
        for _ in 0..=(round * round) % 97 {
            acknowledged = told.next().expect("a number").parse::<i64>().expect("a number");
        }
        writer.kill().expect("killed");
        // What it told before it died was acknowledged too.
        acknowledged = told.filter_map(|line| line.parse().ok()).last().unwrap_or(acknowledged);
        writer.wait().expect("our own child");
        let reader = Reader::open(&desk.path).expect("readable right after");
        let (first, last) = reader.ends().expect("read").expect("rows");
        assert_eq!(first.0, 1);
        assert!(last.0 >= acknowledged, "round {round}: {last} rows, {acknowledged} were acknowledged");
        let rows = reader.last(&Filter::default(), u32::MAX).expect("read").len();
        assert_eq!(i64::try_from(rows).expect("few"), last.0, "round {round}: none is missing");
    }
    let whole = Connection::open(&desk.path).expect("a database");
    let verdict: String = whole.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("checked");
    assert_eq!(verdict, "ok");
}

#[test]
fn two_processes_read_while_one_writes() {
    let desk = Desk::new();
    let path = desk.path.display().to_string();
    let mut writer = start(PROGRAM, &["append", &path]);
    let mut told = lines(&mut writer);
    let mut readers = [(); 2].map(|()| start(PROGRAM, &["read", &path, "1500"]));
    let last = told.by_ref().nth(1_999);
    assert_eq!(last.as_deref(), Some("2000"), "readers do not hold the writer up");
    for reader in &mut readers {
        assert!(reader.wait().expect("our own child").success());
    }
    writer.kill().expect("killed");
    writer.wait().expect("our own child");
}

/// A disk of 400 KiB of which half is taken by a filler.
const SMALL_DISK: &str = r#"
    mount -t tmpfs -o size=400k,mode=0700 none "$1" && head -c 200k /dev/zero > "$1/filler" &&
    "$0" append "$1/journal.db" "$1/filler" && "$0" read "$1/journal.db" 60 && echo whole
"#;

/// No file may grow beyond 100 KiB.
const SMALL_FILES: &str = r#"trap "" XFSZ; ulimit -f 200; "$0" append "$1/journal.db""#;

#[test]
fn f32_a_full_disk_fails_rows_and_nothing_else() {
    let desk = Desk::new();
    let place = desk.home.path().display().to_string();
    let may_mount = Command::new("unshare")
        .args(["--mount", "mount", "-t", "tmpfs", "none", &place])
        .status()
        .is_ok_and(|status| status.success());
    let mut child = if may_mount {
        start("unshare", &["--mount", "sh", "-c", SMALL_DISK, PROGRAM, &place])
    } else {
        start("sh", &["-c", SMALL_FILES, PROGRAM, &place])
    };
    let told: Vec<String> = lines(&mut child).collect();
    child.wait().expect("our own child");
    let full = told.iter().filter(|line| *line == "full").count();
    assert!(full >= 3, "{told:?}");
    let before = told.iter().take_while(|line| *line != "full").count();
    assert!(before > 10, "rows were written before: {told:?}");
    assert!(
        told.iter().all(|line| line == "full" || line == "whole" || line.parse::<u32>().is_ok()),
        "{told:?}"
    );
    if may_mount {
        // With room again, rows are written again, and none is missing between.
        let numbers: Vec<usize> = told.iter().filter_map(|line| line.parse().ok()).collect();
        assert_eq!(numbers, (1..=numbers.len()).collect::<Vec<_>>());
        assert!(numbers.len() >= before + 50, "{told:?}");
        assert_eq!(told.last().map(String::as_str), Some("whole"));
    }
}
