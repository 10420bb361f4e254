//! The journal's database as its one writer sees it. Synchronous; whoever calls waits for the disk.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior, params_from_iter};

use crate::bounds::Bounds;
use crate::columns::Columns;
use crate::error::JournalError;
use crate::jotting::{Jotting, Sequence};
use crate::limits::{CACHE_KIB, LOCK_DEADLINE, PART_THAT_GOES, ROWS_BETWEEN_LOOKS};
use crate::safe_file;
use crate::schema::{INSERT, STEPS, migrate};
use crate::set_aside::{SetAside, set_aside, with_suffix};

/// An open database that rows are added to.
#[derive(Debug)]
pub(crate) struct Store {
    connection: Connection,
    path: PathBuf,
    bounds: Bounds,
    /// Rows added since the size was looked at.
    unlooked: u64,
    /// The disk was full: the log is made short as soon as that can be done, for it takes most of the room.
    is_tight: bool,
}

impl Store {
    /// Opens the journal. One that cannot be used is set aside and a new one begun.
    pub(crate) fn open(path: &Path, bounds: Bounds) -> Result<(Self, Option<SetAside>), JournalError> {
        match Self::try_open(path, bounds) {
            Ok(store) => Ok((store, None)),
            Err(reason @ (JournalError::Damaged | JournalError::Newer { .. })) => {
                let aside = set_aside(path, reason)?;
                Ok((Self::try_open(path, bounds)?, Some(aside)))
            }
            Err(error) => Err(error),
        }
    }

    fn try_open(path: &Path, bounds: Bounds) -> Result<Self, JournalError> {
        safe_file::prepare(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let mut connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(LOCK_DEADLINE)?;
        // Before the first table, else it is without effect.
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        // The log is carried over after answers were given, not while somebody waits.
        connection.pragma_update(None, "wal_autocheckpoint", 0)?;
        connection.pragma_update(None, "cache_size", -i64::from(CACHE_KIB))?;
        connection.pragma_update(None, "trusted_schema", false)?;
        migrate(&mut connection, STEPS)?;
        let store =
            Self { connection, path: path.to_owned(), bounds, unlooked: ROWS_BETWEEN_LOOKS, is_tight: false };
        store.check_last()?;
        Ok(store)
    }

    /// Reads the newest row whole, which a damaged file often cannot give.
    fn check_last(&self) -> Result<(), JournalError> {
        let sql = "SELECT length(action) FROM entries ORDER BY number DESC LIMIT 1";
        match self.connection.query_row(sql, [], |row| row.get::<_, i64>(0)) {
            Ok(_) | Err(rusqlite::Error::QueryReturnedNoRows) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Lets go of the database, sets it aside and begins a new one.
    pub(crate) fn begin_anew(self, reason: JournalError) -> Result<(Self, SetAside), JournalError> {
        let Self { connection, path, bounds, .. } = self;
        drop(connection);
        let aside = set_aside(&path, reason)?;
        Ok((Self::try_open(&path, bounds)?, aside))
    }

    /// Adds rows, all or none. When this returns they outlive the process.
    pub(crate) fn append(&mut self, rows: &[Columns<'_>]) -> Result<(), JournalError> {
        self.add(rows, None)
    }

    /// Adds what was jotted down, all or none, and notes that it is here.
    pub(crate) fn carry(&mut self, jottings: &[Jotting<'_>]) -> Result<(), JournalError> {
        let Some(last) = jottings.last() else { return Ok(()) };
        self.add(jottings.iter().map(|jotting| &jotting.columns), Some(last.sequence))
    }

    /// Up to which jotting they are here.
    pub(crate) fn carried(&self) -> Result<Sequence, JournalError> {
        carried(&self.connection)
    }

    fn add<'rows, 'row: 'rows>(
        &mut self,
        rows: impl IntoIterator<Item = &'rows Columns<'row>>,
        carried: Option<Sequence>,
    ) -> Result<(), JournalError> {
        let written = self.try_add(rows, carried);
        self.is_tight |= matches!(written, Err(JournalError::Full));
        written
    }

    fn try_add<'rows, 'row: 'rows>(
        &mut self,
        rows: impl IntoIterator<Item = &'rows Columns<'row>>,
        carried: Option<Sequence>,
    ) -> Result<(), JournalError> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut added = 0;
        {
            let mut insert = transaction.prepare_cached(INSERT)?;
            for row in rows {
                match insert.execute(params_from_iter(row.cells())) {
                    Ok(_) => added += 1,
                    // No row of ours: it must not keep those behind it on the pad for ever.
                    Err(error) if carried.is_some() && is_unfit(&error) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
        if let Some(Sequence(carried)) = carried {
            transaction.prepare_cached("UPDATE pad SET carried = ?1")?.execute([carried])?;
        }
        transaction.commit()?;
        self.unlooked += added;
        Ok(())
    }

    /// Keeps the journal within its bounds. Called when nobody waits.
    pub(crate) fn tend(&mut self) -> Result<(), JournalError> {
        if self.is_tight {
            self.carry_over("TRUNCATE")?;
            self.is_tight = false;
        }
        if self.unlooked >= ROWS_BETWEEN_LOOKS {
            self.unlooked = 0;
            self.drop_oldest()?;
        }
        let log = self.log_bytes();
        if log < self.bounds.log_bytes {
            return Ok(());
        }
        // Begun again from its start, unless somebody reads in it; who reads for long is waited for in the end.
        let is_long = log >= self.bounds.log_bytes.saturating_mul(2);
        self.connection.busy_timeout(if is_long { LOCK_DEADLINE } else { Duration::ZERO })?;
        let carried = self.carry_over("TRUNCATE");
        self.connection.busy_timeout(LOCK_DEADLINE)?;
        carried
    }

    fn log_bytes(&self) -> u64 {
        with_suffix(&self.path, "-wal").metadata().map_or(0, |data| data.len())
    }

    fn number(&self, pragma: &str) -> Result<u64, JournalError> {
        let value: i64 = self.connection.pragma_query_value(None, pragma, |row| row.get(0))?;
        Ok(u64::try_from(value).unwrap_or_default())
    }

    fn drop_oldest(&mut self) -> Result<(), JournalError> {
        let ends = "SELECT ifnull(min(number), 0), ifnull(max(number), -1) FROM entries";
        let (first, last): (i64, i64) =
            self.connection.query_row(ends, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let rows = u64::try_from(last - first + 1).unwrap_or_default();
        let part = (self.bounds.rows / PART_THAT_GOES).max(1);
        if rows > self.bounds.rows {
            self.drop_rows(first, rows - self.bounds.rows + part)?;
        }
        let page = self.number("page_size")?.max(1);
        let ceiling = self.bounds.database_bytes() / page;
        let (pages, free) = (self.number("page_count")?, self.number("freelist_count")?);
        if pages.saturating_sub(free) >= ceiling && rows > 1 {
            let excess = (pages - free).saturating_sub(ceiling);
            // As many rows as the excess pages hold, and a part more, so that this is seldom done.
            let share = rows.saturating_mul(excess) / pages.max(1) + rows / PART_THAT_GOES;
            self.drop_rows(first, share.clamp(1, rows - 1))?;
        }
        let (pages, free) = (self.number("page_count")?, self.number("freelist_count")?);
        if pages > ceiling {
            self.give_back(free.min(pages - ceiling))?;
        }
        Ok(())
    }

    fn drop_rows(&self, first: i64, count: u64) -> Result<(), JournalError> {
        let below = first.saturating_add(i64::try_from(count).unwrap_or(i64::MAX));
        self.connection.execute("DELETE FROM entries WHERE number < ?1", [below])?;
        Ok(())
    }

    /// Gives free pages back to the file system.
    fn give_back(&self, pages: u64) -> Result<(), JournalError> {
        if pages == 0 {
            return Ok(());
        }
        let mut vacuum = self.connection.prepare(&format!("PRAGMA incremental_vacuum({pages})"))?;
        let mut steps = vacuum.query([])?;
        // One step frees one page.
        while steps.next()?.is_some() {}
        drop(steps);
        self.carry_over("TRUNCATE")
    }

    fn carry_over(&self, how: &str) -> Result<(), JournalError> {
        // Being kept from it by a reader is no failure; it is tried again.
        self.connection.query_row(&format!("PRAGMA wal_checkpoint({how})"), [], |_| Ok(()))?;
        Ok(())
    }
}

fn is_unfit(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation)
}

/// Up to which jotting a database has them.
pub(crate) fn carried(connection: &Connection) -> Result<Sequence, JournalError> {
    let mut statement = connection.prepare_cached("SELECT carried FROM pad")?;
    Ok(Sequence(statement.query_row([], |row| row.get(0))?))
}
