//! Accidents: a writer that is killed, readers beside it, a disk that is full.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};

use rusqlite::Connection;
use tabwire_journal::{Bounds, Filter, Reader};

use crate::sample::{Desk, PATIENCE, click};

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
        // What it told before it died was acknowledged too.
        let mut counted: i64 = 0;
        for line in told.by_ref().take(1 + (round * round) % 97) {
            counted = line.parse().expect("a number");
        }
        writer.kill().expect("killed");
        acknowledged += told.filter_map(|line| line.parse().ok()).last().unwrap_or(counted);
        writer.wait().expect("our own child");
        let reader = Reader::open(&desk.path).expect("readable right after");
        assert!(!reader.is_behind());
        let (first, last) = reader.ends().expect("read").expect("rows");
        assert_eq!(first.0, 1);
        // One may have been written whose acknowledgement nobody heard.
        let heard = acknowledged..=acknowledged + 1;
        assert!(heard.contains(&last.0), "round {round}: {last} rows, {acknowledged} were acknowledged");
        acknowledged = last.0;
        let rows = reader.last(&Filter::default(), u32::MAX).expect("read").len();
        assert_eq!(i64::try_from(rows).expect("few"), last.0, "round {round}: none is missing");
    }
    let whole = Connection::open(&desk.path).expect("a database");
    let verdict: String = whole.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("checked");
    assert_eq!(verdict, "ok");
}

#[test]
fn half_a_line_on_the_pad_costs_neither_the_rows_before_it_nor_those_behind() {
    let desk = Desk::new();
    let path = desk.path.display().to_string();
    let mut writer = start(PROGRAM, &["append", &path]);
    let counted = lines(&mut writer).nth(200).expect("a number");
    writer.kill().expect("killed");
    writer.wait().expect("our own child");
    let pad = desk.path.with_file_name("journal.db-pad");
    let mut file = OpenOptions::new().append(true).open(pad).expect("it was killed and left its pad");
    // A line that is none of ours, though it looks like one, and the beginning of another.
    let stranger = format!("{{\"n\":99999998,\"row\":[{}]}}\n", ["null"; 19].join(","));
    file.write_all(stranger.as_bytes()).expect("written");
    file.write_all(b"{\"n\":99999999,\"row\":[1,2").expect("written");
    drop(file);
    desk.write((0..50).map(|_| click()));
    let numbers = desk.numbers();
    let least = counted.parse::<usize>().expect("a number") + 50;
    assert!(numbers.len() >= least, "{} rows, {least} were acknowledged", numbers.len());
    assert_eq!(desk.files(), ["journal.db"]);
    let clicks = desk.rows(&Filter { action: Some("click".to_owned()), ..Filter::default() });
    let ours = clicks.iter().filter(|row| row.origin.is_some()).count();
    assert_eq!(ours, 50, "none twice");
}

#[test]
fn without_a_pad_rows_go_into_the_database_themselves() {
    let desk = Desk::new();
    let pad = desk.path.with_file_name("journal.db-pad");
    std::fs::create_dir_all(&pad).expect("something in the way");
    let mode = std::fs::Permissions::from_mode(0o700);
    std::fs::set_permissions(desk.path.parent().expect("a directory"), mode).expect("ours alone");
    desk.write((0..20).map(|_| click()));
    let reader = Reader::open(&desk.path).expect("a journal");
    assert!(!reader.is_behind());
    assert_eq!(reader.last(&Filter::default(), 100).expect("rows").len(), 20);
    assert!(pad.is_dir(), "it is left alone");
}

#[test]
fn two_processes_write_one_journal() {
    let desk = Desk::new();
    let path = desk.path.display().to_string();
    let mut writer = start(PROGRAM, &["append", &path]);
    let mut told = lines(&mut writer);
    assert_eq!(told.next().as_deref(), Some("1"), "the other one has the pad");
    let journal = desk.start(Bounds::default());
    for _ in 0..100 {
        journal.append(click(), PATIENCE).expect("written");
    }
    writer.kill().expect("killed");
    let theirs: usize = told.filter_map(|line| line.parse().ok()).last().expect("it went on");
    writer.wait().expect("our own child");
    // What the other one has left is taken over with the next rows.
    journal.append(click(), PATIENCE).expect("written");
    journal.close(PATIENCE).expect("closed");
    let rows = desk.rows(&Filter::default());
    let ours = rows.iter().filter(|row| row.origin.is_some()).count();
    assert_eq!(ours, 101);
    assert!((theirs..=theirs + 1).contains(&(rows.len() - ours)), "{theirs} of {}", rows.len() - ours);
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

/// A disk of 1 MiB of which half is taken by a filler.
const SMALL_DISK: &str = r#"
    mount -t tmpfs -o size=1m,mode=0700 none "$1" && head -c 512k /dev/zero > "$1/filler" &&
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
