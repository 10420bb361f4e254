//! `log --follow`: prints new rows until the reader closes the pipe.

use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tabwire_api::Failure;
use tabwire_audit::{AuditError, Filter, Reader, Row, RowNumber};

use super::rows::{heading, line};
use super::{find_reader, unreadable, write_line};
use crate::commands::Context;

/// Interval at which the audit log is polled.
const POLL: Duration = Duration::from_millis(100);

pub(crate) fn run(context: &Context<'_>, mut filter: Filter, count: u32) -> Result<(), Failure> {
    let mut reader = find_reader(context)?;
    if !context.printer.is_json() && !write_line(context, &heading())? {
        return Ok(());
    }
    if let Some(reader) = &reader {
        let failed = |error: AuditError| unreadable(context, &error);
        let end = reader.ends().map_err(failed)?.map(|(_, last)| last);
        let rows = reader.last(&filter, count).map_err(failed)?;
        filter.after = rows.last().map(|row| row.number).max(end);
        if !print_all(context, &rows)? {
            return Ok(());
        }
    }
    loop {
        if reader.as_ref().is_none_or(Reader::was_replaced) {
            // The file is new or was replaced: its rows start at 1 again.
            if let Some(newer) = find_reader(context)? {
                filter.after = Some(RowNumber(0));
                reader = Some(newer);
            }
        }
        if let Some(reader) = &mut reader
            && !print_new(context, reader, &mut filter)?
        {
            return Ok(());
        }
        if !wait_for_reader() {
            return Ok(());
        }
    }
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
        if !write_line(context, &line(row, context.printer.is_json()))? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Waits [`POLL`]. Returns whether the reader is still there.
pub(crate) fn wait_for_reader() -> bool {
    let stdout = std::io::stdout();
    let mut watched = [PollFd::new(&stdout, PollFlags::empty())];
    let pause = Timespec { tv_sec: 0, tv_nsec: i64::from(POLL.subsec_nanos()) };
    // A signal only shortens the wait.
    let _ = poll(&mut watched, Some(&pause));
    !watched[0].revents().intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL)
}
