//! Runs of scripts: the request, and the lines of its response.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ActionRequest;
use crate::Failure;

/// Requests a run of a script.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExecuteRequest {
    /// The session, client and options, as for an action; `timeout_ms` is that of the whole run, 0 for none.
    pub request: ActionRequest,
    /// JavaScript or TypeScript.
    pub code: String,
    /// The file name in errors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whether the code is a file, which runs in a process of its own.
    #[serde(skip_serializing_if = "super::is_false")]
    pub is_file: bool,
    /// The arguments of the script.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// The code of the files that it imports, by path.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub modules: BTreeMap<String, String>,
}

/// A line of the response to a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExecuteLine {
    /// A line of the console.
    Console {
        /// `log`, `info`, `warn`, `error` or `debug`.
        level: String,
        /// The text.
        text: String,
    },
    /// An image that the script shows, as the path of a file.
    Image {
        /// The path.
        path: String,
    },
    /// The run has ended. The last line.
    Done(ExecuteResult),
    /// The run has failed. The last line.
    Failed(Failure),
}

/// The result of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExecuteResult {
    /// The result as text; none for `undefined`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The result as JSON, when it has that form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// Notes for the user.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}
