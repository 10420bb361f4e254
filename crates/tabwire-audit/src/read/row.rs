//! One row of the audit log, as the reader returns it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A row's number. Numbers increase and are never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct RowNumber(pub i64);

impl std::fmt::Display for RowNumber {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(&self.0, formatter)
    }
}

/// One row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Row {
    /// Its number.
    pub number: RowNumber,
    /// When the request was received, in UTC: `2026-11-15T10:02:03.004Z`.
    pub time: String,
    /// How long it took, in milliseconds.
    pub duration_ms: f64,
    /// The session.
    pub session: RowSession,
    /// The client.
    pub client: RowClient,
    /// The action.
    pub action: String,
    /// The effect class of the action.
    pub effect: String,
    /// The tab it was for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<String>,
    /// The origin of the tab's page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// `allow`, `deny` or `ask`.
    pub decision: String,
    /// The rule or profile that decided.
    pub decided_by: String,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// `ok`, or the error's code.
    pub result: String,
    /// The parameters, without secrets.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub params: Value,
    /// The result, without secrets.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub changes: Value,
    /// The error message, without secrets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The run of a script that it is, or that it is a call of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// How many equal calls of a script the row stands for.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub times: i64,
    /// When the request was received, in milliseconds since 1970. Zero in a row that was not read from the file.
    #[serde(skip)]
    pub time_ms: i64,
}

const fn one() -> i64 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
const fn is_one(times: &i64) -> bool {
    *times == 1
}

/// A row's session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RowSession {
    /// Its project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Its name.
    pub name: String,
}

/// The client of a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RowClient {
    /// The name it gives itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its process id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<i32>,
    /// The program of that process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// `socket` or `port`.
    pub transport: String,
}

impl RowClient {
    /// Its name, else its program, process or transport.
    #[must_use]
    pub fn label(&self) -> String {
        let pid = || self.pid.map(|pid| format!("process {pid}"));
        self.name
            .clone()
            .or_else(|| self.program.clone())
            .or_else(pid)
            .unwrap_or_else(|| self.transport.clone())
    }
}

impl Row {
    /// Whether the request succeeded.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.result == "ok"
    }

    /// Reads a row of [`crate::database::schema::COLUMNS`].
    pub(crate) fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        let json = |text: Option<String>| {
            text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or(Value::Null)
        };
        let microseconds: i64 = row.get(2)?;
        Ok(Self {
            number: RowNumber(row.get(0)?),
            time: row.get::<_, Option<String>>(1)?.unwrap_or_default(),
            duration_ms: f64::from(i32::try_from(microseconds).unwrap_or(i32::MAX)) / 1_000.0,
            session: RowSession { project: row.get(3)?, name: row.get(4)? },
            client: RowClient {
                name: row.get(5)?,
                pid: row.get(6)?,
                program: row.get(7)?,
                transport: row.get(8)?,
            },
            action: row.get(9)?,
            effect: row.get(10)?,
            tab: row.get(11)?,
            origin: row.get(12)?,
            decision: row.get(13)?,
            decided_by: row.get(14)?,
            reason: row.get(15)?,
            result: row.get(16)?,
            params: json(row.get(17)?),
            changes: json(row.get(18)?),
            message: row.get(19)?,
            run: row.get(20)?,
            times: row.get(21)?,
            time_ms: row.get(22)?,
        })
    }
}
