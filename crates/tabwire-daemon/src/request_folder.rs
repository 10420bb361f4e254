//! A directory in which one request's files are put, held open: nothing that happens to its path leads elsewhere.

use std::path::PathBuf;

use tabwire_engine::{Folder, NewFile};
use tabwire_wire::Failure;

use crate::file_fault::fault;
use crate::root_directory::Place;
use crate::safe_name::safe_name;

/// A directory below one of ours or below a declared root.
#[derive(Debug)]
pub(crate) struct RequestFolder {
    /// Some name in it.
    place: Place,
}

impl RequestFolder {
    pub(crate) fn new(place: Place) -> Self {
        Self { place }
    }
}

impl Folder for RequestFolder {
    fn path(&self) -> PathBuf {
        self.place.path().parent().map(PathBuf::from).unwrap_or_default()
    }

    fn create(&self, name: &str) -> Result<NewFile, Failure> {
        let place = self.place.beside(&safe_name(name, "file"));
        let place = place.map_err(|error| fault(&self.path(), &error))?;
        let file = place.create().map_err(|error| fault(&place.path(), &error))?;
        Ok(NewFile { path: place.path(), content: Box::new(file) })
    }
}
