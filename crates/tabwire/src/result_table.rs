//! Table: how answers that are lists look on a terminal. Everybody else gets the action's own text.
//!
//! Knows the names of members in answers, which a test holds against the actions' schemas.

use serde_json::Value;

use crate::table::table;

/// How one action's answer is laid out.
pub(crate) struct ResultTable {
    action: &'static str,
    /// The member that holds the rows.
    rows: &'static str,
    columns: &'static [Column],
    /// What is said when there are no rows.
    nothing: &'static str,
    /// Numbers that are told below when they are not zero, with their words.
    notes: &'static [(&'static str, &'static str)],
}

/// One column: its heading, the member it shows, and how.
struct Column {
    heading: &'static str,
    member: &'static str,
    show: fn(&Value) -> String,
}

const fn column(heading: &'static str, member: &'static str, show: fn(&Value) -> String) -> Column {
    Column { heading, member, show }
}

static TABLES: &[ResultTable] = &[
    ResultTable {
        action: "tabs_list",
        rows: "tabs",
        columns: &[
            column("", "current", star),
            column("TAB", "tab", plain),
            column("TITLE", "title", plain),
            column("ADDRESS", "url", plain),
        ],
        nothing: "no tabs; `tabwire open URL` opens one",
        notes: &[],
    },
    ResultTable {
        action: "requests",
        rows: "requests",
        columns: &[
            column("N", "number", plain),
            column("METHOD", "method", plain),
            column("STATUS", "status", plain),
            column("STATE", "state", plain),
            column("TYPE", "type", plain),
            column("BYTES", "bytes", plain),
            column("MS", "milliseconds", plain),
            column("ADDRESS", "url", plain),
        ],
        nothing: "no requests",
        notes: &[
            ("hidden_static", "pictures, styles, scripts and fonts are not listed (--all)"),
            ("left_out", "older ones are not listed (--limit)"),
            ("forgotten", "are not kept any more"),
        ],
    },
    ResultTable {
        action: "cookies",
        rows: "cookies",
        columns: &[
            column("NAME", "name", plain),
            column("VALUE", "value", plain),
            column("BYTES", "bytes", plain),
            column("DOMAIN", "domain", plain),
            column("PATH", "path", plain),
            column("HTTP ONLY", "http_only", yes),
            column("SECURE", "secure", yes),
            column("SAME SITE", "same_site", plain),
        ],
        nothing: "no cookies here",
        notes: &[("others", "more of other sites (--all)")],
    },
    ResultTable {
        action: "downloads",
        rows: "downloads",
        columns: &[
            column("NAME", "name", plain),
            column("STATE", "state", plain),
            column("BYTES", "bytes", plain),
            column("OF", "total_bytes", plain),
            column("FILE", "path", plain),
            column("REASON", "reason", plain),
        ],
        nothing: "nothing has been downloaded",
        notes: &[("forgotten", "older ones are not listed any more")],
    },
];

impl ResultTable {
    /// The layout of what an action answers to these parameters, if it is a list.
    pub(crate) fn find(action: &str, params: &Value) -> Option<&'static Self> {
        let is_list = params.get("verb").is_none_or(|verb| verb == "list");
        TABLES.iter().find(|table| table.action == action && is_list)
    }

    /// The answer as people read it.
    pub(crate) fn lay_out(&self, result: &Value) -> String {
        let rows = result.get(self.rows).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        // A column in which nothing stands is not worth its room.
        let columns: Vec<&Column> = self
            .columns
            .iter()
            .filter(|column| rows.iter().any(|row| !cell(row, column).is_empty()))
            .collect();
        let mut lines = Vec::new();
        if rows.is_empty() {
            lines.push(self.nothing.to_owned());
        } else {
            let heading = columns.iter().map(|column| column.heading.to_owned()).collect();
            let mut all: Vec<Vec<String>> = vec![heading];
            all.extend(rows.iter().map(|row| columns.iter().map(|column| cell(row, column)).collect()));
            lines.push(table(&all));
        }
        for (member, words) in self.notes {
            if let Some(count) = result.get(member).and_then(Value::as_u64).filter(|count| *count > 0) {
                lines.push(format!("({count} {words})"));
            }
        }
        lines.join("\n")
    }
}

fn cell(row: &Value, column: &Column) -> String {
    row.get(column.member).map(column.show).unwrap_or_default()
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn star(value: &Value) -> String {
    if *value == true { "*".to_owned() } else { String::new() }
}

fn yes(value: &Value) -> String {
    if *value == true { "yes".to_owned() } else { String::new() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tabwire_engine::find_action;

    use super::*;

    #[test]
    fn every_column_is_a_member_of_the_answer() {
        for table in TABLES {
            let schema = (find_action(table.action).expect("an action").output)();
            let text = schema.to_string();
            let row = schema["properties"][table.rows]["items"]["$ref"].as_str().expect("rows");
            let row = &schema["$defs"][row.rsplit('/').next().expect("a name")];
            for column in table.columns {
                assert!(row["properties"][column.member].is_object(), "{}: {}", table.action, column.member);
            }
            for (note, _) in table.notes {
                assert!(schema["properties"][note].is_object(), "{}: {note} in {text}", table.action);
            }
        }
    }

    #[test]
    fn empty_columns_go_and_what_is_missing_is_told() {
        let table = ResultTable::find("requests", &json!({})).expect("a table");
        let result = json!({"requests": [{"number": 1, "method": "GET", "url": "/a", "state": "done"}], "left_out": 3});
        let text = table.lay_out(&result);
        assert!(text.contains("METHOD") && !text.contains("BYTES"), "{text}");
        assert!(text.ends_with("(3 older ones are not listed (--limit))"), "{text}");
        assert_eq!(table.lay_out(&json!({"requests": []})), "no requests");
        assert!(ResultTable::find("cookies", &json!({"verb": "set"})).is_none());
    }
}
