//! `log --follow`: prints new rows until the reader closes the pipe. The daemon sends them; while none runs, the file is
//! polled.

use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tabwire_api::Failure;
use tabwire_audit::{AuditError, Filter, Reader, Row, RowNumber};
use tabwire_client::{DaemonEvent, receive_events};

use super::rows::{heading, line};
use super::{find_reader, unreadable, write_line};
use crate::commands::Context;
use crate::output::table::terminal_width;

/// Interval at which the audit log is polled.
const POLL: Duration = Duration::from_millis(100);

/// Interval at which a daemon is looked for.
const CONNECT: Duration = Duration::from_secs(1);

pub(crate) fn run(context: &Context<'_>, mut filter: Filter, count: u32) -> Result<(), Failure> {
    if !context.printer.is_json() && !write_line(context, &heading(terminal_width()))? {
        return Ok(());
    }
    if let Some(reader) = find_reader(context)? {
        let failed = |error: AuditError| unreadable(context, &error);
        let end = reader.ends().map_err(failed)?.map(|(_, last)| last);
        let rows = reader.last(&filter, count).map_err(failed)?;
        filter.after = rows.last().map(|row| row.number).max(end);
        if !print_all(context, &rows)? {
            return Ok(());
        }
    }
    // All rows of a log that does not exist yet are new.
    filter.after.get_or_insert(RowNumber(0));
    loop {
        if !follow_daemon(context, &mut filter)? || !follow_file(context, &mut filter)? {
            return Ok(());
        }
    }
}

/// Prints what the daemon sends, until it ends. Returns whether the reader is still there.
fn follow_daemon(context: &Context<'_>, filter: &mut Filter) -> Result<bool, Failure> {
    // Without a daemon, or with one that has no log: the file is polled.
    let Ok(events) = receive_events(&context.socket(), &events_path(filter)) else { return Ok(true) };
    loop {
        match events.recv_timeout(POLL) {
            Ok(event) => {
                if !print_event(context, &event, filter)? {
                    return Ok(false);
                }
            }
            Err(RecvTimeoutError::Timeout) => {
                if !is_reader_there(Duration::ZERO) {
                    return Ok(false);
                }
            }
            Err(RecvTimeoutError::Disconnected) => return Ok(true),
        }
    }
}

fn print_event(context: &Context<'_>, event: &DaemonEvent, filter: &mut Filter) -> Result<bool, Failure> {
    if event.kind == "reset" {
        filter.after = Some(RowNumber(0));
    }
    // A newer daemon may send further kinds.
    let Ok(row) = serde_json::from_str::<Row>(&event.data) else { return Ok(true) };
    filter.after = Some(row.number);
    write_line(context, &line(&row, context.printer.is_json(), terminal_width()))
}

/// The request for the rows that a filter describes.
fn events_path(filter: &Filter) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    let text = [
        ("session", filter.session.as_ref().map(|session| session.as_str().to_owned())),
        ("client", filter.client.clone()),
        ("action", filter.action.clone()),
        ("since", filter.since_ms.map(|since| since.to_string())),
        ("after", filter.after.map(|after| after.to_string())),
        ("failed", filter.failed.then(|| "true".to_owned())),
    ];
    for (name, value) in text {
        if let Some(value) = value {
            query.append_pair(name, &value);
        }
    }
    format!("/v1/events?{}", query.finish())
}

/// Polls the file for [`CONNECT`]. Returns whether the reader is still there.
fn follow_file(context: &Context<'_>, filter: &mut Filter) -> Result<bool, Failure> {
    let until = Instant::now() + CONNECT;
    let mut reader = find_reader(context)?;
    while Instant::now() < until {
        if reader.as_ref().is_none_or(Reader::was_replaced)
            && let Some(newer) = find_reader(context)?
        {
            // The file was replaced: its rows start at 1 again.
            if reader.is_some() {
                filter.after = Some(RowNumber(0));
            }
            reader = Some(newer);
        }
        if let Some(reader) = &mut reader
            && !print_new(context, reader, filter)?
        {
            return Ok(false);
        }
        if !is_reader_there(POLL) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Prints new rows. Returns whether the reader is still there.
fn print_new(context: &Context<'_>, reader: &mut Reader, filter: &mut Filter) -> Result<bool, Failure> {
    let failed = |error: AuditError| unreadable(context, &error);
    if !reader.has_changed().map_err(failed)? {
        return Ok(true);
    }
    loop {
        let rows = reader.next(filter).map_err(failed)?;
        let Some(last) = rows.last() else { return Ok(true) };
        filter.after = Some(last.number);
        if !print_all(context, &rows)? {
            return Ok(false);
        }
    }
}

/// Prints rows. Returns whether the reader is still there.
fn print_all(context: &Context<'_>, rows: &[Row]) -> Result<bool, Failure> {
    for row in rows {
        if !write_line(context, &line(row, context.printer.is_json(), terminal_width()))? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Waits [`POLL`]. Returns whether the reader is still there.
pub(crate) fn wait_for_reader() -> bool {
    is_reader_there(POLL)
}

/// Waits, and returns whether the reader is still there.
fn is_reader_there(wait: Duration) -> bool {
    let stdout = std::io::stdout();
    let mut watched = [PollFd::new(&stdout, PollFlags::empty())];
    let pause = Timespec { tv_sec: 0, tv_nsec: i64::from(wait.subsec_nanos()) };
    // A signal only shortens the wait.
    let _ = poll(&mut watched, Some(&pause));
    !watched[0].revents().intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL)
}
