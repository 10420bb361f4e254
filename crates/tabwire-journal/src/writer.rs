//! The thread's side of a journal: holds the database, carries over what is on the pad, writes what was sent.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::bounds::Bounds;
use crate::columns::Columns;
use crate::entry::Entry;
use crate::error::JournalError;
use crate::pad::Pad;
use crate::set_aside::SetAside;
use crate::store::Store;

/// Called by the writer when a file had to be set aside.
pub(crate) type TellAside = Box<dyn Fn(&SetAside) + Send>;

/// The pad, where there is one that can be used: whoever hands an entry over jots it down himself.
pub(crate) type SharedPad = Mutex<Option<Pad>>;

/// What the thread does its work with.
pub(crate) struct Writer<'journal> {
    pub(crate) path: PathBuf,
    pub(crate) bounds: Bounds,
    pub(crate) tell_aside: TellAside,
    pub(crate) pad: &'journal SharedPad,
    pub(crate) store: Option<Store>,
}

pub(crate) fn lock(pad: &SharedPad) -> MutexGuard<'_, Option<Pad>> {
    pad.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Writer<'_> {
    /// Opens the database, and takes the pad with what a writer before has left on it. Without a pad, because another
    /// process holds it or it cannot be used, every entry goes into the database itself.
    fn open(&mut self) -> Result<(), JournalError> {
        let store = match &mut self.store {
            Some(store) => store,
            none => {
                let (store, aside) = Store::open(&self.path, self.bounds)?;
                if let Some(aside) = aside {
                    (self.tell_aside)(&aside);
                }
                none.insert(store)
            }
        };
        let mut pad = lock(self.pad);
        if pad.is_none() {
            *pad = Pad::take(&self.path, self.bounds.pad_bytes(), store.carried()?).ok().flatten();
        }
        Ok(())
    }

    /// Writes what is on the pad, then these entries. What cannot be carried over stays on the pad, and nothing more
    /// gets there: later entries come here and are told.
    pub(crate) fn write<'entry>(
        &mut self,
        entries: impl Iterator<Item = &'entry Entry>,
    ) -> Result<(), JournalError> {
        self.carry_over()?;
        let rows: Vec<Columns<'_>> = entries.map(Columns::of).collect();
        if rows.is_empty() { Ok(()) } else { self.append(&rows) }
    }

    /// Looks after the file. What cannot be done now is tried again after the next rows.
    pub(crate) fn tend(&mut self) {
        let _ = self.store.as_mut().map_or(Ok(()), Store::tend);
    }

    /// Writes what is on the pad, takes it away, and lets go of the database.
    pub(crate) fn close(mut self) {
        let carried = self.carry_over();
        if let (Some(pad), Ok(())) = (lock(self.pad).take(), carried) {
            pad.put_away();
        }
    }

    fn carry_over(&mut self) -> Result<(), JournalError> {
        let carried = self.open().and_then(|()| self.carry_held());
        match carried {
            Err(JournalError::Damaged) => {
                self.begin_anew()?;
                self.carry_held()
            }
            carried => carried,
        }
        .inspect_err(|_| *lock(self.pad) = None)
    }

    fn carry_held(&mut self) -> Result<(), JournalError> {
        let Some(store) = self.store.as_mut() else { return Err(JournalError::Closed) };
        let Some(load) = lock(self.pad).as_ref().map(Pad::load).transpose()? else { return Ok(()) };
        // Others jot meanwhile.
        store.carry(&load.after(store.carried()?))?;
        if let Some(pad) = lock(self.pad).as_mut() {
            pad.carried(&load);
        }
        Ok(())
    }

    /// Sets a file aside that turned out to be damaged.
    fn begin_anew(&mut self) -> Result<(), JournalError> {
        let Some(store) = self.store.take() else { return Err(JournalError::Closed) };
        let (store, aside) = store.begin_anew(JournalError::Damaged)?;
        (self.tell_aside)(&aside);
        self.store = Some(store);
        Ok(())
    }

    fn append(&mut self, rows: &[Columns<'_>]) -> Result<(), JournalError> {
        let Some(store) = self.store.as_mut() else { return Err(JournalError::Closed) };
        match store.append(rows) {
            Err(JournalError::Damaged) => {
                self.begin_anew()?;
                self.store.as_mut().ok_or(JournalError::Closed)?.append(rows)
            }
            written => written,
        }
    }
}
