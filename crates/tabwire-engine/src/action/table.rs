//! How a terminal shows a result that is a list. Other clients get the action's text.

/// The layout of a result.
#[derive(Clone, Copy, Debug)]
pub struct ResultTable {
    /// The member that holds the rows.
    pub rows: &'static str,
    /// The columns, from left to right.
    pub columns: &'static [Column],
    /// The text for a result without rows.
    pub empty: &'static str,
    /// Numbers that are printed below the table unless they are zero: the member, and the words after the number.
    pub notes: &'static [(&'static str, &'static str)],
}

/// One column.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its heading.
    pub heading: &'static str,
    /// The member of a row that it shows.
    pub member: &'static str,
    /// How it shows the value.
    pub format: CellFormat,
}

/// How a cell shows its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellFormat {
    /// As it is.
    Plain,
    /// `*` for true.
    Star,
    /// `yes` for true.
    Yes,
}

impl Column {
    /// A column that shows a value as it is.
    #[must_use]
    pub const fn new(heading: &'static str, member: &'static str) -> Self {
        Self { heading, member, format: CellFormat::Plain }
    }

    /// The same with another format.
    #[must_use]
    pub const fn with(mut self, format: CellFormat) -> Self {
        self.format = format;
        self
    }
}

#[cfg(test)]
mod tests {
    use crate::ACTIONS;

    #[test]
    fn every_column_is_a_member_of_the_result() {
        for action in ACTIONS {
            let Some(table) = action.table else { continue };
            let schema = (action.output)();
            let row = schema["properties"][table.rows]["items"]["$ref"].as_str().expect("rows");
            let row = &schema["$defs"][row.rsplit('/').next().expect("a name")];
            for column in table.columns {
                assert!(row["properties"][column.member].is_object(), "{}: {}", action.name, column.member);
            }
            for (note, _) in table.notes {
                assert!(schema["properties"][note].is_object(), "{}: {note} in {schema}", action.name);
            }
        }
    }
}
