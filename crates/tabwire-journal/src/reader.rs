//! Reads a journal, also while another process writes it. Changes nothing, but for rows that a killed writer has left
//! on the pad: those are brought in first.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, OptionalExtension, params_from_iter};

use crate::error::JournalError;
use crate::filter::Filter;
use crate::limits::{LOCK_DEADLINE, ROWS_AT_ONCE};
use crate::row::{Row, RowNumber};
use crate::safe_file;
use crate::schema::{COLUMNS, check};
use crate::settling::settle;

/// A journal that is read.
#[derive(Debug)]
pub struct Reader {
    connection: Connection,
    path: PathBuf,
    /// Which file it is: another one may take its place.
    file: (u64, u64),
    /// What SQLite counts up with every change by others.
    seen: i64,
    /// Rows are missing that were acknowledged before.
    is_behind: bool,
}

impl Reader {
    /// Opens a journal to read it.
    ///
    /// # Errors
    /// When there is none, or it is not one that is known here.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        safe_file::check(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(LOCK_DEADLINE)?;
        connection.pragma_update(None, "trusted_schema", false)?;
        check(&connection)?;
        let file = identity(path).ok_or(JournalError::Missing)?;
        let is_behind = !settle(path, &connection)?;
        Ok(Self { connection, path: path.to_owned(), file, seen: 0, is_behind })
    }

    /// Whether the newest rows are missing: whoever writes the journal does not get them into it.
    #[must_use]
    pub const fn is_behind(&self) -> bool {
        self.is_behind
    }

    /// The last rows that match, the newest last.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn last(&self, filter: &Filter, count: u32) -> Result<Vec<Row>, JournalError> {
        let mut rows = self.select(filter, "DESC", count)?;
        rows.reverse();
        Ok(rows)
    }

    /// Rows behind the filter's `after` that match, the oldest first; some at a time.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn next(&self, filter: &Filter) -> Result<Vec<Row>, JournalError> {
        self.select(filter, "ASC", ROWS_AT_ONCE)
    }

    /// One row.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn find(&self, number: RowNumber) -> Result<Option<Row>, JournalError> {
        let sql = format!("SELECT {COLUMNS} FROM entries WHERE number = ?1");
        Ok(self.connection.query_row(&sql, [number.0], Row::read).optional()?)
    }

    /// The first and the last number there is.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn ends(&self) -> Result<Option<(RowNumber, RowNumber)>, JournalError> {
        let sql = "SELECT min(number), max(number) FROM entries";
        let ends: (Option<i64>, Option<i64>) =
            self.connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(ends.0.zip(ends.1).map(|(first, last)| (RowNumber(first), RowNumber(last))))
    }

    /// Whether something was written since this was last asked.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn has_changed(&mut self) -> Result<bool, JournalError> {
        let now = self.connection.pragma_query_value(None, "data_version", |row| row.get::<_, i64>(0))?;
        let before = std::mem::replace(&mut self.seen, now);
        Ok(now != before)
    }

    /// Whether another file is now where this one was.
    #[must_use]
    pub fn was_replaced(&self) -> bool {
        identity(&self.path).is_some_and(|now| now != self.file)
    }

    fn select(&self, filter: &Filter, order: &str, count: u32) -> Result<Vec<Row>, JournalError> {
        let (condition, mut values) = filter.condition();
        values.push(Value::from(count));
        let sql = format!("SELECT {COLUMNS} FROM entries WHERE {condition} ORDER BY number {order} LIMIT ?");
        let mut statement = self.connection.prepare(&sql)?;
        let rows = statement.query_map(params_from_iter(values), Row::read)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    path.symlink_metadata().ok().map(|data| (data.dev(), data.ino()))
}

/// Reads a moment as people write it, `2026-11-15`, `2026-11-15T10:02` or with seconds and zone, as milliseconds since
/// 1970. Without a zone, universal time is meant.
#[must_use]
pub fn parse_moment(text: &str) -> Option<i64> {
    // SQLite also understands bare times and numbers, which nobody means here.
    let begins = text.len() >= 10 && text.bytes().take(4).all(|byte| byte.is_ascii_digit());
    if !begins || text.as_bytes().get(4) != Some(&b'-') {
        return None;
    }
    let connection = Connection::open_in_memory().ok()?;
    let sql = "SELECT CAST(round(unixepoch(?1, 'subsec') * 1000) AS INTEGER)";
    connection.query_row(sql, [text], |row| row.get::<_, Option<i64>>(0)).ok()?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_as_people_write_them() {
        assert_eq!(parse_moment("1970-01-02"), Some(86_400_000));
        assert_eq!(parse_moment("1970-01-01T00:01"), Some(60_000));
        assert_eq!(parse_moment("1970-01-01T00:00:01.250Z"), Some(1_250));
        assert_eq!(parse_moment("1970-01-01T01:00:00+01:00"), Some(0));
        for wrong in ["now", "12:00", "0", "2460000.5", "1970-13-01", "yesterday", "1970-01-01 nonsense"] {
            assert_eq!(parse_moment(wrong), None, "{wrong}");
        }
    }
}
