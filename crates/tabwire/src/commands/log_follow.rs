//! `log --follow`: prints rows as they come, until nobody reads any more.

use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tabwire_journal::{Filter, JournalError, Reader, Row, RowNumber};
use tabwire_wire::Failure;

use super::Context;
use super::log::{find_reader, unreadable, write_line};
use super::log_lines::{heading, line};

/// How often the journal is looked at; a look that finds nothing costs some microseconds.
const PAUSE: Duration = Duration::from_millis(100);

pub(super) fn run(context: &Context<'_>, mut filter: Filter, count: u32) -> Result<(), Failure> {
    let mut reader = find_reader(context)?;
    if !context.printer.is_json() && !write_line(context, &heading())? {
        return Ok(());
    }
    if let Some(reader) = &reader {
        let failed = |error: JournalError| unreadable(context, &error);
        let end = reader.ends().map_err(failed)?.map(|(_, last)| last);
        let rows = reader.last(&filter, count).map_err(failed)?;
        filter.after = rows.last().map(|row| row.number).max(end);
        if !print_all(context, &rows)? {
            return Ok(());
        }
    }
    loop {
        if reader.as_ref().is_none_or(Reader::was_replaced) {
            // Another file has taken its place, or there is one at last: its rows are counted anew.
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
        if !somebody_reads() {
            return Ok(());
        }
    }
}

/// Prints what has come; whether somebody still reads.
fn print_new(context: &Context<'_>, reader: &mut Reader, filter: &mut Filter) -> Result<bool, Failure> {
    let failed = |error: JournalError| unreadable(context, &error);
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

/// Prints rows; whether somebody still reads.
fn print_all(context: &Context<'_>, rows: &[Row]) -> Result<bool, Failure> {
    for row in rows {
        if !write_line(context, &line(row, context.printer.is_json()))? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Waits a moment; whether our output is still read.
fn somebody_reads() -> bool {
    let stdout = std::io::stdout();
    let mut watched = [PollFd::new(&stdout, PollFlags::empty())];
    let pause = Timespec { tv_sec: 0, tv_nsec: i64::from(PAUSE.subsec_nanos()) };
    // Interrupted by a signal that does not end us: the next look comes a little sooner.
    let _ = poll(&mut watched, Some(&pause));
    !watched[0].revents().intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL)
}
