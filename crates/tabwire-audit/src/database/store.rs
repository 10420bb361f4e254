//! The database of the audit log. Calls block on the disk.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, TransactionBehavior, params_from_iter};

use crate::database::columns::Columns;
use crate::database::quarantine::{Quarantine, quarantine_log, with_suffix};
use crate::database::safe_file;
use crate::database::schema::{INSERT, REPEAT, STEPS, migrate};
use crate::error::AuditError;
use crate::limits::{AUDIT_BYTES, AUDIT_ROWS};

/// Size of the write-ahead log at which it is checkpointed. A checkpoint waits for the disk.
const WAL_BYTES: u64 = 4 * 1024 * 1024;

/// Rows between two checks of the database's size.
const ROWS_BETWEEN_CHECKS: u64 = 64;

/// Runs of scripts whose last row is remembered. A forgotten one gets a new row.
const RUNS: usize = 64;

/// The share of the rows that is deleted when the log is full, as one in so many.
const DELETED_SHARE: u64 = 20;

/// How long to wait for another process that holds the database.
pub(crate) const LOCK_DEADLINE: Duration = Duration::from_secs(2);

/// Memory SQLite may use for pages, in KiB.
const CACHE_KIB: u32 = 512;

/// What the database was called before.
const OLD_NAME: &str = "journal.db";

/// How large an audit log may become. The oldest rows are deleted first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Rows.
    pub rows: u64,
    /// Bytes on disk, with the write-ahead log.
    pub bytes: u64,
    /// Size of the write-ahead log at which it is checkpointed.
    pub wal_bytes: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { rows: AUDIT_ROWS, bytes: AUDIT_BYTES, wal_bytes: WAL_BYTES }
    }
}

impl Bounds {
    /// Bytes that are left for the database file: a long reader can delay a checkpoint until the log is twice as long.
    fn database_bytes(self) -> u64 {
        self.bytes.saturating_sub(self.wal_bytes.saturating_mul(2))
    }
}

/// An open database.
#[derive(Debug)]
pub(crate) struct Store {
    connection: Connection,
    path: PathBuf,
    bounds: Bounds,
    /// Rows added since the last check of the size.
    unchecked_rows: u64,
    /// The last row of each run of a script, if it can be repeated: its number and what makes another one equal.
    last_reads: HashMap<String, (i64, String)>,
    /// The disk was full. The write-ahead log takes most of the room, so it is truncated as soon as possible.
    is_disk_full: bool,
}

impl Store {
    /// Opens the database. An unusable one is quarantined and a new one created.
    pub(crate) fn open(path: &Path, bounds: Bounds) -> Result<(Self, Option<Quarantine>), AuditError> {
        rename_old_file(path)?;
        match Self::try_open(path, bounds) {
            Ok(store) => Ok((store, None)),
            Err(reason @ (AuditError::Damaged | AuditError::Newer { .. })) => {
                let quarantined = quarantine_log(path, reason)?;
                Ok((Self::try_open(path, bounds)?, Some(quarantined)))
            }
            Err(error) => Err(error),
        }
    }

    fn try_open(path: &Path, bounds: Bounds) -> Result<Self, AuditError> {
        safe_file::prepare(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let mut connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(LOCK_DEADLINE)?;
        // Has an effect only before the first table.
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        // A commit writes to the log without a sync: enough to survive a kill of the process.
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        // `maintain` checkpoints after entries were acknowledged; SQLite would do so within a commit.
        connection.pragma_update(None, "wal_autocheckpoint", 0)?;
        // SQLite counts a negative size in KiB, a positive one in pages.
        connection.pragma_update(None, "cache_size", -i64::from(CACHE_KIB))?;
        // A schema that another program wrote into the file can then call no function with side effects.
        connection.pragma_update(None, "trusted_schema", false)?;
        migrate(&mut connection, STEPS)?;
        let (path, unchecked_rows) = (path.to_owned(), ROWS_BETWEEN_CHECKS);
        let last_reads = HashMap::new();
        let store = Self { connection, path, bounds, unchecked_rows, last_reads, is_disk_full: false };
        store.check_last()?;
        Ok(store)
    }

    /// Reads the newest row, which fails in most damaged files.
    fn check_last(&self) -> Result<(), AuditError> {
        let sql = "SELECT length(action) FROM entries ORDER BY number DESC LIMIT 1";
        match self.connection.query_row(sql, [], |row| row.get::<_, i64>(0)) {
            Ok(_) | Err(rusqlite::Error::QueryReturnedNoRows) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Closes and quarantines the database, and creates a new one.
    pub(crate) fn replace(self, reason: AuditError) -> Result<(Self, Quarantine), AuditError> {
        let Self { connection, path, bounds, .. } = self;
        drop(connection);
        let quarantined = quarantine_log(&path, reason)?;
        Ok((Self::try_open(&path, bounds)?, quarantined))
    }

    /// Adds rows, all or none. They survive a kill of the process once this returns.
    pub(crate) fn append(&mut self, rows: &[Columns<'_>]) -> Result<(), AuditError> {
        let written = self.try_append(rows);
        self.is_disk_full |= matches!(written, Err(AuditError::Full));
        written
    }

    fn try_append(&mut self, rows: &[Columns<'_>]) -> Result<(), AuditError> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Taken over with the commit.
        let mut last_reads = self.last_reads.clone();
        {
            let mut insert = transaction.prepare_cached(INSERT)?;
            let mut repeat = transaction.prepare_cached(REPEAT)?;
            for row in rows {
                let (run, key) = (row.run().unwrap_or_default(), row.repeat_key());
                let last = last_reads.get(run).filter(|(_, last)| key.as_ref() == Some(last));
                if let Some((number, _)) = last
                    && repeat.execute((row.duration(), number))? == 1
                {
                    continue;
                }
                insert.execute(params_from_iter(row.cells()))?;
                match key {
                    Some(key) => {
                        if last_reads.len() >= RUNS {
                            last_reads.clear();
                        }
                        last_reads.insert(run.to_owned(), (transaction.last_insert_rowid(), key));
                    }
                    None => drop(last_reads.remove(run)),
                }
            }
        }
        transaction.commit()?;
        self.last_reads = last_reads;
        self.unchecked_rows += u64::try_from(rows.len()).unwrap_or(u64::MAX);
        Ok(())
    }

    /// Keeps the database within its bounds. Blocks on the disk now and then.
    pub(crate) fn maintain(&mut self) -> Result<(), AuditError> {
        if self.is_disk_full {
            self.checkpoint()?;
            self.is_disk_full = false;
        }
        if self.unchecked_rows >= ROWS_BETWEEN_CHECKS {
            self.unchecked_rows = 0;
            self.delete_oldest()?;
        }
        let wal = self.wal_bytes();
        if wal < self.bounds.wal_bytes {
            return Ok(());
        }
        // A reader keeps the log from being truncated. Only a log of twice the size waits for it.
        let is_long = wal >= self.bounds.wal_bytes.saturating_mul(2);
        self.connection.busy_timeout(if is_long { LOCK_DEADLINE } else { Duration::ZERO })?;
        let truncated = self.checkpoint();
        self.connection.busy_timeout(LOCK_DEADLINE)?;
        truncated
    }

    fn wal_bytes(&self) -> u64 {
        with_suffix(&self.path, "-wal").metadata().map_or(0, |data| data.len())
    }

    fn number(&self, pragma: &str) -> Result<u64, AuditError> {
        let value: i64 = self.connection.pragma_query_value(None, pragma, |row| row.get(0))?;
        Ok(u64::try_from(value).unwrap_or_default())
    }

    fn delete_oldest(&mut self) -> Result<(), AuditError> {
        let ends = "SELECT ifnull(min(number), 0), ifnull(max(number), -1) FROM entries";
        let (first, last): (i64, i64) =
            self.connection.query_row(ends, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let rows = u64::try_from(last - first + 1).unwrap_or_default();
        let share = (self.bounds.rows / DELETED_SHARE).max(1);
        if rows > self.bounds.rows {
            self.delete_rows(first, rows - self.bounds.rows + share)?;
        }
        let page = self.number("page_size")?.max(1);
        let most = self.bounds.database_bytes() / page;
        let (pages, free) = (self.number("page_count")?, self.number("freelist_count")?);
        if pages.saturating_sub(free) >= most && rows > 1 {
            let excess = (pages - free).saturating_sub(most);
            // The rows of the excess pages and a share more, so that this is rare.
            let count = rows.saturating_mul(excess) / pages.max(1) + rows / DELETED_SHARE;
            self.delete_rows(first, count.clamp(1, rows - 1))?;
        }
        let (pages, free) = (self.number("page_count")?, self.number("freelist_count")?);
        if pages > most {
            self.vacuum(free.min(pages - most))?;
        }
        Ok(())
    }

    fn delete_rows(&self, first: i64, count: u64) -> Result<(), AuditError> {
        let below = first.saturating_add(i64::try_from(count).unwrap_or(i64::MAX));
        self.connection.execute("DELETE FROM entries WHERE number < ?1", [below])?;
        Ok(())
    }

    /// Returns free pages to the file system.
    fn vacuum(&self, pages: u64) -> Result<(), AuditError> {
        if pages == 0 {
            return Ok(());
        }
        let mut vacuum = self.connection.prepare(&format!("PRAGMA incremental_vacuum({pages})"))?;
        let mut steps = vacuum.query([])?;
        // One step frees one page.
        while steps.next()?.is_some() {}
        drop(steps);
        self.checkpoint()
    }

    /// Moves the write-ahead log into the database and truncates it. Does nothing while a reader uses the log.
    fn checkpoint(&self) -> Result<(), AuditError> {
        self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok(())
    }
}

/// Renames a database from before the file was called `audit.sqlite`.
fn rename_old_file(path: &Path) -> Result<(), AuditError> {
    let old = path.with_file_name(OLD_NAME);
    if path.symlink_metadata().is_ok() || old.symlink_metadata().is_err() {
        return Ok(());
    }
    // The database last: it is the one that decides whether there is anything to rename.
    for suffix in ["-wal", "-shm", ""] {
        match std::fs::rename(with_suffix(&old, suffix), with_suffix(path, suffix)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(AuditError::system(&old, error));
            }
            _ => {}
        }
    }
    Ok(())
}
