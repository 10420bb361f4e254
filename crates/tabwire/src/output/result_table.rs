//! Results that are lists, as tables for a terminal. The actions define their tables.

use serde_json::Value;
use tabwire_engine::{CellFormat, Column, Definition, ResultTable};

use crate::output::table::table;

/// The table for an action's result with these parameters, if the result is a list.
pub(crate) fn find_table(action: &Definition, params: &Value) -> Option<ResultTable> {
    let is_list = params.get("verb").is_none_or(|verb| verb == "list");
    action.table.filter(|_| is_list)
}

/// A result as a table.
pub(crate) fn print_table(layout: &ResultTable, result: &Value) -> String {
    let rows = result.get(layout.rows).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    // Columns without a value in any row are left out.
    let columns: Vec<&Column> =
        layout.columns.iter().filter(|column| rows.iter().any(|row| !cell(row, column).is_empty())).collect();
    let mut lines = Vec::new();
    if rows.is_empty() {
        lines.push(layout.empty.to_owned());
    } else {
        let heading = columns.iter().map(|column| column.heading.to_owned()).collect();
        let mut all: Vec<Vec<String>> = vec![heading];
        all.extend(rows.iter().map(|row| columns.iter().map(|column| cell(row, column)).collect()));
        lines.push(table(&all));
    }
    for (member, words) in layout.notes {
        if let Some(count) = result.get(member).and_then(Value::as_u64).filter(|count| *count > 0) {
            lines.push(format!("({count} {words})"));
        }
    }
    lines.join("\n")
}

fn cell(row: &Value, column: &Column) -> String {
    match (row.get(column.member), column.format) {
        (None | Some(Value::Null), _) => String::new(),
        (Some(Value::String(text)), CellFormat::Plain) => text.clone(),
        (Some(value), CellFormat::Plain) => value.to_string(),
        (Some(value), CellFormat::Star) => if *value == true { "*" } else { "" }.to_owned(),
        (Some(value), CellFormat::Yes) => if *value == true { "yes" } else { "" }.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tabwire_engine::find_action;

    use super::*;

    #[test]
    fn empty_columns_are_left_out_and_missing_rows_are_counted() {
        let find = |name, params| find_table(find_action(name).expect("an action"), &params);
        let requests = find("requests", json!({})).expect("a table");
        let result = json!({"requests": [{"number": 1, "method": "GET", "url": "/a", "state": "done"}], "left_out": 3});
        let text = print_table(&requests, &result);
        assert!(text.contains("METHOD") && !text.contains("BYTES"), "{text}");
        assert!(text.lines().last().is_some_and(|line| line.starts_with("(3 older")), "{text}");
        assert_eq!(print_table(&requests, &json!({"requests": []})), "no requests");
        assert!(find("cookies", json!({"verb": "set"})).is_none());
    }
}
