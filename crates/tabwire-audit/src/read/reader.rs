//! Reads the audit log, also while another process writes it. Changes nothing.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, OptionalExtension, params_from_iter};

use tabwire_api::SessionName;

use crate::database::safe_file;
use crate::database::schema::{COLUMNS, check};
use crate::database::store::LOCK_DEADLINE;
use crate::error::AuditError;
use crate::read::row::{Row, RowNumber, RowSession};

/// Rows that one call of [`Reader::next`] returns at most.
const PAGE_ROWS: u32 = 500;

/// Names of one kind that [`Reader::names`] returns at most.
const NAMES: u32 = 200;

/// Which rows to return. A condition that is left out matches all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Of this session.
    pub session: Option<SessionName>,
    /// Of a session in this project; empty for sessions without one.
    pub project: Option<String>,
    /// Of this client: its name, program or process id.
    pub client: Option<String>,
    /// Of this action.
    pub action: Option<String>,
    /// Of this run of a script: its row and those of its calls.
    pub run: Option<String>,
    /// Received at this time or later, in milliseconds since 1970.
    pub since_ms: Option<i64>,
    /// Only failed requests.
    pub failed: bool,
    /// Only rows after this one.
    pub after: Option<RowNumber>,
    /// Only rows before this one.
    pub before: Option<RowNumber>,
    /// Of this effect class.
    pub effect: Option<String>,
    /// With this text in their origin or action.
    pub text: Option<String>,
    /// With the path of a file in their result.
    pub has_file: bool,
}

impl Filter {
    /// The SQL condition and its values.
    fn condition(&self) -> (String, Vec<Value>) {
        let mut conditions = vec!["1"];
        let mut values = Vec::new();
        if let Some(session) = &self.session {
            conditions.push("session = ?");
            values.push(Value::from(session.as_str().to_owned()));
        }
        if let Some(project) = &self.project {
            conditions.push("ifnull(project, '') = ?");
            values.push(Value::from(project.clone()));
        }
        if let Some(client) = &self.client {
            conditions.push("? IN (client_name, client_program, CAST(client_pid AS TEXT))");
            values.push(Value::from(client.clone()));
        }
        if let Some(action) = &self.action {
            conditions.push("action = ?");
            values.push(Value::from(action.replace('-', "_")));
        }
        if let Some(run) = &self.run {
            conditions.push("run = ?");
            values.push(Value::from(run.clone()));
        }
        if let Some(since) = self.since_ms {
            conditions.push("time_ms >= ?");
            values.push(Value::from(since));
        }
        if self.failed {
            conditions.push("result <> 'ok'");
        }
        if let Some(RowNumber(after)) = self.after {
            conditions.push("number > ?");
            values.push(Value::from(after));
        }
        if let Some(RowNumber(before)) = self.before {
            conditions.push("number < ?");
            values.push(Value::from(before));
        }
        if let Some(effect) = &self.effect {
            conditions.push("effect = ?");
            values.push(Value::from(effect.clone()));
        }
        if let Some(text) = &self.text {
            // Not LIKE, whose wildcards a text can contain.
            conditions.push("instr(lower(ifnull(origin, '') || ' ' || action), lower(?)) > 0");
            values.push(Value::from(text.clone()));
        }
        if self.has_file {
            conditions.push("instr(changes, '\"path\":') > 0");
        }
        (conditions.join(" AND "), values)
    }
}

/// An audit log that is open for reading.
#[derive(Debug)]
pub struct Reader {
    connection: Connection,
    path: PathBuf,
    /// Device and inode of the file, which another one can replace.
    file: (u64, u64),
    /// SQLite's counter of changes by other connections, as last read.
    seen: i64,
}

impl Reader {
    /// Opens an audit log for reading.
    ///
    /// # Errors
    /// When there is none, or this version cannot read it.
    pub fn open(path: &Path) -> Result<Self, AuditError> {
        safe_file::check(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(LOCK_DEADLINE)?;
        connection.pragma_update(None, "trusted_schema", false)?;
        check(&connection)?;
        let file = identity(path).ok_or(AuditError::Missing)?;
        Ok(Self { connection, path: path.to_owned(), file, seen: 0 })
    }

    /// The last matching rows, the newest last.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn last(&self, filter: &Filter, count: u32) -> Result<Vec<Row>, AuditError> {
        let mut rows = self.select(filter, "DESC", count)?;
        rows.reverse();
        Ok(rows)
    }

    /// The next page of matching rows after the filter's `after`, the oldest first.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn next(&self, filter: &Filter) -> Result<Vec<Row>, AuditError> {
        self.select(filter, "ASC", PAGE_ROWS)
    }

    /// One row.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn find(&self, number: RowNumber) -> Result<Option<Row>, AuditError> {
        let sql = format!("SELECT {COLUMNS} FROM entries WHERE number = ?1");
        Ok(self.connection.query_row(&sql, [number.0], Row::read).optional()?)
    }

    /// The first and the last row number.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn ends(&self) -> Result<Option<(RowNumber, RowNumber)>, AuditError> {
        let sql = "SELECT min(number), max(number) FROM entries";
        let ends: (Option<i64>, Option<i64>) =
            self.connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(ends.0.zip(ends.1).map(|(first, last)| (RowNumber(first), RowNumber(last))))
    }

    /// The names of sessions, clients and effect classes in the log, up to [`NAMES`] of each.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn names(&self) -> Result<[Vec<String>; 3], AuditError> {
        let distinct = |value: &str| -> Result<Vec<String>, AuditError> {
            let sql =
                format!("SELECT DISTINCT {value} FROM entries WHERE {value} IS NOT NULL ORDER BY 1 LIMIT ?1");
            let mut statement = self.connection.prepare(&sql)?;
            let rows = statement.query_map([NAMES], |row| row.get(0))?;
            Ok(rows.collect::<Result<_, _>>()?)
        };
        Ok([distinct("session")?, distinct("ifnull(client_name, client_program)")?, distinct("effect")?])
    }

    /// The sessions in the log with their projects, up to [`NAMES`].
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn sessions(&self) -> Result<Vec<RowSession>, AuditError> {
        let sql = "SELECT DISTINCT project, session FROM entries ORDER BY 2, 1 LIMIT ?1";
        let mut statement = self.connection.prepare(sql)?;
        let rows =
            statement.query_map([NAMES], |row| Ok(RowSession { project: row.get(0)?, name: row.get(1)? }))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Whether another connection has written since the last call.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn has_changed(&mut self) -> Result<bool, AuditError> {
        let now = self.connection.pragma_query_value(None, "data_version", |row| row.get::<_, i64>(0))?;
        let before = std::mem::replace(&mut self.seen, now);
        Ok(now != before)
    }

    /// Whether another file has replaced this one.
    #[must_use]
    pub fn was_replaced(&self) -> bool {
        identity(&self.path).is_some_and(|now| now != self.file)
    }

    fn select(&self, filter: &Filter, order: &str, count: u32) -> Result<Vec<Row>, AuditError> {
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

/// Parses a time such as `2026-11-15`, `2026-11-15T10:02`, or one with seconds and zone, to milliseconds since 1970.
/// The default zone is UTC.
#[must_use]
pub fn parse_moment(text: &str) -> Option<i64> {
    // SQLite also accepts bare times and Julian day numbers, which would be typing errors here.
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
    fn parse_moment_takes_dates_and_times_only() {
        assert_eq!(parse_moment("1970-01-02"), Some(86_400_000));
        assert_eq!(parse_moment("1970-01-01T00:01"), Some(60_000));
        assert_eq!(parse_moment("1970-01-01T00:00:01.250Z"), Some(1_250));
        assert_eq!(parse_moment("1970-01-01T01:00:00+01:00"), Some(0));
        for wrong in ["now", "12:00", "0", "2460000.5", "1970-13-01", "yesterday", "1970-01-01 nonsense"] {
            assert_eq!(parse_moment(wrong), None, "{wrong}");
        }
    }
}
