//! How much the audit log shows of results, for all actions. Text of pages is not logged.

use tabwire_api::LogVisibility::{Count, Keyword, Origin, Path};

use crate::audit::parameters::LoggedParameter;

/// Members of results, and how much of each is logged.
pub(crate) const LOGGED_RESULT: &[LoggedParameter] = &[
    ("url", Origin),
    ("status", Keyword),
    ("redirects", Count),
    ("navigated", Keyword),
    ("still_loading", Keyword),
    ("content", Keyword),
    ("requests", Count),
    ("new_tabs", Keyword),
    ("dialog", Count),
    ("downloads", Count),
    ("file_chooser", Keyword),
    ("console_errors", Count),
    ("fields", Count),
    ("moved_x", Keyword),
    ("moved_y", Keyword),
    ("closed", Keyword),
    ("browser", Keyword),
    ("held", Keyword),
    ("tabs", Count),
    ("links", Count),
    ("lines", Count),
    ("cookies", Count),
    ("entries", Count),
    ("origins", Count),
    ("routes", Count),
    ("files", Count),
    ("path", Path),
    ("bytes", Keyword),
    ("sealed", Keyword),
    ("asks_again", Keyword),
    ("offline", Keyword),
];
