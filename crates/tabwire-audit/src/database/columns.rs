//! The values of one row, in the order of the database's columns.

use std::borrow::Cow;
use std::time::UNIX_EPOCH;

use rusqlite::ToSql;
use rusqlite::types::{Null, ToSqlOutput};

use crate::entry::visibility::cut;
use crate::entry::{Entry, Outcome};
use crate::limits::NAME_BYTES;

/// How many values [`crate::database::schema::INSERT`] takes.
const COUNT: usize = 20;

/// Places of values in the row.
const TIME: usize = 0;
const DURATION: usize = 1;
const EFFECT: usize = 9;
const RESULT: usize = 15;
const CHANGES: usize = 17;
const RUN: usize = 19;

/// The values of one row.
#[derive(Debug)]
pub(crate) struct Columns<'entry>([Cell<'entry>; COUNT]);

#[derive(Debug, PartialEq, Eq)]
enum Cell<'entry> {
    Null,
    Number(i64),
    Text(Cow<'entry, str>),
}

impl ToSql for Cell<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            Self::Null => Null.to_sql(),
            Self::Number(number) => number.to_sql(),
            Self::Text(text) => text.to_sql(),
        }
    }
}

impl<'entry> Columns<'entry> {
    pub(crate) fn of(entry: &'entry Entry) -> Self {
        let since = entry.time.duration_since(UNIX_EPOCH).unwrap_or_default();
        let message = match &entry.outcome {
            Outcome::Done => None,
            Outcome::Failed { message, .. } => Some(message.as_str()),
        };
        Self([
            Cell::Number(i64::try_from(since.as_millis()).unwrap_or(i64::MAX)),
            Cell::Number(i64::try_from(entry.duration.as_micros()).unwrap_or(i64::MAX)),
            name(entry.project.as_deref()),
            word(entry.session.as_str()),
            name(entry.client.name.as_deref()),
            entry.client.pid.map_or(Cell::Null, |pid| Cell::Number(pid.into())),
            name(entry.client.program.as_deref()),
            word(entry.client.transport.as_str()),
            word(entry.action),
            word(entry.effect),
            text(entry.tab.map(|tab| tab.to_string())),
            entry.origin.as_ref().map_or(Cell::Null, |origin| word(origin.as_str())),
            word(entry.ruling.verdict.as_str()),
            word(entry.ruling.by),
            entry.ruling.reason.map_or(Cell::Null, word),
            word(entry.outcome.as_str()),
            text(entry.parameters.to_text()),
            text(entry.changes.to_text()),
            message.map_or(Cell::Null, word),
            entry.run.as_deref().map_or(Cell::Null, word),
        ])
    }

    /// What makes two reads of one run of a script equal: everything but the time, the duration and the result. None for
    /// rows that are never folded.
    pub(crate) fn repeat_key(&self) -> Option<String> {
        let (is_read, is_ok) = (self.0[EFFECT] == word("read"), self.0[RESULT] == word("ok"));
        let is_call = self.0[RUN] != Cell::Null;
        (is_read && is_ok && is_call).then(|| {
            let cells = self.0.iter().enumerate().filter(|(at, _)| ![TIME, DURATION, CHANGES].contains(at));
            format!("{:?}", cells.map(|(_, cell)| cell).collect::<Vec<_>>())
        })
    }

    /// The run of a script that the row belongs to.
    pub(crate) fn run(&self) -> Option<&str> {
        match &self.0[RUN] {
            Cell::Text(run) => Some(run),
            _ => None,
        }
    }

    /// The duration in microseconds.
    pub(crate) const fn duration(&self) -> i64 {
        match self.0[DURATION] {
            Cell::Number(duration) => duration,
            _ => 0,
        }
    }

    pub(crate) fn cells(&self) -> impl Iterator<Item = &dyn ToSql> {
        self.0.iter().map(|cell| cell as &dyn ToSql)
    }
}

fn word(text: &str) -> Cell<'_> {
    Cell::Text(Cow::Borrowed(text))
}

fn text<'entry>(text: Option<String>) -> Cell<'entry> {
    text.map_or(Cell::Null, |text| Cell::Text(Cow::Owned(text)))
}

fn name(name: Option<&str>) -> Cell<'_> {
    name.map_or(Cell::Null, |name| Cell::Text(Cow::Owned(cut(name, NAME_BYTES))))
}
