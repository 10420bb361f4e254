//! The journal's tables, and how an older file becomes a current one.

use rusqlite::{Connection, TransactionBehavior};

use crate::error::JournalError;

/// Says that a file is a journal of ours: "TwJl".
const APPLICATION: i64 = 0x5477_4a6c;

/// Each step makes the next schema out of the one before; a step that has been released is never changed.
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
];

/// What a row is read from, in the order of [`crate::Row::read`].
pub(crate) const COLUMNS: &str = "number, strftime('%Y-%m-%dT%H:%M:%fZ', time_ms / 1000.0, 'unixepoch'), \
    duration_us, project, session, client_name, client_pid, client_program, door, action, effect, tab, origin, \
    decision, decided_by, reason, result, params, changes, message";

/// How a row is written.
pub(crate) const INSERT: &str = "INSERT INTO entries (time_ms, duration_us, project, session, client_name, \
    client_pid, client_program, door, action, effect, tab, origin, decision, decided_by, reason, result, params, \
    changes, message) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)";

/// The latest schema.
pub(crate) fn latest(steps: &[&str]) -> i64 {
    i64::try_from(steps.len()).unwrap_or(i64::MAX)
}

/// The schema of a file; 0 for an empty one.
pub(crate) fn version_of(connection: &Connection) -> Result<i64, JournalError> {
    // In one statement, so that a file which is being made is seen as it was before or as it is after.
    let sql = "SELECT (SELECT count(*) FROM sqlite_schema), user_version, application_id
        FROM pragma_user_version, pragma_application_id";
    let (tables, version, application): (i64, i64, i64) =
        connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let is_fresh = version == 0 && application == 0 && tables == 0;
    if is_fresh || (version > 0 && application == APPLICATION) {
        Ok(version)
    } else {
        Err(JournalError::Damaged)
    }
}

/// Brings a file to the latest schema, whole or not at all.
pub(crate) fn migrate(connection: &mut Connection, steps: &[&str]) -> Result<(), JournalError> {
    let known = latest(steps);
    if version_of(connection)? == known {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have been faster.
    let found = version_of(&transaction)?;
    if found > known {
        return Err(JournalError::Newer { found, known });
    }
    for step in steps.iter().skip(usize::try_from(found).unwrap_or_default()) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", known)?;
    transaction.commit()?;
    Ok(())
}

/// Whether a file that is only read has the schema known here.
pub(crate) fn check(connection: &Connection) -> Result<(), JournalError> {
    let (found, known) = (version_of(connection)?, latest(STEPS));
    match found {
        0 => Err(JournalError::Missing),
        found if found > known => Err(JournalError::Newer { found, known }),
        found if found < known => Err(JournalError::Older { found, known }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_file_is_brought_forward_with_its_rows() {
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
        assert!(matches!(migrate(&mut connection, &first), Err(JournalError::Newer { found: 2, known: 1 })));
    }

    #[test]
    fn a_step_that_fails_changes_nothing() {
        let mut connection = Connection::open_in_memory().unwrap();
        let broken = ["CREATE TABLE entries (number INTEGER PRIMARY KEY) STRICT; CREATE NONSENSE;"];
        assert!(migrate(&mut connection, &broken).is_err());
        assert_eq!(version_of(&connection).unwrap(), 0);
    }

    #[test]
    fn somebody_elses_database_is_no_journal() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE theirs (a)").unwrap();
        assert!(matches!(version_of(&connection), Err(JournalError::Damaged)));
    }
}
