//! Answers that hold an object of a page by the browser's name for it.

use serde::Deserialize;

/// An object; without a name when it is a plain value.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Held {
    pub(super) object_id: Option<String>,
}

/// What an evaluation gave.
#[derive(Deserialize)]
pub(super) struct Evaluated {
    pub(super) result: Held,
}

/// What a node is in a world.
#[derive(Deserialize)]
pub(super) struct Resolved {
    pub(super) object: Held,
}
