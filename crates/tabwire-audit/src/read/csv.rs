//! Rows as CSV.

use serde_json::Value;

use crate::read::row::Row;

const HEADING: [&str; 22] = [
    "number",
    "time",
    "duration_ms",
    "project",
    "session",
    "client_name",
    "client_pid",
    "client_program",
    "transport",
    "action",
    "effect",
    "tab",
    "origin",
    "decision",
    "decided_by",
    "reason",
    "result",
    "params",
    "changes",
    "message",
    "run",
    "times",
];

/// The line of column names.
#[must_use]
pub fn csv_heading() -> String {
    HEADING.join(",")
}

/// The line of one row.
#[must_use]
pub fn csv_line(row: &Row) -> String {
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let json = |value: &Value| if value.is_null() { String::new() } else { value.to_string() };
    let cells: [String; HEADING.len()] = [
        row.number.to_string(),
        row.time.clone(),
        row.duration_ms.to_string(),
        text(&row.session.project),
        row.session.name.clone(),
        text(&row.client.name),
        row.client.pid.map(|pid| pid.to_string()).unwrap_or_default(),
        text(&row.client.program),
        row.client.transport.clone(),
        row.action.clone(),
        row.effect.clone(),
        text(&row.tab),
        text(&row.origin),
        row.decision.clone(),
        row.decided_by.clone(),
        text(&row.reason),
        row.result.clone(),
        json(&row.params),
        json(&row.changes),
        text(&row.message),
        text(&row.run),
        row.times.to_string(),
    ];
    cells.iter().map(|cell| quoted(cell)).collect::<Vec<_>>().join(",")
}

/// A quoted cell. Spreadsheets run text that begins with one of these letters as a formula, so it gets an apostrophe.
fn quoted(cell: &str) -> String {
    let formula = if cell.starts_with(['=', '+', '-', '@', '\t']) { "'" } else { "" };
    if formula.is_empty() && !cell.contains(['"', ',', '\n', '\r']) {
        return cell.to_owned();
    }
    format!("\"{formula}{}\"", cell.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        assert_eq!(quoted("plain"), "plain");
        assert_eq!(quoted(r#"{"a":1,"b":2}"#), r#""{""a"":1,""b"":2}""#);
        assert_eq!(quoted("=HYPERLINK(1)"), "\"'=HYPERLINK(1)\"");
    }
}
