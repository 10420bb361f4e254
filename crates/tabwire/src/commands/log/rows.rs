//! Formats rows of the audit log.

use serde_json::{Value, json};
use tabwire_audit::Row;
use tabwire_engine::visible_text;

use crate::output::table::fitted;

/// Widths of the columns; fixed, because followed rows come one by one.
const WIDTHS: [usize; 8] = [6, 19, 10, 12, 14, 18, 8, 26];

/// Widths on a terminal that is narrower than [`WIDE`]: the date and the origin are left out.
const NARROW_WIDTHS: [usize; 8] = [6, 8, 8, 10, 13, 13, 7, 0];

/// Columns of a terminal that shows everything.
const WIDE: usize = 150;

/// Columns for parameters and result, at least.
const MIN_LAST: usize = 12;

/// The number of columns of the terminal; `None` without one.
pub(crate) type Width = Option<usize>;

pub(crate) fn heading(width: Width) -> String {
    let time = if is_narrow(width) { "UTC" } else { "TIME (UTC)" };
    let names = ["NUMBER", time, "SESSION", "CLIENT", "ACTION", "RESULT", "TOOK", "ORIGIN"];
    columns(names.map(str::to_owned), "WHAT", width)
}

fn is_narrow(width: Width) -> bool {
    width.is_some_and(|width| width < WIDE)
}

pub(crate) fn line(row: &Row, as_json: bool, width: Width) -> String {
    if as_json {
        return json!(row).to_string();
    }
    let time = if is_narrow(width) { 11..19 } else { 0..19 };
    let cells = [
        row.number.to_string(),
        row.time.get(time).unwrap_or_default().replace('T', " "),
        row.session.name.clone(),
        row.client.label(),
        row.action.clone(),
        row.result.clone(),
        took(row.duration_ms),
        row.origin.clone().unwrap_or_default(),
    ];
    columns(cells, &what(row), width)
}

/// One line. On a terminal it is cut to its width, so that no word is broken there.
fn columns(cells: [String; WIDTHS.len()], last: &str, width: Width) -> String {
    let widths = if is_narrow(width) { NARROW_WIDTHS } else { WIDTHS };
    let mut line = String::new();
    let mut used = 0;
    for (cell, width) in cells.iter().zip(widths).filter(|(_, width)| *width > 0) {
        line.push_str(&fitted(&printable(cell), width));
        line.push_str("  ");
        used += width + 2;
    }
    let last = printable(last);
    match width {
        Some(width) => line.push_str(&fitted(&last, width.saturating_sub(used).max(MIN_LAST))),
        None => line.push_str(&last),
    }
    line.trim_end().to_owned()
}

/// Parameters and result. A row of several equal calls of a script begins with their number, a row of a run or a call of
/// one with its name.
fn what(row: &Row) -> String {
    let run = row.run.as_ref().map(|run| format!("run={run}"));
    let times = (row.times > 1).then(|| format!("×{}", row.times));
    let asked: Vec<String> =
        run.into_iter().chain(times).chain([pairs(&row.params)]).filter(|text| !text.is_empty()).collect();
    let asked = asked.join(" ");
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
        ("run", row.run.clone().unwrap_or_default()),
        ("times", if row.times > 1 { row.times.to_string() } else { String::new() }),
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
            decided_by: "policy open".to_owned(),
            reason: None,
            result: "ok".to_owned(),
            params: json!({"target": "#a", "value": "…", "submit": true}),
            changes: json!({"navigated": true}),
            message: None,
            run: None,
            times: 1,
            time_ms: 0,
        };
        let text = line(&row, false, None);
        assert!(text.starts_with("7       2026-11-15 10:02:03  default     ba\\u{1b}sh    fill "), "{text}");
        assert!(
            text.ends_with("  https://a.test              submit target=#a value=… → navigated"),
            "{text}"
        );
        assert_eq!(line(&row, true, None).lines().count(), 1);
        let long = RowSession { project: None, name: "a-session-with-a-long-name".to_owned() };
        let long = line(&Row { session: long, ..row.clone() }, false, None);
        assert!(long.contains("  a-session…  ba"), "{long}");
        assert_eq!(long.find("fill").map(|at| at - 2), text.find("fill"), "{long}");
        assert!(describe(&row).contains("decision    allow by policy open"), "{}", describe(&row));
        assert!(heading(None).starts_with("NUMBER  TIME (UTC)"), "{}", heading(None));
        let many = Row { params: json!({"target": "#a".repeat(200)}), ..row };
        for width in [100, 120, 200] {
            let line = line(&many, false, Some(width));
            assert!(line.chars().count() <= width && line.ends_with('…'), "{width}: {line}");
            assert!(heading(Some(width)).len() <= width);
        }
    }
}
