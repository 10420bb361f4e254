//! The tables of the audit log, and the migration of older files.

use rusqlite::{Connection, TransactionBehavior};

use crate::error::AuditError;

/// The application id of our files: "TwJl".
const APPLICATION: i64 = 0x5477_4a6c;

/// Each step turns the schema before it into the next one. A released step never changes.
pub(crate) const STEPS: &[&str] = &[
    "
    CREATE TABLE entries (
        number INTEGER PRIMARY KEY,
        time_ms INTEGER NOT NULL,
        duration_us INTEGER NOT NULL,
        project TEXT,
        session TEXT NOT NULL,
        client_name TEXT,
        client_pid INTEGER,
        client_program TEXT,
        door TEXT NOT NULL,
        action TEXT NOT NULL,
        effect TEXT NOT NULL,
        tab TEXT,
        origin TEXT,
        decision TEXT NOT NULL,
        decided_by TEXT NOT NULL,
        reason TEXT,
        result TEXT NOT NULL,
        params TEXT,
        changes TEXT,
        message TEXT
    ) STRICT;
",
    "
    CREATE TABLE pad (one INTEGER PRIMARY KEY CHECK (one = 1), carried INTEGER NOT NULL) STRICT;
    INSERT INTO pad VALUES (1, 0);
",
    "
    DROP TABLE pad;
    ALTER TABLE entries RENAME COLUMN door TO transport;
",
    "
    ALTER TABLE entries ADD COLUMN run TEXT;
    ALTER TABLE entries ADD COLUMN times INTEGER NOT NULL DEFAULT 1;
",
];

/// The columns of a row, in the order of [`crate::Row::read`].
pub(crate) const COLUMNS: &str = "number, strftime('%Y-%m-%dT%H:%M:%fZ', time_ms / 1000.0, 'unixepoch'), \
    duration_us, project, session, client_name, client_pid, client_program, transport, action, effect, tab, origin, \
    decision, decided_by, reason, result, params, changes, message, run, times, time_ms";

/// Inserts a row.
pub(crate) const INSERT: &str = "INSERT INTO entries (time_ms, duration_us, project, session, client_name, \
    client_pid, client_program, transport, action, effect, tab, origin, decision, decided_by, reason, result, params, \
    changes, message, run) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, \
    ?20)";

/// Counts one more equal request in the row of the first.
pub(crate) const REPEAT: &str =
    "UPDATE entries SET times = times + 1, duration_us = duration_us + ?1 WHERE number = ?2";

/// The latest schema.
pub(crate) fn latest(steps: &[&str]) -> i64 {
    i64::try_from(steps.len()).unwrap_or(i64::MAX)
}

/// The schema of a file; 0 for an empty one.
pub(crate) fn version_of(connection: &Connection) -> Result<i64, AuditError> {
    // One statement, so that a file that another process creates now is seen before or after its creation.
    let sql = "SELECT (SELECT count(*) FROM sqlite_schema), user_version, application_id
        FROM pragma_user_version, pragma_application_id";
    let (tables, version, application): (i64, i64, i64) =
        connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let is_fresh = version == 0 && application == 0 && tables == 0;
    if is_fresh || (version > 0 && application == APPLICATION) {
        Ok(version)
    } else {
        Err(AuditError::Damaged)
    }
}

/// Migrates a file to the latest schema, completely or not at all.
pub(crate) fn migrate(connection: &mut Connection, steps: &[&str]) -> Result<(), AuditError> {
    let known = latest(steps);
    if version_of(connection)? == known {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have migrated it meanwhile.
    let found = version_of(&transaction)?;
    if found > known {
        return Err(AuditError::Newer { found, known });
    }
    for step in steps.iter().skip(usize::try_from(found).unwrap_or_default()) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", known)?;
    transaction.commit()?;
    Ok(())
}

/// Checks that a file has the latest schema, before it is read.
pub(crate) fn check(connection: &Connection) -> Result<(), AuditError> {
    let (found, known) = (version_of(connection)?, latest(STEPS));
    match found {
        0 => Err(AuditError::Missing),
        found if found > known => Err(AuditError::Newer { found, known }),
        found if found < known => Err(AuditError::Older { found, known }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn migration_keeps_the_rows_of_an_older_file() {
        let mut connection = Connection::open_in_memory().unwrap();
        let first =
            ["CREATE TABLE entries (number INTEGER PRIMARY KEY) STRICT; INSERT INTO entries VALUES (7);"];
        migrate(&mut connection, &first).unwrap();
        let second =
            [first[0], "ALTER TABLE entries ADD COLUMN added TEXT; UPDATE entries SET added = 'new';"];
        migrate(&mut connection, &second).unwrap();
        let row: (i64, String) =
            connection.query_row("SELECT * FROM entries", [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        assert_eq!((row, version_of(&connection).unwrap()), ((7, "new".to_owned()), 2));
        assert!(matches!(migrate(&mut connection, &first), Err(AuditError::Newer { found: 2, known: 1 })));
    }

    #[test]
    fn a_failed_step_changes_nothing() {
        let mut connection = Connection::open_in_memory().unwrap();
        let broken = ["CREATE TABLE entries (number INTEGER PRIMARY KEY) STRICT; CREATE NONSENSE;"];
        assert!(migrate(&mut connection, &broken).is_err());
        assert_eq!(version_of(&connection).unwrap(), 0);
    }

    #[test]
    fn a_foreign_database_is_damaged() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE theirs (a)").unwrap();
        assert!(matches!(version_of(&connection), Err(AuditError::Damaged)));
    }
}
