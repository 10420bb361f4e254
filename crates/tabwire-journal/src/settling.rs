//! Sees to it that whoever reads the journal finds what was acknowledged before: rows that are still on the pad are
//! waited for, or carried over when whoever jotted them down is gone.

use std::path::Path;
use std::time::Instant;

use rusqlite::Connection;

use crate::bounds::Bounds;
use crate::error::JournalError;
use crate::limits::{CARRY_LOOK, CARRY_PATIENCE};
use crate::pad::{Pad, last_on_pad};
use crate::store::{Store, carried};

/// Waits until what is on the pad now is in the database; whether it is.
pub(crate) fn settle(path: &Path, connection: &Connection) -> Result<bool, JournalError> {
    let Some(last) = last_on_pad(path) else { return Ok(true) };
    let due = Instant::now() + CARRY_PATIENCE;
    loop {
        let found = carried(connection)?;
        if found >= last {
            return Ok(true);
        }
        // A pad that cannot be used is left to whoever can.
        if let Ok(Some(pad)) = Pad::take(path, Bounds::default().pad_bytes(), found) {
            return Ok(take_over(path, pad).is_ok());
        }
        if Instant::now() > due {
            return Ok(false);
        }
        std::thread::sleep(CARRY_LOOK);
    }
}

/// Carries over what is on a pad that nobody held.
fn take_over(path: &Path, mut pad: Pad) -> Result<(), JournalError> {
    let (mut store, _) = Store::open(path, Bounds::default())?;
    let load = pad.load()?;
    store.carry(&load.after(store.carried()?))?;
    pad.carried(&load);
    pad.put_away();
    Ok(())
}
