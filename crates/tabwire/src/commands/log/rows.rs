//! Formats rows of the audit log.

use serde_json::{Value, json};
use tabwire_audit::Row;
use tabwire_engine::visible_text;

use crate::output::table::fitted;

/// Widths of the columns; fixed, because followed rows come one by one.
const WIDTHS: [usize; 8] = [6, 19, 10, 12, 14, 18, 8, 26];

pub(crate) fn heading() -> String {
    let names = ["NUMBER", "TIME (UTC)", "SESSION", "CLIENT", "ACTION", "RESULT", "TOOK", "ORIGIN"];
    columns(names.map(str::to_owned), "WHAT")
}

pub(crate) fn line(row: &Row, as_json: bool) -> String {
    if as_json {
        return json!(row).to_string();
    }
    let cells = [
        row.number.to_string(),
        row.time.get(..19).unwrap_or_default().replace('T', " "),
        row.session.name.clone(),
        row.client.label(),
        row.action.clone(),
        row.result.clone(),
        took(row.duration_ms),
        row.origin.clone().unwrap_or_default(),
    ];
    columns(cells, &what(row))
}

fn columns(cells: [String; WIDTHS.len()], last: &str) -> String {
    let mut line = String::new();
    for (cell, width) in cells.iter().zip(WIDTHS) {
        line.push_str(&fitted(&printable(cell), width));
        line.push_str("  ");
    }
    line.push_str(&printable(last));
    line.trim_end().to_owned()
}

/// Parameters and result.
fn what(row: &Row) -> String {
    let asked = pairs(&row.params);
    let came = row.message.clone().unwrap_or_else(|| pairs(&row.changes));
    match (asked.is_empty(), came.is_empty()) {
        (_, true) => asked,
        (true, false) => format!("→ {came}"),
        (false, false) => format!("{asked} → {came}"),
    }
}

fn pairs(object: &Value) -> String {
    let Some(members) = object.as_object() else { return String::new() };
    let pairs = members.iter().map(|(name, value)| match value {
        Value::Bool(true) => name.clone(),
        Value::String(text) => format!("{name}={text}"),
        other => format!("{name}={other}"),
    });
    pairs.collect::<Vec<_>>().join(" ")
}

fn took(milliseconds: f64) -> String {
    if milliseconds < 10.0 {
        format!("{milliseconds:.1} ms")
    } else if milliseconds < 1_000.0 {
        format!("{milliseconds:.0} ms")
    } else {
        format!("{:.1} s", milliseconds / 1_000.0)
    }
}

/// Text without control characters and line breaks.
fn printable(text: &str) -> String {
    visible_text(text).replace(['\n', '\t'], " ")
}

/// All fields of a row, one per line.
pub(crate) fn describe(row: &Row) -> String {
    let asker = &row.client;
    let process = asker.pid.map(|pid| format!("process {pid}"));
    let client: Vec<String> = [asker.name.clone(), asker.program.clone(), process]
        .into_iter()
        .flatten()
        .chain([format!("over the {}", asker.transport)])
        .collect();
    let session = match &row.session.project {
        Some(project) => format!("{} of {project}", row.session.name),
        None => row.session.name.clone(),
    };
    let decision = match &row.reason {
        Some(reason) => format!("{} by {}: {reason}", row.decision, row.decided_by),
        None => format!("{} by {}", row.decision, row.decided_by),
    };
    let facts = [
        ("number", row.number.to_string()),
        ("time", row.time.clone()),
        ("took", took(row.duration_ms)),
        ("session", session),
        ("client", client.join(", ")),
        ("action", format!("{} ({})", row.action, row.effect)),
        ("tab", row.tab.clone().unwrap_or_default()),
        ("origin", row.origin.clone().unwrap_or_default()),
        ("decision", decision),
        ("result", row.result.clone()),
        ("message", row.message.clone().unwrap_or_default()),
        ("asked", pairs(&row.params)),
        ("came of it", pairs(&row.changes)),
    ];
    let shown = facts.iter().filter(|(_, value)| !value.is_empty());
    shown.map(|(name, value)| format!("{name:<10}  {}", printable(value))).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use tabwire_audit::{RowClient, RowNumber, RowSession};

    use super::*;

    #[test]
    fn a_row_is_one_line_without_control_characters() {
        let row = Row {
            number: RowNumber(7),
            time: "2026-11-15T10:02:03.004Z".to_owned(),
            duration_ms: 12.4,
            session: RowSession { project: None, name: "default".to_owned() },
            client: RowClient {
                name: None,
                pid: Some(5),
                program: Some("ba\u{1b}sh".to_owned()),
                transport: "socket".to_owned(),
            },
            action: "fill".to_owned(),
            effect: "act".to_owned(),
            tab: None,
            origin: Some("https://a.test".to_owned()),
            decision: "allow".to_owned(),
            decided_by: "profile open".to_owned(),
            reason: None,
            result: "ok".to_owned(),
            params: json!({"target": "#a", "value": "…", "submit": true}),
            changes: json!({"navigated": true}),
            message: None,
        };
        let text = line(&row, false);
        assert!(text.starts_with("7       2026-11-15 10:02:03  default     ba\\u{1b}sh    fill "), "{text}");
        assert!(
            text.ends_with("  https://a.test              submit target=#a value=… → navigated"),
            "{text}"
        );
        assert_eq!(line(&row, true).lines().count(), 1);
        let long = RowSession { project: None, name: "a-session-with-a-long-name".to_owned() };
        let long = line(&Row { session: long, ..row.clone() }, false);
        assert!(long.contains("  a-session…  ba"), "{long}");
        assert_eq!(long.find("fill").map(|at| at - 2), text.find("fill"), "{long}");
        assert!(describe(&row).contains("decision    allow by profile open"), "{}", describe(&row));
        assert!(heading().starts_with("NUMBER  TIME (UTC)"), "{}", heading());
    }
}
