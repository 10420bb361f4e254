//! Table: what the journal tells of results, whatever the action. Words of pages are not told.

use tabwire_journal::Telling::{Count, Origin, Path, Word};

use crate::told_parameters::Told;

/// Members of results, and how they are told.
pub(crate) const TOLD_RESULT: &[Told] = &[
    ("url", Origin),
    ("status", Word),
    ("redirects", Count),
    ("navigated", Word),
    ("still_loading", Word),
    ("content", Word),
    ("requests", Count),
    ("new_tabs", Word),
    ("dialog", Count),
    ("downloads", Count),
    ("file_chooser", Word),
    ("console_errors", Count),
    ("fields", Count),
    ("moved_x", Word),
    ("moved_y", Word),
    ("closed", Word),
    ("browser", Word),
    ("held", Word),
    ("tabs", Count),
    ("links", Count),
    ("lines", Count),
    ("cookies", Count),
    ("entries", Count),
    ("origins", Count),
    ("routes", Count),
    ("files", Count),
    ("path", Path),
    ("bytes", Word),
    ("sealed", Word),
    ("asks_again", Word),
    ("offline", Word),
];
