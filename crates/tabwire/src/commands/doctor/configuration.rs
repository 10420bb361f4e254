//! Whether the files and variables that set something can be read; a file is named with its line.

use super::Visit;
use super::finding::Finding;
use crate::cli::GlobalFlags;
use crate::config::{Configuration, user_file};

const CODE: &str = "configuration";

pub(super) fn check(visit: &Visit<'_>) -> Option<Finding> {
    let environment = visit.context.environment;
    // The flags were good, or this would not run.
    let flags = GlobalFlags { global: visit.context.is_global, ..GlobalFlags::default() };
    Some(match Configuration::load(environment, &flags) {
        Ok(_) => {
            let file = user_file(environment);
            let is_there = if file.exists() { "can be read" } else { "does not exist, and need not" };
            Finding::ok(CODE, format!("{} {is_there}.", file.display()))
        }
        Err(failure) => {
            let hint = failure.hint.unwrap_or_default();
            Finding::wrong(
                CODE,
                failure.message,
                format!("{hint} `tabwire config check` checks it again.").trim_start(),
            )
        }
    })
}
