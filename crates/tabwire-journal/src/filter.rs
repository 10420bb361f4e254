//! Which rows are wanted.

use rusqlite::types::Value;
use tabwire_wire::SessionName;

use crate::row::RowNumber;

/// Which rows are wanted; everything that is left out matches all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Of this session.
    pub session: Option<SessionName>,
    /// Asked by this client: its name, program or process number.
    pub client: Option<String>,
    /// Of this action.
    pub action: Option<String>,
    /// Asked at this moment or later, in milliseconds since 1970.
    pub since_ms: Option<i64>,
    /// Only those that failed.
    pub failed: bool,
    /// Only those behind this one.
    pub after: Option<RowNumber>,
}

impl Filter {
    /// The condition and its values.
    pub(crate) fn condition(&self) -> (String, Vec<Value>) {
        let mut conditions = vec!["1"];
        let mut values = Vec::new();
        if let Some(session) = &self.session {
            conditions.push("session = ?");
            values.push(Value::from(session.as_str().to_owned()));
        }
        if let Some(client) = &self.client {
            conditions.push("? IN (client_name, client_program, CAST(client_pid AS TEXT))");
            values.push(Value::from(client.clone()));
        }
        if let Some(action) = &self.action {
            conditions.push("action = ?");
            values.push(Value::from(action.replace('-', "_")));
        }
        if let Some(since) = self.since_ms {
            conditions.push("time_ms >= ?");
            values.push(Value::from(since));
        }
        if self.failed {
            conditions.push("result <> 'ok'");
        }
        if let Some(RowNumber(after)) = self.after {
            conditions.push("number > ?");
            values.push(Value::from(after));
        }
        (conditions.join(" AND "), values)
    }
}
